"""Published numbers: cells of a printed table, and their form on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from repro.errors import StudyError, nearest


@dataclass(frozen=True)
class Published:
    """A printed number: the metric of an algorithm, with its number of decimals."""

    algorithm: str
    metric: str
    value: float
    decimals: int

    @property
    def slack(self) -> float:
        """The largest distance of a number that rounds to these digits."""
        return 0.5 * 10.0**-self.decimals


def read_published(
    texts: Iterable[str], metric_names: Sequence[str], algorithms: Sequence[str], labels: Sequence[str]
) -> list[Published]:
    """Read cells from text: numbers in the order of the algorithms, ``0.199,0.033``, or named, ``item-knn=0.199``.

    The first text is for the first metric, and so on; a text may name its metric, ``ndcg@10: 0.199,0.033``. A number
    has as many decimals as are printed: 0.20 has two. A dash stands for a missing number.
    """
    unnamed = list(metric_names)
    cells: dict[tuple[str, str], Published] = {}
    for text in texts:
        before, colon, after = text.rpartition(":")
        if not colon and not unnamed:
            raise StudyError(
                f"there are more rows of numbers than metrics ({', '.join(metric_names)}); name a "
                "metric with -m for each, or write 'ndcg@10: 0.199,0.033'"
            )
        name = before.strip() if colon else unnamed.pop(0)
        for label, number in _row(after, algorithms):
            if label not in labels:
                raise StudyError(
                    f"there is no algorithm '{label}'{nearest(label, labels)} Algorithms: {', '.join(labels)}"
                )
            if number in ("-", ""):
                continue
            if (label, name) in cells:
                raise StudyError(f"there are two numbers for {name} of {label}; give a single one")
            cells[label, name] = Published(label, name, *_number(number))
    if not cells:
        raise StudyError("no published number is given; write them as --find 0.199,0.033,0.280")
    return list(cells.values())


def _row(text: str, algorithms: Sequence[str]) -> list[tuple[str, str]]:
    """The algorithms and numbers of a row: all named, or all in the order of the algorithms."""
    pieces = [piece.strip() for piece in text.split(",")]
    named = [tuple(part.strip() for part in piece.rpartition("=")[::2]) for piece in pieces if "=" in piece]
    if len(named) == len(pieces):
        return [(label, written) for label, written in named]
    if named and any("=" not in piece and piece not in ("-", "") for piece in pieces):
        raise StudyError(f"'{text.strip()}': name all numbers, as in '{algorithms[0]}=0.199', or none of them")
    if named:
        return [(label, written) for label, written in named]
    if len(pieces) > len(algorithms):
        raise StudyError(
            f"there are {len(pieces)} numbers for {len(algorithms)} algorithms "
            f"({', '.join(algorithms)}); name them, as in '{algorithms[0]}=0.199'"
        )
    return list(zip(algorithms, pieces, strict=False))


def _number(written: str) -> tuple[float, int]:
    try:
        exact = Decimal(written)
        exponent = exact.as_tuple().exponent
    except InvalidOperation:
        exponent = "n"
    if not isinstance(exponent, int):
        raise StudyError(f"'{written}' is not a number; write it as it is printed, such as 0.199")
    return float(exact), max(0, -exponent)
