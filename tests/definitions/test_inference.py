"""Inference of planted definitions, in a space that is declared and computed here."""

import numpy as np
import pytest

import repro
from repro.definitions import Definition, Unexplained
from repro.definitions.implementation import Implementation
from repro.definitions.inference import Inference, numbers_of
from repro.definitions.reduction import fewest_rows
from repro.definitions.space import Space
from repro.definitions.training_sets import training_set
from repro.errors import PluginError
from repro.plugin import Algorithm, CheckedRecommender, Choice, Parameter, Scores
from repro.protocol.decision import When
from repro.testing import ratings_table


class Weighted:
    """Scores of items: a sum over their ratings, whatever the user."""

    def __init__(self, count="rows", power=1.0, damped=False, damping=0.0, wrong=False):
        self.count, self.power, self.damped, self.damping, self.wrong = count, power, damped, damping, wrong

    def fit(self, train, *, seed):
        values = {
            "rows": np.ones(len(train)),
            "ratings": train.ratings,
            "above": (train.ratings > 3).astype(float),
        }[self.count]
        sums = np.bincount(train.items, weights=values, minlength=train.n_items)
        self.scores_ = sums**self.power
        if self.damped:
            self.scores_ = self.scores_ / np.maximum(train.item_counts() + self.damping, 1e-9)
        if self.wrong:
            self.scores_[train.item_counts() == 3] += 1
        self.known_ = train.item_counts() > 0

    def score(self, queries, items):
        return Scores.where(self.known_[items], np.tile(self.scores_[items], (len(queries), 1)))


ALGORITHM = Algorithm(
    "weighted",
    "sums",
    Weighted,
    parameters=(
        Parameter("count", "rows", "what is added", choices=tuple(Choice(n, n) for n in ("rows", "ratings", "above"))),
        Parameter("power", 1.0, "power of the sum"),
        Parameter("damped", False, "divide by the number of rows", (False, True)),
        Parameter("damping", 0.0, "added to the number", when=(When("damped", (True,)),), neutral=0.0),
    ),
    defines=True,
)


class OwnSpace(Space):
    def fitted_scores(self, setting, train):
        recommender = CheckedRecommender(Weighted(**setting), "weighted")
        recommender.fit(train, seed=0)
        users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
        return recommender.score_users(users, items).values


SPACE = OwnSpace("weighted", ALGORITHM)


def implementation(parameters, **changed):
    class Changed(Weighted):
        def score(self, queries, items):
            scores = super().score(queries, items)
            change = changed.get("change", lambda values: values)
            return Scores(change(scores.values), scores.states)

    def make():
        return CheckedRecommender(Changed(**parameters, wrong=changed.get("wrong", False)), "planted")

    return Implementation("planted", make, {n: v for n, v in parameters.items() if n in ("power", "damping")})


def infer(parameters, **changed):
    return Inference(implementation(parameters, **changed), SPACE).run()


PLANTED = [
    {"count": count, "power": power, "damped": damped, **({"damping": damping} if damped else {})}
    for count in ("rows", "ratings", "above")
    for power in (1.0, 2.0)
    for damped, damping in ((False, 0.0), (True, 0.0), (True, 3.0))
    if (count, power, damping, damped) != ("rows", 1.0, 0.0, True)
]


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_a_planted_definition_is_inferred(planted):
    finding = infer(planted)
    assert isinstance(finding, Definition)
    left = [values for name, values in finding.undetermined.options.items() if planted.get(name) not in values]
    assert not left
    for name, value in planted.items():
        assert finding.setting[name] == value or value in finding.undetermined.options[name]
    expected = "the same scores"
    assert finding.confirmation.level.meaning == expected
    assert finding.confirmation.pairs > 10_000


def test_a_constant_is_not_explained():
    """The number of rows over the number of rows is 1, which any other constant in the same order would be as well."""
    finding = infer({"count": "rows", "power": 1.0, "damped": True})
    assert isinstance(finding, Unexplained)
    assert "too few to tell" in finding.reason


def test_only_what_cannot_matter_is_undetermined():
    """The number of rows over the number of rows is 1, whatever the power of 1: nothing else is left open."""
    assert not infer({"count": "ratings", "power": 1.0, "damped": False}).undetermined.options


@pytest.mark.parametrize(
    ("change", "meaning"),
    [
        (lambda values: 3.5 * values, "the same scores but for a factor"),
        (lambda values: np.log1p(values), "the same order"),
        (lambda values: values.astype(np.float32), "the same scores"),
    ],
)
def test_scores_may_be_mapped(change, meaning):
    finding = infer({"count": "ratings"}, change=change)
    assert isinstance(finding, Definition)
    assert finding.confirmation.level.meaning == meaning
    assert finding.setting["count"] == "ratings"


def test_a_fault_outside_of_the_space_is_unexplained_with_the_smallest_case():
    """The fault shows only where an item has three rows and another one has other sums: 3 and 2 rows are enough."""
    finding = infer({"count": "ratings"}, wrong=True)
    assert isinstance(finding, Unexplained)
    counts = finding.case.item_counts()
    assert 3 in counts
    assert len(finding.case) <= 5


def test_evidence_rejects_each_other_option():
    finding = infer({"count": "ratings", "damped": True, "damping": 3.0})
    rejected = {(evidence.decision, evidence.option) for evidence in finding.evidence}
    assert rejected == {("count", "rows"), ("count", "above"), ("damped", False)}
    for evidence in finding.evidence:
        assert evidence.given == pytest.approx(evidence.expected)
        assert len(evidence.train) <= 3


def test_numbers_to_try():
    given = {"damping": 3.0, "shift": 7, "flag": True}
    assert numbers_of(SPACE, given) == {"power": (1.0,), "damping": (3.0, 0.0)}
    assert numbers_of(SPACE, given, everywhere=True) == {"power": (1.0, 7.0), "damping": (3.0, 0.0)}


def test_settings_leave_out_parameters_without_effect():
    settings = SPACE.parts(("count", "power", "damped", "damping"), {"damping": (0.0, 3.0)})
    assert len(settings) == 3 * (1 + 2)
    assert all(setting["damping"] == 0.0 for setting in settings if not setting["damped"])


def test_the_smallest_rows_are_minimal():
    train = training_set(3, 0)

    def shows(rows):
        return rows.ratings.sum() >= 9 and (rows.item_counts() >= 2).any()

    rows = fewest_rows(train, shows)
    assert shows(rows)
    for left_out in range(len(rows)):
        assert not shows(rows.select(np.delete(np.arange(len(rows)), left_out)))


def test_an_object_with_fit_and_score_is_audited():
    class Popularity:
        def fit(self, train):
            self.counts = train["item"].value_counts()

        def score(self, users, items):
            return np.tile(self.counts.reindex(items), (len(users), 1))

    audited = repro.definitions.audit(Popularity(), only=["popularity"], evidence=False)
    assert audited.definition is not None
    assert "reference/popularity" in audited.to_text()


def test_a_matrix_cannot_be_audited():
    with pytest.raises(PluginError, match="give an object with fit and score"):
        repro.definitions.audit(np.eye(3))


def test_an_unknown_algorithm_gets_a_suggestion():
    with pytest.raises(PluginError, match="did you mean 'bias'"):
        repro.definitions.audit("reference/bias", only=["bais"])


def test_training_sets_have_rows_for_all():
    for number in range(30):
        train = training_set(5, number)
        assert train.user_counts().min() > 0 and train.item_counts().min() > 0
    assert ratings_table([[1, 0], [0, 2]]).n_users == 2
