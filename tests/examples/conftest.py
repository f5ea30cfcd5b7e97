"""A folder with the files that examples in the documentation name: small, and made by the commands themselves."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

import repro
from repro.data import synthetic_interactions

ROOT = Path(__file__).parents[2]

STUDY = """
question = "Which is best?"
seed = 3
metrics = ["ndcg@10", "hit@10", "ndcg@100"]

[data]
name = "ratings.csv"

[protocol]
base = "random-5fold"
split.folds = 2
{changes}

[[algorithms]]
use = "reference/popularity"
label = "popularity"

[[algorithms]]
use = "reference/item-knn"
label = "knn"

[[algorithms]]
use = "reference/ease"
label = "EASE"
"""
CLAIM = """
title = "Two predictions, two errors"
source = "worked by hand"

[examples]
truth = "truth.csv"

[[systems]]
label = "theirs"
run = "predictions.csv"

[table]
metrics = ["mae"]
theirs = ["0.75"]
"""
TABLE = r"""
\begin{tabular}{lrr}
algorithm & ndcg@10 & hit@10 \\
popularity & 0.21 & 0.52 \\
item-knn & 0.33 & 0.61 \\
\end{tabular}
"""

MODEL = """
import numpy as np
from repro.plugin import Scores


class Recommender:
    def __init__(self, k=5):
        self.k = k

    def fit(self, train, *, seed):
        self.counts = train.item_counts().astype(float)

    def score(self, queries, items):
        return Scores(np.tile(self.counts[items], (len(queries), 1)))
"""


def write_split(folder):
    """The files of a split with negatives, a run and its number, and what a paper says about them."""
    split = {
        "ml.train.rating": "1\t10\t4\t1\n2\t10\t5\t2\n2\t20\t3\t3\n",
        "ml.test.rating": "1\t20\t4\t5\n2\t30\t5\t6\n",
    }
    lists = "\t".join(str(item) for item in range(100, 199))
    split["ml.test.negative"] = f"(1,20)\t{lists}\n(2,30)\t{lists}\n"
    split["knn.run"] = "1 Q0 20 1 2.0 knn\n2 Q0 40 1 1.0 knn\n"
    split["lastfm/data1.txt"], split["lastfm/test1.txt"] = "1\t10\t1\t1\n2\t10\t1\t2\n", "1\t20\t1\t3\n2\t20\t1\t4\n"
    for name, text in split.items():
        (folder / "their-data" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "their-data" / name).write_text(text)
    (folder / "paper.toml").write_text('split = "leave-one-out"\n[data.ml]\nusers = 2\n')
    (folder / "table.csv").write_text("model,HR@1\nKNN,0.5\n")
    for part in ("train", "test"):
        (folder / f"{part}.txt").write_text(split[f"ml.{part}.rating"])


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder, made once; each test gets a copy of its own."""
    folder = tmp_path_factory.mktemp("examples")
    rows = synthetic_interactions(users=40, items=30, ratings=600, alpha=1.0, seed=5).to_frame()
    for name in ("ratings.csv", "my-ratings.csv"):
        rows.to_csv(folder / name, index=False)
    rows.to_csv(folder / "semicolons.csv", index=False, sep=";")
    for study, name, rule in (("study", "run", "item-asc"), ("other", "other-run", "item-desc")):
        (folder / f"{study}.toml").write_text(STUDY.format(changes=f'ties.break = "{rule}"'))
        repro.Study.load(folder / f"{study}.toml").run(folder / name, keep_scores=True)
    for name, source in (("run-a", "run"), ("run-b", "other-run"), ("their-run", "run")):
        shutil.copytree(folder / source, folder / name)
    lists = pd.DataFrame({"user": [1, 1, 2, 2], "item": [10, 20, 10, 30], "score": [2.0, 1.0, 3.0, 1.5]})
    truth = pd.DataFrame({"user": [1, 2, 2], "item": [20, 10, 40], "rating": [5, 4, 5]})
    lists.to_csv(folder / "run.tsv", sep="\t", index=False)
    truth.to_csv(folder / "test.tsv", sep="\t", index=False)
    (folder / "test.qrels").write_text("".join(f"{r.user} 0 {r.item} 1\n" for r in truth.itertuples()))
    for system in ("bpr", "ease"):
        ranked = (f"{r.user} Q0 {r.item} {n} {r.score} {system}\n" for n, r in enumerate(lists.itertuples(), 1))
        (folder / f"{system}.run").write_text("".join(ranked))
    predicted = pd.DataFrame({"user": [1, 1], "item": [10, 20], "rating": [4.0, 2.0], "prediction": [3.0, 2.5]})
    predicted.to_csv(folder / "predictions.csv", index=False)
    predicted.drop(columns="prediction").to_csv(folder / "truth.csv", index=False)
    for name, shift in (("ours", 0.1), ("theirs", 0.0)):
        users = pd.DataFrame({"user": range(20), "metric": "ndcg@10", "value": [n / 40 + shift * n for n in range(20)]})
        users.to_parquet(folder / f"{name}.parquet", index=False)
    for name in ("knn", "svd"):
        lists.to_csv(folder / f"{name}.tsv", sep="\t", index=False)
    (folder / "claim.toml").write_text(CLAIM)
    (folder / "table.tex").write_text(TABLE)
    (folder / "my_package").mkdir()
    (folder / "my_package" / "model.py").write_text(MODEL)
    for name in ("mine", "my-protocol", "p"):
        shutil.copy(ROOT / "protocols" / "random-5fold.toml", folder / f"{name}.toml")
    write_split(folder)
    (folder / "reports").symlink_to(ROOT / "reports")
    return folder


@pytest.fixture
def workspace(made, tmp_path, monkeypatch):
    """A copy of the folder, as the current one."""
    folder = shutil.copytree(made, tmp_path / "workspace", symlinks=True)
    monkeypatch.chdir(folder)
    return folder
