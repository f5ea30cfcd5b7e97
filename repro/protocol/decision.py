"""The declaration of a decision: one question of a protocol, its options, and what the suite knows about them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from repro.protocol.paths import path_text
from repro.protocol.stages import BEFORE_FITTING, STAGES, Stage, stage_named_by
from repro.protocol.toml import toml_value

Value = str | int | float | bool
Kind = Literal["choice", "integer", "number", "flag", "path", "weights"]


class _Required:
    """Marks a decision without a default: a protocol must state it."""

    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()


@dataclass(frozen=True)
class Option:
    """One answer to a decision.

    ``text`` says in a methods section what was done, in the past tense: a sentence with its full stop, or a phrase that
    stands for ``{value}`` in the sentence of its decision and for ``{the.decision}`` in sentences of other decisions.
    ``means`` spells an option out in other decisions: an option with it is a shorthand, replaced when a
    protocol is resolved, so that the short and the long form are one protocol with one hash. ``when`` says under
    which other decisions the option differs from the remaining ones: elsewhere it is rejected, with the advice
    ``instead``.

    gives_order   whether tied items come in one order; False where each metric treats equal scores in its own way
    stops_run     whether the evaluation ends with an error where the option applies
    gives_number  whether there is a number where the option applies; False for "not a number"
    needs         what a study does not have by itself: a "file", "rows" of given recommendations, or "weights"
    reads         other stages whose results the option reads
    searchable    whether the audit can recognise the option by small questions
    """

    value: str
    meaning: str
    text: str = ""
    cite: str = ""
    used_by: tuple[str, ...] = ()
    means: Mapping[str, Value] = field(default_factory=dict)
    when: tuple[When | AnyOf, ...] = ()
    instead: str = ""
    gives_order: bool = True
    stops_run: bool = False
    gives_number: bool = True
    needs: Literal["file", "rows", "weights"] | None = None
    reads: tuple[Stage, ...] = ()
    searchable: bool = True

    @classmethod
    def fail(cls, text: str) -> Option:
        """The option that the run stops."""
        return cls("fail", "the run stops", text, stops_run=True)


@dataclass(frozen=True)
class When:
    """A decision applies only while another one has one of ``values``, none of ``other_than``, or is above a bound."""

    decision: str
    values: tuple[Value, ...] = ()
    above: float | None = None
    other_than: tuple[Value, ...] = ()

    def holds(self, value: Value | None) -> bool:
        if value is None:
            return False
        if self.above is not None:
            return not isinstance(value, str) and float(value) > self.above
        return value not in self.other_than if self.other_than else value in self.values

    def __str__(self) -> str:
        if self.above is not None:
            return f"{self.decision} > {self.above:g}"
        if len(self.other_than) == 1:
            return f"{self.decision} is not {toml_value(self.other_than[0])}"
        if self.other_than:
            return f"{self.decision} is none of {', '.join(map(toml_value, self.other_than))}"
        return f"{self.decision} is {' or '.join(map(toml_value, self.values))}"


@dataclass(frozen=True, init=False)
class AnyOf:
    """One of several conditions is enough."""

    conditions: tuple[When, ...]

    def __init__(self, *conditions: When) -> None:
        object.__setattr__(self, "conditions", conditions)

    def __str__(self) -> str:
        return "(" + " or ".join(map(str, self.conditions)) + ")"


@dataclass(frozen=True)
class Contradiction:
    """Values of a decision that cannot be combined with values of another one, though each is valid alone.

    Either both have one of the values named here, or two numbers are not in the required ``relation``: the first is
    "below" the second, "at most" the second, or both "sum below 1". Words such as "none" never contradict a number.
    """

    other: str
    why: str
    values: tuple[Value, ...] = ()
    other_values: tuple[Value, ...] = ()
    relation: Literal["below", "at most", "sum below 1"] | None = None

    def holds(self, value: Value, other: Value) -> bool:
        """Whether the two values contradict."""
        if self.relation is None:
            return value in self.values and other in self.other_values
        if isinstance(value, str) or isinstance(other, str):
            return False
        match self.relation:
            case "below":
                return value >= other
            case "at most":
                return value > other
            case "sum below 1":
                return value + other >= 1


@dataclass(frozen=True)
class Decision:
    """One axis of a protocol: its id, the question it answers, what may be answered, and the default.

    Weights are a number for each rank: ``"1 0.5 0.25"``, which never rise. A number or a path may also be one of the
    ``words`` (``"none"``, ``"all"``); bounds are inclusive. ``excluded`` are
    numbers within the bounds that mean the same as the default, and are rejected. ``typical`` are the numbers that are
    used in practice, for code that tries many protocols. ``own_stage`` is the stage that reads the decision, where the
    first word of its id does not name it.

    contradicts  other decisions that rule out some of its values
    acts_on      what data or scores must contain for the decision to make a difference: one of these features
                 (:data:`repro.plugin.FEATURES`); empty where it always may
    neutral      where there is no default, the value under which all of plain data is evaluated
    own_search   whether the audit searches the decision for all metrics of its stage, where that differs from the
                 rule: it searches what needs no refit
    sentence     what a methods section says of a value whose text is not a sentence: ``{value}`` is the text of the
                 value, or the value itself, ``{meaning}`` its meaning, and ``{some.decision}`` the text or value of
                 another one, which the sentence then states too; ``{...:%}`` is a percentage, and ``{...:user}`` a
                 number of users (or of whatever is named)
    texts        texts of values that are not options, and of options in the sentences of other decisions
    absent       what was not done where the decision has its default: joined in one sentence

    A decision that the sentence of another one always states needs no sentence of its own.
    """

    id: str
    question: str
    kind: Kind = "choice"
    options: tuple[Option, ...] = ()
    default: Value | _Required = REQUIRED
    minimum: float | None = None
    maximum: float | None = None
    words: tuple[str, ...] = ()
    excluded: tuple[float, ...] = ()
    typical: tuple[float, ...] = ()
    when: tuple[When | AnyOf, ...] = ()
    cite: str = ""
    own_stage: Stage | None = None
    contradicts: tuple[Contradiction, ...] = ()
    acts_on: tuple[str, ...] = ()
    neutral: Value | None = None
    own_search: bool | None = None
    sentence: str = ""
    texts: Mapping[Value, str] = field(default_factory=dict)
    absent: str = ""

    @classmethod
    def choice(cls, id: str, question: str, *options: Option, default: str | _Required = "", **fields: Any) -> Decision:
        """A decision between options; the first one is the default unless another is stated."""
        return cls(id, question, options=options, default=default or options[0].value, **fields)

    @classmethod
    def share(cls, id: str, question: str, *, default: float, **fields: Any) -> Decision:
        """A decision on a share, a number from 0 to 1."""
        return cls(id, question, "number", default=default, minimum=0, maximum=1, **fields)

    @cached_property
    def stage(self) -> Stage:
        """The stage of the experiment that reads it."""
        stage = self.own_stage or stage_named_by(self.id)
        if stage is None:
            raise ValueError(f"decision {self.id} belongs to no stage; state its own_stage: {', '.join(STAGES)}")
        return stage

    @property
    def needs_refit(self) -> bool:
        """Whether another value needs another fit: it changes the training rows or the held-out ones."""
        return self.stage in BEFORE_FITTING

    @property
    def searchable(self) -> bool:
        """Whether the audit searches the decision for every metric of its stage."""
        return not self.needs_refit if self.own_search is None else self.own_search

    @property
    def family(self) -> str:
        """The table of the TOML file that holds it: ``metric.ndcg`` for ``metric.ndcg.gain``."""
        return self.id.rpartition(".")[0]

    @property
    def required(self) -> bool:
        return isinstance(self.default, _Required)

    def option(self, value: Value) -> Option | None:
        return self._by_value.get(value)

    @cached_property
    def _by_value(self) -> dict[Value, Option]:
        return {option.value: option for option in reversed(self.options)}  # of two with one value, the first

    @property
    def tried(self) -> tuple[Value, ...]:
        """The values that are worth trying: all options but shorthands, or the typical numbers and words."""
        match self.kind:
            case "choice":
                return tuple(option.value for option in self.options if not option.means)
            case "flag":
                return (True, False)
            case "path" | "weights":
                return self.words
        own = () if isinstance(self.default, _Required) else (self.default,)
        numbers = (self.accept(number) for number in self.typical)
        return tuple(dict.fromkeys((*own, *self.words, *(number for number in numbers if number is not None))))

    def allowed(self) -> str:
        """The allowed values, as a phrase for messages and help."""
        match self.kind:
            case "choice":
                return ", ".join(f'"{option.value}"' for option in self.options)
            case "flag":
                return "true or false"
            case "path":
                one = "the path of a file, a list of paths, or a path with {fold} for the name of the fold"
                return " or ".join([one, *(f'"{word}"' for word in self.words)])
            case "weights":
                return 'a weight for each rank that never rises, the first one above 0, such as "1 0.5 0.25"'
        noun = "a whole number" if self.kind == "integer" else "a number"
        if self.minimum is not None and self.maximum is not None:
            noun += f" from {self.minimum:g} to {self.maximum:g}"
        elif self.minimum is not None:
            noun += f" of at least {self.minimum:g}"
        elif self.maximum is not None:
            noun += f" of at most {self.maximum:g}"
        if self.excluded:
            noun += f" other than {' and '.join(f'{number:g}' for number in self.excluded)}"
        return " or ".join([noun, *(f'"{word}"' for word in self.words)])

    def accept(self, value: object) -> Value | None:
        """``value`` in its one normal form, or None when the decision does not allow it."""
        if self.kind == "weights":
            return _weights(value)
        if self.kind == "path":
            return path_text(value)
        if isinstance(value, str):
            if self.kind == "choice":
                return value if self.option(value) else None
            return value if value in self.words else None
        if isinstance(value, bool):
            return value if self.kind == "flag" else None
        if not isinstance(value, int | float) or self.kind not in ("integer", "number"):
            return None
        if not math.isfinite(value) or (self.kind == "integer" and value != int(value)):
            return None
        number = int(value) if self.kind == "integer" else float(value) + 0.0  # -0.0 means 0.0
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return number if low <= number <= high and number not in self.excluded else None

    def meaning(self, value: Value) -> str:
        """``value`` in words."""
        option = self.option(value)
        return option.meaning if option else toml_value(value)

    def text(self, value: Value) -> str:
        """``value`` in the words of a methods section, a sentence or a phrase; empty where it has none."""
        option = self.option(value)
        return option.text if option and option.text else self.texts.get(value, "")

    def own_template(self, value: Value) -> str:
        """The sentence that states ``value``, with its placeholders."""
        text = self.text(value)
        return text if text.endswith(".") else self.sentence

    def phrase(self, value: Value) -> str:
        """The phrase for ``value`` in the sentence of another decision; empty where it is the value itself."""
        return self.texts.get(value) or self.text(value)


def _weights(value: object) -> str | None:
    """Weights of ranks, given as text or as a list, as numbers with blanks between them; None if they are none."""
    numbers = re.split(r"[\s,;]+", value.strip(" \t[]")) if isinstance(value, str) else value
    if not isinstance(numbers, Sequence) or not numbers or any(isinstance(number, bool) for number in numbers):
        return None
    try:
        weights = [float(number) for number in numbers]
    except (TypeError, ValueError):
        return None
    falling = all(before >= after for before, after in pairwise(weights))
    if not falling or weights[0] <= 0 or weights[-1] < 0 or not all(map(math.isfinite, weights)):
        return None
    return " ".join(repr(weight + 0.0).removesuffix(".0") for weight in weights)


def weights_of(text: str) -> tuple[float, ...]:
    """The numbers of a value of kind "weights"."""
    return tuple(map(float, text.split()))
