"""Studies of which metric and cut-off to trust, from the lists that a run stored."""

from repro.metric_study.judged_lists import JudgedRun, judge_run
from repro.metric_study.study import DEFAULT_CUTOFFS, DEFAULT_METRICS, MetricStudy, Settings, study_metrics

__all__ = ["DEFAULT_CUTOFFS", "DEFAULT_METRICS", "JudgedRun", "MetricStudy", "Settings", "judge_run", "study_metrics"]
