"""Rescore reports each number that differs when computed again, even where other files were forged to agree."""

import io
import re
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from repro.verification import verify


def read_artifact(folder, digest):
    return pq.read_table(folder / "artifacts" / f"{digest}.parquet").to_pandas()


def parquet(table):
    sink = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False), sink)
    return sink.getvalue()


def change_results(forger, change):
    """Apply ``change`` to the table of results, and store it as Parquet and CSV."""
    stored = pq.read_table(forger.folder / "results.parquet")
    table = stored.to_pandas()
    change(table)
    forged = stored
    for name in ("value", "users", "lowest", "highest"):
        position = stored.column_names.index(name)
        column = pa.array(table[name], stored.schema.field(position).type, from_pandas=name in ("lowest", "highest"))
        forged = forged.set_column(position, stored.schema.field(position), column)
    forger.replace_file("results.parquet", parquet(forged))
    sink = io.BytesIO()
    pacsv.write_csv(forged, sink)
    forger.replace_file("results.csv", sink.getvalue())


def test_lists_and_data_suffice_to_recompute_all_but_uncut_lists_and_tie_orders(run):
    verification = verify(run, "rescore")
    assert verification.holds, str(verification)
    assert verification.checked["rescore"] == "the numbers of 6 cells are the same when computed again, bit for bit"
    assert (
        verification.sources["ndcg@5"]
        == verification.sources["catalogue-coverage@5"]
        == "computed again from the stored lists"
    )
    assert verification.sources["rmse"] == "computed again from the stored predictions"
    assert [sentence.partition(" beyond")[0] for sentence in verification.unchecked] == [
        "ap",
        "lowest and highest over tie orders",
    ]


def test_kept_scores_suffice_to_recompute_everything(kept):
    verification = verify(kept, "rescore")
    assert verification.holds, str(verification)
    assert verification.sources["ap"] == verification.sources["ndcg@5"] == "computed again from the kept scores"
    assert verification.unchecked == []


def test_without_the_data_metrics_of_lists_and_predictions_are_recomputed(run):
    (run.parent / "ratings.csv").unlink()
    verification = verify(run, "rescore")
    assert verification.holds, str(verification)
    assert verification.sources["ndcg@5"] == verification.sources["hit@3"] == "computed again from the stored lists"
    assert verification.sources["rmse"] == "averaged again from the stored predictions after fallback and clipping"
    assert "catalogue-coverage@5" not in verification.sources
    assert "ratings.csv, is not there; give it with --data" in verification.unchecked[0]
    assert any(sentence.startswith("catalogue-coverage@5 beyond the averages") for sentence in verification.unchecked)
    # A file with other data in its place is refused.
    (run.parent / "ratings.csv").write_text("user,item,rating\nu1,1,5\nu1,2,3\nu2,1,4\nu2,2,2\n")
    assert "the data changed" in verify(run, "rescore").unchecked[0]


def test_a_number_forged_in_results_and_journal_is_reported_with_cell_and_metric(run, forge):
    forger = forge(run)
    cell = forger.events("cell.finished")[0]
    entry = next(value for value in cell["values"] if value["metric"].startswith("ndcg"))
    honest, entry["value"] = entry["value"], 0.75
    name = cell["cell"].rpartition("/")[0]

    def change(table):
        of_algorithm = (table["algorithm"] == name) & (table["metric"] == "ndcg@5")
        first, second = table.loc[of_algorithm & (table["fold"] != "all"), "value"]
        assert first == honest
        table.loc[of_algorithm & (table["fold"] == "1"), "value"] = 0.75
        table.loc[of_algorithm & (table["fold"] == "all"), "value"] = (0.75 + second) / 2

    change_results(forger, change)
    forger.finish()
    assert verify(run).holds, "the digests and the chain are as they must be"
    failures = verify(run, "rescore").failures
    assert len(failures) == 1, "\n".join(map(str, failures))
    failure = failures[0]
    assert (failure.cell, failure.metric, failure.level) == (cell["cell"], "ndcg@5", "rescore")
    assert f"the journal says 0.75 over 40 users, and the stored tables give {honest!r} over 40" in failure.what


ENDS = ["lowest", "highest"]


