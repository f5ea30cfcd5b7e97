"""Commands that list what is available: algorithms, data sets, metrics, frameworks."""
