"""From scores to ranked lists, compiled: all code that runs for each list, cell or candidate.

:func:`rank_range` ranks each list in phases, without sorting the whole list::

    scores, columns --lay out--> row --threshold--> maxima of groups --collect--> top --sort--> top, in order
      _lay_out                 (float64,    _threshold                _collect          _sort_pairs
                                by item)                                                _key_ties (within ties)
                                                                                              |
    judged items ----------find----------> hit_at ---------------place---------------> position, above, tied
                   _find_hits, _find_given_hits             _place_hits

1. *Lay out*: the candidates are copied into a row of working space, in ascending order of item, with missing scores
   replaced: NaN is not ranked, -inf is missing and last, +inf is missing and first.
2. *Threshold*: the maxima of interleaved groups give a score that at least ``depth`` candidates reach.
3. *Collect and sort*: the candidates that reach it are sorted by score and, within equal scores, by tie key. All
   candidates that tie with the one at ``depth`` reach the threshold as well, so that groups of ties are complete.
4. *Place*: test items look up their ranks there.

Given lists that are already in order take a shortcut (:func:`_in_order`).

All compiled functions are in this file, which is why it is long: Numba's cache notices changes of the file of the
function that is called, and not of the files of the functions that this one calls. They take arrays one by one, which
is why they have many parameters: taking an array out of a tuple counts a reference, and counting references from
several threads is slower than ranking.
"""

# An int below is any integer type of Numba.
# mypy: disable-error-code="arg-type,assignment,return-value"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from repro import rng
from repro.compiling import compiled, inlined
from repro.evaluation.ranking.ranked import BY_ALGORITHM, BY_FALLBACK
from repro.plugin import FALLBACK, SCORED, UNSCORED

# The candidates of a list: the row of its user without ``columns``; ``columns`` of that row; or its own scores, one for
# each of ``columns``.
DENSE, LISTED, GIVEN = 0, 1, 2

# The columns of ``Output.counts``, which count candidates of a list. N_CONSTANT: all of them, if several are ranked and
# all have the same score.
N_MISSING, N_UNSCORED, N_FALLBACK, N_ZERO, N_INFINITE, N_CLIPPED, N_ROUNDED, N_CONSTANT = range(8)
N_COUNTS = N_CONSTANT + 1

# The precision at which scores are equal, and the order of equal scores.
DOUBLE, SINGLE, DECIMALS = 0, 1, 2
BY_POSITION, BY_ORDER, BY_HASH, BY_PLACE = range(4)

_LARGEST = np.finfo(np.float64).max
_BELOW_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
_SIGN = np.uint64(0x8000000000000000)
_FEW, _SOME, _SPREAD, _MANY = 16, 128, 4, 1024

inlined(rng.mix, rng.combine)
_combine = rng.combine
_inner = compiled("numpy", stored=False)


class Rules(NamedTuple):
    """The rules for missing scores, and for the order of equal ones.

    by_column        whether a missing cell gets the fill of its column rather than of its row
    fallback_missing whether a FALLBACK is a missing score
    zero_missing     0: zero is a score; 1: zero is missing; 2: zero and below are
    infinite_missing whether an infinite score is missing; otherwise it is the largest finite one
    precision        DOUBLE, SINGLE or DECIMALS (then ``scale`` is the power of ten)
    ties             BY_POSITION, BY_ORDER, BY_HASH or BY_PLACE
    stream           BY_HASH: the stream of ties
    clipped          whether scores are clipped to ``low`` and ``high``
    """

    by_column: bool
    fallback_missing: bool
    zero_missing: int
    infinite_missing: bool
    precision: int
    scale: float
    ties: int
    stream: np.uint64
    clipped: bool
    low: float
    high: float


class Cells(NamedTuple):
    """The scores, with replacements and keys of rows and columns.

    values, state           rows x columns; ``state`` has no rows if every cell is scored. GIVEN: one row
    row_fills, column_fills the replacement of a missing score
    order                   BY_ORDER: an ascending key for each column
    row_keys, column_keys   BY_HASH: the stream keys of users and items
    """

    values: Any
    state: Any
    row_fills: Any
    column_fills: Any
    order: Any
    row_keys: Any
    column_keys: Any


