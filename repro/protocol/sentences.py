"""Decisions in sentences, for the methods section of a paper, by the wording that each decision declares."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from repro.protocol.decision import Value, Wording
from repro.protocol.registry import registry

ANY = "*"
_PLACE = re.compile(r"\{([\w.-]+)(?::([^}]+))?\}")


@dataclass(frozen=True)
class Sentence:
    """A sentence, the decisions that it states, and where their options come from."""

    text: str
    states: tuple[str, ...]
    cites: tuple[str, ...] = ()


def wording_of(key: str) -> Wording:
    """The wording of a decision; an empty one where it has none, or its plug-in is not installed."""
    known = registry()
    return known[key].wording if key in known else Wording()


def sentences(values: Mapping[str, Value], wanted: Iterable[str]) -> list[Sentence]:
    """The decisions ``wanted``, of those with ``values``, in sentences; each is stated once, in order.

    A sentence may state several of them. The last sentence lists what was not done.
    """
    written: list[Sentence] = []
    absent: dict[str, str] = {}
    stated: set[str] = set()
    for key in wanted:
        if key in stated:
            continue
        not_done = wording_of(key).absent
        if not_done is not None and not_done[0] == values[key]:
            absent[key] = not_done[1]
            continue
        sentence = _sentence(key, values)
        written.append(sentence)
        stated |= set(sentence.states)
    if absent:
        written.append(Sentence(f"There was no {_listed(absent.values())}.", tuple(absent)))
    return written


def _sentence(key: str, values: Mapping[str, Value]) -> Sentence:
    value = values[key]
    says = wording_of(key).says
    template = says.get(_word(value)) or says.get(ANY)
    states = [key]
    text = _filled(template, key, values, states) if template else _plainly(key, value)
    return Sentence(text, tuple(dict.fromkeys(states)), tuple(dict.fromkeys(_cites(states, values))))


def _filled(template: str, key: str, values: Mapping[str, Value], states: list[str]) -> str:
    """The template with the values of decisions filled in; their ids are added to ``states``."""

    def put(found: re.Match[str]) -> str:
        name, form = found[1], found[2] or ""
        if name == "meaning":
            return registry()[key].meaning(values[key])
        other = key if name == "value" else name
        states.append(other)
        phrase = wording_of(other).phrases.get(_word(values[other]))
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
