"""What people read of a run."""

from repro.report.run import write_report

__all__ = ["write_report"]
