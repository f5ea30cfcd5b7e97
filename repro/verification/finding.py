"""The result of a verification: the checks, the failures, and what could not be checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from repro.runs.folder import JOURNAL
from repro.text import as_page

if TYPE_CHECKING:
    from repro.runs.journal.events import Line
    from repro.verification.compare import Comparison

Level = Literal["integrity", "rescore", "retrain"]
LEVELS: tuple[Level, ...] = get_args(Level)
Kind = Literal["run", "part of a run", "audit", "files"]

SHOWN_USERS = 5
TOLERANCE = 0.01  # of a number that is computed again, as a share of the original


@dataclass(frozen=True)
class Failure:
    """A check that failed.

    artefact  the file of the folder that it is about
    what      what is wrong with it, in a sentence
    line      the line of the journal that says otherwise, or that is itself at fault
    cell      algorithm and fold
    metric    the number that does not follow
    users     whose lists, values or predictions differ
    """

    level: Level
    artefact: str
    what: str
    line: int | None = None
    cell: str = ""
    metric: str = ""
    users: tuple[str, ...] = ()

    def __str__(self) -> str:
        at = f"line {self.line} of the journal" if self.line is not None else ""
        where = ", ".join(part for part in (self.cell, self.metric, at) if part)
        more = len(self.users) - SHOWN_USERS
        several = f" and {more:,} more" if more > 0 else ""
        whose = ", ".join(self.users[:SHOWN_USERS]) + several
        users = f"; {'user' if len(self.users) == 1 else 'users'} {whose}" if self.users else ""
        return f"{self.artefact}{f' ({where})' if where else ''}: {self.what}{users}"


@dataclass
class Verification:
    """The result of the checks of a folder, up to a level; printed, it is a page.

    kind       what the folder is
    checked    a sentence for each level that was checked
    notes      further facts about the folder
    unchecked  what was not checked, and why
    sources    the stored data that the numbers of each metric were recomputed from
    refitted   the comparison with the run that was fitted again
    """

    folder: Path
    level: Level
    kind: Kind = "run"
    failures: list[Failure] = field(default_factory=list)
    checked: dict[Level, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    refitted: Comparison | None = None

    @property
    def holds(self) -> bool:
        return not self.failures

    @property
    def summary(self) -> str:
        """The result in one line."""
        name = self.folder.name if self.kind == "run" else f"{self.folder.name} ({self.kind})"
        if self.holds:
            return f"{name} holds: " + "; ".join(f"{level}: {sentence}" for level, sentence in self.checked.items())
        failed = [level for level in LEVELS if any(failure.level == level for failure in self.failures)]
        held = [f"{level}: {sentence}" for level, sentence in self.checked.items() if level not in failed]
        count = f"{len(self.failures):,} failure{'' if len(self.failures) == 1 else 's'}"
        return "; ".join([f"{name} does not hold: {count} ({', '.join(failed)})", *held])

    @property
    def details(self) -> list[str]:
        """The failures, the source of each recomputed metric, notes, and what was not checked."""
        lines = [str(failure) for failure in self.failures]
        for source in dict.fromkeys(self.sources.values()):
            metrics = [metric for metric, origin in self.sources.items() if origin == source]
            lines.append(f"{source}: {', '.join(metrics)}")
        return [*lines, *self.notes, *(f"not checked: {sentence}" for sentence in self.unchecked)]

    def __str__(self) -> str:
        refitted = [] if self.refitted is None else ["", str(self.refitted)]
        return "\n".join([self.summary, *(f"  {line}" for line in self.details), *refitted])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_page(str(self))

    def to_dict(self) -> dict[str, Any]:
        """The verification as plain data, for scripts."""
        return {
            "folder": str(self.folder),
            "kind": self.kind,
            "level": self.level,
            "holds": self.holds,
            "summary": self.summary,
            "failures": [asdict(failure) for failure in self.failures],
            "checked": dict(self.checked),
            "notes": list(self.notes),
            "unchecked": list(self.unchecked),
            "recomputed": dict(self.sources),
            "refitted": None if self.refitted is None else self.refitted.to_dict(),
        }


def failure_at(what: str, line: Line | None = None, cell: str = "") -> Failure:
    """A failure of the journal itself."""
    return Failure("integrity", JOURNAL, what, None if line is None else line.number, cell)


def names(ids: Iterable[object]) -> tuple[str, ...]:
    """Ids of users as text, each once, in their order."""
    return tuple(dict.fromkeys(map(str, ids)))