def forge_interval(forger, cell, metric, end, number):
    """Change one extreme over tie orders of a cell in the journal and the tables; returns the original value."""
    entry = next(value for value in cell["values"] if value["metric"] == metric)
    honest, entry[end] = entry[end], number
    name, _, fold = cell["cell"].rpartition("/")

    def change(table):
        of_algorithm = (table["algorithm"] == name) & (table["measure"] == metric)
        assert table.loc[of_algorithm & (table["fold"] == fold), end].item() == honest
        table.loc[of_algorithm & (table["fold"] == fold), end] = number
        of_folds = table.loc[of_algorithm & (table["fold"] != "all"), end]
        table.loc[of_algorithm & (table["fold"] == "all"), end] = of_folds.sum() / len(of_folds)

    change_results(forger, change)
    return honest


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("with_scores", [False, True], ids=["lists", "scores"])
def test_each_forged_extreme_over_tie_orders_is_reported(run, kept, forge, end, with_scores):
    """Forges the extreme of each metric that has one, including F1, which is computed from two others."""
    folder = kept if with_scores else run
    cell = next(event for event in forge(folder).events("cell.finished") if event["cell"].startswith("reference pop"))
    names = [value["metric"] for value in cell["values"] if value[end] is not None]
    assert {name.partition("@")[0].partition("[")[0] for name in names} == {"ndcg", "hit", "ap", "f1"}
    forger, expected = forge(folder), {}
    cell = next(event for event in forger.events("cell.finished") if event["cell"] == cell["cell"])
    for number, name in enumerate(names):
        forged = 0.01 * (number + 1) if end == "lowest" else 1 - 0.01 * (number + 1)
        expected[name] = (forge_interval(forger, cell, name, end, forged), forged)
    forger.finish()
    assert verify(folder).holds, "the digests and the chain are as they must be"
    failures = verify(folder, "rescore").failures
    assert len(failures) == len(names), "\n".join(map(str, failures))
    for failure, (honest, forged) in zip(failures, expected.values(), strict=True):
        assert (failure.cell, failure.level) == (cell["cell"], "rescore")
        text, gives = failure.what.split(" over all orders of tied items, and the stored tables give ")
        assert repr(forged) in text and repr(honest) in gives


def test_removed_and_added_extremes_are_reported(run, forge):
    forger = forge(run)
    cell = forger.events("cell.finished")[0]
    for entry in cell["values"]:
        if entry["metric"].startswith("ndcg"):
            entry["lowest"] = entry["highest"] = None
        if entry["metric"].startswith("rmse"):
            entry["lowest"] = entry["highest"] = 0.5
    forger.finish()
    failures = [
        failure
        for failure in verify(run, "rescore").failures
        if failure.artefact not in ("results.parquet", "results.csv")
    ]
    assert [(failure.cell, failure.metric) for failure in failures] == [
        (cell["cell"], "ndcg@5"),
        (cell["cell"], "rmse"),
    ]
    assert "the journal says None to None" in failures[0].what and "give None to None" in failures[1].what


def test_forged_values_of_other_tie_orders_are_reported_with_the_users(kept, forge):
    forger = forge(kept)
    cell = next(event for event in forger.events("cell.finished") if event["cell"].startswith("reference pop"))
    tied = read_artifact(kept, cell["artifacts"]["tied_values"])
    users = read_artifact(kept, cell["artifacts"]["values"])["user"]
    column = "hit@3 worst numerator"
    row = tied.index[tied[column] == 1][0]
    tied.loc[row, column] = 0.0
    forger.replace_artifact(cell["artifacts"]["tied_values"], parquet(tied))
    entry = next(value for value in cell["values"] if value["metric"] == "hit@3")
    forge_interval(forger, cell, "hit@3", "lowest", (entry["lowest"] * 40 - 1) / 40)
    forger.finish()
    assert verify(kept).holds
    table, number = verify(kept, "rescore").failures
    assert table.users == (users[tied.loc[row, "row"]],)
    assert "the tied_values: 1 rows differ from those computed again from the kept scores" in table.what
    assert number.metric == "hit@3"


