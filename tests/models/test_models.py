"""Models given in Python: the same values as the algorithms of plug-ins that do the same."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin

import repro
from repro import Protocol, Study
from repro.errors import PluginError, ReproError, ReproWarning, StudyError
from repro.models import as_tables
from repro.plugin import plugins
from repro.runs.run import Run

METRICS = ["ndcg@10", "precision@5", "rmse"]
FOLDS = Protocol.load("random-5fold", split__folds=2)
ONE_SPLIT = Protocol.load("random-5fold", split__strategy="user-ratio", split__repeats=1)


class Counts:
    """Popularity, as a user writes it."""

    def __init__(self, least=0):
        self.least = least

    def fit(self, train):
        assert list(train) == ["user", "item", "rating", "timestamp"]
        assert not hasattr(self, "counts"), "each fold starts from what was given"
        self.counts = train["item"].value_counts().astype(float)

    def score(self, users, items):
        return np.tile(self.counts.reindex(items).to_numpy(), (len(users), 1))


class OfOneUser(Counts):
    def score(self, user, items):
        assert np.ndim(user) == 0
        return self.counts


class OfOnePair(Counts):
    def score(self, user, item):
        return self.counts.get(item, np.nan)


class OfColumns(Counts):
    def fit(self, users, items, ratings):
        assert len(users) == len(items) == len(ratings)
        self.counts = pd.Series(items).value_counts().astype(float)


class Labelled(Counts):
    def score(self, users, items):
        frame = pd.DataFrame(super().score(users, items), users, items)
        return frame.iloc[::-1, ::-1]  # the labels count, not the order


class ItemMean(RegressorMixin, BaseEstimator):
    """The reference's item mean as an estimator: its score(X, y) is no score of items."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.means_ = pd.Series(y).groupby(X["item"].to_numpy()).agg(lambda r: r.sum() / len(r)) + self.shift
        return self

    def predict(self, X):
        return X["item"].map(self.means_)


class OfArrays(ItemMean):
    def predict(self, users, items):
        assert len(users) == len(items)
        return self.means_.reindex(items)


def run(data, algorithms, metrics=METRICS, protocol=FOLDS, **arguments):
    options = {name: arguments.pop(name) for name in ("workers", "into") if name in arguments}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReproWarning)
        return Study(data, protocol, algorithms, metrics, **arguments).run(**options)


def numbers(run, label):
    rows = run.results[run.results["algorithm"] == label]
    return rows[["fold", "metric", "value", "users"]].reset_index(drop=True)


@pytest.fixture(scope="module")
def counted(data):
    """All ways to write popularity, next to that of the plug-in, with two workers."""
    models = [Counts(), OfOneUser(), OfOnePair, OfColumns(), Labelled(), ("second", Counts(3))]
    return run(data, [*models, "reference/popularity"], workers=2)


@pytest.mark.parametrize("label", ["Counts", "OfOneUser", "OfOnePair", "OfColumns", "Labelled", "second"])
def test_popularity_has_the_values_of_the_plugin_to_the_bit(counted, label):
    pd.testing.assert_frame_equal(numbers(counted, label), numbers(counted, "reference popularity"), check_exact=True)


@pytest.mark.parametrize("estimator", [ItemMean, OfArrays])
def test_an_estimator_predicts_ratings_and_ranks_by_them(data, estimator):
    compared = run(data, [("mine", estimator()), "reference/item-mean"])
    mine, reference = numbers(compared, "mine"), numbers(compared, "reference item-mean")
    assert mine["value"].notna().all()
    pd.testing.assert_frame_equal(mine, reference, rtol=1e-12)


@pytest.fixture(scope="module")
def scored(data):
    """The scores of item-knn for the only split, as a matrix of all users and items."""
    from repro.study import make_plan
    from repro.study.fold_data import fold_data

    plan = make_plan(Study(data, ONE_SPLIT, "reference/item-knn", METRICS))
    knn = plan.cells[0].entry.recommender(plan.source)
    knn.fit(fold_data(plan, plan.split.folds[0]).fitted, seed=0)
    users, items = np.arange(data.n_users, dtype=np.int32), np.arange(data.n_items, dtype=np.int32)
    scores = knn.score_users(users, items)
    unscored = np.zeros(scores.values.shape, bool) if scores.state is None else scores.state == 1
    values = np.where(unscored, np.nan, scores.values)
    pairs = (np.repeat(users, len(items)), np.tile(items, len(users)))
    predictions = knn.predict_pairs(*pairs).values.reshape(values.shape) if knn.predicts else None
    return values, predictions


def shuffled(frame):
    return frame.sample(frac=1, random_state=1).T.sample(frac=1, random_state=2).T


