"""Theorems that must hold on synthetic data: the analysis of AR and 1R (Bellogín 2012, sections 4.3 to 4.6)."""

import math

import numpy as np
import pytest

from repro.data import synthetic_interactions
from repro.evaluation.candidates import judge
from repro.evaluation.fold import FoldData
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.metrics import metrics, parse_measure
from repro.plugin import CheckedRecommender, Scores, plugins
from repro.protocol import Protocol, parse_protocol
from repro.split import make_folds

SEED = 7


class Oracle:
    """Knows the test part: relevant items first."""

    def __init__(self, test, threshold):
        self.scores = np.zeros((test.n_users, test.n_items))
        liked = test.ratings >= threshold
        self.scores[test.users[liked], test.items[liked]] = 1.0

    def fit(self, train, *, seed):
        pass

    def score(self, queries, items):
        users = queries.users
        return Scores(self.scores[np.ix_(users, items)])


class Fold:
    """One fold of a data set under a protocol, and the metrics of algorithms on it."""

    def __init__(self, data, protocol, number=0, seed=SEED):
        self.protocol = protocol
        split = make_folds(data, protocol, seed)
        fold = split.folds[number]
        rows = [data.select(part).canonical() for part in (fold.train, fold.test)]
        self.parts = FoldData(data, rows[0], rows[1], None, split.removed_items)
        self.judgements = judge(*rows, protocol)
        self.seed = seed

    def measured(self, recommender, *names):
        if isinstance(recommender, str):
            recommender = plugins().algorithm(f"reference/{recommender}")[1].make()
        recommender.fit(self.parts.train, seed=self.seed)
        measures = [parse_measure(name, self.protocol, metrics()) for name in names]
        return measure_lists(CheckedRecommender(recommender, "test"), self.parts, measures, self.protocol, self.seed)

    def value(self, recommender, name):
        return next(iter(self.measured(recommender, name).values.values()))[0]

    def per_list(self, recommender, name):
        table = self.measured(recommender, name).tables["values"].to_pandas()
        full = parse_measure(name, self.protocol, metrics()).full_name
        return table.assign(value=table[f"{full} numerator"] / table[f"{full} denominator"])


def protocol(relevant="all", sampled=0, base="test-items", per="user", rule=("threshold", 4), split="user-ratio"):
    lines = [f'[relevance]\nrule = "{rule[0]}"', f"threshold = {rule[1]}" if rule[0] == "threshold" else ""]
    lines += [f'[split]\nstrategy = "{split}"', f'[candidates]\nbase = "{base}"\nrelevant = "{relevant}"']
    if sampled:
        lines += ['negatives = "sampled"', f"sample_size = {sampled}"]
        lines += [f'sample_per = "{per}"'] if relevant == "one" else []
    lines += ['[average]\nover = "lists"' if relevant == "one" else '[average]\nno_relevant = "zero"']
    return parse_protocol("\n".join(lines), "facts")


@pytest.fixture(scope="module")
def data():
    return synthetic_interactions(users=200, items=300, ratings=8000, alpha=1.0, seed=1)


@pytest.mark.parametrize("n", [1, 5, 10])
def test_the_maximum_of_1r_precision_is_one_in_n(data, n):
    fold = Fold(data, protocol("one", 50))
    assert fold.value(Oracle(fold.parts.test, 4), f"precision@{n}") == pytest.approx(1 / n, abs=1e-15)


@pytest.mark.parametrize("algorithm", ["random", "popularity", "item-knn", "plsa"])
@pytest.mark.parametrize("n", [5, 10])
def test_ar_precision_bounds_1r_precision_when_lists_share_their_sample(data, algorithm, n):
    """Equation 4.2: |U| P@n / pr <= 1RP@n <= sum of m_u P_u@m_u / (n pr), with m_u = n + pr(u) - 1."""
    single, all_ = Fold(data, protocol("one", 60)), Fold(data, protocol("all", 60))
    relevant = np.add.reduceat(single.judgements.relevant, single.judgements.offsets[:-1], dtype=np.int64)
    total = relevant.sum()
    value = single.value(algorithm, f"precision@{n}")
    lower = len(relevant) * all_.value(algorithm, f"precision@{n}") / total
    depths = {user: n + int(count) - 1 for user, count in zip(data.user_ids, relevant, strict=True) if count}
    hits = 0.0
    for depth in set(depths.values()):
        frame = all_.per_list(algorithm, f"precision@{depth}").set_index("user")["value"]
        hits += sum(depth * frame[user] for user, own in depths.items() if own == depth)
    assert lower - 1e-12 <= value <= hits / (n * total) + 1e-12
    assert lower < hits / (n * total)


