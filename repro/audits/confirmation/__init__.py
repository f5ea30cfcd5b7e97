"""Attempts to refute an inferred policy with questions of an independent generator."""
