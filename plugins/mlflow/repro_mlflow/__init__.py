"""Runs of repro in MLflow."""