def test_a_random_recommender_in_ar_has_the_precision_of_equation_4_4(data):
    """E[P] is the mean over users of relevant / candidates, which is about sigma * delta; over 20 draws."""
    fold = Fold(data, protocol())
    draws = []
    for seed in range(20):
        recommender = plugins().algorithm("reference/random")[1].make()
        fold.seed = seed
        draws.append(fold.value(recommender, "precision@10"))
    relevant = np.diff(np.concatenate([[0], np.cumsum(fold.judgements.relevant)])[fold.judgements.offsets])
    sizes = len(np.unique(fold.parts.test.items)) - np.bincount(
        fold.parts.train.users[np.isin(fold.parts.train.items, fold.parts.test.items)], minlength=data.n_users
    )
    expected = np.mean(relevant / sizes)
    assert np.mean(draws) == pytest.approx(expected, abs=4 * np.std(draws) / math.sqrt(len(draws)))
    liked = (data.ratings >= 4).sum()
    density = liked / (data.n_users / np.mean(1 / sizes))
    assert expected == pytest.approx(0.2 * density, rel=0.06)


def test_a_random_recommender_in_1r_has_the_precision_of_equation_4_5(data):
    fold = Fold(data, protocol("one", 49, per="list"))
    draws = []
    for seed in range(10):
        fold.seed = seed
        draws.append(fold.value("random", "precision@10"))
    assert np.mean(draws) == pytest.approx(1 / 50, abs=4 * np.std(draws) / math.sqrt(len(draws)))


def test_total_precision_is_the_same_for_every_system(data):
    for relevant, sampled in (("all", 0), ("one", 50)):
        fold = Fold(data, protocol(relevant, sampled))
        name = "precision[denominator=list]"
        values = [fold.value(algorithm, name) for algorithm in ("random", "popularity", "item-mean", "ease")]
        assert values == pytest.approx([values[0]] * 4, abs=1e-15)
        assert values[0] > 0


def test_with_uniform_popularity_the_popular_fall_slightly_below_random():
    """Section 4.5.2: what is popular in training has fewer test ratings when all items have as many in all."""
    flat = synthetic_interactions(users=400, items=250, ratings=20_000, alpha=0.0, seed=2)
    fold = Fold(flat, protocol("one", 99, per="list", rule=("any", 0), split="ratio"))
    popular = fold.per_list("popularity", "hit@10")["value"]
    error = popular.std() / math.sqrt(len(popular))
    assert 0.5 * 0.1 < popular.mean() < 0.1 - 3 * error  # a random recommender hits 10 in 100


def test_u1r_drops_popularity_to_random_when_all_ratings_are_positive():
    """Section 4.6.2; the same data under a plain random split keeps popularity far above.

    The data is sparse: in dense data the popular negatives are missing from lists as training items of the user.
    """
    steep = synthetic_interactions(users=4000, items=600, ratings=40_000, alpha=1.0, seed=3)
    plain = Fold(steep, protocol("one", 99, per="list", rule=("any", 0), split="ratio"))
    assert plain.value("popularity", "hit@10") > 0.3
    uniform = Fold(steep, protocol("one", 99, per="list", rule=("any", 0), split="uniform-items"))
    counts = np.bincount(uniform.parts.test.items)
    assert len(set(counts[counts > 0])) == 1
    popular = uniform.per_list("popularity", "hit@10")["value"]
    error = popular.std() / math.sqrt(len(popular))
    assert popular.mean() == pytest.approx(0.1, abs=4 * error)


def test_metrics_that_collapse_in_1r(data):
    """With one relevant item nDCG does not see its grade, and equals 1 / log2(rank + 1)."""
    fold = Fold(data, protocol("one", 50))
    graded = fold.per_list("popularity", "ndcg[gain=exp2]@10")["value"]
    binary = fold.per_list("popularity", "ndcg@10")["value"]
    np.testing.assert_allclose(graded, binary, rtol=1e-12)


def test_named_protocols_run_on_real_shapes(data):
    names = ["bellogin-ti-an", "bellogin-ai-an", "said-bellogin-rpn", "said-bellogin-ut", "random-5fold"]
    names += ["valcarce-2018-allitems", "mansoury-profile-50-25-25", "gunawardana-time", "bellogin-uar"]
    for name in names:
        fold = Fold(data, Protocol.load(name))
        value = fold.value("popularity", "ndcg@10")
        assert 0 <= value <= 1, name
