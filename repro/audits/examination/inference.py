"""The result of an examination: the inferred policy, and what it does not explain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from repro.audits.examination.thresholds import Interval
from repro.audits.examination.undetermined import Undetermined
from repro.audits.questions.answers import Answer
from repro.audits.questions.question import Question
from repro.grouping import grouped
from repro.protocol import Protocol, Value, registry, toml_value
from repro.text import finite

SINGLE_DECIMALS = 6  # decimals of numbers around 1 in single precision
Status = Literal["explained", "explained but for", "unexplained"]
# A reminder that the code between this audit and an evaluator is audited too.
ADAPTER = (
    "What is audited is the evaluator as it is called here. What happens to items that are not in a list, to empty "
    "lists and to pairs with several rows may be a choice of the code that calls it."
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The reason to reject an option: a question, the answer of the black box, and the answer under that option."""

    decision: str
    option: Value
    question: Question
    answer: Answer
    predicted: Answer

    def to_text(self) -> str:
        return _evidence_text([self])


@dataclass(frozen=True, eq=False)
class Unexplained:
    """Behaviour that no policy explains: the aspect, the nearest policy, and the smallest case it does not predict.

    residual  the largest difference between an answer and the prediction of the nearest policy
    agreed    the number of answers that it predicts, of ``compared``
    """

    aspect: str
    nearest: Mapping[str, Value]
    residual: float
    agreed: int
    compared: int
    question: Question
    answer: Answer
    predicted: Answer
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
    """A question that gets different answers: when it is repeated, or when its rows are in another order."""

    kind: Literal["random", "row order"]
    aspect: str
    question: Question
    answers: tuple[Answer, ...]

    def to_text(self) -> str:
        what = "the same input" if self.kind == "random" else "the same rows in another order"
        answers = ", ".join(map(number, self.answers))
        return f"{self.aspect}: {what} gives {answers}\n" + indented(self.question.to_text())


@dataclass(frozen=True, eq=False)
class Refused:
    """A refusal: the aspect, the message of the black box, and a question that it refuses."""

    aspect: str
    message: str
    question: Question

    def to_text(self) -> str:
        return f"{self.aspect}: {brief(self.message)}\n" + indented(self.question.to_text())


