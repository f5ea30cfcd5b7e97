"""Hypotheses about a black box, and their elimination by its answers."""
