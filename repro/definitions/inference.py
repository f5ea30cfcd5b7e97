"""Inference of the definition that an implementation follows, by elimination on small training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import prod

import numpy as np

from repro.data.interactions import Interactions
from repro.definitions.comparison import FILLERS, Answer, Comparison, Level
from repro.definitions.confirmation import Confirmation, confirm, difficult_sets
from repro.definitions.evidence import Evidence, evidence_for
from repro.definitions.grid import Grid, Left
from repro.definitions.implementation import Implementation
from repro.definitions.reduction import fewest_rows
from repro.definitions.result import Definition, Shown, Undetermined, Unexplained
from repro.definitions.space import Setting, Space, TooMany, is_rejected
from repro.definitions.training_sets import first_sets, training_set
from repro.errors import PluginError
from repro.plugin import ParameterValue

Progress = Callable[[str], None]
# Training sets that are asked at least, and the most that are tried to split the definitions that are left.
FEWEST, SPLITTING = 10, 40
# Accepted training sets without which larger ones are asked too.
ENOUGH = 4
# Training sets after each other on which the definitions differ, but all agree with the implementation.
FRUITLESS = 8
# The definitions with which the smallest training set is searched for.
NEAREST, FITTED = 200, 12
# Rounds of this search, each with the definitions that agree with the result of the round before.
ROUNDS = 12
# The most undetermined combinations of parameters that are listed, of the first ones that are looked at.
LISTED, SEEN = 16, 100_000
# Rows of the largest training set of the confirmation on which all definitions that are left are compared.
REFINING = 2_000
# Names that implementations have for numbers of definitions.
_NEIGHBOURS = (
    "k",
    "topk",
    "top_k",
    "n_neighbors",
    "n_neighbours",
    "num_neighbors",
    "neighbors",
    "neighbours",
    "max_nbrs",
)
_DAMPINGS = ("damping", "reg", "regularization", "regularisation", "lambda", "lambda_", "lam", "lamb")
ALIASES: Mapping[str, tuple[str, ...]] = {
    "k": (*_NEIGHBOURS, "n_nbrs", "nnbrs", "neighborhood", "neighborhood_size", "knn", "kneighbors", "max_neighbors"),
    "shrinkage": ("shrink", "shrinkage", "shrink_term", "similarity_shrinkage", "h", "support_shrinkage"),
    "min_overlap": ("min_support", "min_common", "min_overlap", "sim_min_support"),
    "min_neighbours": ("min_k", "min_nbrs", "min_neighbors"),
    "min_similarity": ("min_sim", "threshold", "min_similarity", "similarity_threshold"),
    "pool": ("save_nbrs", "model_size", "candidates"),
    "user_damping": (*_DAMPINGS, "reg_u", "bsl_reg_u", "user_reg", "lambda_u"),
    "item_damping": (*_DAMPINGS, "reg_i", "bsl_reg_i", "item_reg", "lambda_i"),
    "epochs": ("n_epochs", "bsl_n_epochs", "iterations", "max_iter", "iters", "n_iter"),
    "regularisation": (*_DAMPINGS, "l2", "reg_weight", "l2_reg", "alpha", "penalty", "lambda2"),
    "factors": ("n_factors", "k", "rank", "num_components", "dim", "latent", "n_components", "num_factors"),
    "alpha": ("alpha", "asymmetric_alpha", "tversky_alpha"),
    "beta": ("beta", "tversky_beta"),
    "k1": ("k1",),
    "b": ("b",),
    "amplify": ("amplify", "amplification", "rho", "case_amplification", "q"),
}
# Training sets in which all are neighbours are asked while more definitions than this are left.
FEW = 20_000
# The most settings with which numbers of unknown meaning are tried everywhere.
MANY = 50_000
# Values of numbers that implementations have without saying so, tried beside the given ones.
USUAL: Mapping[str, tuple[ParameterValue, ...]] = {"epochs": (10, 20)}
# Scores that differ, or are in an order, without which an agreement says nothing.
TELLING = 40


@dataclass(eq=False)
class Inference:
    """The search for the settings of a space that compute what an implementation computes.

    data     training sets on which the definition is confirmed too
    numbers  the values that are tried for each number; by default those of :func:`numbers_of`
    """

    implementation: Implementation
    space: Space
    seed: int = 0
    progress: Progress = lambda text: None
    evidence: bool = True
    data: Sequence[Interactions] = ()
    numbers: Mapping[str, Sequence[ParameterValue]] | None = None
    refused: list[str] = field(default_factory=list)
    asked: int = 0
    _answers: dict[tuple[str, int], Answer | None] = field(default_factory=dict)

    def run(self) -> Definition | Unexplained:
        """The definition that agrees with all answers, or the smallest training set that none explains.

        Definitions that give the same scores, but for a factor, are searched for first, and then those that give the
        same order, where the implementation only ranks.
        """
        given = self.implementation.parameters
        finding = self._with_numbers(numbers_of(self.space, given) if self.numbers is None else self.numbers)
        if isinstance(finding, Unexplained) and finding.case is not None and self.numbers is None:
            everywhere = numbers_of(self.space, given, everywhere=True)
            if everywhere != numbers_of(self.space, given) and Grid(self.space, everywhere).all().size <= MANY:
                other = self._with_numbers(everywhere)
                return other if isinstance(other, Definition) else finding
        return finding

    def _with_numbers(self, numbers: Mapping[str, Sequence[ParameterValue]]) -> Definition | Unexplained:
        try:
            self._grid = Grid(self.space, numbers)
            return self._run()
        except TooMany as error:
            return Unexplained(self.space, None, None, str(error), self.asked, tuple(self.refused))

    def _run(self) -> Definition | Unexplained:
        if self.implementation.rates:
            finding = self._search(Level.EQUAL)
            if isinstance(finding, Unexplained) and finding.case is not None:
                clipped = self._clipped()
                if isinstance(clipped, Definition):
                    return clipped
                ranks = self._search(Level.ORDER)
                if isinstance(ranks, Definition):
                    return replace(finding, ranks_as=ranks)
            return finding
        finding = self._search(Level.PROPORTIONAL)
        if isinstance(finding, Unexplained) and finding.case is not None:
            return self._search(Level.ORDER)
        return finding

    def _clipped(self) -> Definition | Unexplained:
        """The same search for predictions that are clipped to the range of the training ratings."""
        known, as_given = self._answers, self.implementation
        self.implementation, self._answers = replace(as_given, clips=True), {}
        finding = self._search(Level.EQUAL)
        self.implementation, self._answers = as_given, known
        return replace(finding, clipped=True) if isinstance(finding, Definition) else finding

    def _search(self, lowest: Level) -> Definition | Unexplained:
        self.asked = 0
        left = self._grid.all()
        self.progress(f"{left.size:,} definitions")
        for name, number, train in self._training_sets():
            if name == "first" and left.size < FEW:
                continue
            after = self._after(left, self._ask(name, number, train), lowest)
            if isinstance(after, Unexplained):
                return after
            left = after
        if not self.asked:
            return Unexplained(self.space, None, None, "it rejects every training set: " + self.refused[0])
        return self._confirmed(self._split(left, lowest), lowest)

    def _training_sets(self) -> Iterator[tuple[str, int, Interactions]]:
        for number, train in enumerate(first_sets(self._grid.compared, self._grid.smallest("k"), self.seed)):
            yield "first", number, train
        for number in range(FEWEST):
            yield "small", number, training_set(self.seed, number)
        if self.asked < ENOUGH:  # it rejects small ones
            for number, train in enumerate(difficult_sets(self.seed + 1)):
                yield "larger", number, train

    def _ask(self, name: str, number: int, train: Interactions) -> Answer | None:
        """The answer of the implementation to a training set; None if it rejects it."""
        if (name, number) not in self._answers:
            self._answers[name, number] = self._answer(train)
        answer = self._answers[name, number]
        self.asked += answer is not None
        return answer

    def _answer(self, train: Interactions) -> Answer | None:
        try:
            return self.implementation.answer(train)
        except PluginError as error:
            self.refused.append(str(error))
            return None

    def _after(self, left: Left, answer: Answer | None, lowest: Level) -> Left | Unexplained:
        if answer is None:
            return left
        after = self._grid.after(left, answer.train, answer, lowest)
        if not after.blocks:
            return self._unexplained(left, answer, lowest)
        self.progress(f"{after.size:,} definitions after {self.asked} training sets")
        return after

    def _split(self, left: Left, lowest: Level) -> Left | Unexplained:
        """The definitions that are left after training sets on which those at the best level differ."""
        left = left.at_best_level()
        fruitless = 0
        for number in range(FEWEST, FEWEST + SPLITTING):
            train = training_set(self.seed, number)
            if left.size == 1 or fruitless == FRUITLESS:
                break
            if not self._grid.differ(left, train):
                continue
            after = self._after(left, self._ask("small", number, train), lowest)
            if isinstance(after, Unexplained):
                return after
            fruitless = 0 if after.size < left.size else fruitless + 1
            left = after.at_best_level()
        return left

    def _confirmed(self, left: Left | Unexplained, lowest: Level) -> Definition | Unexplained:
        """The simplest definition that no attempt refutes."""
        while not isinstance(left, Unexplained):
            position, setting = self._simplest(left)
            level = Level(int(left.comparison.levels[position]))
            expected = level, left.comparison.fillers[position]
            self.progress("confirmation")
            outcome = confirm(self.implementation, self.space, setting, expected, self.seed, self.data)
            if isinstance(outcome, Confirmation):
                return self._definition(self._refined(left, outcome, level), setting, outcome)
            after = self._after(left, outcome.answer, lowest)
            if isinstance(after, Left):
                after = after.at_best_level()
                if self._simplest(after)[1] == setting:  # a fall of the level, or of the filler, over several sets
                    return self._unexplained(left, outcome.answer, level)
            left = after
        return left

    def _simplest(self, left: Left) -> tuple[int, Setting]:
        """The simplest setting, and the position of its block."""
        simplest = [self._grid.simplest(block) for block in left.blocks]
        position = min(range(len(simplest)), key=lambda n: simplest[n][0])
        return position, simplest[position][1]

    def _refined(self, left: Left, confirmation: Confirmation, level: Level) -> Left:
        """The definitions that agree with the training sets of the confirmation too."""
        for answer in confirmation.answers:
            if left.size > 1 and len(answer.train) <= REFINING:
                after = self._grid.after(left, answer.train, answer, level)
                left = after if after.blocks else left
        return left

    def _definition(self, left: Left, setting: Setting, confirmation: Confirmation) -> Definition | Unexplained:
        if (confirmation.distinct if confirmation.level > Level.ORDER else confirmation.ordered) < TELLING:
            reason = (
                f"it agrees with the definition {self.space.label}, but only {confirmation.distinct:,} scores differ "
                f"from each other, and {confirmation.ordered:,} are in an order: too few to tell it from others"
            )
            return Unexplained(self.space, setting, None, reason, self.asked, tuple(self.refused))
        options = {name: values for name, values in self._grid.values(left.blocks).items() if len(values) > 1}
        together: list[Setting] = []
        if left.size < prod(map(len, options.values())):
            rows = (tuple(other[name] for name in options) for other in islice(self._grid.settings(left.blocks), SEEN))
            together = [dict(zip(options, row, strict=True)) for row in islice(dict.fromkeys(rows), LISTED)]
        found = FILLERS[int(np.flatnonzero(confirmation.fillers)[0])] if confirmation.uses_filler else ""
        evidence: list[Evidence] = []
        if self.evidence:
            self.progress("evidence")
            evidence = evidence_for(self.implementation, self.space, setting, confirmation.level, self.seed)
        return Definition(
            self.space,
            setting,
            confirmation,
            Undetermined(options, left.size, together),
            found,
            evidence,
            self.asked,
            tuple(self.refused),
        )

    def _unexplained(self, left: Left, answer: Answer, lowest: Level) -> Unexplained:
        """The nearest definition, and the smallest training set on which no definition agrees."""
        self.progress("no definition is left; search for the smallest training set")
        # Each setting of an algorithm that is fitted by itself takes its time.
        most = FITTED if self.space.algorithm.definitions is None else NEAREST
        tried = self._grid.nearest(left, answer.train, answer, most)
        for _ in range(ROUNDS):
            rows = fewest_rows(answer.train, partial(self._none_agrees, tried, lowest))
            reduced = self._answer(rows)
            assert reduced is not None
            after = self._grid.after(left, rows, reduced, lowest)
            if not after.blocks:
                return self._case(tried[0][0], reduced)
            fillers = left.comparison.take(np.zeros(1, dtype=np.int64))
            tried += [(self._grid.simplest(block)[1], fillers) for block in after.blocks[:most]]
        return self._case(tried[0][0], answer)

    def _case(self, setting: Setting, answer: Answer) -> Unexplained:
        """A training set that no definition explains, with the score that is farthest from the nearest definition."""
        expected = next(iter(self.space.scores([setting], answer.train)))
        difference = np.abs(
            np.nan_to_num(expected, nan=0.0) - np.nan_to_num(answer.values, nan=0.0, posinf=0, neginf=0)
        )
        difference = np.where(answer.trained, difference * 1e-3, difference)
        if (
            difference.max() <= answer.precision * np.abs(np.nan_to_num(expected)).max()
        ):  # a score that one of them lacks
            difference = (np.isfinite(expected) != answer.scored) & ~answer.trained
        user, item = np.unravel_index(int(difference.argmax()), difference.shape)
        shown = Shown(
            answer.train.user_ids[user],
            answer.train.item_ids[item],
            float(answer.values[user, item]),
            float(expected[user, item]),
        )
        return Unexplained(self.space, setting, answer.train, "", self.asked, tuple(self.refused), shown)

    def _none_agrees(self, tried: list[tuple[Setting, Comparison]], lowest: Level, rows: Interactions) -> bool:
        answer = self._answer(rows)
        if answer is None:
            return False
        scores = np.stack(list(self.space.scores([setting for setting, _ in tried], rows)))
        return not is_rejected(scores) and all(
            before.after(defined[None], answer, lowest).levels[0] < lowest
            for (_, before), defined in zip(tried, scores, strict=True)
        )


def numbers_of(
    space: Space, parameters: Mapping[str, ParameterValue], everywhere: bool = False
) -> dict[str, tuple[ParameterValue, ...]]:
    """The values to try for each number of a space, given the parameters of an implementation.

    A number that the implementation has under the same name, or one of ``ALIASES``, has its value, or none that
    matters. Others have the value without effect; ``everywhere``: or one of the numbers that the implementation has
    under names that mean nothing here.
    """
    numeric = {name: value for name, value in parameters.items() if is_number(value)}
    given: dict[str, list[ParameterValue]] = {}
    further = []
    for name, value in numeric.items():
        meant = [p.name for p in space.numbers if name == p.name or name.lower() in ALIASES.get(p.name, ())]
        for own in meant:
            given.setdefault(own, []).append(value)
        if not meant and not isinstance(value, bool):
            further.append(value)
    values: dict[str, tuple[ParameterValue, ...]] = {}
    for parameter in space.numbers:
        kind = type(parameter.default)
        neutral = parameter.default if parameter.neutral is None else parameter.neutral
        if parameter.name in given:
            tried = [*given[parameter.name], *([] if parameter.neutral is None else [neutral])]
        else:
            tried = [neutral, *(further if everywhere else ())]
        if space.algorithm.stages is None:
            tried += USUAL.get(parameter.name, ())
        fitting = [kind(value) for value in tried if kind(value) == value and float(value) >= 0]
        values[parameter.name] = tuple(dict.fromkeys(fitting)) or (neutral,)
    return values


def is_number(value: ParameterValue) -> bool:
    """Whether the value of a parameter is a number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
