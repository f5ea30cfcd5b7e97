"""The report of a run: one self-contained HTML file, one module for each of its sections."""

from repro.report.run.run_page import run_page, write_report

__all__ = ["run_page", "write_report"]