def test_forged_extremes_of_pooled_folds_are_reported(tmp_path, forge, make_run):
    folder = make_run(tmp_path, ["reference/popularity"], ["ndcg@5"], average__folds="pooled")
    forger = forge(folder)
    change_results(forger, lambda table: table.__setitem__("highest", table["highest"] + (table["fold"] == "all") / 9))
    forger.finish()
    assert verify(folder).holds
    first, second = verify(folder, "rescore").failures
    assert (first.artefact, first.cell, second.artefact) == (
        "results.parquet",
        "reference popularity/all",
        "results.csv",
    )
    assert re.fullmatch(r"it says highest 0\.\d+; the cells give highest 0\.\d+", first.what)


def test_removed_added_and_changed_findings_are_reported(run, forge):
    def forged(change):
        forger = forge(run)
        change(forger.events("findings.made")[-1]["findings"])
        forger.finish()
        assert verify(run).holds, "the digests and the chain are as they must be"
        return [str(failure) for failure in verify(run, "rescore").failures]

    journal = (run / "journal.jsonl").read_bytes()
    findings = forge(run).events("findings.made")[-1]["findings"]
    position = next(n for n, finding in enumerate(findings) if finding["code"] == "ties.decide")
    finding = findings[position]
    subject = f"({finding['algorithm']}, {finding['metric']}, line"
    changes = {
        "follows from the numbers, and is not there": lambda made: made.pop(position),
        "does not follow from the numbers": lambda made: made.append({**finding, "code": "lists.empty"}),
        "and the numbers give": lambda made: made[position]["figures"].update(highest=0.001),
    }
    for text, change in changes.items():
        (failure,) = forged(change)
        assert subject in failure and text in failure
        (run / "journal.jsonl").write_bytes(journal)
    assert verify(run, "rescore").holds


@pytest.mark.parametrize("fact", ["tied_users", "constant_lists", "listed_unscored", "predictions_fallback"])
def test_changed_counts_are_reported(kept, forge, fact):
    forger = forge(kept)
    cell = next(event for event in forger.events("cell.finished") if event["cell"].startswith("reference bias"))
    facts = cell["facts"]
    facts[fact] = {**facts[fact], "5": 1} if fact == "tied_users" else facts[fact] + 1
    forger.finish()
    assert verify(kept).holds
    (failure,) = verify(kept, "rescore").failures
    assert failure.cell == cell["cell"] and f"{fact} is {facts[fact]} in the journal" in failure.what


def test_forged_values_of_lists_are_reported_with_the_users(run, forge):
    forger = forge(run)
    cell = forger.events("cell.finished")[0]
    values = read_artifact(run, cell["artifacts"]["values"])
    column = next(name for name in values if name.startswith("hit@3 numerator"))
    lost = values.index[values[column] == 0][:2]
    assert len(lost) == 2
    values.loc[lost, column] = 1.0
    forger.replace_artifact(cell["artifacts"]["values"], parquet(values))
    entry = next(value for value in cell["values"] if value["metric"] == "hit@3")
    hits = values[column].sum() / (values["hit@3 denominator"] > 0).sum()
    entry["value"] = float(hits)
    name = cell["cell"].rpartition("/")[0]

    def change(table):
        of_algorithm = (table["algorithm"] == name) & (table["metric"] == "hit@3")
        table.loc[of_algorithm & (table["fold"] == "1"), "value"] = float(hits)
        table.loc[of_algorithm & (table["fold"] == "all"), "value"] = table.loc[
            of_algorithm & (table["fold"] != "all"), "value"
        ].mean()

    change_results(forger, change)
    forger.finish()
    assert verify(run).holds
    failures = verify(run, "rescore").failures
    assert len(failures) == 1, "\n".join(map(str, failures))
    failure = failures[0]
    assert (failure.cell, failure.metric) == (cell["cell"], "hit@3")
    assert failure.users == tuple(values.loc[lost, "user"])
    assert "the values of 2 lists differ from the stored values" in failure.what


def test_results_that_differ_from_the_cells_are_reported(run, forge):
    forger = forge(run)
    change_results(forger, lambda table: table.__setitem__("users", table["users"] + (np.arange(len(table)) == 0)))
    forger.finish()
    assert verify(run).holds
    failures = verify(run, "rescore").failures
    assert [failure.artefact for failure in failures] == ["results.parquet", "results.csv"]
    assert failures[0].what == "it says users 41; the cells give users 40"


