"""Folds without anything relevant: every kind of metric and of averaging has a number, or says why it has none."""

import html
import itertools
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.errors import ProtocolError, ReproWarning, StudyError
from repro.evaluation.metrics import metrics, parse_measure
from repro.protocol import Protocol
from repro.runs.journal import read_journal
from repro.study.plan import make_plan
from repro.verification import verify

AVERAGES = list(itertools.product(("users", "lists", "pooled"), ("mean", "pooled")))
ONE = ["reference/item-knn"]


@pytest.fixture(scope="module")
def data():
    """Six users with six ratings each; three ratings of 5, and the others are 1."""
    users, items = (part.ravel() for part in np.meshgrid(np.arange(6), np.arange(6), indexing="ij"))
    ratings = np.where(np.isin(users * 6 + items, [1, 3, 14]), 5.0, 1.0)
    return pd.DataFrame({"user": users, "item": items, "rating": ratings})


def protocol(relevant="all", over="users", folds="mean", **changes):
    stated = {
        "split.folds": 4,
        "relevance.threshold": 5,
        "candidates.relevant": relevant,
        "average.over": over,
        "average.folds": folds,
        **changes,
    }
    return Protocol.load("random-5fold").replace(stated)


def relevant_by_fold(data, protocol, seed):
    plan = make_plan(Study(data, protocol, ONE, ["hit@3"], seed=seed))
    return [int((plan.interactions.select(fold.test).ratings >= 5).sum()) for fold in plan.split.folds]


@pytest.fixture(scope="module")
def seed(data):
    """A seed with which at least one fold has nothing relevant, and at least two have."""
    return next(s for s in range(50) if relevant_by_fold(data, protocol(), s).count(0) == 1)


@pytest.fixture(scope="module", params=["one", "all"])
def requested(request, data, seed):
    """The number of relevant items of a list, and the metrics that exist then, at a cut-off if they take one."""
    given, names = protocol(request.param), []
    for metric in metrics().values():
        name = metric.name if metric.cutoff == "none" else f"{metric.name}@3"
        try:
            parse_measure(name, given, metrics())
            make_plan(Study(data, given, ONE, [name], seed=seed))
        except (ProtocolError, StudyError):
            continue
        names.append(name)
    return request.param, names


@pytest.mark.parametrize(("over", "folds"), AVERAGES)
def test_a_fold_without_anything_relevant(data, seed, tmp_path, requested, over, folds):
    relevant, names = requested
    if (relevant, over, folds) == ("all", "lists", "mean"):  # each user has one list: the same as a mean over users
        with pytest.raises(ProtocolError, match='a user has one list here; use "users"'):
            protocol(relevant, over, folds)
        return
    given = protocol(relevant, over, folds)
    assert 0 in relevant_by_fold(data, given, seed)
    kinds = {metrics()[name.partition("@")[0]].kind for name in names}
    assert kinds == {"ranking", "collection", "prediction"} and len(names) > 20
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = Study(data, given, ONE, names, seed=seed).run(tmp_path / "run")
    table = results.results.set_index(["algorithm", "fold", "metric"])
    assert verify(tmp_path / "run", "rescore", data=data).holds
    assert len(results.per_user("hit@3")) > 0
    lists = results.per_list().query("metric == 'hit@3'").dropna(subset="value")
    check_what_is_said(results, caught)
    for label, of_label in lists.groupby("algorithm"):
        row = table.loc[label, "all", "hit@3"]
        by_fold = [of_label[of_label["fold"] == fold] for fold in "1234"]
        if folds == "pooled":
            assert row["users"] == of_label["user"].nunique()
            assert row["value"] == pytest.approx(mean(of_label, over), abs=1e-12)
        else:
            assert row["users"] == sum(lists["user"].nunique() for lists in by_fold)
            assert math.isnan(row["value"])


def check_what_is_said(results, caught):
    """Every number that is none is named with its folds, in the journal and as a warning; no other is."""
    table = results.results
    lacking = table[table["value"].isna()]
    without = {
        metric: ", ".join(lacking[(lacking["metric"] == metric) & (lacking["fold"] != "all")]["fold"])
        for metric in lacking[lacking["fold"] == "all"]["metric"]
    }
    actual = {f.metric: f.figures["folds"] for f in results.findings if f.code == "folds.no-value"}
    assert actual == without
    warned = [warning for warning in caught if issubclass(warning.category, ReproWarning)]
    messages = [str(warning.message) for warning in warned if "no value in" in str(warning)]
    assert len(messages) == bool(without)
    for metric, folds in without.items():
        names = ["any of its 4 folds"] if len(folds.split(", ")) == 4 else folds.split(", ")
        assert any(metric in message and all(name in message for name in names) for message in messages)


def test_a_fold_without_a_value_is_named_in_the_table_and_the_report(data, seed, tmp_path):
    given = protocol()
    data.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "protocol.toml").write_text(given.to_toml())
    (tmp_path / "study.toml").write_text(
        f'seed = {seed}\nmetrics = ["hit@3", "ndcg@3", "rmse"]\nprotocol = "protocol.toml"\ndata = "data.csv"\n'
        '[[algorithms]]\nuse = "reference/item-knn"\nlabel = "kNN"\n[[algorithms]]\nuse = "reference/popularity"\n'
    )
    done = CliRunner().invoke(cli, ["run", str(tmp_path / "study.toml"), "--into", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    fold = relevant_by_fold(data, given, seed).index(0) + 1
    where = f"fold {fold} of 4 (nobody is averaged there: see average.nobody)"
    common = "Metrics have no value in some folds, so that those of all folds together are not numbers:"
    own = f"kNN, reference popularity: hit@3, ndcg@3 in {where}"  # rmse of popularity is no fault of a fold
    assert re.search(rf"warning: {re.escape(common)}\n +{re.escape(own)}\n", done.output)
    page = html.unescape((tmp_path / "run" / "report.html").read_text())
    assert f"{common} kNN, reference popularity.</p>" in page and f"<li>{own}</li>" in page
    (made,) = read_journal(tmp_path / "run" / "journal.jsonl").events("findings.made")
    sentence = f"hit@3 of kNN has no value in {where}, so the value of all folds together is not a number."
    assert sentence in [finding.sentence for finding in made.findings]


def mean(lists, over):
    """Hits are 0 or 1, so that pooled numerators and denominators give the mean over lists."""
    return lists.groupby("user")["value"].mean().mean() if over == "users" else lists["value"].mean()
