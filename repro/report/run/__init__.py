"""The report of a run: one HTML file that needs nothing else, one module for each of its sections."""

from repro.report.run.page import render, write_report

__all__ = ["render", "write_report"]
