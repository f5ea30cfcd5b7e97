"""The study of metrics: lists judged again with fewer ratings, against a real removal of the rows."""

import itertools
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import kendalltau

import repro
from repro import Study
from repro.data import synthetic_interactions
from repro.errors import JournalError, ProtocolError, StudyError
from repro.metric_study import Settings, judge_run, study_metrics
from repro.metric_study.measuring import all_kept, columns, system_values, user_values
from repro.metric_study.reduced_tests import ReducedTest, most_popular
from repro.protocol import Protocol
from repro.runs.journal import read_journal

METRICS = ("precision", "recall", "ap", "ndcg", "rr", "bpref", "infap")
ALGORITHMS = ("random", "popularity", "item-mean", "bias", "puresvd", "ease")
SMALL = Settings(("ndcg", "precision", "rr"), (5, 20), samples=3, randomisations=500)


def protocol(**changes):
    return Protocol.load("valcarce-2018-allitems", **changes)


def run_into(folder, rules, metrics=("ndcg@20", "precision@20", "rr@20"), algorithms=ALGORITHMS):
    data = synthetic_interactions(users=60, items=70, ratings=1500, alpha=1.0, seed=5)
    names = [{"use": f"reference/{name}", "label": name} for name in algorithms]
    return Study(data, rules, names, metrics, seed=9, question="Which?").run(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run_into(tmp_path_factory.mktemp("metrics") / "run", protocol()).folder


@pytest.fixture(scope="module")
def folds_folder(tmp_path_factory):
    """Three folds by ratings; users without relevant items count 0."""
    rules = protocol(split__strategy="kfold", split__folds=3, average__no_relevant="zero")
    return run_into(tmp_path_factory.mktemp("metrics") / "folds", rules).folder


@pytest.fixture(scope="module")
def small(folder):
    return study_metrics(folder, SMALL)


class Stored:
    """The tables of a run, read without the code under test."""

    def __init__(self, folder):
        journal = read_journal(folder / "journal.jsonl")

        def table(digest):
            return pq.read_table(folder / "artifacts" / f"{digest}.parquet").to_pandas()

        self.tests = {event.fold: table(event.artifacts["test"]) for event in journal.events("fold.made")}
        self.lists = {event.cell: table(event.artifacts["lists"]) for event in journal.events("cell.finished")}
        self.protocol = Protocol.load(folder / "protocol.toml")

    def value(self, system, names, keep):
        """The mean over folds of each metric, where ``keep`` chooses the rows of a fold's test frame."""
        of_folds = []
        for fold, test in self.tests.items():
            lists = self.lists[f"{system}/{fold}"][["user", "item", "rank"]]
            of_folds.append(repro.evaluate(lists, keep(fold, test), self.protocol, names)["value"].to_numpy())
        return np.mean(of_folds, axis=0)


def kept_frames(run, masks):
    """The rows that masks keep, as a choice of rows of the test frames: user, item pairs by their ids."""
    pairs = {}
    for fold, mask in zip(run.folds, masks, strict=True):
        chosen = fold.test.select(mask)
        pairs[fold.name] = set(zip(chosen.user_ids[chosen.users], chosen.item_ids[chosen.items], strict=True))

    def keep(fold, test):
        return test[[pair in pairs[fold] for pair in zip(test["user"], test["item"], strict=True)]]

    return keep


@pytest.mark.parametrize("which", ["folder", "folds_folder"])
@pytest.mark.parametrize("test", [ReducedTest(0.5, 1), ReducedTest(0.05, 2), ReducedTest(0.1, 0), None])
def test_masked_ratings_are_as_good_as_removed_ones(which, test, request):
    folder = request.getfixturevalue(which)
    run, stored = judge_run(repro.Run(folder), 20), Stored(folder)
    masks = all_kept(run) if test is None else test.kept(run, 7)
    requested = columns(METRICS, (5, 20), run.protocol)
    values = system_values(run, requested, masks)
    names = [f"{column.metric}@{column.cutoff}" for column in requested]
    for number, system in enumerate(run.systems):
        expected = stored.value(system, names, kept_frames(run, masks))
        np.testing.assert_allclose(values[:, number], expected, rtol=0, atol=1e-12)


def test_the_whole_test_set_gives_the_numbers_of_the_run(folder, small):
    table = repro.Run(folder).table()
    for (metric, cutoff, system), value in small.values.set_index(["metric", "cutoff", "system"])["value"].items():
        if cutoff == 20:
            assert value == table.loc[system, f"{metric}@20"]


def test_folds_are_pooled_where_the_protocol_says_so(tmp_path):
    rules = protocol(split__strategy="kfold", split__folds=2, average__folds="pooled")
    results = run_into(tmp_path / "run", rules)
    run = judge_run(repro.Run(results.folder), 20)
    (values,) = system_values(run, columns(("ndcg",), (20,), run.protocol), all_kept(run))
    assert values.tolist() == results.table()["ndcg@20"].tolist()


def test_a_user_of_several_folds_is_one_user_in_the_tests(folds_folder):
    run, stored = judge_run(repro.Run(folds_folder), 20), Stored(folds_folder)
    (column,) = columns(("precision",), (20,), run.protocol)
    users, values = user_values(run, column.measure)
    parts = [
        repro.evaluate(
            stored.lists[f"ease/{fold}"][["user", "item", "rank"]],
            test,
            stored.protocol,
            ["precision@20"],
            per_user=True,
        )
        for fold, test in stored.tests.items()
    ]
    expected = pd.concat(parts).groupby("user")["value"].mean()
    assert set(users) == set(expected.index)
    np.testing.assert_allclose(values[list(run.systems).index("ease")], expected.loc[users], atol=1e-12)


def test_correlations_are_those_of_scipy(small):
    values = small.values.set_index(["metric", "cutoff"])["value"]
    table = small.correlations.set_index(["metric_a", "cutoff_a", "metric_b", "cutoff_b"])["tau"]
    for a, b in itertools.product([("ndcg", 5), ("ndcg", 20), ("rr", 20)], repeat=2):
        if (*a, *b) in table.index:
            assert table[(*a, *b)] == pytest.approx(kendalltau(values[a], values[b]).statistic, abs=1e-12)
    assert ("ndcg", 5, "rr", 20) not in table.index, "metrics are compared at the deepest cut-off only"
    assert len(table) == 3 * 2 * 2 + 3 * 3 - 3


def test_sparsity_is_the_mean_tau_over_the_samples(folder, small):
    run, stored = judge_run(repro.Run(folder), 20), Stored(folder)
    whole = [stored.value(system, ["ndcg@20"], lambda _, test: test)[0] for system in run.systems]
    taus = []
    for sample in (1, 2, 3):
        keep = kept_frames(run, ReducedTest(0.35, sample).kept(run, 9))
        reduced = [stored.value(system, ["ndcg@20"], keep)[0] for system in run.systems]
        taus.append(kendalltau(whole, reduced).statistic)
    row = small.sparsity.set_index(["metric", "cutoff", "share"]).loc[("ndcg", 20, 0.35)]
    assert row["tau"] == pytest.approx(np.mean(taus), abs=1e-12)
    assert row["deviation"] == pytest.approx(np.std(taus, ddof=1), abs=1e-12)
    assert row["ratings"] == round(0.35 * run.n_ratings)
    shares = small.sparsity["share"].unique()
    assert np.allclose(shares, np.arange(100, 0, -5) / 100)
    assert (small.sparsity[small.sparsity["share"] == 1]["tau"] == 1).all()


def test_popularity_removes_the_items_with_most_test_ratings(folder, small):
    stored = Stored(folder)
    test = stored.tests[next(iter(stored.tests))]
    counts = test["item"].value_counts().rename_axis("item").reset_index(name="n")
    counts = counts.sort_values(["n", "item"], ascending=[False, True])
    gone = counts["item"].head(round(0.2 * len(counts)))
    run = judge_run(repro.Run(folder), 20)
    assert run.folds[0].test.item_ids[most_popular(run, 0.2)].tolist() == gone.tolist()

    def keep(_, rows):
        return rows[~rows["item"].isin(gone)]

    systems = list(run.systems)
    whole = [stored.value(system, ["rr@20"], lambda _, rows: rows)[0] for system in systems]
    reduced = [stored.value(system, ["rr@20"], keep)[0] for system in systems]
    row = small.popularity.set_index(["metric", "cutoff", "share"]).loc[("rr", 20, 0.2)]
    assert row["tau"] == pytest.approx(kendalltau(whole, reduced).statistic, abs=1e-12)
    assert (row["items"], row["ratings"]) == (len(gone), len(keep("", test)))


def test_the_power_is_the_sum_of_the_p_values(small):
    for _, row in small.dp.iterrows():
        part = small.pvalues[(small.pvalues["metric"] == row["metric"]) & (small.pvalues["cutoff"] == row["cutoff"])]
        assert len(part) == row["pairs"] == 15
        assert row["dp"] == pytest.approx(part["p"].sum(), abs=1e-12)
        assert row["significant"] == (part["p"] < 0.05).sum()
        assert row["median_p"] == part["p"].median()


def test_a_p_value_agrees_with_a_plain_randomisation_test(folder, small):
    stored = Stored(folder)
    (fold, test), *_ = stored.tests.items()
    values = [
        repro.evaluate(
            stored.lists[f"{system}/{fold}"][["user", "item", "rank"]], test, stored.protocol, ["rr@20"], per_user=True
        ).set_index("user")["value"]
        for system in ("popularity", "bias")
    ]
    difference = (values[0] - values[1]).to_numpy()
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(20_000, len(difference)))
    expected = (np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9).mean()
    table = small.pvalues.set_index(["metric", "cutoff", "system_a", "system_b"])["p"]
    p = table[("rr", 20, "popularity", "bias")]
    assert p == pytest.approx(expected, abs=0.08)  # of 500 samples: three standard errors


