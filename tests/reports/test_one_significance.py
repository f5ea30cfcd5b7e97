"""Every view of a run states the same test, the same p and the same verdict for a pair of algorithms and a metric."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import repro
from repro.cli import cli
from repro.data import Interactions
from repro.explanations import diff
from repro.exports.forms import export
from repro.protocol import Protocol
from repro.reports.run import run_page, write_report
from repro.reports.run.run_view import RunView, written_p
from repro.runs.journal import read_journal

LABELS = ("popular", "knn", "bias", "random")
METRICS = ("ndcg@5", "hit@3", "rmse")
USES = ("reference/popularity", "reference/item-knn", "reference/bias", "reference/random")
TEST = "Fisher's randomisation test"


def made(folder, seed, users, items, **changes):
    """A small run; few users and items, so that some differences are significant and some are not."""
    draws = np.random.default_rng(seed)
    rows = [
        (user, int(item), int(draws.integers(1, 6)))
        for user in range(users)
        for item in draws.choice(items, size=min(items, 8), replace=False, p=_popularity(items))
    ]
    data = Interactions.from_frame(pd.DataFrame(rows, columns=["user", "item", "rating"]))
    protocol = Protocol.load("random-5fold", split__folds=2, **changes)
    algorithms = [{"use": use, "label": label} for use, label in zip(USES, LABELS, strict=True)]
    return repro.Study(data, protocol, algorithms, list(METRICS), seed=seed).run(folder)


def _popularity(items):
    weights = 1 / np.arange(1, items + 1)
    return weights / weights.sum()


def output_of(*arguments):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def compared(folder):
    """By metric and pair, what `repro compare --json` says."""
    chosen = [part for metric in METRICS for part in ("-m", metric)]
    return {
        (item["metric"], frozenset((pair["a"], pair["b"]))): {**pair, "stated": item["stated"]}
        for item in json.loads(output_of("compare", folder, *chosen, "--json"))
        for pair in item["pairs"]
    }


def check_report(results, truth):
    """The answer, the table and the matrix of report.html."""
    run, page = RunView(results), html.unescape(run_page(results))
    table = results.table()
    for (metric, pair), row in truth.items():
        item = run.tested[metric]
        a, b = sorted(pair)
        assert item.p[a][b] == item.p[b][a] == row["p_corrected"]
        if item.best in pair:
            (other,) = pair - {item.best}
            assert item.differs(other) == row["significant"]
            assert item.against.loc[other, "verdict"] == row["verdict"]
    leaders = table[METRICS[0]].dropna().sort_values(ascending=False, kind="stable").index[:2]
    row = truth[METRICS[0], frozenset(leaders)]
    answer = re.search(r'<p class="answer">(.*?)</p>', page).group(1)
    assert f"{written_p(row['p_corrected'])} ({row['stated']}; on each user's {METRICS[0]}" in answer
    assert ("No difference is shown" in answer) == (not row["significant"])
    assert ("more than chance" in answer) == row["significant"]
    # Each row of the table of differences to the best: p and verdict.
    best = run.tested[METRICS[0]].best
    section = page[page.index('<section id="differences">') :]
    for line in re.findall(r"<tr>(.*?)</tr>", section[: section.index("</section>")])[1:]:
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line)
        expected = truth[METRICS[0], frozenset((cells[0], best))]
        assert cells[-2:] == [written_p(expected["p_corrected"]), expected["verdict"]]


def check_journal(results):
    """The event of the report names the test, the family and the correction."""
    write_report(results)
    event = read_journal(results.folder / "journal.jsonl").events("report.written")[-1]
    expected = f"{TEST}, two-sided, corrected for all pairs of algorithms by one metric by Holm, level 0.05"
    assert list(event.files) == ["report.html"] and event.tested == expected


def check_latex(results, truth, folder):
    """A mark in the table for a significant difference from the best, and for no other."""
    text = export(results.folder, "latex", folder / "latex") / "table.tex"
    text, table = text.read_text(), results.table()
    rows = dict(re.findall(r"^ *\{(\w+)\} & (.*?) \\\\$", text, re.MULTILINE))
    for number, metric in enumerate(METRICS):
        values = table[metric].dropna()
        best = values.idxmin() if metric == "rmse" else values.idxmax()
        for label in values.index.drop(best):
            cell, row = rows[label].split(" & ")[number], truth[metric, frozenset((label, best))]
            assert ("rlap" in cell) == row["significant"], (metric, label, cell)
            if "rlap" in cell and "neq" not in cell:
                assert "$^{-}$" in cell and row["verdict"].startswith(f"{best} is better")
    assert TEST in text and "corrected for all pairs of algorithms by one metric by the method of Holm" in text


def check_methods(results, truth, folder):
    text = (export(results.folder, "methods", folder / "methods") / "methods.md").read_text()
    for metric in METRICS:
        pairs = [row for (name, _), row in truth.items() if name == metric]
        differ = sum(row["significant"] for row in pairs)
        assert f"By {metric}, {differ} of {len(pairs)} pairs differ significantly." in text or len(pairs) == 1
    assert TEST in text and "all pairs of algorithms by one metric" in text and "Holm" in text


@settings(max_examples=4, phases=(Phase.generate,))  # a run is slow: no search for a smaller one
@given(seed=st.integers(0, 999), users=st.integers(8, 40), items=st.integers(9, 30))
def test_all_views_of_a_run_agree(tmp_path_factory, seed, users, items):
    folder = tmp_path_factory.mktemp("agree")
    results = made(folder / "run", seed, users, items)
    truth = compared(results.folder)
    assert all(row["stated"].startswith(f"{TEST}, two-sided, corrected for ") for row in truth.values())
    check_report(results, truth)
    check_journal(results)
    check_latex(results, truth, folder)
    check_methods(results, truth, folder)


def test_a_difference_between_runs_has_the_p_of_comparing_the_users_of_both(tmp_path):
    """An algorithm in two runs: `repro diff` gives the p of `repro compare` on its users in files."""
    first, second = (
        made(tmp_path / name, 5, 30, 20, ties__break=rule) for name, rule in (("a", "item-asc"), ("b", "item-desc"))
    )
    result = diff(first.folder, second.folder)
    assert result.test == "randomisation" and "by Holm" in result.stated and "all algorithms" in result.stated
    seen = []
    for pair in result.numbers:
        if not pair.users:  # popularity predicts no ratings
            assert pair.p != pair.p
            continue
        for name, results in (("before", first), ("after", second)):
            frame = results.per_user(pair.metric)
            frame[frame["algorithm"] == pair.algorithm].to_csv(tmp_path / f"{name}.csv", index=False)
        files = (tmp_path / "before.csv", tmp_path / "after.csv")
        (row,) = json.loads(output_of("compare", *files, "-m", pair.metric, "--json"))[0]["pairs"]
        assert pair.p == row["p"]
        seen.append(pair)
    # Holm over the algorithms of a metric, by hand.
    for metric in METRICS:
        family = sorted((pair for pair in seen if pair.metric == metric), key=lambda pair: pair.p)
        highest = 0.0
        for place, pair in enumerate(family):
            highest = max(highest, min(1.0, pair.p * (len(family) - place)))
            assert pair.p_corrected == pytest.approx(highest)
            assert (pair.verdict == "no difference shown") == (highest > 0.05)
    assert {pair.p for pair in diff(first.folder, first.folder).numbers if pair.users} == {1.0}


def test_an_explicit_choice_is_followed_and_named(tmp_path):
    results = made(tmp_path / "run", 3, 30, 20)
    plain = json.loads(output_of("compare", results.folder, "--test", "wilcoxon", "--correct", "none", "--json"))[0]
    assert (plain["test"], plain["correct"]) == ("wilcoxon", "none")
    assert plain["stated"].startswith(
        "Wilcoxon signed-rank test, two-sided, not corrected for all 6 pairs of 4 systems"
    )
    output_of(
        "export", results.folder, "--to", "latex", "--into", tmp_path / "out", "--test", "t", "--baseline", "random"
    )
    text = (tmp_path / "out" / "latex" / "table.tex").read_text()
    assert "Student's paired t test" in text and "all pairs of an algorithm with" in text
