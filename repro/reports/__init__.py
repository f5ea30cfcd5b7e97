"""Reports of runs, explanations, audits and claims, as HTML pages."""

from repro.reports.run import report, write_report

__all__ = ["report", "write_report"]