def test_lists_that_differ_from_the_scores_are_reported_with_the_users(kept, forge):
    """Swaps the first two items of one user's list: only the kept scores show that."""
    forger = forge(kept)
    cell = next(event for event in forger.events("cell.finished") if event["cell"].startswith("reference bias"))
    lists = read_artifact(kept, cell["artifacts"]["lists"])
    user = lists["user"].iloc[0]
    top = lists.index[lists["user"] == user][:2]
    lists.loc[top, "item"] = lists.loc[top, "item"].to_numpy()[::-1]
    forger.replace_artifact(cell["artifacts"]["lists"], parquet(lists))
    forger.finish()
    assert verify(kept).holds
    (failure,) = verify(kept, "rescore").failures
    assert (failure.cell, failure.users) == (cell["cell"], (user,))
    assert "the lists: 2 rows differ from those computed again from the kept scores" in failure.what


def test_improved_predictions_are_reported_with_the_users(run, forge):
    forger = forge(run)
    cell = next(event for event in forger.events("cell.finished") if event["cell"].startswith("reference bias"))
    predictions = read_artifact(run, cell["artifacts"]["predictions"])
    predictions.loc[0, "resolved"] = predictions.loc[0, "rating"]
    forger.replace_artifact(cell["artifacts"]["predictions"], parquet(predictions))
    forger.finish()
    failures = verify(run, "rescore").failures
    assert {failure.cell for failure in failures} == {cell["cell"]}
    assert failures[0].users == (predictions.loc[0, "user"],)
    assert failures[1].metric == "rmse"


def test_another_test_part_and_another_protocol_are_reported(run, forge):
    forger = forge(run)
    fold = forger.events("fold.made")[0]
    rows = read_artifact(run, fold["artifacts"]["test"])
    rows.loc[0, "rating"] = 6.0 - rows.loc[0, "rating"]
    forger.replace_artifact(fold["artifacts"]["test"], parquet(rows))
    text = (run / "protocol.toml").read_text()
    assert text.count("threshold = 4.0") == 1
    forger.replace_file("protocol.toml", text.replace("threshold = 4.0", "threshold = 3.0").encode())
    forger.finish()
    assert verify(run).holds
    sentences = [str(failure) for failure in verify(run, "rescore").failures]
    assert any(
        "relevance.threshold was 4.0 when the run was made, and is 3.0 now" in sentence for sentence in sentences
    )
    assert any("the test part of 1 is not the one that was made" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    "changes",
    [
        {"candidates__relevant": "one", "candidates__negatives": "sampled", "candidates__sample_size": 5},
        {"ties__break": "expected"},
        {"ties__break": "random", "missing__rank": "drop", "relevance__rule": "user-mean"},
        {"average__folds": "pooled", "average__over": "pooled"},
        {"candidates__base": "user-test-items", "missing__zero": "missing-or-below"},
    ],
    ids=lambda changes: ", ".join(map(str, changes.values())),
)
@pytest.mark.parametrize("with_scores", [False, True])
def test_runs_with_other_protocols_verify(tmp_path, changes, with_scores, make_run):
    metrics = ["ndcg@5", "precision@3", "rmse"]
    folder = make_run(tmp_path, ["reference/bias", "reference/item-knn"], metrics, with_scores, **changes)
    verification = verify(folder, "rescore")
    assert verification.holds, str(verification)
    expected = "scores" if with_scores else "lists"
    if changes.get("ties__break") == "expected" and not with_scores:
        assert any("depends on equal scores" in sentence for sentence in verification.unchecked)
    else:
        assert verification.sources["ndcg@5"].endswith(expected)


def test_a_run_with_predictions_only_verifies(tmp_path, make_run):
    folder = make_run(tmp_path, ["reference/bias"], ["rmse", "mae"])
    verification = verify(folder, "rescore")
    assert verification.holds and set(verification.sources) == {"rmse", "mae"}
    assert verification.unchecked == []


def test_a_damaged_table_is_reported_and_the_others_are_still_checked(run):
    cells = sorted((run / "artifacts").iterdir())
    for path in cells[:3]:
        path.write_bytes(b"PAR1 no table PAR1")
    shutil.rmtree(run / "environments")
    verification = verify(run, "rescore")
    assert sum(failure.level == "integrity" for failure in verification.failures) == 4
    assert any(failure.level == "rescore" for failure in verification.failures)
    assert pd.notna(verification.summary)
