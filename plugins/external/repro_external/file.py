"""Files of recommendations or predictions that any other system wrote."""

from __future__ import annotations

import hashlib
from pathlib import Path

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro_external.formats import parsed_columns, read_output
from repro_external.systems import Gives, Predicts, System

FOLD = "{fold}"


def make_file(path: str, format: str, columns: str, gives: Gives) -> File:
    """A system that reads its scores, lists or predictions from a file."""
    return (PredictingFile if gives == "predictions" else File)(path, format, columns, gives)


class File(System):
    """Reads the output of a system from a file, or from one file for each fold if the path contains ``{fold}``."""

    def __init__(self, path: str, format: str, columns: str, gives: Gives) -> None:
        super().__init__(gives)
        if not path:
            raise PluginError('external/file needs a path, such as parameters = { path = "lists-{fold}.tsv" }')
        parsed_columns(columns)  # raises an error about wrong columns before any fit
        self._path, self._format, self._columns = path, format, columns

    def on_fold(self, name: str) -> None:
        self._path = self._path.replace(FOLD, name)

    def fit(self, train: Interactions, *, seed: int) -> None:
        if FOLD in self._path:
            raise PluginError(
                f"path = {self._path!r} contains {{fold}}, but there are no folds here; give the path of one file"
            )
        file = Path(self._path)
        table = read_output(file, self._format, self._columns, lists=self._gives == "lists")
        self.notes["file"] = f"{self._path}, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
        self.take(table, train, self._path)


class PredictingFile(Predicts, File):
    """A file with predictions on the rating scale."""
