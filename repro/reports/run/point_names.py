"""Names next to the points of a scatter chart, without overlap; numbers where names have no space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repro.reports.charts import short_names

# Pixels: about the size of the plot; half a dot; the width of a letter and the height of a line; the margin for names.
_PLOT, _DOT, _LETTER, LINE, _MARGIN = (350, 290), 6, 6.0, 11, 30
_NAMED = 16  # most points that have names, and not numbers


@dataclass(frozen=True)
class Side:
    """The side of its point on which a text is."""

    align: Literal["left", "right", "center"]
    dx: int
    dy: int


SIDES = (Side("left", 8, 0), Side("right", -8, 0), Side("center", 0, -11), Side("center", 0, 11))


@dataclass(frozen=True)
class Placed:
    """A text at a point of the data."""

    text: str
    x: float
    y: float
    side: Side


@dataclass(frozen=True)
class Named:
    """The texts of all points; ``numbered`` if these are numbers from 1, in the order of the points."""

    texts: list[Placed]
    numbered: bool


def named_points(labels: Sequence[str], xs: Sequence[float], ys: Sequence[float]) -> Named:
    """The names of all points where they have space, otherwise their numbers; points at one place share a text."""
    if len(labels) <= _NAMED:
        texts = _placed(list(short_names(labels, 24).values()), xs, ys, must_be_free=True)
        if texts is not None:
            return Named(texts, numbered=False)
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    return Named(_placed(numbers, xs, ys, must_be_free=False) or [], numbered=True)


Box = tuple[float, float, float, float]


def _placed(
    names: Sequence[str], xs: Sequence[float], ys: Sequence[float], *, must_be_free: bool
) -> list[Placed] | None:
    """A text for each place, on the side with least overlap; None if one overlaps and must not."""
    points = list(zip(_scaled(xs, _PLOT[0]), _scaled(ys, _PLOT[1]), strict=True))
    taken = [(x - _DOT, x + _DOT, y - _DOT, y + _DOT) for x, y in points]
    texts = []
    for members in _places(points):
        text, (x, y) = ", ".join(names[member] for member in members), points[members[0]]
        boxes = {side: _box(text, x, y, side) for side in SIDES}
        others = [box for index, box in enumerate(taken) if index not in members]
        side = min(SIDES, key=lambda side: _overlaps(boxes[side], others))
        if must_be_free and _overlaps(boxes[side], others):
            return None
        taken.append(boxes[side])
        texts.append(Placed(text, xs[members[0]], ys[members[0]], side))
    return texts


def _places(points: Sequence[tuple[float, float]]) -> list[list[int]]:
    """The points in groups that are closer together than half a dot, each around its first point."""
    places: list[list[int]] = []
    for index, (x, y) in enumerate(points):
        for members in places:
            first_x, first_y = points[members[0]]
            if max(abs(x - first_x), abs(y - first_y)) < _DOT / 2:
                members.append(index)
                break
        else:
            places.append([index])
    return places


def _scaled(values: Sequence[float], size: int) -> list[float]:
    """From 0, the lowest value, to ``size``, the highest."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / ((high - low) or 1) * size for value in values]


def _box(text: str, x: float, y: float, side: Side) -> Box:
    """The left, right, lower and upper end of a text; its height grows upwards, and ``dy`` downwards."""
    width = _LETTER * len(text)
    left = x + side.dx - {"left": 0.0, "center": width / 2, "right": width}[side.align]
    return left, left + width, y - side.dy - LINE / 2, y - side.dy + LINE / 2


def _overlaps(box: Box, others: Sequence[Box]) -> int:
    """The number of other boxes that a box overlaps, and whether it leaves the plot."""
    left, right, low, high = box
    outside = left < -_MARGIN or right > _PLOT[0] + _MARGIN
    return outside + sum(left < b and right > a and low < d and high > c for a, b, c, d in others)
