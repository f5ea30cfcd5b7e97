"""Whole evaluations of frameworks, compared with the numbers of the core."""
