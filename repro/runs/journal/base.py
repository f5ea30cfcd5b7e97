"""The base classes of the events of a journal, and the types of their fields."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Value = str | int | float | bool
Number = Value | None


class BaseEvent(BaseModel):
    """An event, or a part of one; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Session(BaseEvent):
    """The software and the machine that a run or an audit is started or resumed with."""

    versions: dict[str, str]
    machine: dict[str, Number]
    workers: int


def _below(name: str) -> str:
    path = PurePosixPath(name)
    outside = path.is_absolute() or ".." in path.parts
    if not name or outside or path.as_posix() != name or "\\" in name or any(ord(character) < 32 for character in name):
        raise ValueError(f"{name!r} is not the name of a file below the folder of the journal")
    return name


# A SHA-256 in hexadecimal, and the name of a file below the folder of the journal, with "/" between its parts: a
# program that opens a file by its name in a journal stays in that folder.
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
FileName = Annotated[str, AfterValidator(_below)]
Files = dict[FileName, Digest]
