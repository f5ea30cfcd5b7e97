"""Dots: the values of one metric, with a line for each algorithm and a dot for each framework that has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from repro.report.charts import COLOURS

# Black vanishes on a dark screen. The second time round, dots are hollow.
_COLOURS = tuple(colour for colour in COLOURS if colour != "#000000")
_LEFT, _WIDTH, _STEP, _RADIUS = 190, 260, 20, 5


@dataclass(frozen=True)
class System:
    """A row of a run's table: its label, and the algorithm and the framework that the label is made of."""

    label: str
    algorithm: str
    framework: str


def systems(frameworks: Mapping[str, str]) -> list[System]:
    """The rows of a table, from the framework of each label: ``lenskit bias`` is the algorithm bias, if others have it.

    Where no two frameworks have the same algorithm, a label is an algorithm of its own, and the framework is not told.
    """
    found = [System(label, label.removeprefix(f"{name} "), name) for label, name in frameworks.items()]
    if len({one.algorithm for one in found}) < len(found):
        return found
    return [System(label, label, "") for label in frameworks]


def legend(rows: Sequence[System]) -> str:
    """Which dot is whose; nothing where there is one kind of dot."""
    names = _names(rows)
    if len(names) == 1:
        return ""
    entries = (
        f'<svg width="14" height="14" aria-hidden="true">{_dot(7, 7, place)}</svg> {escape(name)}'
        for place, name in enumerate(names)
    )
    return f'<p class="legend">{" ".join(f"<span>{entry}</span>" for entry in entries)}</p>'


def dots(title: str, values: Mapping[str, float], rows: Sequence[System], better: str) -> str:
    """A figure of the values of each label; nothing where all are the same.

    The scale starts at zero, or, for errors, of which none is near it, at the lowest value.
    """
    known = {label: value for label, value in values.items() if value == value}
    if len(set(known.values())) < 2:
        return ""
    low = min(known.values()) if better == "lower" else min(0.0, *known.values())
    high = max(known.values())
    algorithms = list(dict.fromkeys(row.algorithm for row in rows if row.label in known))
    names = _names(rows)
    drawn = []
    for place, algorithm in enumerate(algorithms):
        y = 14 + place * _STEP
        drawn.append(f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(algorithm)}</text>')
        drawn.append(f'<line x1="{_LEFT}" y1="{y}" x2="{_LEFT + _WIDTH}" y2="{y}"/>')
        for row in rows:
            if row.algorithm == algorithm and row.label in known:
                x = _LEFT + _WIDTH * (known[row.label] - low) / (high - low)
                told = f"<title>{escape(row.label)}: {known[row.label]:.6f}</title>"
                drawn.append(_dot(x, y, names.index(row.framework), told))
    height = 22 + len(algorithms) * _STEP
    drawn.append(f'<text x="{_LEFT}" y="{height - 6}">{low:.4g}</text>')
    drawn.append(f'<text x="{_LEFT + _WIDTH}" y="{height - 6}" text-anchor="end">{high:.4g}</text>')
    name = escape(title)
    return (
        f'<figure><figcaption>{name}</figcaption><svg role="img" aria-label="{name} by algorithm" '
        f'width="{_LEFT + _WIDTH + 10}" height="{height}">{"".join(drawn)}</svg></figure>'
    )


def _names(rows: Sequence[System]) -> list[str]:
    return sorted({row.framework for row in rows})


def _dot(x: float, y: float, place: int, inside: str = "") -> str:
    colour = _COLOURS[place % len(_COLOURS)]
    fill = "none" if place // len(_COLOURS) % 2 else colour
    look = f'fill="{fill}" fill-opacity="0.7" stroke="{colour}" stroke-width="2"'
    return f'<circle cx="{x:.1f}" cy="{y}" r="{_RADIUS}" {look}>{inside}</circle>'
