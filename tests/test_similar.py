"""Suggestions for names that do not exist: misspelt ones, and the words of other tools."""

import pytest

from repro.errors import nearest
from repro.evaluation.metrics import metrics_by_any_name
from repro.protocol import protocol_names, registry
from repro.study.entry import KEYS as ENTRY
from repro.study.model import KEYS as STUDY
from repro.study.tuning.settings import KEYS as TUNE

PLACES = {
    "decision": list(registry()),
    "study": STUDY,
    "algorithm": ENTRY,
    "tune": TUNE,
    "metric": list(metrics_by_any_name()),
    "protocol": [name for name in protocol_names() if "/" not in name],
    "strategy": [option.value for option in registry()["split.strategy"].options],
}

MEANT = {
    "decision": {
        "split.test": "split.test_ratio",
        "split.test_size": "split.test_ratio",
        "test_size": "split.test_ratio",
        "split.test_rati": "split.test_ratio",
        "split.testratio": "split.test_ratio",
        "split.ratio": "split.test_ratio",
        "n_splits": "split.folds",
        "split.k_fold": "split.folds",
        "split.n_folds": "split.folds",
        "split.fold": "split.folds",
        "split.folsd": "split.folds",
        "split.partitions": "split.folds",
        "splits.folds": "split.folds",
        "split.straegy": "split.strategy",
        "split.timestamp": "split.time",
        "split.val_size": "split.validation_ratio",
        "ties.brek": "ties.break",
        "ties.breaking": "ties.break",
        "tie.break": "ties.break",
        "ties": "ties.break",
        "candidate.base": "candidates.base",
        "candidates.n_negatives": "candidates.sample_size",
        "candidates.exclude_seen": "candidates.exclude_train",
        "relevance.treshold": "relevance.threshold",
        "rating_threshold": "relevance.threshold",
        "data.k_core": "data.user_core",
        "data.user_inter_num_interval": "data.user_core",
        "data.drop_duplicates": "data.duplicates",
        "metric.ndcg.gains": "metric.ndcg.gain",
        "metric.ap.denom": "metric.ap.denominator",
        "average.folds_": "average.folds",
    },
    "study": {
        "topk": "metrics",
        "metric": "metrics",
        "measures": "metrics",
        "valid_metric": "tune",
        "random_state": "seed",
        "sed": "seed",
        "dataset": "data",
        "models": "algorithms",
        "algorithm": "algorithms",
        "eval_args": "protocol",
        "protocl": "protocol",
        "qestion": "question",
    },
    "algorithm": {"params": "parameters", "model": "use", "name": "label", "lable": "label", "random_state": "seed"},
    "tune": {"valid_metric": "metric", "n_trials": "trials", "search_space": "space", "metrics": "metric"},
    "metric": {"ndgc": "ndcg", "precison": "precision", "recal": "recall", "hitrat": "hit-rate", "rsme": "rmse"},
    "protocol": {
        "temporal_split": "time-split",
        "leave_one_out": "leave-one-last",
        "leave-one-lst": "leave-one-last",
        "random_split": "random-80-20",
        "random-5-fold": "random-5fold",
        "cremonesi": "cremonesi-2010-1r",
        "implicit": "implicit-default",
    },
    "strategy": {"k-fold": "kfold", "kflod": "kfold", "leave_one_out": "leave-one-last", "user_ratio": "user-ratio"},
}


@pytest.mark.parametrize(("place", "unknown"), [(place, name) for place, names in MEANT.items() for name in names])
def test_what_is_meant(place, unknown):
    assert nearest(unknown, PLACES[place]) == f"; did you mean '{MEANT[place][unknown]}'?"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("unknown", ["zzz", "qqqqqq", ""])
def test_nothing_is_suggested_for_what_is_like_nothing(place, unknown):
    assert nearest(unknown, PLACES[place]) == "."


@pytest.mark.parametrize("place", PLACES)
def test_a_slip_in_any_name_leads_back_to_it(place):
    """Two letters exchanged, of every name of at least six letters, unless that makes another name more likely."""
    names = PLACES[place]
    slips = {name: name[:-2] + name[-1] + name[-2] for name in names if len(name) >= 6 and name[-1] != name[-2]}
    wrong = [
        name
        for name, slip in slips.items()
        if slip not in names and nearest(slip, names) != f"; did you mean '{name}'?"
    ]
    assert len(wrong) <= max(1, len(slips) * 0.03), wrong
