"""Splits of random data with planted faults: each is found with its exact count, and clean splits have none."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.reviews.artefact.data_sets import Part
from tests.reviews.artefacts import found, lines, reviewed, wrong


def part_of(rows, role="test"):
    users, items = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    return Part(role, "file", users, items, lambda row: f"line {row + 1}")


@st.composite
def clean_splits(draw):
    """Distinct pairs with ascending times, the latest of each user in the test part, the one before in validation."""
    users = draw(st.integers(2, 8))
    rows = {"train": [], "valid": [], "test": []}
    for user in range(users):
        items = draw(st.lists(st.integers(0, 30), min_size=4, max_size=9, unique=True))
        times = sorted(draw(st.lists(st.integers(1, 500), min_size=len(items), max_size=len(items), unique=True)))
        stamped = [
            (f"u{user}", f"i{item}", 1 + n % 5, time) for n, (item, time) in enumerate(zip(items, times, strict=True))
        ]
        rows["train"] += stamped[:-2]
        rows["valid"].append(stamped[-2])
        rows["test"].append(stamped[-1])
    for part in rows.values():
        part[:] = draw(st.permutations(part))
    return rows


def review_of(parts, form="tabs", **stated):
    with tempfile.TemporaryDirectory() as folder:
        files = {
            f"{name}.txt": lines(part, {"tabs": "\t", "commas": ",", "colons": "::"}[form])
            for name, part in parts.items()
        }
        return reviewed(Path(folder), files, **stated)


@settings(max_examples=25, deadline=None)
@given(clean_splits(), st.sampled_from(["tabs", "commas", "colons"]))
def test_a_clean_split_has_no_errors_or_warnings(rows, form):
    sizes = {
        "users": len({row[0] for part in rows.values() for row in part}),
        "items": len({row[1] for part in rows.values() for row in part}),
        "rows": sum(map(len, rows.values())),
        "test_rows": len(rows["test"]),
    }
    assert wrong(review_of(rows, form, split="leave-one-out", order="time", **sizes)) == []


@settings(max_examples=40, deadline=None)
@given(clean_splits(), st.data())
def test_planted_faults_are_found_with_their_exact_counts(rows, draw):
    sources = [(one, other) for one in rows for other in rows if one != other]
    for _ in range(draw.draw(st.integers(1, 3))):
        source, target = draw.draw(st.sampled_from(sources))
        copied = draw.draw(st.sampled_from(rows[source]))
        rows[target].insert(draw.draw(st.integers(0, len(rows[target]))), copied)
    for _ in range(draw.draw(st.integers(0, 2))):
        part = rows[draw.draw(st.sampled_from(sorted(rows)))]
        part.insert(draw.draw(st.integers(0, len(part))), draw.draw(st.sampled_from(part)))
    result = review_of(rows, order="time")
    pairs = {name: [row[:2] for row in part] for name, part in rows.items()}
    for check, later, earlier in (
        ("test-in-train", "test", "train"),
        ("validation-in-train", "valid", "train"),
        ("test-in-validation", "test", "valid"),
    ):
        expected = sum(pair in set(pairs[earlier]) for pair in pairs[later])
        same = check == "test-in-validation" and set(pairs["test"]) == set(pairs["valid"])
        counts = [finding.count for finding in found(result, "validation-is-test" if same else check)]
        assert counts == ([expected] if expected else [])
    for name, label in (("train", "training"), ("valid", "validation"), ("test", "test")):
        expected = sum(count - 1 for count in Counter(pairs[name]).values())
        counts = [one.count for one in found(result, "repeated-rows") if f"of the {label} part" in one.text]
        assert counts == ([expected] if expected else [])
    counts = {}
    for earlier, later, label in (("train", "valid", "validation"), ("valid", "test", "test")):
        latest = {}
        for user, _, _, time in rows[earlier]:
            latest[user] = max(time, latest.get(user, time))
        counts[label] = sum(user in latest and time < latest[user] for user, _, _, time in rows[later])
    for label, expected in counts.items():
        older = [one for one in found(result, "order-in-time") if f"{label} row" in one.text.split(" older ")[0]]
        assert [one.count or 0 for one in older] == [expected]


@settings(max_examples=25, deadline=None)
@given(clean_splits(), st.data())
def test_planted_positives_among_negatives_are_found(rows, draw):
    trained = {}
    for user, item, *_ in rows["train"]:
        trained.setdefault(user, []).append(item)
    lists, own, train = [], 0, 0
    for user, item, *_ in rows["test"]:
        negatives = [f"n{number}" for number in range(4)]
        if draw.draw(st.booleans()):
            negatives[draw.draw(st.integers(0, 3))] = item
            own += 1
        if draw.draw(st.booleans()):
            place = draw.draw(st.sampled_from([n for n, negative in enumerate(negatives) if negative != item]))
            negatives[place] = draw.draw(st.sampled_from(trained[user]))
            train += 1
        lists.append(f"({user},{item})\t" + "\t".join(negatives) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        files = {f"x.{name}.txt": lines(rows[name]) for name in ("train", "test")} | {"x.test.negative": "".join(lists)}
        result = reviewed(Path(folder), files, negatives=4)
    assert [one.count for one in found(result, "target-among-negatives")] == ([own] if own else [])
    assert [one.count for one in found(result, "train-items-among-negatives")] == ([train] if train else [])
    assert not found(result, "test-items-among-negatives")


@settings(max_examples=25, deadline=None)
@given(clean_splits(), st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_the_order_of_rows(rows, random):
    rows["test"].append(rows["train"][0])
    first = {(one.check, one.count, one.text) for one in review_of(rows).findings}
    for part in rows.values():
        random.shuffle(part)
    assert {(one.check, one.count, one.text) for one in review_of(rows).findings} == first
