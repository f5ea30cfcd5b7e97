"""What was found out about a black box, and how it reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from repro.audit.question import Question
from repro.audit.simulation import Outcome
from repro.protocol import Protocol, Value, registry, toml_value

SINGLE_DECIMALS = 6  # that numbers around 1 have in single precision
Status = Literal["explained", "unexplained", "random"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Why an option is not it: a question, what the black box said, and what it would have said."""

    decision: str
    option: Value
    question: Question
    said: Outcome
    would_say: Outcome

    def to_text(self) -> str:
        return _evidence_text([self])


@dataclass(frozen=True, eq=False)
class Unexplained:
    """Where no hypothesis fits: about what, the closest one, how far it is off, and the smallest case where it is."""

    aspect: str
    closest: Mapping[str, Value]
    residual: float
    agreed: int
    asked: int
    question: Question
    said: Outcome
    would_say: Outcome

    def to_text(self) -> str:
        off = "" if math.isinf(self.residual) else f", and is off by up to {self.residual:.3g}"
        return (
            f"{self.aspect}: no policy fits. The closest one agrees in {self.agreed} of {self.asked} cases{off}. "
            f"Here it gives {number(self.would_say)}, and the answer was {number(self.said)}:\n"
            + indented(self.question.to_text())
        )


@dataclass(frozen=True)
class Unidentifiable:
    """A decision of which some options cannot be told apart, and why."""

    decision: str
    options: tuple[Value, ...]
    why: str

    def to_text(self) -> str:
        options = " or ".join(toml_value(option) for option in self.options)
        return f"{self.decision} = {options}: {self.why}" if self.options else f"{self.decision}: {self.why}"


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

    status          "explained": one policy gives its answers to everything that it can be asked; "unexplained": there
                    is something that no policy gives (``unexplained``), the policy holds for the rest; "random": it
                    gives other answers to the same questions
    policy          the decisions that are settled
    protocol        the policy as a protocol; ``open`` in it are the decisions that are not settled
    measure         the metric under the policy, with every variant named
    evidence        for each option that is rejected, the smallest case that rejects it
    unidentifiable  what cannot be told apart
    holds           the aspects that the policy explains
    confirmed       fresh random cases on which the policy gave the answer, of ``tried``
    decimals        to how many decimals answers are rounded, or exact; None where they are so to the last digit
    asked           how many questions the black box was asked
    """

    name: str
    metric: str
    status: Status
    policy: Mapping[str, Value]
    protocol: Protocol | None
    measure: str
    evidence: tuple[Evidence, ...] = ()
    unidentifiable: tuple[Unidentifiable, ...] = ()
    unstable: tuple[Unstable, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    refused: tuple[Refused, ...] = ()
    holds: tuple[str, ...] = ()
    confirmed: int = 0
    tried: int = 0
    decimals: int | None = None
    asked: int = 0
    cutoffs: tuple[int, ...] = field(default=())

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The aspects of which the policy says nothing, or nothing certain."""
        unexplained, unstable = (one.aspect for one in self.unexplained), (one.aspect for one in self.unstable)
        return tuple(dict.fromkeys((*unexplained, *unstable)))

    @property
    def summary(self) -> str:
        """The finding in a sentence."""
        if self.status == "random":
            return f"{self.name} gives another number each time it is asked the same"
        if not self.holds and self.refused and not self.unexplained:
            return f"{self.name} refuses {self.refused[0].aspect}: {brief(self.refused[0].message)}"
        if not self.holds:
            return f"{self.name} is no {self.metric} that any policy gives"
        rounded = as_exact(self.decimals)
        but = "".join(f", but for {one.aspect}" for one in self.unexplained)
        return f"{self.name} is {self.measure}{rounded}{but}"

    def to_text(self) -> str:
        """The whole finding as a page to be read."""
        lines = [self.summary, f"status: {self.status}; {self._confirmation()}", ""]
        if self.holds:
            lines += ["Policy", *self._policy_lines(), ""]
        for title, found in (
            ("Unexplained", self.unexplained),
            ("Random or unstable", self.unstable),
            ("Refused", self.refused),
            ("Cannot be told apart", self.unidentifiable),
        ):
            if found:
                lines += [title, *(indented(one.to_text()) for one in found), ""]
        if self.evidence:
            lines += ["Evidence", *(indented(_evidence_text(group)) for group in self._shown_together()), ""]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, for scripts."""
        return {
            "name": self.name,
            "metric": self.metric,
            "status": self.status,
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
                    "closest": dict(one.closest),
                    "residual": finite(one.residual),
                    "agreed": one.agreed,
                    "asked": one.asked,
                    **_case(one.question, one.said, one.would_say),
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
            "unidentifiable": [
                {"decision": one.decision, "options": list(one.options), "why": one.why} for one in self.unidentifiable
            ],
            "evidence": [
                {
                    "decision": one.decision,
                    "option": one.option,
                    **_case(one.question, one.said, one.would_say),
                }
                for one in self.evidence
            ],
        }

    def _shown_together(self) -> list[list[Evidence]]:
        """The evidence, that about one decision together which has the same case and the same two numbers."""
        groups: dict[tuple[str, ...], list[Evidence]] = {}
        for one in self.evidence:
            shown = (one.decision, one.question.to_text(), number(one.said), number(one.would_say))
            groups.setdefault(shown, []).append(one)
        return list(groups.values())

    def _confirmation(self) -> str:
        if not self.tried:
            return f"{self.asked:,} questions asked"
        return f"the policy gave {self.confirmed} of {self.tried} fresh answers; {self.asked:,} questions asked"

    def _policy_lines(self) -> list[str]:
        known = registry()
        width = max(map(len, self.policy), default=0)
        return [
            f"  {key:<{width}}  {toml_value(value)}  {known[key].meaning(value) if known[key].option(value) else ''}"
            for key, value in self.policy.items()
        ]

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
    told = f"said {number(one.said)}; with {one.decision} = {options} it would be {number(one.would_say)}"
    return f"{told}\n{indented(one.question.to_text())}"


def _case(question: Question, said: Outcome, would_say: Outcome) -> dict[str, Any]:
    return {"case": question.to_dict(), "said": number(said), "would_say": number(would_say)}
