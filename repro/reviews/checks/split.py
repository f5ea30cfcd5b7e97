"""The split as it is in the files: counts of each user, shares, cores, and whether rows were held out at random."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from repro.reviews.artefact.data_sets import DataSet, Part
from repro.reviews.artefact.names import FOLD_IN, TEST, TRAIN, VALIDATION, WHOLE
from repro.reviews.checks.pairs import NOUNS, pair_text, place
from repro.reviews.findings import EXAMPLES, Example, Finding
from repro.reviews.stated import Stated
from repro.text import plural

_CERTAIN = 8.0  # standard deviations beyond which a random choice is ruled out: a probability below 1e-14


def split_findings(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """Findings about counts, shares, cores and the choice of held-out rows."""
    yield from _counts_per_user(data_set, stated)
    yield from _shares(data_set, stated)
    yield from _cores(data_set, stated)
    yield from _ratings(data_set, stated)
    yield from _labels(data_set)
    yield from _random_choice(data_set, stated)
    yield from _sequences(data_set)


def _all_parts(data_set: DataSet) -> list[Part]:
    whole = data_set.part(WHOLE)
    if whole is not None:
        return [whole]
    return [data_set.parts[role] for role in (TRAIN, FOLD_IN, VALIDATION, TEST) if role in data_set.parts]


def _counts_per_user(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    expected = 1 if stated.split == "leave-one-out" else stated.test_per_user
    for role in (VALIDATION, TEST):
        part = data_set.part(role)
        if part is None:
            continue
        counts = np.bincount(part.users, minlength=len(data_set.user_ids))
        users = np.flatnonzero(counts)
        wanted = expected if role == TEST or stated.split == "leave-one-out" else None
        wrong = users[counts[users] != wanted] if wanted is not None else users[:0]
        how = f"rows of each user of {part.file}"
        noun = NOUNS[role]
        if len(wrong):
            first = {int(user): int(np.argmax(part.users == user)) for user in wrong[:EXAMPLES]}
            yield Finding(
                "rows-per-user",
                "error",
                f"{plural(wanted or 0, f'{noun} row')} of each user are stated, and {len(wrong):,} of "
                f"{plural(len(users), 'user')} have other numbers, up to {counts.max():,}",
                how,
                len(wrong),
                len(users),
                tuple(
                    Example(
                        f"user {data_set.user_ids[user]} has {plural(int(counts[user]), 'row')}", (place(part, row),)
                    )
                    for user, row in first.items()
                ),
            )
        else:
            low, high = int(counts[users].min()), int(counts[users].max())
            each = (
                f"each has {plural(low, 'row')}"
                if low == high
                else (f"each has {low:,} to {high:,} rows, half of them at most {np.median(counts[users]):,g}")
            )
            yield Finding("rows-per-user", "note", f"{plural(len(users), 'user')} of the {noun} part; {each}", how)
    train, test = data_set.part(TRAIN), data_set.part(TEST)
    if stated.split in ("leave-one-out", "user-ratio") and train is not None and test is not None:
        without = np.setdiff1d(train.users, test.users)
        if len(without):
            severity = "error" if stated.split == "leave-one-out" else "warning"
            yield Finding(
                "users-without-test-rows",
                severity,
                f"{len(without):,} of {plural(len(np.unique(train.users)), 'training user')} have no test row, and the "
                "split is stated to hold out rows of each user",
                f"distinct users of {train.file} that {test.file} does not have",
                len(without),
                len(np.unique(train.users)),
                tuple(Example(f"user {data_set.user_ids[user]}") for user in without[:EXAMPLES].tolist()),
            )


def _shares(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """The share of rows in each part, and of the rows of each user in the test part."""
    parts = [part for part in _all_parts(data_set) if part.role != WHOLE]
    test = data_set.part(TEST)
    if len(parts) < 2:
        return
    total = sum(map(len, parts))
    shares = ", ".join(f"{NOUNS[part.role]} {len(part) / total:.2%}" for part in parts)
    yield Finding("shares", "note", f"of {total:,} rows: {shares}", "rows of each part")
    if test is None or stated.test_share is None or TRAIN not in data_set.parts:
        return
    if stated.split == "user-ratio":
        n_users = len(data_set.user_ids)
        own = np.bincount(test.users, minlength=n_users)
        every = np.bincount(np.concatenate([part.users for part in parts]), minlength=n_users)
        off = np.abs(own - stated.test_share * every) >= 1 - 1e-9  # no rounding reaches a whole row
        if off.any():
            users = np.flatnonzero(off)
            yield Finding(
                "share-per-user",
                "error",
                f"a share of {stated.test_share:g} of the rows of each user is stated; {len(users):,} of "
                f"{plural(int((every > 0).sum()), 'user')} differ from it by a whole row or more",
                "test rows of each user minus the share of all of them, which rounding keeps below 1",
                len(users),
                int((every > 0).sum()),
                tuple(
                    Example(f"user {data_set.user_ids[user]}: {own[user]:,} of {every[user]:,} rows")
                    for user in users[:EXAMPLES].tolist()
                ),
            )
    elif abs(len(test) - stated.test_share * total) >= 1:
        yield Finding(
            "test-share",
            "error" if stated.split == "ratio" else "warning",
            f"a test share of {stated.test_share:g} is stated, {stated.test_share * total:,.1f} of {total:,} rows, and "
            f"{test.file} has {len(test):,} ({len(test) / total:.2%})",
            "rows of the test part by rows of all parts",
            abs(len(test) - round(stated.test_share * total)),
            total,
        )


def _cores(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """The least rows of users and items in all parts together."""
    parts = _all_parts(data_set)
    complete = WHOLE in data_set.parts or {TRAIN, TEST} <= set(data_set.parts)
    if not parts or not complete:
        return
    for noun, least in (("user", stated.user_core), ("item", stated.item_core)):
        codes = np.concatenate([part.users if noun == "user" else part.items for part in parts])
        ids = data_set.user_ids if noun == "user" else data_set.item_ids
        counts = np.bincount(codes, minlength=len(ids))
        present = np.flatnonzero(counts)
        how = f"rows of each {noun} in {' and '.join(part.file for part in parts)}"
        few = present[counts[present] < (least or 0)]
        if len(few):
            yield Finding(
                f"{noun}-core",
                "error",
                f"at least {plural(least or 0, 'row')} of each {noun} are stated, and {len(few):,} of "
                f"{plural(len(present), noun)} have fewer, down to {counts[few].min():,}",
                how,
                len(few),
                len(present),
                tuple(
                    Example(f"{noun} {ids[code]} has {plural(int(counts[code]), 'row')}")
                    for code in few[:EXAMPLES].tolist()
                ),
            )
        else:
            lowest = int(counts[present].min())
            if least or lowest > 1:
                as_stated = ", as stated" if least else ""
                text = f"each {noun} has at least {plural(lowest, 'row')}{as_stated}"
                yield Finding(f"{noun}-core", "note", text, how)


def _ratings(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    for part in _all_parts(data_set):
        if stated.min_rating is None:
            return
        if part.ratings is None:
            yield Finding(
                "ratings",
                "undetermined",
                f"ratings of at least {stated.min_rating:g} are stated, and {part.file} has no ratings",
                "a column of ratings",
            )
        elif (low := part.ratings < stated.min_rating).any():
            rows, count = np.flatnonzero(low)[:EXAMPLES].tolist(), int(low.sum())
            yield Finding(
                "ratings",
                "error",
                f"ratings of at least {stated.min_rating:g} are stated, and {count:,} of "
                f"{plural(len(part), f'{NOUNS[part.role]} row')} have lower ones",
                f"ratings of {part.file}",
                count,
                len(part),
                tuple(
                    Example(f"{pair_text(data_set, part, row)}, rating {part.ratings[row]:g}", (place(part, row),))
                    for row in rows
                ),
            )


def _labels(data_set: DataSet) -> Iterator[Finding]:
    """Ratings that are 0 and 1, as labels of positives and negatives are."""
    for part in _all_parts(data_set):
        if part.ratings is None or len(np.unique(part.ratings)) != 2 or set(part.ratings.tolist()) != {0.0, 1.0}:
            continue
        rows, count = np.flatnonzero(part.ratings == 0)[:EXAMPLES].tolist(), int((part.ratings == 0).sum())
        yield Finding(
            "labels",
            "undetermined",
            f"the ratings of the {NOUNS[part.role]} part are 0 and 1: {plural(count, 'row')} of 0 may be negatives, "
            "and were counted as rows",
            f"distinct ratings of {part.file}",
            count,
            len(part),
            tuple(Example(pair_text(data_set, part, row), (place(part, row),)) for row in rows),
        )


def _random_choice(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """Whether the test rows can be a random choice among the rows of each user: by the popularity of their items."""
    test, train = data_set.part(TEST), data_set.part(TRAIN)
    if test is None or train is None:
        return
    # With a fold-in part or parts by user, the choice among the rows of a user is not that of training and test.
    parts = [data_set.parts[role] for role in (TRAIN, FOLD_IN, VALIDATION, TEST) if role in data_set.parts]
    deviation = popularity_deviation(parts, test)
    if deviation is None:
        return
    sigmas, observed, expected = deviation
    how = (
        "the mean popularity of the items of the test rows against its mean and standard deviation over all choices of "
        "as many of the user's rows, each as likely"
    )
    numbers = f"test items have {observed:,.1f} rows on average, and {expected:,.1f} would be expected"
    if abs(sigmas) > _CERTAIN:
        severity = "error" if stated.order == "random" else "note"
        yield Finding(
            "random-choice",
            severity,
            f"the test rows are not a random choice among the rows of each user: {numbers} ({sigmas:+.1f} standard "
            "deviations)",
            how,
        )
    elif stated.order == "random":
        text = (
            f"the test rows may be a random choice among the rows of each user: {numbers} ({sigmas:+.1f} standard "
            "deviations)"
        )
        yield Finding("random-choice", "note", text, how)


def popularity_deviation(parts: list[Part], test: Part) -> tuple[float, float, float] | None:
    """Standard deviations of the popularity of test items from that of a random choice, and both means.

    Of a user with N rows, n are drawn without replacement: the sum of their popularities has the mean n m and the
    variance n (N - n) / (N - 1) v, with m and v the mean and the variance of the popularity of the N rows. None where
    nothing varies.
    """
    users = np.concatenate([part.users for part in parts])
    items = np.concatenate([part.items for part in parts])
    popularity = np.bincount(items).astype(np.float64)
    n_users = int(users.max()) + 1
    rows = np.bincount(users, minlength=n_users).astype(np.float64)
    drawn = np.bincount(test.users, minlength=n_users).astype(np.float64)
    sums = np.bincount(users, popularity[items], n_users)
    present = rows > 0
    means: npt.NDArray[np.float64] = np.divide(sums, rows, out=np.zeros(n_users), where=present)
    deviations = popularity[items] - means[users]
    variances = np.divide(np.bincount(users, deviations**2, n_users), rows, out=np.zeros(n_users), where=present)
    share = np.divide(rows - drawn, rows - 1, out=np.zeros(n_users), where=rows > 1)
    variance = math.fsum(drawn * share * variances)
    if variance <= 0:
        return None
    expected, observed = math.fsum(drawn * means), math.fsum(popularity[test.items])
    return (observed - expected) / math.sqrt(variance), observed / len(test), expected / len(test)


def _sequences(data_set: DataSet) -> Iterator[Finding]:
    """Sequences whose last item, which leave-one-out evaluations hold out, occurs earlier in them."""
    whole = data_set.part(WHOLE)
    if whole is None or not whole.in_order or whole.lines is None:
        return
    lines = whole.lines
    last = np.flatnonzero(np.r_[lines[1:] != lines[:-1], True])
    is_last = np.zeros(len(lines), dtype=np.bool_)
    is_last[last] = True
    pairs = data_set.pairs(whole)
    known = np.isin(pairs[last], pairs[~is_last])
    if known.any():
        rows, count = last[known][:EXAMPLES].tolist(), int(known.sum())
        yield Finding(
            "last-item-repeated",
            "warning",
            f"the last item of {count:,} of {plural(len(last), 'sequence')} occurs earlier in it: held out as a test "
            "row, it is also a training row, and an evaluation that leaves out training items cannot rank it",
            f"the last item of each line of {whole.file} among the earlier ones of its user",
            count,
            len(last),
            tuple(Example(pair_text(data_set, whole, row), (place(whole, row),)) for row in rows),
        )
