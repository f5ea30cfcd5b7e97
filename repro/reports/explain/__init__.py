"""Pages of explained gaps and of multiverses."""

from repro.reports.explain.explanation_page import waterfall, write_explanation
from repro.reports.explain.multiverse_page import write_multiverse

__all__ = ["waterfall", "write_explanation", "write_multiverse"]
