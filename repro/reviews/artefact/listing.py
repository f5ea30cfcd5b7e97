"""The files in a folder: nothing outside of it is opened, and nothing that can hold no data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repro.errors import DataError

MOST_FILES = 5000
LARGEST = 2 << 30
_PICKLES = (".pkl", ".pickle", ".dump", ".joblib", ".p", ".pt", ".pth", ".ckpt", ".bin")
_NO_DATA = (
    *(".py", ".pyc", ".ipynb", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".java", ".scala", ".jl", ".m", ".r", ".sh"),
    *(".md", ".rst", ".tex", ".pdf", ".doc", ".docx", ".ppt", ".pptx", ".html", ".css", ".js", ".bib", ".bst"),
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".eps", ".yml", ".yaml", ".toml", ".cfg", ".ini", ".lock"),
    *(".h5", ".hdf5", ".onnx", ".so", ".dll", ".exe", ".o", ".log", ".xlsx", ".mat", ".whl", ".jar", ".class"),
)
_FOLDERS = ("__pycache__", "node_modules", "__MACOSX")


@dataclass(frozen=True)
class FoundFile:
    """A file of the folder: where it is, and its name from the folder on."""

    path: Path
    name: str


@dataclass(frozen=True)
class Unread:
    """A file that was not read, with the reason; ``refused`` where reading it would not be safe."""

    name: str
    reason: str
    refused: bool = False

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return vars(self).copy()


def list_files(folder: Path) -> tuple[list[FoundFile], list[Unread]]:
    """The files that may hold data, sorted by name, and those that were not opened."""
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; give the folder with the files of the artefact")
    inside = folder.resolve()
    files: list[FoundFile] = []
    unread: list[Unread] = []
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if reason := _unread(path, name, inside):
            unread.append(reason)
        elif path.suffix.lower() not in _NO_DATA and path.name not in ("LICENSE", "README", "Dockerfile", "Makefile"):
            files.append(FoundFile(path, name))
        if len(files) > MOST_FILES:
            raise DataError(f"{folder} has more than {MOST_FILES:,} files; review a folder in it, such as its data")
    return files, unread


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _FOLDERS)
        linked = [name for name in folders if (Path(root) / name).is_symlink()]
        yield from (Path(root) / name for name in sorted([*names, *linked]) if not name.startswith("."))


def _unread(path: Path, name: str, inside: Path) -> Unread | None:
    """The reason why a file is not opened; None if it is."""
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(inside):
            return Unread(name, "it is a link to a place outside of the folder", refused=True)
        if real.is_dir():
            return Unread(name, "it is a link to a folder, which is reviewed where it is")
        if not real.is_file():
            return Unread(name, "it is no regular file", refused=True)
        size = real.stat().st_size
    except (OSError, RuntimeError) as error:
        return Unread(name, f"it cannot be opened ({getattr(error, 'strerror', None) or error})")
    if path.suffix.lower() in _PICKLES:
        return Unread(
            name,
            "it is a pickle or holds one, and reading a pickle executes its content; write it as CSV, Parquet or JSON, "
            "or with scipy.sparse.save_npz",
            refused=True,
        )
    if size > LARGEST:
        return Unread(name, f"it has {size / 2**30:.1f} GiB; at most {LARGEST >> 30} GiB are read")
    return Unread(name, "it is empty") if not size else None
