"""Printed numbers: read from tables, contradictions, and the protocols that give them from run files."""

import json
import math

import numpy as np
import pytest

from repro.errors import StudyError
from repro.reviews import review
from repro.reviews.numbers.printed_numbers import read_numbers
from repro.reviews.numbers.run_search import match_systems
from tests.reviews.artefacts import found, lines, write

K = 3


@pytest.fixture(scope="module")
def lists():
    """Ranked lists of two systems for 40 users, their test items, and training rows, one of which is listed."""
    draws = np.random.default_rng(5)
    test = {user: draws.choice(30, draws.integers(1, 6), replace=False).tolist() for user in range(40)}
    train = {user: [30 + user % 5, 36] for user in range(40)}
    runs = {name: {user: draws.permutation(30).tolist()[:8] for user in range(40)} for name in ("MF", "ItemKNN")}
    return test, train, runs


def recall(ranked, relevant, smaller=False):
    """Recall in plain Python; with ``smaller``, the denominator is at most the length of the list."""
    hits = len(set(ranked[:K]) & set(relevant))
    return hits / (min(K, len(relevant)) if smaller else len(relevant))


def ndcg(ranked, relevant):
    gains = sum(1 / math.log2(rank + 2) for rank, item in enumerate(ranked[:K]) if item in relevant)
    return gains / sum(1 / math.log2(rank + 2) for rank in range(min(K, len(relevant))))


def mean(values):
    return sum(values) / len(values)


def artefact(folder, lists, numbers, name="numbers.json"):
    test, train, runs = lists
    files = {
        "train.txt": lines([(user, item) for user, items in train.items() for item in items]),
        "test.txt": lines([(user, item) for user, items in test.items() for item in items]),
        name: numbers if isinstance(numbers, str) else json.dumps(numbers),
    }
    for system, ranked in runs.items():
        rows = [(user, item, 100 - rank) for user, items in ranked.items() for rank, item in enumerate(items)]
        files[f"run-{system}.csv"] = "user,item,score\n" + lines(rows, ",")
    write(folder, files)
    return review(folder, numbers=folder / name, progress=False)


def printed(lists, metric, digits=4):
    test, _, runs = lists
    return {
        system: f"{mean([metric(ranked[user], test[user]) for user in test]):.{digits}f}"
        for system, ranked in runs.items()
    }


def test_numbers_of_the_default_protocol_are_named(tmp_path, lists):
    values = {"recall@3": printed(lists, recall), "ndcg@3": printed(lists, ndcg)}
    table = {system: {metric: of[system] for metric, of in values.items()} for system in lists[2]}
    result = artefact(tmp_path, lists, table)
    assert [number.fitting > 0 for number in result.numbers] == [True] * 4
    assert all("the default protocol" in number.which for number in result.numbers)
    (all_of_them,) = found(result, "printed-numbers")
    assert all_of_them.text.startswith("all 4 printed numbers come from the run files by: the default protocol")
    assert not found(result, "unexplained-numbers")


def test_another_definition_is_found(tmp_path, lists):
    values = printed(lists, lambda ranked, relevant: recall(ranked, relevant, smaller=True))
    assert values != printed(lists, recall)
    result = artefact(tmp_path, lists, {system: {"recall@3": text} for system, text in values.items()})
    (all_of_them,) = found(result, "printed-numbers")
    assert all_of_them.count == 2 and "metric.recall.denominator = min" in all_of_them.text
    assert "the default protocol" not in all_of_them.text


def test_lists_with_training_items_left_out_are_tried(tmp_path, lists):
    test, train, runs = lists
    listed = {system: {user: [train[user][0], *items] for user, items in of.items()} for system, of in runs.items()}
    values = printed(lists, recall)  # of the lists without the training item at their heads
    result = artefact(tmp_path, (test, train, listed), {system: {"Recall@3": text} for system, text in values.items()})
    (trained, _) = found(result, "recommended-training-items")
    assert (trained.count, trained.total) == (40, 360)
    (all_of_them,) = found(result, "printed-numbers")
    assert all_of_them.text.endswith("training items left out of the lists")


