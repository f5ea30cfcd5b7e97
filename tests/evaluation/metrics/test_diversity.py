"""Differences between lists, and between items of a list; against SciPy and all pairs one by one."""

import itertools
import math

import numpy as np
import pytest
import scipy.spatial.distance as spatial
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from repro.errors import ProtocolError

NAN = pytest.approx(math.nan, nan_ok=True)
AGGREGATES = {"mean": np.mean, "sum": np.sum, "min": np.min, "max": np.max}


def hamming(lists, k, users=None):
    """The mean over pairs of non-empty lists of different users, one by one."""
    tops = [set(list(order)[:k]) for order in lists]
    users = range(len(tops)) if users is None else users
    pairs = [
        1 - len(a & b) / k
        for (a, u), (b, v) in itertools.combinations(zip(tops, users, strict=True), 2)
        if a and b and u != v
    ]
    return float(np.mean(pairs)) if pairs else math.nan


@pytest.fixture(scope="session")
def inter_list(measure, ranked, background):
    def computed(lists, k, n_items, users=None):
        users = list(range(len(lists))) if users is None else users
        scores = [{item: -float(place) for place, item in enumerate(order)} for order in lists]
        parsed = measure(f"inter-list-diversity@{k}")
        known = background([{}] * (max(users) + 1), n_items)
        block = parsed.of_lists(ranked(scores, [{}] * len(scores), users=users), known)
        return parsed.of_collection([block], known)

    return computed


def test_inter_list_diversity_by_hand(inter_list):
    assert inter_list([[1, 2], [1, 2]], 2, 5) == 0.0
    assert inter_list([[1, 2], [3, 4]], 2, 5) == 1.0
    assert inter_list([[1, 2], [2, 3], [4, 1]], 2, 5) == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert inter_list([[1], [1, 2]], 2, 5) == 1 / 2  # the place that the short list lacks is different
    assert inter_list([[1, 2], [], [1, 2]], 2, 5) == 0.0
    assert math.isnan(inter_list([[1, 2], []], 2, 5))


def test_lists_of_one_user_are_not_compared(inter_list):
    lists, users = [[1, 2], [1, 3], [1, 2], [4, 5]], [0, 0, 1, 1]
    assert inter_list(lists, 2, 6, users) == pytest.approx((0 + 1 + 1 / 2 + 1) / 4)


@settings(max_examples=40, deadline=None)
@given(
    lists=st.lists(st.lists(st.integers(0, 7), unique=True, max_size=5), min_size=1, max_size=7),
    k=st.integers(1, 5),
    data=st.data(),
)
def test_inter_list_diversity_of_all_pairs(lists, k, data, inter_list):
    several = data.draw(st.booleans())
    users = [n // 2 if several else n for n in range(len(lists))]
    expected = hamming(lists, k, users)
    assert inter_list(lists, k, 8, users) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_inter_list_diversity_adds_up_over_blocks(measure, ranked, background):
    parsed, known = measure("inter-list-diversity@2"), background([{}] * 4, 6)
    lists = [[1, 2], [2, 3], [1, 3], [5, 1]]
    scores = [{item: -float(place) for place, item in enumerate(order)} for order in lists]
    blocks = [parsed.of_lists(ranked(scores[n : n + 2], [{}] * 2, users=[n, n + 1]), known) for n in (0, 2)]
    assert parsed.of_collection(blocks, known) == pytest.approx(hamming(lists, 2), abs=1e-12)
    assert measure("hamming@2").full_name == measure("personalization@2").full_name == "inter-list-diversity@2"


# Training profiles: item 0 has users 0 1 2 3, item 1 users 0 1, item 2 user 3, item 3 nobody.
TRAIN = [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1), (3, 2)]