def test_one_metric_has_all_cut_offs_compared_and_the_others_the_deepest(small):
    compared = {("ndcg", 5), ("ndcg", 20), ("precision", 20), ("rr", 20)}
    for table in (small.sparsity, small.popularity, small.dp, small.pvalues):
        assert set(zip(table["metric"], table["cutoff"], strict=True)) == compared


def test_the_same_seed_gives_the_same_tables_whatever_the_workers(folder, small):
    again = study_metrics(folder, SMALL, workers=2)
    other = study_metrics(folder, Settings(SMALL.metrics, SMALL.cutoffs, samples=3, randomisations=500, seed=10))
    for name, table in small.tables.items():
        pd.testing.assert_frame_equal(table, again.tables[name], check_exact=True)
    assert not other.sparsity["tau"].equals(small.sparsity["tau"])
    assert other.popularity.equals(small.popularity), "nothing is drawn there"


def test_progress_is_reported_by_stage(folder):
    progress = []
    study_metrics(
        folder,
        Settings(("ndcg",), (5,), samples=1, randomisations=10),
        progress=lambda stage, done, total: progress.append((stage, done, total)),
    )
    stages = list(dict.fromkeys(stage for stage, _, _ in progress))
    assert stages == ["reading the lists", "random test sets", "without popular items", "randomisation tests"]
    assert all((stage, total, total) in progress for stage, _, total in progress)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ties__break": "expected"}, 'ties.break = "expected".*--set ties.break=item-asc'),
        ({"ties__break": "shared-mean"}, 'ties.break = "shared-mean".*no order'),
        ({"ties__break": "best"}, 'ties.break = "best".*no order of their own'),
        ({"candidates__relevant": "one"}, "1R.*vanish"),
        ({"candidates__base": "user-test-items"}, "UT.*other candidates"),
        ({"relevance__rule": "user-mean"}, "user-mean.*training rows"),
    ],
)
def test_lists_that_cannot_be_judged_again_are_refused(tmp_path, changes, words):
    rules = protocol(**changes)
    metrics = ["ndcg@20"]
    folder = run_into(tmp_path / "run", rules, metrics, ("popularity", "item-mean")).folder
    with pytest.raises(ProtocolError, match=words):
        study_metrics(folder, SMALL)


