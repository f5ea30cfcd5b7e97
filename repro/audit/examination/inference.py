"""What was found out about a black box, and how it reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from repro.audit.examination.thresholds import Interval
from repro.audit.examination.undetermined import Undetermined
from repro.audit.questions.question import Question
from repro.audit.simulation import Outcome
from repro.protocol import Protocol, Value, registry, toml_value

SINGLE_DECIMALS = 6  # that numbers around 1 have in single precision
Status = Literal["explained", "explained but for", "unexplained"]
# What is audited beside the evaluation code itself.
ADAPTER = (
    "What is audited is the evaluator as it is called here. What happens to items that are not in a list, to empty "
    "lists and to pairs with several rows may be a choice of the code that calls it."
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Why an option is not it: a question, what the black box said, and what it would have said."""

    decision: str
    option: Value
    question: Question
    answer: Outcome
    predicted: Outcome

    def to_text(self) -> str:
        return _evidence_text([self])


@dataclass(frozen=True, eq=False)
class Unexplained:
    """Where no hypothesis fits: about what, the closest one, how far it is off, and the smallest case where it is."""

    aspect: str
    nearest: Mapping[str, Value]
    residual: float
    agreed: int
    compared: int
    question: Question
    answer: Outcome
    predicted: Outcome
    note: str = ""

    def to_text(self) -> str:
        off = "" if math.isinf(self.residual) else f", and is off by up to {self.residual:.3g}"
        return (
            f"{self.aspect}: no policy fits. The closest one agrees in {self.agreed} of {self.compared} cases{off}. "
            + (f"{self.note[0].upper()}{self.note[1:]}. " if self.note else "")
            + f"Here it gives {number(self.predicted)}, and the answer was {number(self.answer)}:\n"
            + indented(self.question.to_text())
        )


@dataclass(frozen=True, eq=False)
class Unstable:
    """The same question, in other words the same input or its rows in another order, and another answer."""

    kind: Literal["random", "row order"]
    aspect: str
    question: Question
    answers: tuple[Outcome, ...]

    def to_text(self) -> str:
        what = "the same input" if self.kind == "random" else "the same rows in another order"
        answers = ", ".join(map(number, self.answers))
        return f"{self.aspect}: {what} gives {answers}\n" + indented(self.question.to_text())


@dataclass(frozen=True, eq=False)
class Refused:
    """What the black box does not take: about what, what it said, and a case."""

    aspect: str
    message: str
    question: Question

    def to_text(self) -> str:
        return f"{self.aspect}: {brief(self.message)}\n" + indented(self.question.to_text())


