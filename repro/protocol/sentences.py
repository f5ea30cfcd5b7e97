"""Decisions in sentences, for the methods section of a paper, in the words that each decision declares."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from repro.protocol.decision import Decision, Value
from repro.protocol.registry import registry

_PLACEHOLDER = re.compile(r"\{([\w.-]+)(?::([^}]+))?\}")


@dataclass(frozen=True)
class Sentence:
    """A sentence, the decisions that it states, and where their options come from."""

    text: str
    states: tuple[str, ...]
    cites: tuple[str, ...] = ()


def sentences(values: Mapping[str, Value], decisions: Iterable[str]) -> list[Sentence]:
    """The ``decisions``, of those with ``values``, in sentences; each is stated once, in order.

    A sentence may state several of them. The last sentence lists what was not done.
    """
    written: list[Sentence] = []
    absent: dict[str, str] = {}
    stated: set[str] = set()
    for key in decisions:
        if key in stated:
            continue
        decision = registry()[key]
        if decision.absent and values[key] == decision.default:
            absent[key] = decision.absent
            continue
        sentence = _sentence(key, values)
        written.append(sentence)
        stated |= set(sentence.states)
    if absent:
        written.append(Sentence(f"There was no {_listed(absent.values())}.", tuple(absent)))
    return written


def _sentence(key: str, values: Mapping[str, Value]) -> Sentence:
    decision, value, states = registry()[key], values[key], [key]
    if template := decision.own_template(value):
        text = _filled(template, decision, values, states)
    else:
        question = decision.question.rstrip("?")
        text = f"{question[0].upper()}{question[1:]}: {decision.meaning(value)} ({key})."
    return Sentence(text, tuple(dict.fromkeys(states)), tuple(dict.fromkeys(_cites(states, values))))


def _filled(template: str, decision: Decision, values: Mapping[str, Value], states: list[str]) -> str:
    """The template with the values of decisions filled in; their ids are added to ``states``."""

    def fill(placeholder: re.Match[str]) -> str:
        name, form = placeholder[1], placeholder[2] or ""
        if name == "meaning":
            return decision.meaning(values[decision.id])
        other = decision if name == "value" else registry()[name]
        value = values[other.id]
        states.append(other.id)
        phrase = other.text(value) if name == "value" else other.phrase(value)
        return _filled(phrase, other, values, states) if phrase else _shown(value, form)

    return _PLACEHOLDER.sub(fill, template)


def _cites(states: Collection[str], values: Mapping[str, Value]) -> Iterable[str]:
    all_decisions = registry()
    for key in states:
        option = all_decisions[key].option(values[key])
        yield from filter(None, (option.cite if option else "", all_decisions[key].cite))


def _shown(value: Value, form: str) -> str:
    if isinstance(value, str):
        return value
    if form == "%":
        return f"{round(100 * float(value), 10):g}%"
    number = f"{value:,}" if isinstance(value, int) else repr(value).removesuffix(".0")
    return number if not form else f"{number} {form}" + ("" if value == 1 else "s")


def _listed(nouns: Iterable[str]) -> str:
    *first, last = dict.fromkeys(nouns)
    return f"{', '.join(first)} or {last}" if first else last
