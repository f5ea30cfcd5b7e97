"""Which metric and cut-off to trust, from the lists that a run stored."""

from repro.metric_study.stored_lists import StoredRun, read_run
from repro.metric_study.study import DEFAULT_CUTOFFS, DEFAULT_METRICS, MetricStudy, Settings, study_metrics

__all__ = ["DEFAULT_CUTOFFS", "DEFAULT_METRICS", "MetricStudy", "Settings", "StoredRun", "read_run", "study_metrics"]
