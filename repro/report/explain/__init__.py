"""What people read of explained gaps and of multiverses."""

from repro.report.explain.page import write_explanation, write_multiverse
from repro.report.explain.waterfall import waterfall

__all__ = ["waterfall", "write_explanation", "write_multiverse"]
