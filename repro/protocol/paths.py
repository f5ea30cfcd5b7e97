"""Files that a decision names: one file, a list of files, or a pattern with a file for each fold."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from pathlib import Path

FOLD = "{fold}"
BETWEEN = " | "


def path_text(value: object) -> str | None:
    """A path, or a list of paths, as the text of a decision; None if it is neither."""
    if isinstance(value, str):
        return value or None
    if not isinstance(value, Sequence) or not value or not all(isinstance(path, str) and path for path in value):
        return None
    return BETWEEN.join(value)


def named_files(text: str, folder: Path) -> dict[str, Path]:
    """The files that the text of a decision names, by fold; a file for all folds has the empty name.

    The files of a list belong to the folds "1", "2" and so on. ``u{fold}.base`` stands for all files whose names have
    anything in that place, which is the name of the fold; if some of these names are whole numbers, only those count.
    """
    if BETWEEN in text:
        return {str(number): folder / path.strip() for number, path in enumerate(text.split(BETWEEN), 1)}
    if FOLD not in text:
        return {"": folder / text}
    pattern = str(folder / text)
    pieces = pattern.split(FOLD)
    name = re.compile("(?P<fold>[^/\\\\]+)".join(map(re.escape, pieces[:2])) + _repeated(pieces[2:]))
    start = Path(pieces[0] + "_").parent
    below = "*".join(map(glob.escape, pieces)).removeprefix(glob.escape(str(start))).lstrip("/\\")
    matches = (name.fullmatch(str(path)) for path in start.glob(below))
    files = {match["fold"]: Path(match[0]) for match in matches if match}
    numbered = {fold: path for fold, path in files.items() if fold.isdecimal()}
    names = sorted(numbered, key=lambda fold: (int(fold), fold)) if numbered else sorted(files)
    return {fold: files[fold] for fold in names}


def _repeated(pieces: Sequence[str]) -> str:
    """The rest of a pattern, in which the name of the fold occurs again."""
    return "".join(f"(?P=fold){re.escape(piece)}" for piece in pieces)
