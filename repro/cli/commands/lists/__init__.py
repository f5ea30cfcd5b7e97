"""Commands that measure recommendations and compare the numbers."""
