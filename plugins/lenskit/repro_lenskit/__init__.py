"""LensKit's scorers and splitters for repro."""
