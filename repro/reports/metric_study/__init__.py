"""The report of a study of metrics."""

from repro.reports.metric_study.metric_study_page import write_metric_study
from repro.reports.metric_study.metric_study_summary import metric_table

__all__ = ["metric_table", "write_metric_study"]
