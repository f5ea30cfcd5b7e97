"""The distance of recommended items from those that a user has; against all pairs one by one."""

import itertools
import math
import statistics

import numpy as np
import pytest
import scipy.spatial.distance as spatial
from scipy.sparse import csr_array

from repro.errors import ProtocolError

NAN = pytest.approx(math.nan, nan_ok=True)

# Items 0 and 1 have one feature each, item 2 both, item 3 none, item 4 another one.
FEATURES = csr_array(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]]))
ROOT = 1 - 1 / math.sqrt(2)


def test_distance_from_the_profile_by_hand(ranked, values, background):
    # User 0 has items 0 and 1, user 1 has item 0, user 2 has none.
    known = background([{}] * 3, 5, [(0, 0), (0, 1), (1, 0)], features=FEATURES)
    scores = [{2: 3.0, 4: 2.0, 3: 1.0}, {2: 2.0, 1: 1.0}, {0: 1.0}, {}]
    lists = ranked(scores, [{2: 1}, {1: 1}, {0: 1}, {}], users=[0, 1, 2, 2])
    # From items 0 and 1, item 2 is at ROOT each; items 3 and 4 are at 1.
    unexpected = [(ROOT + 1 + 1) / 3, (ROOT + 1) / 3, 1 / 3, 0.0]
    assert values("unexpectedness[over=features]@3", lists, known) == pytest.approx(unexpected, abs=1e-12)
    assert values("unexpectedness[over=features,denominator=list]@3", lists, known) == pytest.approx(
        [(ROOT + 2) / 3, (ROOT + 1) / 2, 1.0, 0.0], abs=1e-12
    )
    assert values("unexpectedness[over=features,distance=jaccard]@1", lists, known) == [1 / 2, 1 / 2, 1.0, 0.0]
    assert values("serendipity[over=features]@2", lists, known) == [pytest.approx(ROOT / 2), 1 / 2, 1 / 2, NAN]
    assert values("serendipity[over=features,denominator=list]@2", lists, known)[2] == 1.0


def test_the_nearest_item_of_a_profile(ranked, values, background):
    known = background([{}], 5, [(0, 0), (0, 4)], features=FEATURES)
    lists = ranked([{2: 2.0, 1: 1.0}], [{2: 1}])
    assert values("unexpectedness[over=features]@1", lists, known) == pytest.approx([(ROOT + 1) / 2])
    assert values("unexpectedness[over=features,profile=nearest]@1", lists, known) == pytest.approx([ROOT])
    assert values("serendipity[over=features,profile=nearest]@2", lists, known) == pytest.approx([ROOT / 2])


@pytest.mark.parametrize("distance", ["cosine", "jaccard"])
@pytest.mark.parametrize(("profile", "join"), [("mean", np.mean), ("nearest", np.min)])
def test_co_ratings_against_all_pairs(distance, profile, join, ranked, values, background):
    rng = np.random.default_rng(7)
    n_users, n_items, k = 90, 20, 4
    profiles = rng.random((n_users, n_items)) < np.geomspace(0.6, 0.02, n_items)
    profiles[0] = False
    columns = profiles.T.astype(float)

    def distances(a, b):
        if not columns[a].any() or not columns[b].any():
            return 1.0
        function = spatial.cosine if distance == "cosine" else spatial.jaccard
        return function(columns[a], columns[b]) if distance == "cosine" else function(columns[a] > 0, columns[b] > 0)

    def unexpected(user, item):
        mine = np.flatnonzero(profiles[user])
        return join([distances(item, other) for other in mine]) if len(mine) else 1.0

    lists = [rng.permutation(n_items)[: rng.integers(0, 7)].tolist() for _ in range(n_users)]
    truth = [{int(i): 1 for i in rng.permutation(n_items)[: rng.integers(0, 9)]} for _ in range(n_users)]
    train = [(int(u), int(i)) for u, i in zip(*np.nonzero(profiles), strict=True)]
    known = background(truth, n_items, train)
    made = ranked([{item: -float(place) for place, item in enumerate(order)} for order in lists], truth)
    variants = f"profile={profile},distance={distance}"
    expected = [sum(unexpected(user, item) for item in order[:k]) / k for user, order in enumerate(lists)]
    assert values(f"unexpectedness[{variants}]@{k}", made, known) == pytest.approx(expected, abs=1e-12)
    expected = [
        sum(unexpected(user, item) for item in order[:k] if item in judged) / k if judged else math.nan
        for user, (order, judged) in enumerate(zip(lists, truth, strict=True))
    ]
    results = values(f"serendipity[{variants}]@{k}", made, known)
    assert results == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_serendipity_is_exact_over_all_orders(ranked, values, background, measure):
    known = background([{}], 5, [(0, 0)], features=FEATURES)
    scores, truth = {1: 1.0, 2: 1.0, 3: 1.0, 4: 0.0}, {2: 1, 3: 1, 4: 1}
    distances = {2: ROOT, 3: 1.0, 4: 1.0}
    mean = statistics.fmean(
        sum(distances.get(item, 0.0) for item in order[:2]) / 2 for order in itertools.permutations([1, 2, 3])
    )
    lists = ranked([scores], [truth], ties="expected")
    results = values("serendipity[over=features]@2", lists, known, ties__break="expected")
    assert results == pytest.approx([mean], abs=1e-12)
    with pytest.raises(ProtocolError, match="a list has no first k items"):
        measure("unexpectedness@2", ties__break="expected")
