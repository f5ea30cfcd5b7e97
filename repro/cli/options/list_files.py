"""Files that commands measure: the runs and their labels, how they are read, the protocol they are measured under."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from repro.cli.options.protocol_options import read_changes
from repro.cli.output import echo

if TYPE_CHECKING:
    import pandas as pd

    from repro.evaluate import Frames
    from repro.protocol import Protocol

_STDIN = "-"
_GZIP = b"\x1f\x8b"
_LABELS = {"run": "recommendations", "truth": "truth", "train": "train"}


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files."""
    return [CompletionItem(incomplete, type="file")]


def labelled(runs: tuple[str, ...], unstated: Callable[[Path], str] = lambda file: file.name) -> dict[str, str]:
    """The files by label: as stated, `LABEL=FILE`, or by the name of the file."""
    files: dict[str, str] = {}
    for text in runs:
        label, equals, file = text.partition("=")
        if not equals or not label or Path(text).exists():
            label, file = ("stdin" if text == _STDIN else unstated(Path(text))), text
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
    columns: tuple[str, ...], formats: tuple[str, ...], say: Callable[[str], None]
) -> Iterator[Callable[[str, str], pd.DataFrame]]:
    """Reads a file as what it holds: recommendations, truth or train."""
    from repro.evaluate.inputs import READERS, columns_of, require_known_columns

    names = {_spelled_out(role): name for role, name in _pairs(columns, "--columns", "user=userId").items()}
    require_known_columns(names)
    stated = _formats(formats)
    with tempfile.TemporaryDirectory() as folder:

        def read(label: str, file: str) -> pd.DataFrame:
            say(f"reading {file}")
            path = _kept_input(Path(folder)) if file == _STDIN else Path(file)
            return READERS[label](path, columns_of(label, names), stated.get(label, stated.get("")))

        yield read


def _kept_input(folder: Path) -> Path:
    """Standard input as a file: its form is recognised by its first lines, so it is read more than once."""
    start = sys.stdin.buffer.read(len(_GZIP))
    file = folder / ("standard-input.gz" if start == _GZIP else "standard-input")
    with file.open("wb") as target:
        target.write(start)
        shutil.copyfileobj(sys.stdin.buffer, target)
    return file


def _pairs(given: tuple[str, ...], option: str, example: str) -> dict[str, str]:
    """`user=userId`, several of them apart by commas or one in each option."""
    pairs: dict[str, str] = {}
    for text in (part for one in given for part in one.split(",")):
        key, equals, value = (piece.strip() for piece in text.partition("="))
        if not (key and equals and value):
            raise click.BadParameter(f"'{text}': write it like {example}", param_hint=option)
        pairs[key] = value
    return pairs


def _spelled_out(role: str) -> str:
    """`run.user` of the command line is `recommendations.user` elsewhere."""
    return f"recommendations.{role.removeprefix('run.')}" if role.startswith("run.") else role


def _formats(given: tuple[str, ...]) -> dict[str, str]:
    """The formats by what a file holds; under an empty name, that of all others."""
    formats: dict[str, str] = {}
    for text in given:
        label, equals, name = text.rpartition("=")
        if equals and label not in _LABELS:
            raise click.BadParameter(
                f"'{text}': write FORMAT, or one of {', '.join(f'{one}=FORMAT' for one in _LABELS)}",
                param_hint="--format",
            )
        formats[_LABELS.get(label, "")] = name
    return formats


def chosen_protocol(name: str | None, changes: tuple[str, ...], frames: Frames) -> Protocol:
    """The protocol of that name, or that of :func:`repro.evaluate` without one, with its decisions changed."""
    from repro.evaluate import default_protocol
    from repro.protocol import read_protocol

    chosen = read_protocol(name) if name else default_protocol(frames.truth.explicit)
    return chosen.replace(read_changes(changes), "command line")


def print_mismatches(frames: Frames, protocol: Protocol, label: str) -> None:
    """Say on standard error what is wrong with the recommendations, as the Python functions warn."""
    from repro.evaluate.mismatches import mismatches

    for sentence in mismatches(frames, protocol, label):
        echo(f"note: {sentence}", err=True)
