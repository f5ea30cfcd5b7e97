"""Logs the runs of repro to MLflow."""
