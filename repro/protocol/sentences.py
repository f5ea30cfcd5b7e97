"""Decisions in sentences, for the methods section of a paper; the sentences are data, beside the decisions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from repro.protocol.decision import Value
from repro.protocol.registry import registry

ANY = "*"
_PLACE = re.compile(r"\{([\w.-]+)(?::([^}]+))?\}")


@dataclass(frozen=True)
class Wording:
    """How a methods section states a decision; see ``decisions/sentences.toml`` for what each field means."""

    says: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Sentence:
    """A sentence, the decisions that it states, and where their options come from."""

    text: str
    states: tuple[str, ...]
    cites: tuple[str, ...] = ()


@cache
def wordings() -> Mapping[str, Wording]:
    """The wording of each decision that has one."""
    text = (files("repro.protocol.decisions") / "sentences.toml").read_text(encoding="utf-8")
    return {key: Wording(**table) for key, table in tomllib.loads(text).items()}


def sentences(values: Mapping[str, Value], wanted: Iterable[str]) -> list[Sentence]:
    """The decisions ``wanted``, of those with ``values``, in sentences; each is stated once, in order.

    A sentence may state several of them. What was not done is said last, in one sentence.
    """
    told: list[Sentence] = []
    absent: dict[str, str] = {}
    stated: set[str] = set()
    for key in wanted:
        if key in stated:
            continue
        wording = wordings().get(key, Wording())
        if wording.absent and wording.absent["value"] == values[key]:
            absent[key] = str(wording.absent["text"])
            continue
        sentence = _sentence(key, values)
        told.append(sentence)
        stated |= set(sentence.states)
    if absent:
        told.append(Sentence(f"There was no {_listed(absent.values())}.", tuple(absent)))
    return told


def _sentence(key: str, values: Mapping[str, Value]) -> Sentence:
    value = values[key]
    says = wordings().get(key, Wording()).says
    template = says.get(_word(value)) or says.get(ANY)
    states = [key]
    text = _filled(template, key, values, states) if template else _plainly(key, value)
    return Sentence(text, tuple(dict.fromkeys(states)), tuple(dict.fromkeys(_cites(states, values))))


def _filled(template: str, key: str, values: Mapping[str, Value], states: list[str]) -> str:
    """The template with the values of decisions in their places; ``states`` is told which."""

    def put(found: re.Match[str]) -> str:
        name, form = found[1], found[2] or ""
        if name == "meaning":
            return registry()[key].meaning(values[key])
        other = key if name == "value" else name
        states.append(other)
        phrase = wordings().get(other, Wording()).phrases.get(_word(values[other]))
        if phrase is not None and name != "value":
            return _filled(phrase, other, values, states)
        return _shown(values[other], form)

    return _PLACE.sub(put, template)


def _plainly(key: str, value: Value) -> str:
    """A decision that has no wording, by its question and its meaning."""
    decision = registry()[key]
    question = decision.question.rstrip("?")
    return f"{question[0].upper()}{question[1:]}: {decision.meaning(value)} ({key})."


def _cites(states: Collection[str], values: Mapping[str, Value]) -> Iterable[str]:
    known = registry()
    for key in states:
        option = known[key].option(values[key])
        yield from filter(None, (option.cite if option else "", known[key].cite))


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: Value, form: str) -> str:
    if isinstance(value, str):
        return value
    if form == "%":
        return f"{round(100 * float(value), 10):g}%"
    number = f"{value:,}" if isinstance(value, int) else repr(value).removesuffix(".0")
    return number if not form else f"{number} {form}" + ("" if value == 1 else "s")


def _listed(things: Iterable[str]) -> str:
    *first, last = dict.fromkeys(things)
    return f"{', '.join(first)} or {last}" if first else last
