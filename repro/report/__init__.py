"""Reports of runs, explanations, audits and claims, as HTML pages."""

from repro.report.run import write_report

__all__ = ["write_report"]
