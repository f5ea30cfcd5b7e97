"""Agreement: which black boxes that are declared as one metric give the same answers to the same questions."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from repro.audits.examination.inference import indented, number
from repro.audits.questions.answers import Answer
from repro.audits.questions.question import Question
from repro.grouping import grouped
from repro.protocol import Value, toml_value
from repro.runs.journal.audit_events import PairEntry
from repro.text import finite

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["agree", "differ", "not compared"]


@dataclass(frozen=True)
class Choice:
    """A decision in which two black boxes differ; None where it has no effect for one of them."""

    decision: str
    first: Value | None
    second: Value | None


@dataclass(frozen=True, eq=False)
class SmallestCase:
    """The smallest question found to which two black boxes give different numbers.

    ``answers`` has the answers of all black boxes that can be asked it.
    """

    kind: str
    question: Question
    answers: Mapping[str, Answer]

    def to_text(self) -> str:
        """The question, and each answer with the black boxes that gave it."""
        answer_of = {name: "no answer" if given.refusal else number(given) for name, given in self.answers.items()}
        lines = [f"{answer}: {', '.join(names)}" for answer, names in grouped(answer_of, answer_of.get).items()]
        return "\n".join([self.question.to_text(), *lines])


@dataclass(frozen=True, eq=False)
class Pair:
    """Two black boxes, and where their numbers differ.

    compared  for each kind of questions, the number of questions to which both gave a number
    gaps      for each kind in which numbers differ, the largest difference; infinite where one is not a number
    case      the smallest question to which they give different numbers; None where there is none
    choices   the decisions in which their policies differ and that explain it, where both policies are known
    random    those of the two that give different numbers to the same question
    """

    first: str
    second: str
    compared: Mapping[str, int]
    gaps: Mapping[str, float] = field(default_factory=dict)
    case: SmallestCase | None = None
    choices: tuple[Choice, ...] = ()
    random: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        if self.gaps:
            return "differ"
        return "agree" if any(self.compared.values()) else "not compared"


@dataclass(frozen=True)
class Refusal:
    """A black box that refuses questions of a kind: how many of how many, and the first message."""

    name: str
    kind: str
    refused: int
    asked: int
    message: str


@dataclass(frozen=True, eq=False)
class Agreement:
    """The black boxes that are declared as a metric, all pairs of them, and their refusals.

    ``kinds`` are the kinds of questions in the order in which they were asked.
    """

    metric: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    pairs: tuple[Pair, ...]
    refusals: tuple[Refusal, ...] = ()
    digits: int = 12

    @property
    def agreeing(self) -> int:
        """The number of pairs that agree."""
        return sum(pair.verdict == "agree" for pair in self.pairs)

    @property
    def compared(self) -> int:
        """The number of pairs that gave numbers to the same questions."""
        return sum(pair.verdict != "not compared" for pair in self.pairs)

    @property
    def share(self) -> float:
        """The share of compared pairs that agree; NaN where none could be compared."""
        return share_of([self])

    @property
    def cases(self) -> list[SmallestCase]:
        """The smallest cases, each once, in the order of kinds."""
        distinct = {id(pair.case): pair.case for pair in self.pairs if pair.case is not None}
        return sorted(distinct.values(), key=lambda case: self.kinds.index(case.kind))

    def frame(self) -> pd.DataFrame:
        """The verdict on each pair, as a matrix of black boxes by black boxes."""
        import pandas as pd

        verdicts = {(pair.first, pair.second): pair.verdict for pair in self.pairs}
        rows = [["" if a == b else verdicts.get((a, b)) or verdicts[b, a] for b in self.names] for a in self.names]
        return pd.DataFrame(rows, index=list(self.names), columns=list(self.names))

    def marks(self) -> list[list[str]]:
        """The matrix in single characters; :attr:`legend` explains them."""
        by_pair = {frozenset((pair.first, pair.second)): pair for pair in self.pairs}
        return [["." if a == b else self._mark(by_pair[frozenset((a, b))]) for b in self.names] for a in self.names]

    @property
    def legend(self) -> str:
        """The meaning of the characters in the matrix."""
        letters = "; ".join(f"{letter}: {kind}" for kind, letter in self._letters.items())
        text = f"=: they agree to {self.digits} digits; -: no question to which both gave a number"
        return f"{text}. A letter: the first questions to which their answers differ. {letters}" if letters else text

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        share = f" ({self.share:.0%})" if self.compared else ""
        n_not_compared = len(self.pairs) - self.compared
        remark = f"; {n_not_compared} could not be compared" if n_not_compared else ""
        return f"{self.metric}: {self.agreeing} of {self.compared} pairs agree{share}{remark}"

    def to_text(self) -> str:
        """The matrix and its details as a page of text."""
        width = max(map(len, self.names))
        columns = [f"{position:>2}" for position in range(1, len(self.names) + 1)]
        lines = [self.summary, "", " " * (width + 5) + " ".join(columns)]
        for position, (name, row) in enumerate(zip(self.names, self.marks(), strict=True), start=1):
            lines.append(f"  {position:>2} {name:<{width}} " + " ".join(f"{mark:>2}" for mark in row))
        return "\n".join([*lines, "", self.legend, "", self.details()])

    def details(self) -> str:
        """The smallest cases of disagreement with the decisions that explain them, and refusals, as text."""
        lines = []
        if self.cases:
            lines += ["Smallest cases of disagreement"]
            for case in self.cases:
                explained = explaining_choices(pair for pair in self.pairs if pair.case is case)
                lines += [f"  {case.kind}:", indented(case.to_text()), *map(indented, explained)]
            lines.append("")
        if random := sorted({(name, self._first(pair)) for pair in self.pairs for name in pair.random}):
            lines += ["Random", *(f"    {name}: {kind}" for name, kind in random), ""]
        if self.refusals:
            lines += ["Refused", *map(indented, self._refused()), ""]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        cases = self.cases
        positions = {id(case): position for position, case in enumerate(cases)}
        return {
            "metric": self.metric,
            "names": list(self.names),
            "agreeing": self.agreeing,
            "compared": self.compared,
            "share": finite(self.share),
            "digits": self.digits,
            "kinds": list(self.kinds),
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "verdict": pair.verdict,
                    "compared": dict(pair.compared),
                    "gaps": {kind: finite(gap) for kind, gap in pair.gaps.items()},
                    "case": None if pair.case is None else positions[id(pair.case)],
                    "choices": list(map(asdict, pair.choices)),
                    "random": list(pair.random),
                }
                for pair in self.pairs
            ],
            "cases": [
                {
                    "kind": case.kind,
                    "case": case.question.to_dict(),
                    "answers": {name: number(outcome) for name, outcome in case.answers.items()},
                }
                for case in cases
            ],
            "refusals": list(map(asdict, self.refusals)),
        }

    @cached_property
    def _letters(self) -> dict[str, str]:
        return kind_letters({self._first(pair) for pair in self.pairs if pair.gaps}, self.kinds)

    def _first(self, pair: Pair) -> str:
        return pair.case.kind if pair.case is not None else next(iter(pair.gaps))

    def _mark(self, pair: Pair) -> str:
        if pair.verdict == "differ":
            return self._letters[self._first(pair)]
        return "=" if pair.verdict == "agree" else "-"

    def _refused(self) -> list[str]:
        """The refused kinds of questions and the message; black boxes that refuse the same share a line."""
        kinds: dict[tuple[str, str], list[str]] = {}
        for refusal in self.refusals:
            share = "" if refusal.refused == refusal.asked else f" ({refusal.refused} of {refusal.asked})"
            kinds.setdefault((refusal.name, refusal.message), []).append(f"{refusal.kind}{share}")
        names: dict[tuple[str, str], list[str]] = {}
        for (name, message), refused in kinds.items():
            names.setdefault((message, "; ".join(refused)), []).append(name)
        return [f"{', '.join(boxes)}: {refused}\n    {message}" for (message, refused), boxes in names.items()]

    __str__ = to_text


def share_of(agreements: Collection[Agreement]) -> float:
    """The share of compared pairs that agree; NaN where none could be compared."""
    compared = sum(agreement.compared for agreement in agreements)
    return sum(agreement.agreeing for agreement in agreements) / compared if compared else float("nan")


def kind_letters(used: Collection[str], kinds: Sequence[str]) -> dict[str, str]:
    """A letter for each kind of questions that is the first to show the difference of a pair, in the order of kinds."""
    letters = [*string.ascii_lowercase, *(f"a{letter}" for letter in string.ascii_lowercase)]
    return dict(zip(sorted(used, key=kinds.index), letters, strict=False))


def explaining_choices(pairs: Iterable[Pair | PairEntry]) -> list[str]:
    """For each decision that explains a difference of these pairs, the options and the black boxes that take them."""
    options_of: dict[str, dict[str, dict[str, None]]] = {}
    for pair in pairs:
        for choice in pair.choices:
            options = options_of.setdefault(choice.decision, {})
            options.setdefault(option_text(choice.first), {})[pair.first] = None
            options.setdefault(option_text(choice.second), {})[pair.second] = None
    return [
        f"{decision} = " + "; ".join(f"{value} ({', '.join(names)})" for value, names in options.items())
        for decision, options in options_of.items()
    ]


def option_text(value: Value | None) -> str:
    """An option as TOML writes it; None where the decision has no effect."""
    return "(no effect)" if value is None else toml_value(value)
