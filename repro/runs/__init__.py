"""Run folders and their journals."""
