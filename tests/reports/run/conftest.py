"""Runs to report on: one of plain names, one whose every text would run if a page let it."""

import pandas as pd
import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.protocol import Protocol
from repro.reports import write_report

RUNS = "window.hacked=(window.hacked||0)+1"
EVIL = (
    f"</script><script>{RUNS}</script>",
    f'"><img src=x onerror="{RUNS}">',
    f"<!--<script>{RUNS}//",
    f"${{{RUNS}}}",
    f'{{"signal":"{RUNS}"}}',
    f"'];{RUNS};//",
)


def small_study(metrics, algorithms=("reference/popularity", "reference/item-knn", "reference/bias"), **options):
    changes = options.pop("changes", {"split__folds": 2})
    return Study(
        synthetic_interactions(users=60, items=40, ratings=900, alpha=1.0, seed=4),
        Protocol.load("random-5fold", **changes),
        list(algorithms),
        metrics,
        seed=3,
        question="Which is which?",
        **options,
    )


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A run that kept its scores."""
    study = small_study(["ndcg@5", "precision@5", "catalogue-coverage@5", "rmse"])
    return study.run(tmp_path_factory.mktemp("report") / "run", keep_scores=True)


@pytest.fixture(scope="session")
def page(finished):
    """The report of that run, as a file."""
    return write_report(finished)


@pytest.fixture(scope="session")
def crowd(tmp_path_factory):
    """A run of many algorithms that have much in common."""
    damped = [
        {"use": "reference/bias", "label": f"bias damped by {n}", "parameters": {"item_damping": float(n)}}
        for n in range(16)
    ]
    same = [{"use": "reference/item-mean", "label": f"item means {n}"} for n in range(3)]
    study = small_study(["ndcg@5"], [*damped, *same, "reference/popularity"])
    return study.run(tmp_path_factory.mktemp("crowd") / "run")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A report of a run whose ids, labels and question are scripts."""
    rows = [
        (f"{EVIL[user % 6]}{user}", f"{EVIL[item % 6]}{item}", 1 + (user * item + item) % 5)
        for user in range(18)
        for item in range(12)
    ]
    uses = ("popularity", "item-knn", "bias", "item-mean", "puresvd", "random")
    # No label has a slash: a study would refuse it.
    labels = [text.replace("/", "") for text in EVIL]
    algorithms = [{"use": f"reference/{use}", "label": text} for use, text in zip(uses, labels, strict=True)]
    study = Study(
        pd.DataFrame(rows, columns=["user", "item", "rating"]),
        Protocol.load("random-5fold", split__folds=2),
        algorithms,
        ["ndcg@5", "catalogue-coverage@5", "rmse"],
        question=f"Is {' '.join(EVIL)} escaped?",
    )
    return write_report(study.run(tmp_path_factory.mktemp("hostile") / "run", keep_scores=True))