def test_lists_that_were_stored_too_short_are_refused(folder):
    with pytest.raises(StudyError, match=r"down to rank 20.*requested cut-off is 50.*ndcg@50.*--cutoffs"):
        study_metrics(folder, Settings(("ndcg",), (5, 50)))


def test_lists_that_end_early_for_want_of_candidates_are_counted(tmp_path):
    folder = run_into(tmp_path / "run", protocol(), ["ndcg@100"], ("popularity", "item-mean")).folder
    run = judge_run(repro.Run(folder), 100)
    assert run.short == run.n_lists == 120, "there are 70 items, less those in training"


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("ndcg@10", "leave the cut-off out"),
        ("catalogue-coverage", "no value for each user"),
        ("rmse", "takes no cut-off"),
        ("novelty", "needs more than lists"),
        ("nonsense", "there is no metric"),
    ],
)
def test_metrics_that_cannot_be_studied_are_refused(folder, metric, words):
    with pytest.raises((StudyError, ProtocolError), match=words):
        study_metrics(folder, Settings((metric,), (5,)))


def test_a_metric_asked_for_twice_is_refused(folder):
    with pytest.raises(StudyError, match="ap is requested twice"):
        study_metrics(folder, Settings(("ap", "map"), (5,)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cutoffs": (5, 5)}, "different whole numbers"),
        ({"cutoffs": (0,)}, "at least 1"),
        ({"cutoffs": ()}, "no cut-off"),
        ({"metrics": ()}, "no metric"),
        ({"samples": 0}, "samples = 0"),
        ({"level": 1.5}, "between 0 and 1"),
        ({"cutoff_metric": "hit"}, "'hit', which is not among the metrics"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(StudyError, match=words):
        Settings(**settings)


def test_what_is_not_a_finished_run_of_several_systems_is_refused(folder, tmp_path):
    with pytest.raises(StudyError, match="not a run folder"):
        study_metrics(tmp_path)
    single = run_into(tmp_path / "single", protocol(), algorithms=("popularity",)).folder
    with pytest.raises(StudyError, match="one algorithm, 'popularity'"):
        study_metrics(single, SMALL)
    predictions = run_into(tmp_path / "rmse", protocol(), ["rmse"], ("bias", "item-mean")).folder
    with pytest.raises(StudyError, match="has no lists"):
        study_metrics(predictions, SMALL)
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    lines = (cut / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    with pytest.raises(StudyError, match="cut off; finish it"):
        study_metrics(cut, SMALL)


def test_a_folder_that_was_tampered_with_is_refused(folder, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(folder, changed)
    text = (changed / "protocol.toml").read_text()
    (changed / "protocol.toml").write_text(text.replace("threshold = 4.0", "threshold = 3.0"))
    with pytest.raises(JournalError, match=r"relevance.threshold was 4.0 when the run was made, and is 3.0 now"):
        study_metrics(changed, SMALL)
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    test = read_journal(folder / "journal.jsonl").events("fold.made")[0].artifacts["test"]
    (damaged / "artifacts" / f"{test}.parquet").write_bytes(b"nothing")
    with pytest.raises(JournalError, match="missing or damaged"):
        study_metrics(damaged, SMALL)
