"""From scores to ranked lists, under the rules of a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.compiling import threads as all_threads
from repro.data.interactions import CodeArray, FloatArray
from repro.errors import DataError, ProtocolError, StudyError
from repro.evaluation.candidates.lists import ListBlock, Offsets, Places
from repro.evaluation.ranking import kernels
from repro.evaluation.ranking.ranked import Ranked
from repro.evaluation.ranking.rules import LARGEST, MissingRule, RankingRules, TieRule
from repro.evaluation.ranking.tally import Tally
from repro.plugin import Scores

_ZERO = {"scored": 0, "missing": 1, "missing-or-below": 2}
_PRECISION = {"double": kernels.DOUBLE, "single": kernels.SINGLE, "decimals": kernels.DECIMALS}
_SMALL = 400_000  # with fewer cells, a second thread is not worth its start
_RANGE = 100_000  # with fewer cells, a range of lists is not worth its own working space


@dataclass(frozen=True, eq=False)
class GivenLists:
    """Lists that come with their candidates and scores, end to end as in :class:`ListBlock`.

    A list given by ranks has the scores ``-rank``. ``judged_items`` ascend within a list, ``items`` need not.
    ``state`` is that of :class:`repro.plugin.Scores`. All lists of a user must be in the same call.
    """

    users: CodeArray
    strata: npt.NDArray[np.int32]
    offsets: Offsets
    items: CodeArray
    scores: FloatArray
    judged_offsets: Offsets
    judged_items: CodeArray
    judged_relevant: npt.NDArray[np.uint8]
    judged_grades: FloatArray
    state: npt.NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.users)

    def reversed(self) -> GivenLists:
        """The lists with their items in reverse order."""
        sizes = np.diff(self.offsets)
        positions = np.repeat(self.offsets[:-1] + self.offsets[1:] - 1, sizes) - np.arange(len(self.items))
        state = None if self.state is None else self.state[positions]
        return replace(self, items=self.items[positions], scores=self.scores[positions], state=state)


def rank(
    scores: Scores,
    block: ListBlock,
    rules: RankingRules,
    *,
    depth: int | None,
    cutoffs: Sequence[int] = (),
    threads: int | None = None,
) -> tuple[Ranked, Tally]:
    """Rank the lists of a block by the scores of its users (rows) and items (columns).

    ``depth`` is the number of ranks, None for all; ``cutoffs`` are the ranks, at most ``depth``, for which the tally
    counts ties across them. The result depends neither on ``threads`` nor on the division of users into blocks.
    """
    shape = (len(block.users), len(block.items))
    if scores.values.shape != shape:
        raise ValueError(f"scores of shape {scores.values.shape} for {shape[0]} users by {shape[1]} items")
    sizes = np.diff(block.offsets)
    n_columns = len(block.items)
    problem = _Problem(
        kind=kernels.LISTED if block.listed else kernels.DENSE,
        width=int(sizes.max(initial=0)) if block.listed else n_columns,
        n_candidates=len(block.columns) if block.listed else n_columns * len(block) - len(block.columns),
        users=block.users[block.rows],
        strata=block.strata,
        column_items=block.items,
        in_order=rules.ties.order is not None,
    )
    cells = _cells(scores.values, scores.state, rules, block.users, block.items)
    lists = _kernel_lists(block, block.rows, block.items, block.columns, block.judged_columns, cutoffs)
    if rules.ties.by_file:
        lists = lists._replace(places=_input(rules.ties.places(_places(block)), np.int64))
    return _rank(problem, cells, lists, rules, depth, threads)


def rank_lists(
    given: GivenLists,
    rules: RankingRules,
    *,
    depth: int | None,
    cutoffs: Sequence[int] = (),
    threads: int | None = None,
) -> tuple[Ranked, Tally]:
    """Rank lists that come with their own candidates and scores; see :func:`rank`."""
    if rules.ties.by_file:
        raise ProtocolError(
            f'ties.break = "{rules.ties.rule}" is the order of candidates.file, and lists that are given have no such '
            'file; use "rows", the order of their own rows'
        )
    if rules.ties.rule == "rows-desc":
        given = given.reversed()
    all_items = np.arange(len(rules.item_ids), dtype=np.int32)
    problem = _Problem(
        kind=kernels.GIVEN,
        width=int(np.diff(given.offsets).max(initial=0)),
        n_candidates=len(given.items),
        users=given.users,
        strata=given.strata,
        column_items=all_items,
        in_order=not rules.ties.by_rows,
    )
    state = None if given.state is None else given.state[np.newaxis]
    cells = _cells(given.scores[np.newaxis], state, rules, given.users, all_items)
    if rules.ties.order is None and not rules.ties.by_rows:
        cells = cells._replace(order=_input(all_items, np.int64))
    lists = _kernel_lists(given, np.arange(len(given)), all_items, given.items, given.judged_items, cutoffs)
    return _rank(problem, cells, lists, rules, depth, threads)


def _kernel_lists(
    lists: ListBlock | GivenLists,
    rows: npt.NDArray[Any],
    column_items: CodeArray,
    columns: npt.NDArray[np.int32],
    judged_columns: npt.NDArray[np.int32],
    cutoffs: Sequence[int],
) -> kernels.Lists:
    return kernels.Lists(
        _input(rows, np.int32),
        _input(column_items, np.int32),
        _input(lists.offsets, np.int64),
        _input(columns, np.int32),
        _input(lists.judged_offsets, np.int64),
        _input(lists.judged_items, np.int32),
        _input(judged_columns, np.int32),
        _input(lists.judged_relevant, np.uint8),
        _input(lists.judged_grades, np.float64),
        _input(np.array(cutoffs), np.int64),
        _input(np.empty(0), np.int64),
    )


def _places(block: ListBlock) -> Places:
    """The places of the candidates in their file."""
    if len(block.places) != len(block.columns):
        raise ValueError("candidates that do not come from a file have no order of a file")
    return block.places


class _Problem(NamedTuple):
    """The lists to rank, as far as the kernel does not read it.

    ``width`` is the size of the largest list; ``column_items`` are the item codes of columns; with ``in_order``, a key
    for each item orders ties.
    """

    kind: int
    width: int
    n_candidates: int
    users: CodeArray
    strata: npt.NDArray[np.int32]
    column_items: CodeArray
    in_order: bool


def _rank(
    problem: _Problem,
    cells: kernels.Cells,
    lists: kernels.Lists,
    rules: RankingRules,
    depth: int | None,
    threads: int | None,
) -> tuple[Ranked, Tally]:
    cutoffs = lists.cutoffs.tolist()
    reach = max(problem.width, *cutoffs, 1) if depth is None else depth
    if reach < 1 or any(not 1 <= cutoff <= reach for cutoff in cutoffs):
        raise ValueError(f"cut-offs {cutoffs} must lie between 1 and the depth, {depth}")
    out = _output(len(problem.users), reach, len(lists.judged_items), len(cutoffs))
    _run(problem, reach, _compiled_rules(rules, problem.in_order), cells, lists, out, threads)
    _refuse_repeated_items(problem, lists, rules, out.lengths)
    _raise_on_forbidden_scores(problem, cells, lists, rules, out.counts)
    columns = out._asdict()
    counts, straddled = columns.pop("counts"), columns.pop("straddled")
    ranked = Ranked(
        users=problem.users,
        strata=problem.strata,
        ties=rules.ties.ties,
        depth=reach,
        candidates=_sizes(problem, lists),
        missing=counts[:, kernels.N_MISSING].astype(np.int32),
        offsets=lists.judged_offsets,
        **columns,
    )
    return ranked, Tally.of(cutoffs, problem.users, problem.n_candidates, counts, straddled)


def _sizes(problem: _Problem, lists: kernels.Lists) -> npt.NDArray[np.int32]:
    """The number of candidates of each list."""
    sizes = np.diff(lists.offsets).astype(np.int32)
    return len(problem.column_items) - sizes if problem.kind == kernels.DENSE else sizes


def _input(array: npt.ArrayLike, dtype: Any) -> Any:
    """A contiguous read-only view for the kernel; Numba would compile a version for every combination otherwise."""
    ready = np.asarray(array, dtype, order="C")
    view = (ready if ready.flags.aligned else ready.copy()).view()
    view.flags.writeable = False
    return view


def _cells(
    values: FloatArray,
    state: npt.NDArray[np.uint8] | None,
    rules: RankingRules,
    row_users: CodeArray,
    column_items: CodeArray,
) -> kernels.Cells:
    """The scores, with the replacements and keys of their rows and columns."""

    def of(codes: CodeArray, by_code: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return by_code[codes] if len(by_code) else by_code

    order = np.empty(0, np.int64) if rules.ties.order is None else rules.ties.order
    return kernels.Cells(
        _input(values, np.float64),
        _input(np.empty((0, 0)) if state is None else state, np.uint8),
        _input(rules.missing.fills_of_users(row_users), np.float64),
        _input(of(column_items, rules.missing.fills_of_items()), np.float64),
        _input(of(column_items, order), np.int64),
        _input(of(row_users, rules.ties.user_keys), np.uint64),
        _input(of(column_items, rules.ties.item_keys), np.uint64),
    )


def _compiled_rules(rules: RankingRules, in_order: bool) -> kernels.Rules:
    missing, ties = rules.missing, rules.ties
    low, high = rules.clip or (-LARGEST, LARGEST)
    return kernels.Rules(
        by_column=missing.by_item,
        fallback_missing=missing.fallback == "missing",
        zero_missing=_ZERO[missing.zero],
        infinite_missing=missing.infinite == "missing",
        precision=_PRECISION[ties.precision],
        scale=10.0**ties.decimals,
        ties=_tie_order(ties, in_order),
        stream=ties.stream,
        clipped=rules.clip is not None,
        low=low,
        high=high,
    )


def _tie_order(ties: TieRule, in_order: bool) -> int:
    """The kind of keys that order equal scores."""
    if ties.by_file:
        return kernels.BY_PLACE
    return kernels.BY_HASH if ties.rule == "random" else kernels.BY_ORDER if in_order else kernels.BY_POSITION


def _output(n_lists: int, depth: int, n_hits: int, n_cutoffs: int) -> kernels.Output:
    return kernels.Output(
        items=np.full((n_lists, depth), -1, dtype=np.int32),
        scored=np.zeros((n_lists, depth), dtype=np.uint8),
        lengths=np.empty(n_lists, dtype=np.int32),
        n_relevant=np.empty(n_lists, dtype=np.int32),
        hit_items=np.empty(n_hits, dtype=np.int32),
        relevant=np.empty(n_hits, dtype=np.uint8),
        grades=np.empty(n_hits, dtype=np.float64),
        position=np.empty(n_hits, dtype=np.int32),
        above=np.empty(n_hits, dtype=np.int32),
        tied=np.empty(n_hits, dtype=np.int32),
        counts=np.zeros((n_lists, kernels.N_COUNTS), dtype=np.int64),
        straddled=np.zeros((n_lists, n_cutoffs), dtype=np.uint8),
    )


def _run(
    problem: _Problem,
    depth: int,
    rules: kernels.Rules,
    cells: kernels.Cells,
    lists: kernels.Lists,
    out: kernels.Output,
    threads: int | None,
) -> None:
    """Run the kernel on ranges of lists in several threads; lists are ranked independently."""
    n_lists = len(problem.users)
    n_judged = int(np.diff(lists.judged_offsets).max(initial=0))

    def over(first: int, last: int) -> None:
        kernels.rank_range(first, last, problem.kind, depth, problem.width, n_judged, rules, cells, lists, out)

    workers = threads or all_threads()
    if workers == 1 or n_lists * problem.width < _SMALL:
        over(0, n_lists)
        return
    ranges = min(16 * workers, n_lists, max(workers, n_lists * problem.width // _RANGE))
    firsts = np.unique(np.linspace(0, n_lists, ranges + 1).astype(int)).tolist()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(over, firsts[:-1], firsts[1:]))


def _refuse_repeated_items(
    problem: _Problem, lists: kernels.Lists, rules: RankingRules, lengths: npt.NDArray[np.int32]
) -> None:
    repeated = np.flatnonzero(lengths < 0)
    if not len(repeated):
        return
    n = int(repeated[0])
    items = np.sort(lists.columns[lists.offsets[n] : lists.offsets[n + 1]])
    item = items[np.flatnonzero(np.diff(items) == 0)[0]]
    raise DataError(
        f"the list of user {rules.user_ids[problem.users[n]]} has item {rules.item_ids[item]} twice; remove one of "
        f"the two ({len(repeated):,} lists have repeated items)"
    )


def _raise_on_forbidden_scores(
    problem: _Problem,
    cells: kernels.Cells,
    lists: kernels.Lists,
    rules: RankingRules,
    counts: npt.NDArray[np.int64],
) -> None:
    """Raise an error for missing or infinite scores that the protocol forbids."""
    for rule, count, noun in (
        (rules.missing.infinite, kernels.N_INFINITE, "infinite"),
        (rules.missing.rank, kernels.N_MISSING, "missing"),
    ):
        if rule != "fail" or not counts[:, count].any():
            continue
        n = int(np.flatnonzero(counts[:, count])[0])
        row, columns = _candidates(problem, lists, n)
        values = cells.values[row, columns]
        state = cells.state[row, columns] if len(cells.state) else None
        forbidden = np.isinf(values) if noun == "infinite" else rules.missing.missing(values, state)
        column = columns[np.flatnonzero(forbidden)[0]]
        code = lists.columns[column] if problem.kind == kernels.GIVEN else problem.column_items[column]
        decision = "missing.infinite" if noun == "infinite" else "missing.rank"
        raise StudyError(
            f"the score of user {rules.user_ids[problem.users[n]]} for item {rules.item_ids[code]} is {noun} "
            f'({int(counts[:, count].sum()):,} such scores here) and {decision} = "fail" stops the run; '
            "choose another option to rank such items, or make the algorithm score them",
            decision=decision,
        )


def _candidates(problem: _Problem, lists: kernels.Lists, n: int) -> tuple[int, npt.NDArray[np.int64]]:
    """The row of list ``n`` in the scores, and the columns of its candidates there."""
    part = slice(int(lists.offsets[n]), int(lists.offsets[n + 1]))
    if problem.kind == kernels.GIVEN:
        return 0, np.arange(part.start, part.stop)
    columns = lists.columns[part].astype(np.int64)
    if problem.kind == kernels.DENSE:
        columns = np.setdiff1d(np.arange(len(problem.column_items)), columns)
    return int(lists.rows[n]), columns


def listed_scores(ranked: Ranked, scores: Scores, block: ListBlock, rules: RankingRules) -> FloatArray:
    """For lists that ``rank`` returned: lists x depth, NaN beyond the end of a list."""
    if not len(block.items):
        return np.full(ranked.items.shape, np.nan)
    columns = np.searchsorted(block.items, ranked.items)  # 0 beyond the end, where the item is -1
    return _as_ranked(ranked, scores.values[block.rows[:, np.newaxis], columns], rules)


def given_scores(ranked: Ranked, given: GivenLists, rules: RankingRules) -> FloatArray:
    """The result of :func:`listed_scores` for lists that ``rank_lists`` returned."""
    if not len(given.items):
        return np.full(ranked.items.shape, np.nan)
    n_items = len(rules.item_ids)
    keys = np.repeat(np.arange(len(given)), np.diff(given.offsets)) * n_items + given.items
    order = np.argsort(keys, kind="stable")
    ranked_keys = np.arange(len(given))[:, np.newaxis] * n_items + ranked.items
    positions = np.searchsorted(keys[order], np.where(ranked.items >= 0, ranked_keys, -1))
    return _as_ranked(ranked, given.scores[order[positions]], rules)


def _as_ranked(ranked: Ranked, values: FloatArray, rules: RankingRules) -> FloatArray:
    """Scores as they are compared: with missing ones replaced, at the precision of ties."""
    low, high = rules.clip or (-LARGEST, LARGEST)
    resolved = np.where(ranked.scored > 0, np.clip(values, low, high), _fills(ranked, rules.missing))
    rounded = _rounded(resolved, rules.ties) + 0.0  # -0.0 is 0.0
    return np.where(ranked.items >= 0, rounded, np.nan)


def _fills(ranked: Ranked, missing: MissingRule) -> FloatArray:
    """The replacement score of each listed item."""
    if missing.by_item:
        return missing.fills_of_items()[ranked.items]
    return np.broadcast_to(missing.fills_of_users(ranked.users)[:, np.newaxis], ranked.items.shape)


def _rounded(values: FloatArray, ties: TieRule) -> FloatArray:
    """Scores at the precision of ties; infinite scores, and those that would become infinite, stay."""
    with np.errstate(over="ignore"):
        if ties.precision == "single":
            single: npt.NDArray[np.float64] = values.astype(np.float32).astype(np.float64)
            return np.where(np.isinf(values), values, np.clip(single, -LARGEST, LARGEST))
        if ties.precision == "decimals":
            scale = 10.0**ties.decimals
            decimal = np.rint(values * scale) / scale
            return np.where(np.isinf(decimal), values, decimal)
    return values
