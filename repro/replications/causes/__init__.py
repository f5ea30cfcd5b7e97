"""Causes that explain many numbers of a table at once: leaks, other metrics, swapped and copied rows and columns."""