def test_a_matrix_of_scores_has_the_values_of_the_plugin(data, scored):
    values = scored[0]
    frame = pd.DataFrame(values, data.user_ids, data.item_ids)
    known = ~np.isnan(values)
    sparse = sp.coo_array((values[known], np.nonzero(known)), shape=values.shape)
    order = np.random.default_rng(1).permutation(data.n_users)
    forms = {
        "array": values,
        "frame": shuffled(frame),
        "text": frame.set_axis([str(user) for user in frame.index]).set_axis(map(str, frame.columns), axis=1),
        "sparse": sparse,
        "ids": {"model": values[order], "label": "ids", "users": data.user_ids[order]},
        "function": lambda users, items: frame.loc[users, items],
    }
    tables = [form if isinstance(form, dict) else (label, form) for label, form in forms.items()]
    compared = run(data, [*tables, "reference/item-knn"], metrics=METRICS[:2], protocol=ONE_SPLIT)
    for label in forms:
        pd.testing.assert_frame_equal(
            numbers(compared, label), numbers(compared, "reference item-knn"), check_exact=True
        )
    findings = {finding.algorithm for finding in compared.findings if finding.code == "model.fitted-before"}
    assert findings == set(forms)


def test_a_matrix_may_state_that_it_predicts_ratings(data):
    constant = np.full((data.n_users, data.n_items), 3.0)
    table = {"model": constant, "label": "three", "predicts": True}
    result = run(data, [table], metrics=["rmse", "mae"], protocol=ONE_SPLIT)
    held_out = pd.read_parquet(result.artifact(result.folds[0].artifacts["test"]))["rating"].to_numpy()
    assert result.table().loc["three", "rmse"] == pytest.approx(np.sqrt(np.mean((held_out - 3) ** 2)), rel=1e-12)
    assert result.table().loc["three", "mae"] == pytest.approx(np.mean(np.abs(held_out - 3)), rel=1e-12)


def test_what_a_frame_or_a_sparse_matrix_lacks_has_no_score_and_a_stored_zero_is_one():
    rows = pd.DataFrame({"user": [1, 1, 2, 2], "item": [10, 20, 10, 30]})
    from repro.data import Interactions
    from repro.models.model import read_model

    data = Interactions.from_frame(rows)
    codes = np.array([0, 1], dtype=np.int32)
    items = np.array([0, 1, 2], dtype=np.int32)

    def scores(matrix):
        given = read_model(matrix, "m").bound(data, data, frozenset())
        return given.recommender({}, data, "m").score_users(codes, items).values

    lacking = pd.DataFrame([[5.0, 1.0]], index=[2], columns=[30, 10])
    np.testing.assert_array_equal(scores(lacking), [[np.nan] * 3, [1.0, np.nan, 5.0]])
    sparse = sp.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 1]))), shape=(2, 3))
    np.testing.assert_array_equal(scores(sparse), [[np.nan, 0.0, np.nan], [np.nan, 2.0, np.nan]])


def test_ids_that_are_text_in_the_frame_are_text_for_the_model(data):
    frame = data.to_frame().astype({"user": str, "item": str})
    seen = []

    class Model(Counts):
        def score(self, user, items):
            seen.append((user, items[0]))
            return self.counts

    run(frame, [Model()], metrics=["ndcg@10"])
    assert seen
    assert all(isinstance(id_, str) for pair in seen for id_ in pair)


def test_seeds_reach_fit_and_the_global_generators(data):
    class Drawn:
        def fit(self, train, random_state):
            self.seed, self.draw = random_state, np.random.rand()  # noqa: NPY002

        def score(self, users, items):
            return np.full((len(users), len(items)), self.draw)

    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    first, second = (run(data, [Drawn()], metrics=["ndcg@10"], seed=5) for _ in range(2))
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    lists = [[cell.artifacts["lists"] for cell in result.journal.finished_cells.values()] for result in (first, second)]
    assert lists[0] == lists[1]


def test_a_change_after_the_study_was_made_has_no_effect(data):
    model, matrix = Counts(), np.ones((data.n_users, data.n_items))
    study = Study(data, FOLDS, [model, matrix], ["ndcg@10"])
    digest = study.digest
    model.score, matrix[:] = None, 7.0
    assert study.digest == digest
    assert (study.entries[1].given.object == 1).all()


class Stuck(Counts):
    """A model that can be copied and not be sent to another process."""

    def __reduce_ex__(self, protocol):
        raise pickle.PicklingError("no")

    def __deepcopy__(self, memo):
        return Stuck(self.least)