@dataclass(frozen=True, eq=False)
class Inference:
    """The policy of a black box, as its answers show it.

    status        "explained": one policy predicts its answers to all questions that it can be asked; "explained but
                  for": a policy does so, except for the aspects in ``doubtful``; "unexplained": no policy survived
    policy        the decisions that the answers determine
    undetermined  the decisions that they do not determine, with the remaining options
    threshold     the interval in which the threshold of relevance lies, where the policy has one
    protocol      the policy as a protocol; decisions that are not determined are ``open`` in it
    measure       the metric under the policy, with the variants that are determined
    evidence      for each rejected option, the smallest case that rejects it
    holds         the aspects that the policy explains
    confirmed     how many answers to new questions the policy predicted, of ``tried``
    attacked      how many questions of the adversary did not refute the policy
    pairs         how many pairs of aspects these questions had together, and how many pairs there are
    decimals      to how many decimals answers are rounded or exact; None where they are exact to the last digit
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
        """The aspects that the policy does not explain, or for which answers vary."""
        unexplained, unstable = (case.aspect for case in self.unexplained), (case.aspect for case in self.unstable)
        return tuple(dict.fromkeys((*unexplained, *unstable)))

    @property
    def verdict(self) -> str:
        """The status, with the doubtful aspects if there are any."""
        return f"{self.status} {', '.join(self.doubtful)}" if self.status == "explained but for" else self.status

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        if self.status == "unexplained":
            if any(case.kind == "random" for case in self.unstable):
                return f"{self.name} gives different numbers to the same question"
            if self.refused and not self.unexplained:
                return f"{self.name} refuses {self.refused[0].aspect}: {brief(self.refused[0].message)}"
            return f"no known policy reproduces {self.name} as {self.metric}"
        but = f", but for {', '.join(self.doubtful)}" if self.doubtful else ""
        return f"{self.name} is {self.measure}{as_exact(self.decimals)}{but}"

    def to_text(self) -> str:
        """The whole result as a page of text."""
        lines = [self.summary, f"status: {self.verdict}; {self._confirmation()}", ""]
        if self.status != "unexplained":
            lines += ["Policy", *self._policy_lines(), ""]
        for title, cases in (
            ("Undetermined", self.undetermined),
            ("Unexplained", self.unexplained),
            ("Random or unstable", self.unstable),
            ("Refused", self.refused),
        ):
            if cases:
                lines += [title, *(indented(case.to_text()) for case in cases), ""]
        lines += ["Not asked", f"    {ADAPTER}", *(f"    {what}: {why}" for what, why in self.not_asked.items()), ""]
        if self.evidence:
            lines += ["Evidence", *(indented(_evidence_text(group)) for group in self._shown_together()), ""]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            **{name: getattr(self, name) for name in ("name", "metric", "status", "verdict", "summary", "measure")},
            "policy": dict(self.policy),
            "protocol_hash": None if self.protocol is None else self.protocol.hash,
            **{name: getattr(self, name) for name in ("confirmed", "tried", "asked", "decimals")},
            "holds": list(self.holds),
            "unexplained": [
                {
                    "aspect": case.aspect,
                    "closest": dict(case.nearest),
                    "residual": finite(case.residual),
                    "agreed": case.agreed,
                    "asked": case.compared,
                    "note": case.note,
                    **_case(case.question, case.answer, case.predicted),
                }
                for case in self.unexplained
            ],
            "unstable": [
                {
                    "kind": case.kind,
                    "aspect": case.aspect,
                    "case": case.question.to_dict(),
                    "answers": [number(answer) for answer in case.answers],
                }
                for case in self.unstable
            ],
            "refused": [
                {"aspect": case.aspect, "message": brief(case.message), "case": case.question.to_dict()}
                for case in self.refused
            ],
            "undetermined": [group.to_dict() for group in self.undetermined],
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "attacked": self.attacked,
            "pairs": list(self.pairs),
            "not_asked": dict(self.not_asked),
            "evidence": [
                {
                    "decision": evidence.decision,
                    "option": evidence.option,
                    **_case(evidence.question, evidence.answer, evidence.predicted),
                }
                for evidence in self.evidence
            ],
        }

    def _shown_together(self) -> list[list[Evidence]]:
        """The evidence in groups with the same decision, question, answer and prediction."""

        def shown(evidence: Evidence) -> tuple[str, ...]:
            answers = number(evidence.answer), number(evidence.predicted)
            return (evidence.decision, evidence.question.to_text(), *answers)

        return list(grouped(self.evidence, shown).values())

    def _confirmation(self) -> str:
        if not self.tried:
            return f"{self.asked:,} questions asked"
        met, pairs = self.pairs
        return (
            f"the policy predicted {self.confirmed} of {self.tried} new answers and withstood {self.attacked} attacks, "
            f"which combined {met} of {pairs} pairs of aspects; {self.asked:,} questions asked"
        )

    def _policy_lines(self) -> list[str]:
        decisions, lines = registry(), []
        width = max(map(len, self.policy), default=0)
        for key, value in self.policy.items():
            meaning = decisions[key].meaning(value) if decisions[key].option(value) else ""
            lines.append(f"  {key:<{width}}  {toml_value(value)}  {meaning}")
        return [*lines, *([] if self.threshold is None else [f"  {self.threshold}"])]

    __str__ = __repr__ = to_text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.to_text())}</pre>"


def as_exact(decimals: int | None) -> str:
    """A phrase about the precision of answers, to follow the name of a measure."""
    if decimals is None:
        return ""
    return ", in single precision" if decimals == SINGLE_DECIMALS else f", rounded to {decimals} decimals"


def number(outcome: Answer) -> str:
    """An answer as text."""
    if outcome.refusal:
        return f"an error ({brief(outcome.refusal, 120)})"
    if outcome.value is not None:
        return f"{outcome.value:.10g}"
    users = ", ".join(f"{value:.10g}" for _, value in sorted((outcome.per_user or {}).items()))
    return f"({users})"


def indented(text: str) -> str:
    """The text with all lines indented."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def brief(message: str, width: int = 200) -> str:
    """A message on one line, without the last lines of a worker's output."""
    text = " ".join(message.partition("; its last lines:")[0].split())
    return text if len(text) <= width else f"{text[:width]}..."


def _evidence_text(group: Sequence[Evidence]) -> str:
    """The case that rejects options of a decision, with its answer and the prediction that all of them share."""
    first = group[0]
    options = " or ".join(toml_value(evidence.option) for evidence in group)
    answers = f"said {number(first.answer)}; with {first.decision} = {options} it would be {number(first.predicted)}"
    return f"{answers}\n{indented(first.question.to_text())}"


def _case(question: Question, answer: Answer, predicted: Answer) -> dict[str, Any]:
    return {"case": question.to_dict(), "said": number(answer), "would_say": number(predicted)}