class Lists(NamedTuple):
    """The lists as in :class:`repro.evaluation.candidates.lists.ListBlock`; ``columns`` ascend within a list.

    ``column_items`` are the item codes of the columns. GIVEN: ``columns`` are item codes themselves, in any order.
    ``places`` are ascending keys of the candidates in ``columns``, by which ties are ordered (BY_PLACE).
    """

    rows: Any
    column_items: Any
    offsets: Any
    columns: Any
    judged_offsets: Any
    judged_items: Any
    judged_columns: Any
    judged_relevant: Any
    judged_grades: Any
    cutoffs: Any
    places: Any


class Output(NamedTuple):
    """The arrays to fill, as in :class:`repro.evaluation.ranking.ranked.Ranked`, and the counts of the tally.

    lengths   -1 if a given list has an item twice
    counts    lists x kinds of counts (N_MISSING, ...)
    straddled lists x cut-offs: 1 if a group of ties has members on both sides
    """

    items: Any
    scored: Any
    lengths: Any
    n_relevant: Any
    hit_items: Any
    relevant: Any
    grades: Any
    position: Any
    above: Any
    tied: Any
    counts: Any
    straddled: Any


@compiled("numpy")
def rank_range(
    first: int,
    last: int,
    kind: int,
    depth: int,
    width: int,
    n_judged: int,
    rules: Rules,
    cells: Cells,
    lists: Lists,
    out: Output,
) -> None:
    """Rank lists ``first`` up to ``last``, of at most ``width`` candidates and ``n_judged`` judged items each."""
    values, state, row_fills, column_fills, order, row_keys, column_keys = cells
    rows, column_items, offsets, columns, judged_offsets, judged_items, judged_columns, judged_relevant = lists[:8]
    judged_grades, cutoffs, places = lists[8:]
    items, scored, lengths, n_relevant, hit_items, relevant, grades, position, above, tied = out[:10]
    counts, straddled = out[10:]
    # Working space, by candidate, by group of candidates, or by judged item.
    room = max(width, n_judged) + 2
    row, maxima, scratch = np.empty(width), np.empty(_groups(width, depth)), np.empty(1)
    bits, maxima_bits, scratch_bits = row.view(np.int64), maxima.view(np.int64), scratch.view(np.int64)
    top, rank_of = np.empty(room, np.uint32), np.empty(room, np.uint32)
    start, end = np.empty(room, np.uint32), np.empty(room, np.uint32)
    keys, spare_keys, spare = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32)
    buckets, stack = np.empty(max(room, _MANY) + 2, np.uint32), np.empty(2 * (room // _FEW + 2), np.int64)
    hit_at, hit_keys, hit_index = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32)
    mark = np.zeros(len(column_items) if kind == GIVEN else 0, np.int32)
    seen = np.full(len(mark), -1, np.int32)
    plain = len(state) == 0 and rules.zero_missing == 0 and not rules.infinite_missing and rules.precision == DOUBLE
    plain = plain and not rules.clipped
    for n in range(first, last):
        r, begin, size = np.int64(rows[n]), offsets[n], offsets[n + 1] - offsets[n]
        first_hit, n_hits = judged_offsets[n], judged_offsets[n + 1] - judged_offsets[n]
        if kind == GIVEN and plain and _in_order(begin, size, values):
            counts[n, N_ZERO] = _list_in_order(n, begin, size, columns, values, items, scored)
            n_relevant[n], single = _hit_in_order(
                n,
                begin,
                size,
                depth,
                columns,
                first_hit,
                n_hits,
                judged_items,
                judged_relevant,
                judged_grades,
                seen,
                mark,
                hit_items,
                relevant,
                grades,
                position,
                above,
                tied,
            )
            lengths[n] = size if single else -1
            continue
        lengths[n] = _lay_out(
            n, r, kind, begin, size, columns, values, state, row_fills, column_fills, rules, row, counts
        )
        size = values.shape[1] if kind == DENSE else size
        if rules.clipped:
            counts[n, N_CLIPPED] = _clip_scores(r, kind, begin, size, columns, values, state, rules, row)
        if rules.precision != DOUBLE:
            counts[n, N_ROUNDED] = _round_scores(row, size, rules.precision, rules.scale)
        if kind == GIVEN:
            if not _find_given_hits(begin, size, columns, first_hit, n_hits, judged_columns, mark, hit_at):
                lengths[n] = -1
        else:
            _find_hits(kind, begin, size, columns, first_hit, n_hits, judged_columns, hit_at)
        threshold = _threshold(size, depth, row, maxima, maxima_bits, scratch, scratch_bits)
        threshold, n_found, n_unsorted = _collect(
            size, threshold, depth, row, maxima, maxima_bits, scratch, scratch_bits, top, spare
        )
        for i in range(n_found):
            keys[i] = ~_ordered(bits[top[i]])
        _sort_pairs(0, n_unsorted, keys, top, spare_keys, spare, buckets, stack)
        group = 0
        while group < n_found:
            stop = group + 1
            while stop < n_found and keys[stop] == keys[group]:
                stop += 1
            if stop - group > 1 and (rules.ties != BY_POSITION or group < n_unsorted):
                _key_ties(group, stop, top, kind, r, begin, columns, places, order, row_keys, column_keys, rules, keys)
                _sort_pairs(group, stop, keys, top, spare_keys, spare, buckets, stack)
            for i in range(group, stop):
                start[i], end[i] = group, stop
                rank_of[top[i]] = i
            group = stop
        if n_found > 1 and end[0] == lengths[n]:  # one group holds the whole list
            counts[n, N_CONSTANT] = lengths[n]
        marked = not (rules.by_column or abs(row_fills[r]) <= _LARGEST)  # missing scores are infinite in ``row``
        for p in range(min(n_found, items.shape[1])):
            index = np.int64(top[p])
            column = index if kind == DENSE else np.int64(columns[begin + index])
            i, j = (0, begin + index) if kind == GIVEN else (r, column)
            items[n, p] = column_items[column]
            source = state[i, j] if len(state) else SCORED
            if abs(row[index]) <= _LARGEST if marked else not _missing(values[i, j], source, rules):
                scored[n, p] = BY_FALLBACK if source == FALLBACK else BY_ALGORITHM
        n_ranked = _place_hits(n_hits, threshold, depth, row, rank_of, start, hit_at, hit_keys, hit_index, spare)
        _sort_pairs(0, n_ranked, hit_keys, hit_index, spare_keys, spare, buckets, stack)
        n_relevant[n] = 0
        for h in range(n_hits):
            to, judged = first_hit + h, first_hit + np.int64(hit_index[h])
            hit_items[to], relevant[to] = judged_items[judged], judged_relevant[judged]
            grades[to] = judged_grades[judged]
            n_relevant[n] += judged_relevant[judged]
            if h < n_ranked:
                p = hit_keys[h]
                position[to], above[to], tied[to] = p + 1, start[p], end[p] - start[p]
            else:
                position[to], above[to], tied[to] = 0, -1, 0
        for c in range(len(cutoffs)):
            straddled[n, c] = cutoffs[c] < n_found and start[cutoffs[c]] < cutoffs[c]


# --- lists given in order of rank -----------------------------------------------------------------------------


@_inner
def _in_order(begin: int, size: int, values: Any) -> bool:
    """Whether a given list is in order: finite, strictly decreasing scores. It needs no sorting and has no ties."""
    if size == 0:
        return False
    part = values[0, begin : begin + size]
    in_order = abs(part[0]) <= _LARGEST and abs(part[size - 1]) <= _LARGEST
    for i in range(1, size):
        in_order &= part[i] < part[i - 1]
    return in_order


@_inner
def _list_in_order(n: int, begin: int, size: int, columns: Any, values: Any, items: Any, scored: Any) -> int:
    """Copy a list that is in order; returns the number of zero scores."""
    part, zeros = values[0, begin : begin + size], 0
    for i in range(size):
        zeros += part[i] == 0.0
    shown = min(size, items.shape[1])
    items[n, :shown] = columns[begin : begin + shown]
    scored[n, :shown] = BY_ALGORITHM
    return zeros


@_inner
def _hit_in_order(
    n: int,
    begin: int,
    size: int,
    depth: int,
    columns: Any,
    first: int,
    n_hits: int,
    judged_items: Any,
    judged_relevant: Any,
    judged_grades: Any,
    seen: Any,
    mark: Any,
    hit_items: Any,
    relevant: Any,
    grades: Any,
    position: Any,
    above: Any,
    tied: Any,
) -> tuple[int, bool]:
    """The hits of a list that is in order; returns the number of relevant items, and whether all items are distinct.

    ``mark`` has the number of the judged item of an item, from 1; ``seen`` has the last list of an item.
    """
    n_relevant, single, to = 0, True, first
    for judged in range(first, first + n_hits):
        mark[judged_items[judged]] = judged - first + 1
        n_relevant += judged_relevant[judged]
    listed = columns[begin : begin + size]
    for i in range(size):
        item = listed[i]
        single &= seen[item] != n
        seen[item] = n
        if mark[item] > 0 and i < depth:
            judged = first + mark[item] - 1
            mark[item] = 0
            hit_items[to], relevant[to], grades[to] = item, judged_relevant[judged], judged_grades[judged]
            position[to], above[to], tied[to] = i + 1, i, 1
            to += 1
    for judged in range(first, first + n_hits):
        item = judged_items[judged]
        if mark[item] > 0:
            mark[item] = 0
            hit_items[to], relevant[to], grades[to] = item, judged_relevant[judged], judged_grades[judged]
            position[to], above[to], tied[to] = 0, -1, 0
            to += 1
    return n_relevant, single


# --- candidates and their scores ------------------------------------------------------------------------------


@_inner
def _missing(value: float, state: int, rules: Rules) -> bool:
    """Whether the score of a cell is missing under the rules."""
    if state == UNSCORED or value != value:
        return True
    if state == FALLBACK and rules.fallback_missing:
        return True
    if abs(value) > _LARGEST and rules.infinite_missing:
        return True
    return (rules.zero_missing > 0 and value == 0.0) or (rules.zero_missing == 2 and value < 0.0)


@_inner
def _count(value: float, state: int, rules: Rules, step: int, n: int, counts: Any) -> bool:
    """Add ``step`` to the counts of list ``n`` for a cell; returns whether it is missing.

    The rules apply in order: a cell that is missing as a fallback does not count as zero.
    """
    missing = _missing(value, state, rules)
    if missing:
        counts[n, N_MISSING] += step
    if state == UNSCORED or value != value:
        counts[n, N_UNSCORED] += step
        return missing
    if state == FALLBACK:
        counts[n, N_FALLBACK] += step
        if rules.fallback_missing:
            return missing
    if abs(value) > _LARGEST:
        counts[n, N_INFINITE] += step
        if rules.infinite_missing:
            return missing
    if value == 0.0 or (rules.zero_missing == 2 and value < 0.0):
        counts[n, N_ZERO] += step
    return missing


@_inner
def _finite(value: float) -> float:
    """Replace an infinite score by the largest finite one, and -0.0 by 0.0: infinities mark missing scores."""
    return min(max(value, -_LARGEST), _LARGEST) + 0.0


@_inner
def _lay_out(
    n: int,
    r: int,
    kind: int,
    begin: int,
    size: int,
    columns: Any,
    values: Any,
    state: Any,
    row_fills: Any,
    column_fills: Any,
    rules: Rules,
    row: Any,
    counts: Any,
) -> int:
    """Copy the candidates with missing scores replaced; returns the number of ranked ones.

    DENSE: the candidates are the row of the user, and the cells in ``columns`` are excluded: NaN. Otherwise they are
    ``columns``.
    """
    if kind != DENSE:
        ranked = size
        for i in range(size):
            column = np.int64(columns[begin + i])
            source_row, j = (0, begin + i) if kind == GIVEN else (r, column)
            value = values[source_row, j]
            if _count(value, state[source_row, j] if len(state) else SCORED, rules, 1, n, counts):
                row[i] = column_fills[column] if rules.by_column else row_fills[r]
                ranked -= row[i] != row[i]
            else:
                row[i] = _finite(value)
        return ranked
    width, fill = values.shape[1], row_fills[r]
    if len(state) or rules.zero_missing > 0 or rules.infinite_missing or rules.by_column:
        for j in range(width):
            missing = _count(values[r, j], state[r, j] if len(state) else SCORED, rules, 1, n, counts)
            if missing:
                row[j] = column_fills[j] if rules.by_column else fill
            else:
                row[j] = _finite(values[r, j])
        for i in range(begin, begin + size):
            j = columns[i]
            _count(values[r, j], state[r, j] if len(state) else SCORED, rules, -1, n, counts)
            row[j] = np.nan
    else:
        unscored, zero, infinite = 0, 0, 0
        for j in range(width):  # without branches, so that the compiler can vectorise it
            value = values[r, j]
            unscored += value != value
            zero += value == 0.0
            infinite += abs(value) > _LARGEST
            finite = _LARGEST if value > _LARGEST else value
            finite = -_LARGEST if finite < -_LARGEST else finite
            row[j] = fill if value != value else finite + 0.0
        for i in range(begin, begin + size):
            j = columns[i]
            value = values[r, j]
            if not 0.0 < abs(value) <= _LARGEST:
                unscored -= value != value
                zero -= value == 0.0
                infinite -= abs(value) > _LARGEST
            row[j] = np.nan
        counts[n, N_MISSING], counts[n, N_UNSCORED] = unscored, unscored
        counts[n, N_ZERO], counts[n, N_INFINITE] = zero, infinite
    dropped = not rules.by_column and fill != fill
    return width - size - (counts[n, N_MISSING] if dropped else 0)


@_inner
def _clip_scores(
    r: int, kind: int, begin: int, size: int, columns: Any, values: Any, state: Any, rules: Rules, row: Any
) -> int:
    """Clip the scores that are not missing; returns the number of changed ones. Replacements stay as they are."""
    changed = 0
    for i in range(size):
        if row[i] != row[i]:  # not ranked
            continue
        column = i if kind == DENSE else np.int64(columns[begin + i])
        source_row, j = (0, begin + i) if kind == GIVEN else (r, column)
        if _missing(values[source_row, j], state[source_row, j] if len(state) else SCORED, rules):
            continue
        clipped = min(max(row[i], rules.low), rules.high) + 0.0
        changed += clipped != row[i]
        row[i] = clipped
    return changed


@_inner
def _round_scores(row: Any, size: int, precision: int, scale: float) -> int:
    """Round scores to the precision of ties; returns the number of changed scores.

    Decimals are rounded as in ``numpy.round``: to even, after scaling. Scores beyond the range of single precision stay
    finite, because infinities mark missing scores.
    """
    changed = 0
    for j in range(size):
        value = row[j]
        if not abs(value) <= _LARGEST:
            continue
        if precision == SINGLE:
            rounded = _finite(np.float64(np.float32(value)))
        else:
            rounded = np.rint(value * scale) / scale + 0.0
            if not abs(rounded) <= _LARGEST:
                rounded = value
        changed += rounded != value
        row[j] = rounded
    return changed


# --- the top of a list ----------------------------------------------------------------------------------------


@_inner
def _groups(width: int, depth: int) -> int:
    """The number of groups of :func:`_threshold`; 0 if collecting all candidates is as fast.

    Few groups are fast to compare, and many groups have few members to look at again: the total cost is lowest near the
    square root of ``width * depth``.
    """
    if width < 128 or width < 4 * depth:
        return 0
    return max(64, np.int64(np.sqrt(width * depth / 2.0)) // 8 * 8)


@_inner
def _threshold(
    size: int, depth: int, row: Any, maxima: Any, maxima_bits: Any, scratch: Any, scratch_bits: Any
) -> float:
    """A score that at least ``depth`` candidates reach, and not many more; -inf without groups.

    Position ``j`` belongs to group ``j`` modulo the number of groups. The ``depth``-th highest maximum of the groups is
    such a score: each of that many groups has a member that reaches it. Bisection of the interval of the maxima, read
    as integers in the order of the scores, finds it in at most 64 steps.
    """
    groups = _groups(size, depth)
    if groups == 0:
        return -np.inf
    maxima[:groups] = -np.inf
    for base in range(0, size, groups):
        part = row[base : min(base + groups, size)]
        for g in range(len(part)):  # adding 0.0 avoids masked stores, which are slow
            maxima[g] = max(maxima[g], part[g]) + 0.0
    low, high = _BELOW_SIGN, -_BELOW_SIGN
    for g in range(groups):
        maxima_bits[g] = _ordered(maxima_bits[g])
        low, high = min(low, maxima_bits[g]), max(high, maxima_bits[g])
    while low < high:
        middle = (low | high) - ((low ^ high) >> 1)  # the mean, rounded up, without overflow
        reached = 0
        for g in range(groups):
            reached += maxima_bits[g] >= middle
        if reached < depth:
            high = middle - 1
        else:
            low = middle
            if reached <= depth + depth // 8:
                break
    scratch_bits[0] = _ordered(low)
    return scratch[0] + 0.0


@_inner
def _ordered(bits: int) -> int:
    """The bits of a float64 as an integer with the same order; its own inverse."""
    return bits ^ ((bits >> 63) & _BELOW_SIGN)


@_inner
def _collect(
    size: int,
    threshold: float,
    depth: int,
    row: Any,
    maxima: Any,
    maxima_bits: Any,
    scratch: Any,
    scratch_bits: Any,
    top: Any,
    spare: Any,
) -> tuple[float, int, int]:
    """Write the positions that reach the threshold into ``top``.

    Returns the threshold, the number of positions, and the number of those to sort.

    If many reach it, most of them usually tie at it (rows of zeros or of missing scores). These come last, in ascending
    order, and need no sorting; they are omitted if enough others are above.
    """
    groups = _groups(size, depth)
    scratch[0] = threshold
    least = _ordered(scratch_bits[0])
    n_top, n_groups = 0, 0
    for g in range(groups):  # without branches, which would be unpredictable
        spare[n_groups] = g
        n_groups += maxima_bits[g] >= least
    if 0 < n_groups <= depth + depth // 2:
        for i in range(n_groups):
            j = np.int64(spare[i])
            while j < size:
                top[n_top] = j
                n_top += row[j] >= threshold
                j += groups
        return threshold, n_top, n_top
    n_equal = 0
    for j in range(size):
        top[n_top] = j
        n_top += row[j] > threshold
        spare[n_equal] = j
        n_equal += row[j] == threshold
    if n_top < depth:
        for i in range(n_equal):
            top[n_top + i] = spare[i]
        return threshold, n_top + n_equal, n_top
    scratch_bits[0] = _ordered(least + 1)
    return scratch[0], n_top, n_top


@_inner
def _sort_pairs(
    first: int, last: int, keys: Any, values: Any, spare_keys: Any, spare: Any, buckets: Any, stack: Any
) -> None:
    """Sort ``keys[first:last]`` ascending, and ``values`` with them, stably.

    A pass distributes them over more buckets than there are keys, by their leading bits above the smallest key; usually
    few are out of order afterwards. Crowded buckets are put on the stack and distributed in turn. Each pass consumes at
    least four bits of a key, so there are at most sixteen.
    """
    stack[0], stack[1] = first, last
    waiting = 1
    while waiting:
        waiting -= 1
        begin, end = stack[2 * waiting], stack[2 * waiting + 1]
        if end - begin <= _FEW:
            _insert(begin, end, keys, values)
            continue
        if end - begin <= _SOME:
            _count_smaller(begin, end, keys, values, spare_keys, spare, buckets)
            continue
        n_buckets, fullest = _distribute(begin, end, keys, values, spare_keys, spare, buckets)
        if fullest <= _FEW:
            _insert(begin, end, keys, values)
            continue
        settled, bucket_start = begin, begin
        for b in range(n_buckets):  # an entry is now the end of its bucket
            stop = begin + np.int64(buckets[b])
            if stop - bucket_start > _FEW:
                _insert(settled, bucket_start, keys, values)
                if n_buckets > 1:
                    stack[2 * waiting], stack[2 * waiting + 1] = bucket_start, stop
                    waiting += 1
                settled = stop
            bucket_start = stop
        _insert(settled, end, keys, values)


@_inner
def _count_smaller(begin: int, end: int, keys: Any, values: Any, spare_keys: Any, spare: Any, buckets: Any) -> None:
    """Put each pair at the number of smaller keys: quadratic, but without branches and vectorised."""
    part, size = keys[begin:end], end - begin
    buckets[:size] = 0
    for i in range(size):
        key, smaller = part[i], np.int64(0)
        for j in range(size):
            smaller += np.int64(part[j] < key)
        to = smaller + np.int64(buckets[smaller])
        buckets[smaller] += np.uint32(1)
        spare_keys[to], spare[to] = key, values[begin + i]
    for i in range(size):
        keys[begin + i], values[begin + i] = spare_keys[i], spare[i]


@_inner
def _distribute(
    begin: int, end: int, keys: Any, values: Any, spare_keys: Any, spare: Any, buckets: Any
) -> tuple[int, int]:
    """Order pairs by the leading bits of their keys; returns the number of buckets (1: equal keys), and the fullest."""
    size = end - begin
    low, high = keys[begin], keys[begin]
    for i in range(begin, end):
        low, high = min(low, keys[i]), max(high, keys[i])
    base, span, shift = np.uint64(low), np.uint64(high) - np.uint64(low), np.uint64(0)
    most = np.uint64(max(size, min(_SPREAD * size, _MANY)))
    while (span >> shift) >= most:
        shift += np.uint64(1)
    n_buckets = np.int64(span >> shift) + 1
    buckets[: n_buckets + 1] = 0
    for i in range(begin, end):
        buckets[((np.uint64(keys[i]) - base) >> shift) + np.uint64(1)] += np.uint32(1)
    fullest, until = np.uint32(0), np.uint32(0)
    for b in range(n_buckets + 1):
        fullest = max(fullest, buckets[b])
        until += buckets[b]
        buckets[b] = until
    for i in range(begin, end):
        b = (np.uint64(keys[i]) - base) >> shift
        spare_keys[buckets[b]], spare[buckets[b]] = keys[i], values[i]
        buckets[b] += np.uint32(1)
    for i in range(size):
        keys[begin + i], values[begin + i] = spare_keys[i], spare[i]
    return n_buckets, np.int64(fullest)


@_inner
def _insert(begin: int, end: int, keys: Any, values: Any) -> None:
    """Insertion sort, for a few pairs, or for pairs that are almost in order."""
    for i in range(begin + 1, end):
        key = keys[i]
        if keys[i - 1] <= key:
            continue
        value, j = values[i], i
        while j > begin and keys[j - 1] > key:
            keys[j], values[j] = keys[j - 1], values[j - 1]
            j -= 1
        keys[j], values[j] = key, value


@_inner
def _key_ties(
    group: int,
    stop: int,
    top: Any,
    kind: int,
    r: int,
    begin: int,
    columns: Any,
    places: Any,
    order: Any,
    row_keys: Any,
    column_keys: Any,
    rules: Rules,
    keys: Any,
) -> None:
    """The keys that order equal scores, ascending."""
    for i in range(group, stop):
        p = np.int64(top[i])
        column = p if kind == DENSE else np.int64(columns[begin + p])
        if rules.ties == BY_POSITION:
            keys[i] = p
        elif rules.ties == BY_ORDER:
            keys[i] = order[column]
        elif rules.ties == BY_PLACE:
            keys[i] = places[begin + p]
        else:
            drawn = _combine(_combine(rules.stream, row_keys[r]), column_keys[column])
            keys[i] = np.int64(drawn ^ _SIGN)


# --- test items -----------------------------------------------------------------------------------------------


@_inner
def _find_hits(
    kind: int, begin: int, size: int, columns: Any, first: int, n_hits: int, judged_columns: Any, hit_at: Any
) -> None:
    """The position of each judged item among the candidates; -1 if it is not a candidate (excluded ones have NaN)."""
    for h in range(n_hits):
        column = judged_columns[first + h]
        hit_at[h] = column
        if kind == DENSE or column < 0:
            continue
        low, remaining = begin, size  # bisection without branches, which would be unpredictable
        while remaining > 1:
            half = remaining // 2
            low += half * np.int64(columns[low + half - 1] < column)
            remaining -= half
        hit_at[h] = low - begin if remaining and columns[low] == column else -1


@_inner
def _find_given_hits(
    begin: int, size: int, columns: Any, first: int, n_hits: int, judged_columns: Any, mark: Any, hit_at: Any
) -> bool:
    """Does the same as :func:`_find_hits` for candidates in any order; returns whether all items are distinct."""
    single = True
    for i in range(size):
        column = columns[begin + i]
        single &= mark[column] == 0
        mark[column] = i + 1
    for h in range(n_hits):
        hit_at[h] = mark[judged_columns[first + h]] - 1
    for i in range(size):
        mark[columns[begin + i]] = 0
    return single


@_inner
def _place_hits(
    n_hits: int,
    threshold: float,
    depth: int,
    row: Any,
    rank_of: Any,
    start: Any,
    hit_at: Any,
    keys: Any,
    hit_order: Any,
    spare: Any,
) -> int:
    """The rank of each ranked judged item, from 0, and the others after them; returns the number of ranked ones."""
    n_ranked, n_unranked = 0, 0
    for h in range(n_hits):
        index = hit_at[h]
        if index >= 0 and row[index] >= threshold and start[rank_of[index]] < depth:
            keys[n_ranked], hit_order[n_ranked] = rank_of[index], h
            n_ranked += 1
            continue
        spare[n_unranked] = h
        n_unranked += 1
    for h in range(n_unranked):
        hit_order[n_ranked + h] = spare[h]
    return n_ranked