def test_what_cannot_be_sent_elsewhere_is_fitted_in_this_process(data):
    compared = run(data, [Stuck(), "reference/popularity", "reference/item-mean"], workers=2, metrics=["ndcg@10"])
    pd.testing.assert_frame_equal(
        numbers(compared, "Stuck"), numbers(compared, "reference popularity"), check_exact=True
    )


def test_labels_are_unique_and_say_what_differs():
    def labels(*algorithms):
        return [table if isinstance(table, str) else table["label"] for table in as_tables(list(algorithms))]

    assert labels(Counts(), ItemMean()) == ["Counts", "ItemMean"]
    assert labels(Counts(1), Counts(2), ("mine", Counts(1))) == ["Counts least=1", "Counts least=2", "mine"]
    assert labels(Counts(), Counts()) == ["Counts", "Counts 2"]
    assert labels(lambda users, items: 0, np.eye(2), np.eye(2)) == ["function", "matrix", "matrix 2"]
    assert [table["label"] for table in as_tables(("mine", Counts()))] == ["mine"]
    assert as_tables(("first/a", "second/b")) == ["first/a", "second/b"]
    assert len(as_tables(np.eye(2))) == 1


class NoScores:
    def fit(self, train): ...


class TooMany:
    def score(self, users, items, context): ...


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (NoScores(), "has neither score nor predict; wrap it"),
        (TooMany(), "requires context, which is not known here"),
        (3, 'an algorithm is "framework/algorithm"'),
        (type("ItemKNN", (Counts,), {"__init__": lambda self, k: None}), "a class that needs arguments"),
        (np.ones(3), "has the shape (3,); give scores of users x items"),
        (np.array([["a", "b"]]), "is not of numbers"),
        (pd.DataFrame({"user": [1], "item": [2], "score": [3.0]}), 'scores.pivot(index="user"'),
        (pd.DataFrame(np.eye(2), [1, 1], [1, 2]), "a label occurs twice"),
        ({"model": np.eye(2), "users": [1, 2, 3]}, "has 2 rows, and 3 ids are given"),
        ({"model": Counts(), "users": [1]}, "this model is none"),
        ({"model": Counts(), "seed": -1}, "seed = -1 must be"),
        (type("Locked", (Counts,), {"__deepcopy__": lambda self, memo: 1 / 0})(), "cannot be copied"),
        ("code/Counts", "is a model that is given in Python, not by name"),
    ],
    ids=range(13),
)
def test_what_is_no_model(data, model, sentence):
    with pytest.raises(ReproError) as caught:
        Study(data, FOLDS, [model], ["ndcg@10"])
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (lambda data: np.ones((data.n_items, data.n_users)), "(transpose it?)"),
        (lambda data: np.ones((3, 4)), "has the shape 3 x 4, and users x items of the data are 120 x "),
        (lambda data: pd.DataFrame(np.eye(2), ["a", "b"], data.item_ids[:2]), "none of the labels (a, b) is an id"),
    ],
)
def test_a_matrix_of_other_data_is_refused_before_anything_is_fitted(data, matrix, sentence, tmp_path):
    with pytest.raises(ReproError) as caught:
        Study(data, FOLDS, [matrix(data)], ["ndcg@10"]).run(tmp_path / "run")
    assert sentence in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("score", "sentence"),
    [
        (lambda users, items: np.ones(len(items)), "returned an array of shape"),
        (lambda user, items: [1.0], "returned an array of shape (1,)"),
        (lambda users, items: "high", "no array of numbers"),
        (lambda users, items: 1 / 0, "division by zero"),
    ],
)
def test_wrong_answers_fail_their_cells_with_a_sentence(data, score, sentence, tmp_path):
    with pytest.raises(StudyError) as caught:
        Study(data, FOLDS, [("mine", score)], ["ndcg@10"]).run(tmp_path / "run")
    assert sentence in str(caught.value)


def test_a_plugin_cannot_take_the_name_of_code(data):
    with pytest.raises(PluginError):
        plugins().algorithm("code/anything")


def test_the_study_file_has_a_record_that_loads_back(data, tmp_path):
    study = Study(data, FOLDS, [Counts(4), ("m", np.ones((data.n_users, data.n_items)))], ["ndcg@10"], seed=9)
    (tmp_path / "study.toml").write_text(study.to_toml())
    (tmp_path / "protocol.toml").write_text(study.protocol.to_toml())
    loaded = Study.load(tmp_path / "study.toml")
    assert loaded.digest == study.digest
    assert loaded.to_toml() == study.to_toml()
    loaded.data = data
    with pytest.raises(StudyError, match="Counts is a model that was given in Python"):
        loaded.run(tmp_path / "without")
    again = Study.load(tmp_path / "study.toml", {"Counts": Counts(4), "m": np.ones((data.n_users, data.n_items))})
    again.data = data
    with pytest.warns(ReproWarning):
        assert len(again.run(tmp_path / "with").table()) == 2
    with pytest.raises(StudyError, match="is not that of the study: its content differs"):
        Study.load(tmp_path / "study.toml", {"Counts": Counts(5)})


