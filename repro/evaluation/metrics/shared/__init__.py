"""Functions that several metrics share: compiled loops, hits, curves, distances, exact sums."""
