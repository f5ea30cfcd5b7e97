"""The conformance kit passes what keeps to the contract, and names what does not."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repro.plugin import (
    SCORED,
    Algorithm,
    CheckedRecommender,
    Environment,
    Evaluator,
    Observed,
    Parameter,
    Plugins,
    Scores,
    Splitter,
)
from repro.testing import case_of, checks, five_users, queries_of, ratings_table, small_ratings

DOCUMENT = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
TRAIN = small_ratings()


class Sums:
    """Keeps to the contract: a number of the user and of the item, from the training rows and the seed."""

    def fit(self, train, *, seed):
        self.users = train.user_counts() + np.random.default_rng(seed).random(train.n_users)
        self.items = np.where(train.item_counts() > 0, train.item_counts(), np.nan)

    def score(self, queries, items):
        users = queries.users
        return Scores.from_nan(np.add.outer(self.users[users], self.items[items]))

    def predict(self, queries, items):
        users = queries.users
        return Scores.from_nan(self.users[users] + self.items[items])


class OfTheBlock(Sums):
    def score(self, queries, items):
        users = queries.users
        return Scores.from_nan(super().score(queries, items).values + len(users))


class OfEarlierRequests(Sums):
    asked = 0

    def score(self, queries, items):
        self.asked += 1
        return Scores.from_nan(super().score(queries, items).values + (self.asked > 1))


class OfOtherPairs(Sums):
    def predict(self, queries, items):
        users = queries.users
        return Scores.from_nan(super().predict(queries, items).values + len(users))


class NoSeed(Sums):
    def fit(self, train, *, seed):
        super().fit(train, seed=np.random.SeedSequence().entropy)


class Remembers(Sums):
    def fit(self, train, *, seed):
        before = getattr(self, "users", 0)
        super().fit(train, seed=seed)
        self.users = self.users + before


class OfTheFirstRow(Sums):
    def fit(self, train, *, seed):
        super().fit(train, seed=seed)
        self.users = self.users + train.items[0]


class GlobalDraws(Sums):
    def fit(self, train, *, seed):
        super().fit(train, seed=seed)
        np.random.random()  # noqa: NPY002


class NotMarked(Sums):
    def score(self, queries, items):
        values = super().score(queries, items).values
        return Scores(values, np.full(values.shape, SCORED, dtype=np.uint8))


class ScoresOneForNobody(Sums):
    def score(self, queries, items):
        users = queries.users
        return super().score(queries if len(users) else queries_of([0]), items)


class FactorsOfUsers(Sums):
    def state(self):
        return {"user_factors": np.ones((TRAIN.n_users, 2))}


class FactorsWithGaps(Sums):
    def state(self):
        users, items = np.ones((TRAIN.n_users, 2)), np.ones((TRAIN.n_items, 2))
        users[0, 1] = np.nan
        return {"user_factors": users, "item_factors": items}


VIOLATIONS = {
    OfTheBlock: "differ from those of all together",
    OfEarlierRequests: "differ from those of all together",
    OfOtherPairs: "differ in smaller requests",
    NoSeed: "the same rows and seed gave other scores",
    Remembers: "the same rows and seed gave other scores",
    OfTheFirstRow: "the order of the training rows changed scores",
    GlobalDraws: r"the global generator of numpy\.random was used",
    NotMarked: "NaN and not marked as unscored",
    ScoresOneForNobody: "returned scores of shape",
    FactorsOfUsers: "factors of one side",
    FactorsWithGaps: "user_factors has 1 values that are no numbers, of users with training rows",
}


def fit(kind):
    def fitted(train, seed):
        recommender = CheckedRecommender(kind(), kind.__name__)
        recommender.fit(train, seed=seed)
        return recommender

    return fitted


def test_what_keeps_to_the_contract_passes():
    checks.check_recommender(fit(Sums), TRAIN)


@pytest.mark.parametrize("kind", VIOLATIONS, ids=lambda kind: kind.__name__)
def test_a_recommender_that_breaks_the_contract_is_named(kind):
    with pytest.raises(Exception, match=VIOLATIONS[kind]):
        checks.check_recommender(fit(kind), TRAIN)


@pytest.mark.parametrize(
    ("kind", "law"), [(OfTheBlock, "blocks"), (OfTheFirstRow, "row-order"), (GlobalDraws, "generators")]
)
def test_a_law_can_be_excepted_and_no_other(kind, law):
    checks.check_recommender(fit(kind), TRAIN, exceptions=[law])
    for other in set(checks.LAWS) - {law}:
        with pytest.raises(AssertionError, match=VIOLATIONS[kind]):
            checks.check_recommender(fit(kind), TRAIN, exceptions=[other])
    with pytest.raises(AssertionError, match="not all laws"):
        checks.check_recommender(fit(Sums), TRAIN, exceptions=["speed"])


def test_an_algorithm_that_is_not_deterministic_need_not_repeat():
    checks.check_recommender(fit(NoSeed), TRAIN, deterministic=False)


EASE = Algorithm("ease", "", Sums, (Parameter("l", 1.0, "weight"),), mapping={}, unmapped={"regularisation": "none"})


def test_canonical_parameters_are_mapped_or_explained():
    checks.check_canonical(EASE)
    checks.check_canonical(Algorithm("my-own", "", Sums))
    for broken, message in (
        (replace(EASE, unmapped={}), "neither has nor maps nor explains .'regularisation'"),
        (replace(EASE, mapping={"regularisation": "l"}), "maps and does not map"),
        (replace(EASE, unmapped={"regularisation": "", "width": ""}), "'width'.*no canonical parameters"),
        (replace(EASE, mapping={"regularisation": "l"}, unmapped={}), "none of its parameters"),
    ):
        with pytest.raises(AssertionError, match=message):
            checks.check_canonical(broken)


def test_parameters_are_described_and_defaults_are_options():
    checks.check_parameters(EASE)
    for parameter, message in (
        (Parameter("l", 1.0, ""), "l has no meaning"),
        (Parameter("l", "c", "letter", ("a", "b")), "the default of l, 'c', is none of"),
    ):
        with pytest.raises(AssertionError, match=message):
            checks.check_parameters(replace(EASE, parameters=(parameter,)))


def test_environments_are_pinned_and_hold_what_a_worker_needs():
    pins = ("numpy==2.0.0", "pandas==2.2.0", "pluggy==1.5.0", "scipy==1.11.0")
    checks.check_environment(Environment(("mine",), (("--no-deps", *pins),)))
    for steps, message in (
        ((*pins, "mine>=1"), "'mine>=1' is not an exact version"),
        ((*pins, "mine==1.0+cpu"), "is not an exact version"),
        (pins[1:], "a worker needs numpy too"),
    ):
        with pytest.raises(AssertionError, match=message):
            checks.check_environment(Environment(("mine",), (steps,)))


def test_declarations_that_import_the_framework_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    (tmp_path / "lazy_plugin.py").write_text("def repro_framework():\n    return 1\n")
    (tmp_path / "eager_plugin.py").write_text("import wave\n")
    checks.check_imports("lazy_plugin", Environment(("wave",), ()))
    with pytest.raises(AssertionError, match="eager_plugin cannot be listed where its framework is missing"):
        checks.check_imports("eager_plugin", Environment(("wave",), ()))


class Declared(Plugins):
    """Plug-ins with one evaluator and one splitter."""

    def evaluators(self):
        return {"mine/count": Evaluator("mine/count", "", self.count, {"count": "hit@k"})}

    def splitters(self):
        return {"mine/split": Splitter("mine/split", "", self.cut)}


class Careful(Declared):
    @staticmethod
    def count(case, measure, k):
        return Observed(float(len(case.tested) + k))

    @staticmethod
    def cut(rows, seed):
        order = np.random.default_rng(seed).permutation(len(rows))
        return [(order[5:], order[:5])]


class Careless(Declared):
    asked = 0

    @classmethod
    def count(cls, case, measure, k):
        cls.asked += 1
        return Observed(float(cls.asked))

    @staticmethod
    def cut(rows, seed):
        return [(np.arange(len(rows)), np.arange(5))]


def test_evaluators_and_splitters_are_checked():
    checks.check_evaluator(Careful(), "mine/count", five_users(), 3)
    checks.check_splitter(Careful(), "mine/split", TRAIN)
    with pytest.raises(AssertionError, match="mine/count gave two answers for count"):
        checks.check_evaluator(Careless(), "mine/count", five_users(), 3)
    with pytest.raises(AssertionError, match="puts a row into both parts of a fold"):
        checks.check_splitter(Careless(), "mine/split", TRAIN)


def test_broken_declarations_are_named():
    checks.check_declarations(Plugins(), "mine")
    with pytest.raises(AssertionError, match=r"mine is broken: .*no such hook"):
        checks.check_declarations(Plugins(broken={"mine": "no such hook"}), "mine")


def test_tables_and_cases_are_what_a_person_would_write_down():
    rows = ratings_table([[5, 0], [0, 2], [0, 0]])
    assert (rows.users.tolist(), rows.items.tolist(), rows.ratings.tolist()) == ([0, 1], [0, 1], [5.0, 2.0])
    assert (rows.n_users, rows.n_items) == (3, 2)
    case = case_of({1: {7: 0.5, 9: np.nan}}, {1: {9: 4.0}})
    assert case.test.user_ids.tolist() == [1, 99] and case.test.item_ids.tolist() == [7, 9]
    assert case.list_of(0).tolist() == [0, 1] and np.isnan(case.scores.values[0, 1])
    assert case.train.user_ids[case.train.users].tolist() == [99, 99]


def test_a_third_party_tests_its_plugin_in_five_lines(example, run, tmp_path):
    """The example of docs/plugins.md, run with pytest where the plug-in is installed."""
    (code,) = re.findall(r"```python\n(from repro\.testing import.*?)```", DOCUMENT, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 5
    (tmp_path / "test_contract.py").write_text(code)
    folder = str(tmp_path)
    passed = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder, path=example).stdout
    assert re.search(r"\b9 passed\b", passed) and "failed" not in passed
    (tmp_path / "test_contract.py").write_text(code.replace("half_life", "half_lives"))
    failed = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder, path=example, status=1)
    assert "decayed-popularity has no parameter 'half_lives'; did you mean 'half_life'?" in failed.stdout
