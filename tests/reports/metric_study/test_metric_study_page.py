"""The report of a study of metrics: files, and sentences that say what the numbers say."""

import dataclasses
from xml.etree import ElementTree

import pandas as pd
import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.metric_study import Settings, study_metrics
from repro.reports.metric_study import metric_table, write_metric_study
from repro.reports.metric_study.metric_study_charts import correlations_between, curve_names
from repro.reports.metric_study.metric_study_summary import (
    correlation_sentence,
    differing_sentence,
    findings,
    popularity_sentence,
    power_sentence,
    sparsity_sentence,
)

EVIL = "<script>alert(1)</script>"
CUTOFFS = (5, 10, 20)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    run = Study(
        synthetic_interactions(users=50, items=60, ratings=1000, alpha=1.0, seed=5),
        "valcarce-2018-allitems",
        [
            {"use": "reference/random", "label": "chance <b>"},
            *({"use": f"reference/{name}", "label": name} for name in ("popularity", "item-mean", "puresvd", "bias")),
        ],
        ["ndcg@20"],
        question=f"Is {EVIL} escaped?",
    ).run(tmp_path_factory.mktemp("metrics") / "run")
    return study_metrics(run.folder, Settings(("ndcg", "precision", "rr"), CUTOFFS, samples=2, randomisations=200))


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):
    return write_metric_study(study, tmp_path_factory.mktemp("report") / "there").parent


def with_numbers(study):
    """The study with numbers made up to be told: rr is the worst, ndcg tells most apart, deeper is better."""

    def rank(frame):
        """0 for the best of metrics and cut-offs, 1 for the worst."""
        of_metric = frame["metric"].map({"ndcg": 0.0, "precision": 0.3, "rr": 0.6})
        return of_metric + frame["cutoff"].map({5: 0.4, 10: 0.2, 20: 0.0})

    sparsity = study.sparsity.assign(tau=lambda t: 1.0 - rank(t) * (1 - t["share"]))
    popularity = study.popularity.assign(tau=lambda t: 0.9 - rank(t))
    return dataclasses.replace(
        study,
        sparsity=sparsity,
        popularity=popularity,
        dp=study.dp.assign(dp=1 + 10 * rank(study.dp), significant=9),
    )


def test_every_table_and_figure_has_a_file(written, study):
    names = {path.name for path in written.iterdir()}
    assert {f"{table}.csv" for table in ("values", "correlations", "sparsity", "popularity", "pvalues", "dp")} <= names
    assert "report.html" in names
    figures = sorted(name for name in names if name.endswith(".svg"))
    assert [name.split("-")[1] for name in figures] == list("12345678")
    for name in figures:
        ElementTree.parse(written / name)


def test_tables_read_back_bit_for_bit(written, study):
    for name, table in study.tables.items():
        read = pd.read_csv(written / f"{name}.csv", float_precision="round_trip")
        pd.testing.assert_frame_equal(read, table, check_dtype=False, check_exact=True)


def test_the_page_needs_nothing_else_and_escapes_what_comes_from_data(written, elements_of):
    page = (written / "report.html").read_text()
    elements = elements_of(page)
    kinds = [tag for tag, _, _ in elements.all]
    assert "script" not in kinds and "img" not in kinds
    assert kinds.count("svg") >= 8 and kinds.count("figure") == 8
    assert "&lt;script&gt;" in page and "chance &lt;b&gt;" in page
    assert not [
        attrs for _, attrs, _ in elements.all if "src" in attrs or str(attrs.get("href", "")).startswith("http")
    ]


def test_the_same_study_gives_the_same_bytes(written, study, tmp_path):
    write_metric_study(study, tmp_path)
    for path in written.iterdir():
        if path.name == "journal.jsonl":  # it says when the files were written
            continue
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_method_is_told(written, study):
    page = (written / "report.html").read_text()
    for text in (
        "τ-b",
        "2 random samples",
        "200 samples each",
        "average.no_relevant",
        f"Seed {study.seed}",
        "RecSys 2018",
    ):
        assert text in page


def test_the_table_averages_over_the_smaller_test_sets_only(study):
    table = metric_table(study, [("rr", 20)]).iloc[0]
    part = study.sparsity[(study.sparsity["metric"] == "rr") & (study.sparsity["share"] < 1)]
    assert table["sparsity"] == pytest.approx(part["tau"].mean(), abs=1e-12)
    part = study.popularity[(study.popularity["metric"] == "rr") & (study.popularity["share"] > 0)]
    assert table["popularity"] == pytest.approx(part["tau"].mean(), abs=1e-12)


