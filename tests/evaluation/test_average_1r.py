"""With one relevant item per list (1R), a user without relevant items has no list, and counts as the protocol says."""

import math

import numpy as np
import pandas as pd
import pytest

from repro import Study
from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Space
from repro.audits.questions.question import Question, User
from repro.errors import ProtocolError
from repro.evaluation.metrics import metric_named
from repro.explanations import ScoredRun
from repro.explanations.variants import measure_variants
from repro.protocol import Protocol
from repro.verification import verify

RULES = ("skip", "zero", "one", "nan")
METRIC = "rr"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Users 1 to 12 like some of the items; users 13 to 16 like nothing."""
    rng = np.random.default_rng(3)
    rows = [
        (user, item, float(rng.integers(1, 6)) if user <= 12 else 1.0)
        for user in range(1, 17)
        for item in rng.choice(20, 9, replace=False)
    ]
    path = tmp_path_factory.mktemp("data") / "ratings.csv"
    pd.DataFrame(rows, columns=["user", "item", "rating"]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def runs(data, tmp_path_factory):
    """A run for each rule, with its scores."""
    made = {}
    for rule in RULES:
        protocol = Protocol.load(
            "random-5fold", split__folds=2, candidates__relevant="one", average__no_relevant=rule, average__folds="mean"
        )
        study = Study("ratings.csv", protocol, ["reference/popularity"], [METRIC, "hit@3"], seed=5, folder=data.parent)
        made[rule] = study.run(tmp_path_factory.mktemp(rule) / "run", keep_scores=True)
    return made


def by_fold(run):
    table = run.results
    return table[table["metric"].str.startswith(METRIC)].set_index("fold")[["value", "users"]]


def without_relevant(run, data):
    """The test users of each fold none of whose held-out ratings reaches the threshold."""
    from repro.runs.journal import read_journal

    threshold = Protocol.load("random-5fold").number("relevance.threshold")
    actual = {}
    for event in read_journal(run.folder / "journal.jsonl").events("fold.made"):
        test = pd.read_parquet(run.folder / "artifacts" / f"{event.artifacts['test']}.parquet")
        best = test.groupby("user")["rating"].max()
        actual[event.fold] = int((best < threshold).sum()), len(best)
    return actual


def test_a_study_counts_users_without_relevant_items(runs, data):
    skipped = by_fold(runs["skip"])
    for fold, (without, tested) in without_relevant(runs["skip"], data).items():
        assert without >= 4
        value, users = skipped.loc[fold]
        assert users == tested - without
        for rule, filler in (("zero", 0.0), ("one", 1.0), ("nan", math.nan)):
            actual = by_fold(runs[rule]).loc[fold]
            assert actual["users"] == tested
            expected = (value * users + filler * without) / tested
            assert actual["value"] == pytest.approx(expected, nan_ok=True)


def test_kept_scores_and_pooled_folds_give_the_same(runs, data):
    stored = ScoredRun.open(runs["skip"].folder, data)
    for folds in ("mean", "pooled"):
        protocols = [stored.protocol.replace({"average.no_relevant": rule, "average.folds": folds}) for rule in RULES]
        actual = measure_variants(stored, protocols, [METRIC]).values[:, 0, 0]
        for rule, protocol, value in zip(RULES, protocols, actual, strict=True):
            if folds == "mean":
                assert value == pytest.approx(runs[rule].table().iloc[0, 0], abs=0, nan_ok=True)
            else:
                study = Study("ratings.csv", protocol, ["reference/popularity"], [METRIC], seed=5, folder=data.parent)
                run = study.run(runs[rule].folder.parent / "pooled")
                assert value == pytest.approx(run.table().iloc[0, 0], abs=0, nan_ok=True)


@pytest.mark.parametrize("with_scores", [True, False])
def test_verify_has_the_same_numbers(runs, data, tmp_path, with_scores):
    folder = runs["one"].folder
    if not with_scores:
        protocol = ScoredRun.open(folder, data).protocol
        study = Study("ratings.csv", protocol, ["reference/popularity"], [METRIC], seed=5, folder=data.parent)
        folder = study.run(tmp_path / "run").folder
    actual = verify(folder, "rescore", data=data)
    assert actual.holds, str(actual)


def test_the_audit_predicts_the_same():
    users = (
        User(1, {3: 3.0, 11: 2.0, 24: 1.0}, ((11, 5.0), (24, 5.0))),
        User(2, {3: 3.0, 11: 2.0, 24: 1.0}, ((3, 1.0),)),
        User(9, train=((3, 4.0), (11, 4.0), (24, 4.0))),
    )
    space = Space(metric_named("rr"))
    # User 1: rank 2 for 11 and, 11 being out of the list, rank 2 for 24.
    for rule, expected in (("skip", 1 / 2), ("zero", 1 / 4), ("one", 3 / 4), ("nan", math.nan)):
        changes = {"relevance.threshold": 3.0, "candidates.relevant": "one", "average.no_relevant": rule}
        [hypothesis] = space.with_changes(space.start, changes)
        outcome = Simulation(Question(users, (3, 11, 24), None), space).outcome(hypothesis)
        assert outcome.value == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"average.over": "lists", "average.no_relevant": "zero"},
        {"average.over": "lists", "average.no_relevant": "nan"},
        {"average.over": "pooled", "average.no_relevant": "one"},
        {
            "average.no_relevant": "zero",
            "candidates.strata": "popularity",
            "candidates.negatives": "sampled",
            "candidates.sample_size": 10,
        },
    ],
)
def test_where_such_users_cannot_count_the_protocol_is_refused(settings):
    with pytest.raises(ProtocolError, match=r'use (average\.no_relevant = )?"skip"'):
        Protocol.load("random-5fold").replace({"candidates.relevant": "one", **settings})


def test_lists_are_averaged_only_where_users_have_several():
    with pytest.raises(ProtocolError, match='use "users", which means the same'):
        Protocol.load("random-5fold", average__over="lists")
    Protocol.load("random-5fold", average__over="lists", average__folds="pooled")
    Protocol.load("random-5fold", average__over="lists", candidates__relevant="one")
