"""Requirements of a framework's own environment, as a file that pip reads."""

from __future__ import annotations

from pathlib import Path

_HASH = "--hash="


def read_requirements(path: Path) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The pins of a requirements file, in its order, and the hashes of each pin that has some."""
    pins: list[str] = []
    hashes: dict[str, tuple[str, ...]] = {}
    for word in path.read_text(encoding="utf-8").replace("\\\n", " ").split():
        if word.startswith(_HASH):
            hashes[pins[-1]] = (*hashes.get(pins[-1], ()), word.removeprefix(_HASH))
        else:
            pins.append(word)
    return tuple(pins), hashes