def test_a_number_that_nothing_gives_is_not_explained(tmp_path, lists):
    values = printed(lists, recall)
    wrong = {"MF": {"recall@3": values["MF"]}, "ItemKNN": {"recall@3": "0.9871"}}
    result = artefact(tmp_path, lists, wrong)
    (most,) = found(result, "printed-numbers")
    assert most.text.startswith("1 of 2 printed numbers come from the run files by: the default protocol")
    (none,) = found(result, "unexplained-numbers")
    assert none.count == 1 and "ItemKNN, recall@3: 0.9871" in none.examples[0].text
    assert {number.system: number.fitting == 0 for number in result.numbers} == {"MF": False, "ItemKNN": True}


def test_systems_without_a_run_are_undetermined_and_contradictions_are_errata(tmp_path, lists):
    table = {"Other": {"hit@3": "0.10", "recall@3": "0.20"}, "Third": {"hit@3": "1.7", "recall@3": "0.2"}}
    result = artefact(tmp_path, lists, table)
    errata = [finding.text for finding in found(result, "erratum")]
    assert any("hit lies between 0 and 1: 1.7 is more" in text for text in errata)
    (contradiction,) = found(result, "contradiction")  # pooled over all users, these numbers are possible
    assert contradiction.severity == "warning"
    assert "Other: hit@3 (0.10) is below recall@3 (0.20)" in contradiction.text
    assert any("no run file" in finding.text for finding in found(result, "printed-numbers"))
    assert result.numbers == ()


def test_runs_are_checked_without_numbers(tmp_path, lists):
    test, _, runs = lists
    run = [(user, item, 9) for user, items in runs["MF"].items() if user != 7 for item in items]
    files = {
        "test.txt": lines([(user, item) for user, items in test.items() for item in items]),
        "mf.run": lines([(user, "Q0", item, 1, score, "mf") for user, item, score in [*run, run[0]]], " "),
        "broken.run": "x\n",
    }
    result = review(write(tmp_path, files), progress=False)
    assert found(result, "repeated-recommendations")[0].count == 1
    (without,) = found(result, "users-without-list")
    assert (without.count, without.total, without.examples[0].text) == (1, 40, "user 7")
    assert "broken.run cannot be read" in found(result, "unread-run")[0].text


TABLES = {
    "table.csv": "model,Recall@20,Coherence,NDCG@20\nMF,18.30,1,0.1554\nKNN,12.1,2,0.11\n",
    "README.md": "# Title\n\n| a | b |\n| --- | --- |\n| x | y |\n\ntext\n\n"
    "| model | Recall@20 | NDCG@20 |\n| --- | --- | --- |\n| MF | 18.30 | 0.1554 |\n| KNN | 12.1 | 0.11 |\n",
    "table.tex": "\\begin{tabular}{lrr}\nmodel & Recall@20 & NDCG@20 \\\\ \\hline\nMF & 18.30 & 0.1554 \\\\\n"
    "KNN & 12.1 & 0.11 \\\\\n\\end{tabular}\n",
    "table.json": '{"MF": {"Recall@20": 18.30, "NDCG@20": 0.1554}, "KNN": {"Recall@20": "12.1", "NDCG@20": 0.11}}',
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_numbers(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name])
    read = read_numbers(tmp_path / name)
    values = {(one.system, one.metric): (one.printed.value, one.printed.decimals) for one in read.numbers}
    assert values == {
        ("MF", "recall@20"): (0.1830, 4),
        ("KNN", "recall@20"): (0.121, 3),
        ("MF", "ndcg@20"): (0.1554, 4),
        ("KNN", "ndcg@20"): (0.11, 2),
    }
    assert any("percentages" in note for note in read.notes)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "[1]", "must have the numbers of each system"),
        ("x.json", "{", "cannot read"),
        ("x.csv", "model,cost\nMF,3\n", "no column of a known metric"),
        ("x.md", "no table", "no table with bars"),
    ],
)
def test_tables_that_are_none(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(StudyError, match=message):
        read_numbers(tmp_path / name)


def test_systems_are_matched_by_name_only_where_a_single_file_fits():
    files = ["runs/bpr-mf.csv", "runs/mf.csv", "runs/item_knn.csv"]
    assert match_systems(["MF", "BPR-MF", "ItemKNN", "EASE"], files) == {
        "MF": "runs/mf.csv",
        "BPR-MF": "runs/bpr-mf.csv",
        "ItemKNN": "runs/item_knn.csv",
    }
    assert match_systems(["MF"], ["a-mf.csv", "b-mf.csv"]) == {}
    assert match_systems(["Ours"], ["run.txt"]) == {"Ours": "run.txt"}
