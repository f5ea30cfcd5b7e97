"""Surprise (scikit-surprise) for repro."""
