"""The report of a run: one self-contained HTML file, one module for each of its sections."""

from repro.reports.run.run_page import report, run_page, write_report

__all__ = ["report", "run_page", "write_report"]