def test_findings_follow_the_numbers(study):
    result = findings(with_numbers(study))
    assert result[0].startswith("ndcg@20 (mean τ 1.000) keeps") and "rr@20 (mean τ 0.700) does so least" in result[0]
    assert result[1].startswith("ndcg@20 (mean τ 0.900)") and "rr@20 (mean τ 0.300)" in result[1]
    assert result[2].startswith("ndcg@20 (DP 1.00) distinguishes systems best") and "rr@20 (DP 7.00)" in result[2]
    assert "robustness to fewer ratings grows (0.800 at 5, 1.000 at 20; best: 1.000 at 20)" in result[3]
    assert "robustness to the loss of popular items grows (0.500 at 5, 0.900 at 20; best: 0.900 at 20)" in result[3]
    assert "discriminative power grows (5.00 at 5, 1.00 at 20; best: 1.00 at 20)" in result[3]


def test_findings_turn_round_with_the_numbers(study):
    made_up = with_numbers(study)
    shrinking = dataclasses.replace(made_up, dp=made_up.dp.assign(dp=made_up.dp["cutoff"].astype(float)))
    assert "discriminative power shrinks (5.00 at 5, 20.00 at 20; best: 5.00 at 5)" in findings(shrinking)[-1]
    flat = dataclasses.replace(made_up, dp=made_up.dp.assign(dp=made_up.dp["cutoff"].map({5: 2.0, 10: 1.0, 20: 3.0})))
    words = "discriminative power neither grows nor shrinks clearly (2.00 at 5, 3.00 at 20; best: 1.00 at 10)"
    assert words in findings(flat)[-1]


def test_sentences_under_curves_follow_the_numbers(study):
    made_up = with_numbers(study)
    metrics = made_up.metrics_compared
    sparse = sparsity_sentence(made_up, metrics)
    assert "With half of the ratings τ is 0.70 (rr@20) to 1.00 (ndcg@20)" in sparse
    assert "with 5% of them, 0.43 (rr@20) to 1.00 (ndcg@20)" in sparse
    popular = popularity_sentence(made_up, metrics)
    left = made_up.popularity[made_up.popularity["share"] == 0.2]["ratings"].iloc[0]
    assert f"The most popular 20% have {1 - left / made_up.run.n_ratings:.0%} of the ratings" in popular
    power = power_sentence(made_up, metrics)
    assert "Of 10 pairs of systems, 9 have a p-value below 0.05" in power
    assert "lowest first: ndcg@20 1.00, precision@20 4.00, rr@20 7.00" in power


def test_sentences_under_heat_maps_name_the_extremes():
    places = {"a": 0, "b": 1, "c": 2}
    taus = {("a", "b"): 0.95, ("a", "c"): 0.4, ("b", "c"): 0.6}
    rows = [(x, y, places[x], places[y], 1.0 if x == y else taus[min(x, y), max(x, y)]) for x in places for y in places]
    table = pd.DataFrame(rows, columns=["a", "b", "place_a", "place_b", "tau"])
    sentence = correlation_sentence(table, 8)
    assert "most between a and b (τ = 0.95), and least between a and c (τ = 0.40); 1 of 3 pairs reach 0.9" in sentence
    assert "c agrees least with the others (mean τ = 0.50)" in differing_sentence(table)


def test_figures_compare_what_was_asked(study):
    between = correlations_between(study, study.cutoffs_compared)
    assert list(dict.fromkeys(between["a"])) == ["@5", "@10", "@20"] and len(between) == 9
    assert curve_names(study.metrics_compared) == ["ndcg", "precision", "rr"]


def test_a_study_without_any_order_is_told_as_such(study):
    """All systems equal: no tau is a number, and nothing breaks."""
    nothing = dataclasses.replace(
        study,
        correlations=study.correlations.assign(tau=float("nan")),
        sparsity=study.sparsity.assign(tau=float("nan")),
        popularity=study.popularity.assign(tau=float("nan")),
    )
    assert "no pair of orders" in correlation_sentence(correlations_between(nothing, nothing.metrics_compared), 5)
    assert "no order is left" in sparsity_sentence(nothing, nothing.metrics_compared)


def test_a_study_without_any_order_can_be_written(study, tmp_path):
    nothing = dataclasses.replace(
        study,
        correlations=study.correlations.assign(tau=float("nan")),
        sparsity=study.sparsity.assign(tau=float("nan")),
        popularity=study.popularity.assign(tau=float("nan")),
    )
    assert "–" in write_metric_study(nothing, tmp_path).read_text()
