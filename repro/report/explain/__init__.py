"""Pages of explained gaps and of multiverses."""

from repro.report.explain.explanation_page import write_explanation
from repro.report.explain.multiverse_page import write_multiverse
from repro.report.explain.waterfall_chart import waterfall

__all__ = ["waterfall", "write_explanation", "write_multiverse"]
