"""Who agrees with whom: what came of asking black boxes that are taken for the same metric the same questions."""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from repro.audit.examination.inference import finite, indented, number
from repro.audit.questions.question import Question
from repro.audit.simulation import Outcome
from repro.protocol import Value, toml_value

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["agree", "differ", "not compared"]
_NO_EFFECT = "(no effect)"


@dataclass(frozen=True)
class Choice:
    """A decision that two black boxes take in different ways; None where it has no effect for one of them."""

    decision: str
    first: Value | None
    second: Value | None


@dataclass(frozen=True, eq=False)
class SmallestCase:
    """A question that is as small as it can be for two black boxes to give different numbers, and what all say to it.

    ``answers`` has those that can be asked it.
    """

    kind: str
    question: Question
    answers: Mapping[str, Outcome]

    def to_text(self) -> str:
        """The question, and each answer with those who gave it."""
        said: dict[str, list[str]] = {}
        for name, outcome in self.answers.items():
            said.setdefault("no answer" if outcome.refusal else number(outcome), []).append(name)
        lines = [f"{answer}: {', '.join(names)}" for answer, names in said.items()]
        return "\n".join([self.question.to_text(), *lines])


@dataclass(frozen=True, eq=False)
class Pair:
    """Two black boxes: to how many questions of each kind both gave a number, and where the numbers differ.

    gaps     for each kind in which some differ, by how much at most; infinite where one of them is not a number
    case     the smallest question to which they give different numbers; None where there is none
    choices  the decisions in which their policies differ and that explain it, where both policies are known
    random   those of the two that give other numbers to the same question
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
    """A black box that refuses questions of a kind: how many of how many, and what it says to the first of them."""

    name: str
    kind: str
    refused: int
    asked: int
    message: str


@dataclass(frozen=True, eq=False)
class Agreement:
    """The black boxes that are taken for a metric, all pairs of them, and what they refuse.

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
        """How many pairs agree."""
        return sum(pair.verdict == "agree" for pair in self.pairs)

    @property
    def compared(self) -> int:
        """How many pairs gave numbers to the same questions."""
        return sum(pair.verdict != "not compared" for pair in self.pairs)

    @property
    def share(self) -> float:
        """The share of pairs that agree; not a number where none could be compared."""
        return share_of([self])

    @property
    def cases(self) -> list[SmallestCase]:
        """The smallest cases, each once, in the order of kinds."""
        found = {id(pair.case): pair.case for pair in self.pairs if pair.case is not None}
        return sorted(found.values(), key=lambda case: self.kinds.index(case.kind))

    def frame(self) -> pd.DataFrame:
        """The matrix: black boxes by black boxes, what came of each pair."""
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
        """What the characters of the matrix mean."""
        letters = [f"{letter}: {kind}" for kind, letter in self._letters.items()]
        text = f"=: they agree to {self.digits} digits; -: never did both give a number"
        return f"{text}. A letter: the first questions to which they do not. {'; '.join(letters)}" if letters else text

    @property
    def summary(self) -> str:
        """The finding in a sentence."""
        share = f" ({self.share:.0%})" if self.compared else ""
        apart = f"; {len(self.pairs) - self.compared} could not be compared" if self.compared < len(self.pairs) else ""
        return f"{self.metric}: {self.agreeing} of {self.compared} pairs agree{share}{apart}"

    def to_text(self) -> str:
        """The matrix, and what is behind it, as a page to be read."""
        width = max(map(len, self.names))
        columns = [f"{place:>2}" for place in range(1, len(self.names) + 1)]
        lines = [self.summary, "", " " * (width + 5) + " ".join(columns)]
        for place, (name, row) in enumerate(zip(self.names, self.marks(), strict=True), start=1):
            lines.append(f"  {place:>2} {name:<{width}} " + " ".join(f"{mark:>2}" for mark in row))
        return "\n".join([*lines, "", self.legend, "", self.details()])

    def details(self) -> str:
        """The smallest cases of disagreement with what explains them, and what is refused, as text."""
        lines = []
        if self.cases:
            lines += ["Smallest cases of disagreement"]
            for case in self.cases:
                lines += [f"  {case.kind}:", indented(case.to_text()), *map(indented, self._explained(case))]
            lines.append("")
        if random := sorted({(name, self._first(pair)) for pair in self.pairs for name in pair.random}):
            lines += ["Random", *(f"    {name}: {kind}" for name, kind in random), ""]
        if self.refusals:
            lines += ["Refused", *map(indented, self._refused()), ""]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, for scripts."""
        cases = self.cases
        places = {id(case): place for place, case in enumerate(cases)}
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
                    "case": None if pair.case is None else places[id(pair.case)],
                    "choices": [
                        {"decision": one.decision, "first": one.first, "second": one.second} for one in pair.choices
                    ],
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
            "refusals": [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "refused": one.refused,
                    "asked": one.asked,
                    "message": one.message,
                }
                for one in self.refusals
            ],
        }

    @cached_property
    def _letters(self) -> dict[str, str]:
        """A letter for each kind of questions that is the first to tell a pair apart."""
        used = sorted({self._first(pair) for pair in self.pairs if pair.gaps}, key=self.kinds.index)
        letters = [*string.ascii_lowercase, *(f"a{letter}" for letter in string.ascii_lowercase)]
        return dict(zip(used, letters, strict=False))

    def _first(self, pair: Pair) -> str:
        return pair.case.kind if pair.case is not None else next(iter(pair.gaps))

    def _mark(self, pair: Pair) -> str:
        if pair.verdict == "differ":
            return self._letters[self._first(pair)]
        return "=" if pair.verdict == "agree" else "-"

    def _explained(self, case: SmallestCase) -> list[str]:
        """For each decision that explains a difference in this case, who takes it how."""
        taken: dict[str, dict[str, list[str]]] = {}
        for pair in self.pairs:
            for choice in pair.choices if pair.case is case else ():
                ways = taken.setdefault(choice.decision, {})
                for name, value in ((pair.first, choice.first), (pair.second, choice.second)):
                    who = ways.setdefault(_NO_EFFECT if value is None else toml_value(value), [])
                    who += [name] if name not in who else []
        return [
            f"{decision} = " + "; ".join(f"{value} ({', '.join(names)})" for value, names in ways.items())
            for decision, ways in taken.items()
        ]

    def _refused(self) -> list[str]:
        """Who refuses what, and how: those together that refuse the same."""
        kinds: dict[tuple[str, str], list[str]] = {}
        for one in self.refusals:
            some = "" if one.refused == one.asked else f" ({one.refused} of {one.asked})"
            kinds.setdefault((one.name, one.message), []).append(f"{one.kind}{some}")
        names: dict[tuple[str, str], list[str]] = {}
        for (name, message), refused in kinds.items():
            names.setdefault((message, "; ".join(refused)), []).append(name)
        return [f"{', '.join(who)}: {refused}\n    {message}" for (message, refused), who in names.items()]

    def __str__(self) -> str:
        return self.to_text()


def share_of(agreements: Collection[Agreement]) -> float:
    """The share of pairs that agree, of those that could be compared; not a number where none could."""
    compared = sum(one.compared for one in agreements)
    return sum(one.agreeing for one in agreements) / compared if compared else float("nan")
