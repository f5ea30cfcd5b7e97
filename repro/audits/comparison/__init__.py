"""Comparison of black boxes that implement the same metric."""