@dataclass(frozen=True, eq=False)
class Inference:
    """What a black box really computes.

    status        "explained": one policy gives its answers to everything that it can be asked; "explained but for": a
                  policy does so, except for the aspects in ``doubtful``; "unexplained": no policy survived
    policy        the decisions that the answers determine
    undetermined  the decisions that they do not, with the options that remain
    threshold     the interval in which the threshold of relevance lies, where the policy has one
    protocol      the policy as a protocol; ``open`` in it are the decisions that are not determined
    measure       the metric under the policy, with every variant named that is determined
    evidence      for each option that is rejected, the smallest case that rejects it
    holds         the aspects that the policy explains
    confirmed     fresh random cases on which the policy gave the answer, of ``tried``
    attacked      further cases, of a generator of their own, none of which refuted the policy
    pairs         how many pairs of aspects these cases had together, and how many there are
    decimals      to how many decimals answers are rounded, or exact; None where they are so to the last digit
    asked         how many questions the black box was asked
    not_asked     what it could not be asked about, and why
    """

    name: str
    metric: str
    status: Status
    policy: Mapping[str, Value]
    protocol: Protocol | None
    measure: str
    evidence: tuple[Evidence, ...] = ()
    undetermined: tuple[Undetermined, ...] = ()
    unstable: tuple[Unstable, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    refused: tuple[Refused, ...] = ()
    holds: tuple[str, ...] = ()
    confirmed: int = 0
    tried: int = 0
    decimals: int | None = None
    asked: int = 0
    cutoffs: tuple[int, ...] = field(default=())
    threshold: Interval | None = None
    attacked: int = 0
    pairs: tuple[int, int] = (0, 0)
    not_asked: Mapping[str, str] = field(default_factory=dict)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The aspects of which the policy says nothing, or nothing certain."""
        unexplained, unstable = (one.aspect for one in self.unexplained), (one.aspect for one in self.unstable)
        return tuple(dict.fromkeys((*unexplained, *unstable)))

    @property
    def verdict(self) -> str:
        """The status in words: explained, explained but for what, or unexplained."""
        return f"{self.status} {', '.join(self.doubtful)}" if self.status == "explained but for" else self.status

    @property
    def summary(self) -> str:
        """The finding in a sentence."""
        if self.status == "unexplained":
            if any(one.kind == "random" for one in self.unstable):
                return f"{self.name} gives another number each time it is asked the same"
            if self.refused and not self.unexplained:
                return f"{self.name} refuses {self.refused[0].aspect}: {brief(self.refused[0].message)}"
            return f"no known policy reproduces {self.name} as {self.metric}"
        but = f", but for {', '.join(self.doubtful)}" if self.doubtful else ""
        return f"{self.name} is {self.measure}{as_exact(self.decimals)}{but}"

    def to_text(self) -> str:
        """The whole finding as a page to be read."""
        lines = [self.summary, f"status: {self.verdict}; {self._confirmation()}", ""]
        if self.status != "unexplained":
            lines += ["Policy", *self._policy_lines(), ""]
        for title, found in (
            ("Undetermined", self.undetermined),
            ("Unexplained", self.unexplained),
            ("Random or unstable", self.unstable),
            ("Refused", self.refused),
        ):
            if found:
                lines += [title, *(indented(one.to_text()) for one in found), ""]
        lines += ["Not asked", f"    {ADAPTER}", *(f"    {what}: {why}" for what, why in self.not_asked.items()), ""]
        if self.evidence:
            lines += ["Evidence", *(indented(_evidence_text(group)) for group in self._shown_together()), ""]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, for scripts."""
        return {
            "name": self.name,
            "metric": self.metric,
            "status": self.status,
            "verdict": self.verdict,
            "summary": self.summary,
            "measure": self.measure,
            "policy": dict(self.policy),
            "protocol_hash": None if self.protocol is None else self.protocol.hash,
            "confirmed": self.confirmed,
            "tried": self.tried,
            "asked": self.asked,
            "decimals": self.decimals,
            "holds": list(self.holds),
            "unexplained": [
                {
                    "aspect": one.aspect,
                    "closest": dict(one.nearest),
                    "residual": finite(one.residual),
                    "agreed": one.agreed,
                    "asked": one.compared,
                    "note": one.note,
                    **_case(one.question, one.answer, one.predicted),
                }
                for one in self.unexplained
            ],
            "unstable": [
                {
                    "kind": one.kind,
                    "aspect": one.aspect,
                    "case": one.question.to_dict(),
                    "answers": [number(answer) for answer in one.answers],
                }
                for one in self.unstable
            ],
            "refused": [
                {"aspect": one.aspect, "message": brief(one.message), "case": one.question.to_dict()}
                for one in self.refused
            ],
            "undetermined": [one.to_dict() for one in self.undetermined],
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "attacked": self.attacked,
            "pairs": list(self.pairs),
            "not_asked": dict(self.not_asked),
            "evidence": [
                {
                    "decision": one.decision,
                    "option": one.option,
                    **_case(one.question, one.answer, one.predicted),
                }
                for one in self.evidence
            ],
        }

    def _shown_together(self) -> list[list[Evidence]]:
        """The evidence, that about one decision together which has the same case and the same two numbers."""
        groups: dict[tuple[str, ...], list[Evidence]] = {}
        for one in self.evidence:
            shown = (one.decision, one.question.to_text(), number(one.answer), number(one.predicted))
            groups.setdefault(shown, []).append(one)
        return list(groups.values())

    def _confirmation(self) -> str:
        if not self.tried:
            return f"{self.asked:,} questions asked"
        met, pairs = self.pairs
        return (
            f"the policy gave {self.confirmed} of {self.tried} fresh answers and all of {self.attacked} that tried to "
            f"refute it, with {met} of {pairs} pairs of aspects; {self.asked:,} questions asked"
        )

    def _policy_lines(self) -> list[str]:
        known = registry()
        width = max(map(len, self.policy), default=0)
        lines = [
            f"  {key:<{width}}  {toml_value(value)}  {known[key].meaning(value) if known[key].option(value) else ''}"
            for key, value in self.policy.items()
        ]
        return [*lines, *([] if self.threshold is None else [f"  {self.threshold}"])]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.to_text())}</pre>"


def as_exact(decimals: int | None) -> str:
    """How exact answers are, to be said after what they are."""
    if decimals is None:
        return ""
    return ", in single precision" if decimals == SINGLE_DECIMALS else f", rounded to {decimals} decimals"


def number(outcome: Outcome) -> str:
    """An answer as it is shown."""
    if outcome.refusal:
        return f"an error ({brief(outcome.refusal, 120)})"
    if outcome.value is not None:
        return f"{outcome.value:.10g}"
    users = ", ".join(f"{value:.10g}" for _, value in sorted((outcome.per_user or {}).items()))
    return f"({users})"


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def brief(message: str, width: int = 200) -> str:
    """What was said, on a line, without the last lines of a worker."""
    text = " ".join(message.partition("; its last lines:")[0].split())
    return text if len(text) <= width else f"{text[:width]}..."


def finite(value: float) -> float | None:
    """A number as JSON has it: None where it is infinite or none."""
    return value if math.isfinite(value) else None


def _evidence_text(group: Sequence[Evidence]) -> str:
    """What rejects options of a decision: one case, and what was said of it and would have been."""
    one = group[0]
    options = " or ".join(toml_value(each.option) for each in group)
    told = f"said {number(one.answer)}; with {one.decision} = {options} it would be {number(one.predicted)}"
    return f"{told}\n{indented(one.question.to_text())}"


def _case(question: Question, said: Outcome, would_say: Outcome) -> dict[str, Any]:
    return {"case": question.to_dict(), "said": number(said), "would_say": number(would_say)}
