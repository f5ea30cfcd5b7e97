"""Macros that the author of a LaTeX source defines, and their expansion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*(?:\{\s*\\([A-Za-z@]+)\s*\}|\\([A-Za-z@]+))"
    r"\s*(?:\[(\d)\])?\s*(?:\[([^\]]*)\])?\s*(?=\{)|\\def\s*\\([A-Za-z@]+)\s*((?:#\d)*)\s*(?=\{)"
)
_ROUNDS, _LONGEST = 12, 2_000_000


@dataclass(frozen=True)
class Macro:
    """A macro: its number of arguments, the default of the first one if it has one, and its body."""

    arguments: int
    default: str | None
    body: str


def defined_macros(text: str) -> dict[str, Macro]:
    """The macros that a source defines, by name; of two definitions the last one."""
    macros = {}
    for match in _DEFINED.finditer(text):
        body, _ = braced(text, match.end())
        name = match[1] or match[2] or match[5]
        count = int(match[3] or 0) if match[5] is None else match[6].count("#")
        macros[name] = Macro(count, match[4], body)
    return macros


def braced(text: str, start: int) -> tuple[str, int]:
    """The content of the braces that open at ``start``, and the position after them; a single character without any."""
    if start >= len(text) or text[start] != "{":
        return text[start : start + 1], start + 1
    depth, at = 0, start
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
        if not depth:
            return text[start + 1 : at - 1], at
    return text[start + 1 :], len(text)


def expanded(text: str, macros: Mapping[str, Macro]) -> str:
    """The text with the author's macros replaced, also those within others."""
    own = {name: macro for name, macro in macros.items() if not re.search(rf"\\{name}(?![A-Za-z@])", macro.body)}
    if not own:
        return text
    names = re.compile(r"\\(" + "|".join(sorted(map(re.escape, own), key=len, reverse=True)) + r")(?![A-Za-z@])")
    for _ in range(_ROUNDS):
        pieces, last = [], 0
        for match in names.finditer(text):
            if match.start() < last:
                continue
            body, end = _filled(own[match[1]], text, match.end())
            pieces += [text[last : match.start()], body]
            last = end
        if not pieces:
            break
        text = "".join([*pieces, text[last:]])
        if len(text) > _LONGEST:
            break
    return text


def _filled(macro: Macro, text: str, at: int) -> tuple[str, int]:
    """The body of a macro with its arguments, which follow ``at``, and the position after these."""
    arguments: list[str] = []
    if not macro.arguments:
        return macro.body, at
    for number in range(macro.arguments):
        at += len(text[at:]) - len(text[at:].lstrip())
        if not number and macro.default is not None:
            end = text.find("]", at) if text[at : at + 1] == "[" else -1
            arguments.append(text[at + 1 : end] if end >= 0 else macro.default)
            at = end + 1 if end >= 0 else at
            continue
        argument, at = braced(text, at)
        arguments.append(argument)
    return re.sub(
        r"#([1-9])", lambda m: arguments[int(m[1]) - 1] if int(m[1]) <= len(arguments) else "", macro.body
    ), at
