"""Options of commands that measure files: the runs and their labels, how they are read, and the protocol."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import completes, option
from repro.cli.options.protocol_options import ChangeOptions, complete_protocol
from repro.cli.options.shared_options import FILE, JsonOption, seed_option
from repro.cli.output import echo

if TYPE_CHECKING:
    import pandas as pd

    from repro.lists import Frames
    from repro.protocol import Protocol

_STDIN = "-"
_GZIP = b"\x1f\x8b"
_TABLES = (".parquet", ".csv", ".tsv")
_ROLES = {"run": "recommendations", "truth": "truth", "train": "train"}


@completes(or_file=True)
def complete_file(text: str) -> list[str]:
    """Files."""
    return []


@dataclass(frozen=True, kw_only=True)
class ListFileOptions(ChangeOptions, JsonOption):
    """Files of recommendations, truth and training rows, and the protocol that they are measured under."""

    runs: tuple[str, ...] = option(
        "Recommendations; may be repeated. - is standard input.",
        "--run",
        required=True,
        metavar="[LABEL=]FILE",
        shell_complete=complete_file,
    )
    train: str | None = option("Training rows, if decisions or metrics need them.", type=FILE)
    protocol: str | None = option("See `repro protocol list`.", metavar="NAME|FILE", shell_complete=complete_protocol)
    columns: tuple[str, ...] = option(
        "The name of a column: user=userId, or truth.user=uid for one of the files (run, truth, train). "
        "Without a header, columns are numbered: rank=3. Common names are recognised.",
        metavar="ROLE=NAME",
    )
    formats: tuple[str, ...] = option(
        "text, parquet, json, recbole, trec or surprise, of all files or of one: run=trec [default: recognised].",
        "--format",
        metavar="[FILE=]FORMAT",
    )
    seed: int = seed_option("Random seed of ties.break=random.")

    def files(self, default_label: Callable[[Path], str]) -> dict[str, str]:
        """The runs by label: that of `LABEL=FILE`, or ``default_label`` of the file."""
        files: dict[str, str] = {}
        for text in self.runs:
            label, equals, file = text.partition("=")
            if not equals or not label or Path(text).exists():
                label, file = ("stdin" if text == _STDIN else default_label(Path(text))), text
            if label in files:
                raise click.BadParameter(
                    f"two runs are called '{label}'; name them, such as --run first={files[label]}", param_hint="--run"
                )
            files[label] = file
        if list(files.values()).count(_STDIN) > 1:
            raise click.BadParameter("standard input can be read once only", param_hint="--run")
        return files

    @contextmanager
    def reader(
        self, progress: Callable[[str], None] = lambda text: None
    ) -> Iterator[Callable[[str, str], pd.DataFrame]]:
        """Reads a file in its role: recommendations, truth or train."""
        from repro.lists.inputs import READERS, columns_of, require_known_columns

        names = self._column_names()
        require_known_columns(names)
        formats = self._formats()
        with tempfile.TemporaryDirectory() as folder:

            def read(role: str, file: str) -> pd.DataFrame:
                progress(f"reading {file}")
                path = _stdin_file(Path(folder)) if file == _STDIN else Path(file)
                return READERS[role](path, columns_of(role, names), formats.get(role, formats.get("")))

            yield read

    def _column_names(self) -> dict[str, str]:
        """The names of columns by role; `run.user` on the command line is `recommendations.user` elsewhere."""
        names: dict[str, str] = {}
        for text in (pair for pairs in self.columns for pair in pairs.split(",")):
            role, equals, name = (part.strip() for part in text.partition("="))
            if not (role and equals and name):
                raise click.BadParameter(f"'{text}': write it like user=userId", param_hint="--columns")
            names[f"recommendations.{role.removeprefix('run.')}" if role.startswith("run.") else role] = name
        return names

    def _formats(self) -> dict[str, str]:
        """The formats by the role of a file; that of all other files has an empty name."""
        formats: dict[str, str] = {}
        for text in self.formats:
            file, equals, name = text.rpartition("=")
            if equals and file not in _ROLES:
                known = ", ".join(f"{role}=FORMAT" for role in _ROLES)
                raise click.BadParameter(f"'{text}': write FORMAT, or one of {known}", param_hint="--format")
            formats[_ROLES.get(file, "")] = name
        return formats

    def protocol_for(self, frames: Frames) -> Protocol:
        """The named protocol, or the default of :func:`repro.evaluate`, with the changes applied."""
        from repro.lists import default_protocol
        from repro.protocol import read_protocol

        protocol = read_protocol(self.protocol) if self.protocol else default_protocol(frames.truth.explicit)
        return protocol.replace(self.changed_decisions(), "command line")


def _stdin_file(folder: Path) -> Path:
    """Standard input as a file: recognising its format takes more than one reading."""
    start = sys.stdin.buffer.read(len(_GZIP))
    file = folder / ("standard-input.gz" if start == _GZIP else "standard-input")
    with file.open("wb") as target:
        target.write(start)
        shutil.copyfileobj(sys.stdin.buffer, target)
    return file


def print_mismatches(frames: Frames, protocol: Protocol, label: str) -> None:
    """Print problems of the recommendations on standard error, where the Python functions warn."""
    from repro.lists.mismatches import mismatches

    for sentence in mismatches(frames, protocol, label):
        echo(f"note: {sentence}", err=True)


def require_table_suffix(file: str, option: str) -> None:
    """Raise an error if :func:`write_table` cannot write such a file."""
    if Path(file).suffix.lower() not in _TABLES:
        raise click.BadParameter(f"{file}: its name must end in {', '.join(_TABLES)}", param_hint=option)


def write_table(table: pd.DataFrame, file: str) -> None:
    """Write a table in the format of the file's suffix."""
    from repro.data.spreadsheet import frame_csv

    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".parquet":
        table.to_parquet(path, index=False)
    else:
        path.write_bytes(frame_csv(table, "\t" if path.suffix.lower() == ".tsv" else ","))
