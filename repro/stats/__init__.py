"""Statistics of per-user values: paired tests, corrections, effect sizes, intervals, discriminative power."""

from repro.stats.comparison import CORRECTION, LEVEL, TEST, Comparison, Settings, compare, compare_matched, comparison
from repro.stats.corrections import CORRECTIONS, correct
from repro.stats.effects import cohen_dz, mean_difference, rank_biserial, relative_difference, superiority
from repro.stats.friedman import Friedman, conover, friedman, nemenyi
from repro.stats.intervals import Interval, difference_interval
from repro.stats.metric_properties import discriminative_power, kendall, p_value_curve
from repro.stats.paired import TESTS, ZEROS, Outcome, paired_test
from repro.stats.resampling import Randomisation, randomisation_test, resampled_means
from repro.stats.selection import Selection, select_settings, selection_users

__all__ = [
    "CORRECTION",
    "CORRECTIONS",
    "LEVEL",
    "TEST",
    "TESTS",
    "ZEROS",
    "Comparison",
    "Friedman",
    "Interval",
    "Outcome",
    "Randomisation",
    "Selection",
    "Settings",
    "cohen_dz",
    "compare",
    "compare_matched",
    "comparison",
    "conover",
    "correct",
    "difference_interval",
    "discriminative_power",
    "friedman",
    "kendall",
    "mean_difference",
    "nemenyi",
    "p_value_curve",
    "paired_test",
    "randomisation_test",
    "rank_biserial",
    "relative_difference",
    "resampled_means",
    "select_settings",
    "selection_users",
    "superiority",
]
