"""Commands that make, check and pass on runs."""
