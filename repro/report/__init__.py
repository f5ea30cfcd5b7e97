"""What people read of a run."""

from repro.report.html import write_report

__all__ = ["write_report"]
