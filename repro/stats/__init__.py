"""Statistics of per-user values: paired tests, corrections, effect sizes, intervals, discriminative power."""

from repro.stats.comparison import CORRECTION, LEVEL, TEST, Comparison, Settings, compare, compare_matched, comparison
from repro.stats.corrections import CORRECTIONS, correct, level_of_each
from repro.stats.correlation import kendall
from repro.stats.discriminative import discriminative_power, p_value_curve
from repro.stats.effects import (
    cohen_dz,
    mean_difference,
    rank_biserial,
    relative_difference,
    superiority,
)
from repro.stats.friedman import Friedman, conover, friedman, nemenyi
from repro.stats.intervals import Interval, difference_interval
from repro.stats.paired import TESTS, ZEROS, Outcome, paired_test
from repro.stats.randomisation import Randomisation, paired_randomisation, randomisation_test
from repro.stats.resampling import resampled_means
from repro.stats.tuning import Tuned, tune, tuning_users

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
    "Settings",
    "Tuned",
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
    "level_of_each",
    "mean_difference",
    "nemenyi",
    "p_value_curve",
    "paired_randomisation",
    "paired_test",
    "randomisation_test",
    "rank_biserial",
    "relative_difference",
    "resampled_means",
    "superiority",
    "tune",
    "tuning_users",
]
