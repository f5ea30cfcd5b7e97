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
    return (PredictingFile if gives == "predictions" else File)(path, format, columns, gives)


class File(System):
    """The numbers of a file, or of one file for each fold, where its path holds ``{fold}``."""

    def __init__(self, path: str, format: str, columns: str, gives: Gives) -> None:
        super().__init__(gives)
        if not path:
            raise PluginError('external/file needs a path, such as parameters = { path = "lists-{fold}.tsv" }')
        parsed_columns(columns)  # what is written wrongly is told before anything is fitted
        self._path, self._format, self._columns = path, format, columns

    def on_fold(self, name: str) -> None:
        self._path = self._path.replace(FOLD, name)

    def fit(self, train: Interactions, *, seed: int) -> None:
        if FOLD in self._path:
            raise PluginError(f"path = {self._path!r} names the fold, and there is none here; name one file")
        file = Path(self._path)
        table = read_output(file, self._format, self._columns, lists=self._gives == "lists")
        self.notes["file"] = f"{self._path}, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
        self.take(table, train, self._path)


class PredictingFile(Predicts, File):
    """A file with predictions on the rating scale."""