def test_distances_over_co_ratings_by_hand(ranked, values, background):
    known = background([{}] * 4, 4, TRAIN)
    lists = ranked([{0: 3.0, 1: 2.0, 2: 1.0}, {0: 2.0, 3: 1.0}, {0: 1.0}, {}], [{}] * 4)
    cosine = [1 - 2 / math.sqrt(8), 1 - 1 / 2, 1.0]  # of items 0-1, 0-2, 1-2
    jaccard = [1 - 2 / 4, 1 - 1 / 4, 1.0]
    assert values("ild@3", lists, known) == [pytest.approx(sum(cosine) / 3, abs=1e-12), 1.0, NAN, NAN]
    assert values("ild@2", lists, known)[0] == pytest.approx(cosine[0], abs=1e-12)
    for name, expected in (
        ("ild[distance=jaccard]@3", sum(jaccard) / 3),
        ("ild[aggregate=sum]@3", sum(cosine)),
        ("ild[aggregate=min]@3", min(cosine)),
        ("ild[aggregate=max,distance=jaccard]@3", 1.0),
    ):
        assert values(name, lists, known) == [pytest.approx(expected, abs=1e-12), 1.0, NAN, NAN], name


def test_distances_over_features_by_hand(ranked, values, background):
    features = csr_array(np.array([[1.0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 2]]))
    known = background([{}], 4, features=features)
    lists = ranked([{0: 4.0, 1: 3.0, 2: 2.0, 3: 1.0}], [{}])
    half = 1 - 1 / math.sqrt(2)
    assert values("ild[over=features]@2", lists, known) == pytest.approx([half], abs=1e-12)
    assert values("ild[over=features,distance=jaccard]@2", lists, known) == pytest.approx([1 / 2])
    # The item without features and the one with another feature are at distance 1 from all.
    assert values("ild[over=features]@4", lists, known) == pytest.approx([(half + 5) / 6], abs=1e-12)


def brute(matrix, distance):
    """All distances by SciPy; 1 for rows of zeros."""
    n = len(matrix)
    distances = np.ones((n, n))
    for a, b in itertools.product(range(n), repeat=2):
        if matrix[a].any() and matrix[b].any():
            if distance == "cosine":
                distances[a, b] = spatial.cosine(matrix[a], matrix[b])
            else:
                distances[a, b] = spatial.jaccard(matrix[a] != 0, matrix[b] != 0)
    return distances


@pytest.mark.parametrize("distance", ["cosine", "jaccard"])
@pytest.mark.parametrize("over", ["co-ratings", "features"])
@pytest.mark.parametrize("n_users", [20, 300])
def test_distances_against_scipy(distance, over, n_users, ranked, values, background):
    # With 300 users a bitmap has five words: some items are in more than five profiles, some in fewer.
    rng = np.random.default_rng([n_users, distance == "cosine", over == "features"])
    popularity = np.geomspace(0.7, 0.002, 25)
    profiles = rng.random((n_users, 25)) < popularity
    features = np.where(rng.random((25, 6)) < 0.3, rng.random((25, 6)).round(2), 0)
    distances = brute(features if over == "features" else profiles.T.astype(float), distance)
    train = [(int(u), int(i)) for u, i in zip(*np.nonzero(profiles), strict=True)]
    lists = [rng.permutation(25)[: rng.integers(0, 9)].tolist() for _ in range(40)]
    known = background([{}] * n_users, 25, train, features=csr_array(features))
    scores = [{item: -float(place) for place, item in enumerate(order)} for order in lists]
    made = ranked(scores, [{}] * len(scores))
    for aggregate, function in AGGREGATES.items():
        name = f"intra-list-diversity[aggregate={aggregate},distance={distance},over={over}]@6"
        expected = [
            function([distances[a, b] for a, b in itertools.combinations(order[:6], 2)]) if len(order) > 1 else math.nan
            for order in lists
        ]
        assert values(name, made, known) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_what_is_needed_hangs_on_the_variant(measure):
    assert measure("ild@5").needs == ("train",)
    assert measure("ild[over=features]@5").needs == ("features",)
    assert measure("serendipity[over=features]@5").needs == ("train", "features")
    with pytest.raises(ProtocolError, match="a list has no first k items"):
        measure("ild@5", ties__break="expected")