def test_tuning_needs_an_estimator(data, protocol):
    tune = {"metric": "rmse", "trials": 3, "space": {"ItemMean": {"shift": [0.0, 2.0, -1.0]}}}
    result = run(data, [ItemMean(), ("fixed", ItemMean(1.0))], metrics=["rmse"], protocol=protocol, tune=tune)
    chosen = {tuned.label: tuned.chosen for tuned in result.tuned()}
    assert chosen["ItemMean"] == {"shift = 0.0": [fold.fold for fold in result.folds]}
    assert repro.verify(result.folder).holds
    with pytest.raises(StudyError, match="Counts was given in Python and cannot be tuned: it has no get_params"):
        Study(data, protocol, [Counts()], ["rmse"], tune=tune | {"space": {"Counts": {"least": [0, 1]}}})


@pytest.fixture(scope="module")
def kept(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("given") / "run"
    with pytest.warns(ReproWarning):
        study = Study(data, FOLDS, [Counts(), "reference/popularity", "reference/random"], ["ndcg@10"])
        study.run(folder, keep_scores=True)
    return folder


def test_verification_holds_and_says_what_cannot_be_fitted_again(kept, data):
    assert repro.verify(kept, "rescore", data=data).holds
    checked = repro.verify(kept, "retrain", data=data)
    assert checked.holds, checked.failures
    assert any("Counts was not fitted again: Counts is a model that was given" in text for text in checked.unchecked)
    assert {number.algorithm for number in checked.refitted.numbers} == {"reference popularity", "reference random"}
    complete = repro.verify(kept, "retrain", data=data, models={"Counts": Counts()})
    assert complete.holds
    assert "Counts" in {number.algorithm for number in complete.refitted.numbers}


def test_replay_runs_the_others_and_says_what_is_not_there(kept, data, tmp_path):
    replayed = repro.replay(kept, tmp_path / "again", data=data, here=True)
    assert replayed.reproduced
    assert any("Counts was not fitted again" in note for note in replayed.comparison.notes)
    assert list(Run(tmp_path / "again").algorithms) == ["reference popularity", "reference random"]
    with pytest.raises(StudyError, match="Counts is a model that was given in Python"):
        repro.replay(kept, tmp_path / "third", data=data, here=True, algorithms=["Counts"])


def test_the_journal_has_the_digests_and_reports_know_the_code(kept, tmp_path):
    run = Run(kept)
    (given,) = run.journal.events("model.given")
    assert (given.label, given.algorithm, given.form, given.parameters) == (
        "Counts",
        "code/Counts",
        "model",
        {"least": 0},
    )
    assert given.source is not None and given.module_source is not None
    repro.export(kept, "methods", tmp_path / "methods")
    text = (tmp_path / "methods").rglob("methods.md")
    assert (
        f"“Counts” is the model Counts of our own (SHA-256 {given.source[:16]} of its source)" in next(text).read_text()
    )
    assert run.report().is_file()
    assert len(run.compare("ndcg@10").pairs) == 3
    assert repro.verify(kept).holds


def test_a_gap_is_explained_by_another_fit_of_models_that_are_given_again(kept, data, tmp_path):
    """The number after the gap is that of a study of the same model under the other protocol."""
    other = FOLDS.replace({"split.folds": 3, "relevance.threshold": 5.0})
    options = repro.explanations.AttributionOptions(refit=True)
    refused = "Counts is a model that was given in Python.*give it again"
    with pytest.raises(StudyError, match=refused):
        repro.explain(kept, other, "ndcg@10", data=data, options=options)
    explanation = repro.explain(kept, other, "ndcg@10", data=data, options=options, models={"Counts": Counts()})
    assert {part.name for part in explanation.contributions} == {"split.folds", "relevance.threshold"}
    with pytest.warns(ReproWarning):
        table = Study(data, other, [Counts(), "reference/popularity", "reference/random"], ["ndcg@10"]).run().table()
    assert dict(zip(explanation.algorithms, explanation.after, strict=True)) == table["ndcg@10"].to_dict()
    with pytest.raises(StudyError, match=r"Counts.* its content differs"):
        repro.explain(kept, other, data=data, options=options, models={"Counts": Counts(1)})


def test_a_multiverse_needs_no_code_of_a_model(kept, data):
    multiverse = repro.multiverse(kept, ["relevance.threshold=3|4"], data=data)
    assert "Counts" in multiverse.algorithms and len(multiverse.variants) >= 2
