"""A claim: published numbers with the protocol that they are said to be measured under, and a tolerance."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from repro.data import Interactions, load_dataset
from repro.errors import PluginError, StudyError
from repro.plugin import plugins
from repro.protocol import Protocol, Value
from repro.replicate.printed import Printed
from repro.replicate.tolerance import Tolerance
from repro.study import Study
from repro.study.entry import EVERY, read_entries

OWN = ""  # the name of the claim's own protocol
FILE = "claim.toml"


@dataclass(frozen=True)
class Data:
    """The data of a claim: the name of a data set or a file beside the claim, how it is read, and its digest."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, eq=False)
class Setting:
    """A protocol as far as the source states it.

    open    what it does not say, as ``repro multiverse --vary`` has it: ``ties``, ``relevance.threshold=3|4``
    stated  the decisions that the claim file itself makes
    """

    protocol: Protocol
    open: tuple[str, ...] = ()
    stated: frozenset[str] = frozenset()

    def changed(self, changes: Mapping[str, Value], folder: Path) -> Setting:
        """The same with some decisions changed for one cell alone; they are stated then, and no longer open."""
        if not changes:
            return self
        still = tuple(name for name in self.open if name.partition("=")[0].strip() not in changes)
        return Setting(self.protocol.replace(changes, FILE, folder), still, self.stated | frozenset(changes))


@dataclass(frozen=True)
class Place:
    """Whose number it is: an algorithm (or system) by a metric, under one of the claim's protocols.

    ``changes`` are decisions made for it alone; ``user`` is one whose number it is, of worked examples.
    """

    algorithm: str
    metric: str
    under: str = OWN
    changes: tuple[tuple[str, Value], ...] = ()
    user: str = ""

    @property
    def sentence(self) -> str:
        """The place in words."""
        told = f"{self.metric} of {self.algorithm}" + (f", user {self.user}" if self.user else "")
        told += f" under {self.under}" if self.under else ""
        changed = ", ".join(f"{key} = {value}" for key, value in self.changes)
        return f"{told} with {changed}" if changed else told


@dataclass(frozen=True)
class Cell:
    """A printed number, and its tolerance."""

    place: Place
    printed: Printed
    tolerance: Tolerance


@dataclass(frozen=True)
class Fact:
    """A printed figure of the data set; ``prepared`` says whether the filters of the protocol come first."""

    name: str
    printed: Printed
    under: str = OWN
    prepared: bool = False


@dataclass(frozen=True)
class Operand:
    """One side of a pattern: ``times`` a measured number, or a number of its own.

    algorithms  labels, in which ``*`` stands for anything; ``take`` says which of their numbers counts: that of each
                of them, or the least, the most or the mean
    dp          a metric whose discriminative power it is: the sum of the p-values of all pairs of algorithms
    """

    number: float | None = None
    algorithms: tuple[str, ...] = ()
    metric: str = ""
    dp: str = ""
    under: str = OWN
    changes: tuple[tuple[str, Value], ...] = ()
    times: float = 1.0
    take: Literal["each", "min", "max", "mean"] = "each"

    @property
    def measure(self) -> str:
        """The metric that must be measured for it, if any."""
        return self.metric or self.dp


@dataclass(frozen=True)
class Pattern:
    """A claim about two numbers: ``left`` is less than ``right``, and so on.

    within  of "about": how far apart they may be; ``relative`` says whether as a share of the right one
    """

    says: str
    left: Operand
    relation: Literal["<", "<=", ">", ">=", "about"]
    right: Operand
    within: float = 0.0
    relative: bool = False


@dataclass(frozen=True)
class System:
    """Recommendations or predictions in a file beside the claim."""

    label: str
    file: str


@dataclass(frozen=True)
class Examples:
    """Worked examples: what is true, and what systems said, in files beside the claim."""

    truth: str
    systems: tuple[System, ...]
    train: str = ""


@dataclass(frozen=True)
class Asked:
    """An algorithm that a claim is about: its label, its framework, and the line of a study that asks for it alone."""

    label: str
    framework: str
    line: Mapping[str, Any]


def asked_algorithms(lines: Sequence[Any]) -> tuple[Asked, ...]:
    """The algorithms that the lines of a claim ask for. One whose plug-in is broken has its label all the same."""
    if not lines:
        return ()
    try:
        return tuple(_of_lines(lines))
    except PluginError:
        broken = [line for line in lines if _is_broken(line)]
        if not broken:
            raise
    found = {id(line): asked_algorithms([line]) for line in lines if line not in broken}
    found |= {id(line): (_of_broken(line),) for line in broken}
    return tuple(one for line in lines for one in found[id(line)])


def _of_lines(lines: Sequence[Any]) -> Iterator[Asked]:
    """Each entry with the line that asks for it: ``*/algorithm`` has one for each framework, and perhaps none."""
    entries = list(read_entries(lines)[0])
    for given in lines:
        line = {"use": given} if isinstance(given, str) else given
        every, _, algorithm = line["use"].partition("/")
        label = line.get("label", algorithm)
        while entries and (every != EVERY or entries[0].label == f"{entries[0].framework} {label}"):
            one = entries.pop(0)
            yield Asked(one.label, one.framework, {**line, "use": one.use, "label": one.label})
            if every != EVERY:
                break


def _is_broken(line: Any) -> bool:
    """Whether a line asks for an algorithm of a plug-in that is installed but broken."""
    framework = str(line.get("use", "")).partition("/")[0] if isinstance(line, Mapping) else ""
    return plugins().owners.get(framework, framework) in plugins().broken


def _of_broken(line: Mapping[str, Any]) -> Asked:
    use = str(line["use"])
    return Asked(str(line.get("label", use.replace("/", " "))), use.partition("/")[0], line)


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim file, read."""

    path: Path
    title: str
    source: str
    cite: str
    url: str
    notes: str
    seeds: tuple[int, ...]
    data: Data | None
    frameworks: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, Setting]
    algorithms: tuple[Asked, ...]
    tune: Mapping[str, Any] | None
    examples: Examples | None
    tolerance: Tolerance
    cells: tuple[Cell, ...]
    facts: tuple[Fact, ...]
    patterns: tuple[Pattern, ...]
    labels: tuple[str, ...]
    text: str = field(repr=False, default="")

    @classmethod
    def load(cls, path: str | Path) -> Claim:
        """Read a claim from a TOML file; paths in it are found from its folder."""
        from repro.replicate.reader import read_claim

        return read_claim(Path(path))

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def name(self) -> str:
        """How the claim is called among others: as its folder."""
        return self.path.resolve().parent.name if self.path.name == FILE else self.path.stem

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def systems(self) -> frozenset[str]:
        """The labels of worked examples."""
        return frozenset(one.label for one in self.examples.systems) if self.examples else frozenset()

    def setting(self, under: str, changes: tuple[tuple[str, Value], ...] = ()) -> Setting:
        """What a cell is measured under."""
        return self.settings[under].changed(dict(changes), self.folder)

    def _tuned(self, labels: Collection[str]) -> Mapping[str, Any] | None:
        """How some of the algorithms are tuned: without the spaces of others."""
        if self.tune is None or not isinstance(self.tune.get("space"), Mapping):
            return self.tune
        names = {str(one.line["use"]).partition("/")[2] for one in self.algorithms if one.label not in labels}
        names -= {str(one.line["use"]).partition("/")[2] for one in self.algorithms if one.label in labels}
        return {**self.tune, "space": {key: one for key, one in self.tune["space"].items() if key not in names}}

    def interactions(self) -> Interactions:
        """The data; data with another digest than the claim states is refused."""
        data = self.data
        if data is None:
            raise StudyError(f'{self.path} has no data; write [data] with name = "ml-100k"')
        own = self.folder / data.name
        found = load_dataset(own if own.is_file() else data.name, **data.options)
        if data.digest and found.digest != data.digest:
            raise StudyError(
                f"the claim {self.path} is about data with the digest {data.digest[:12]}, and {data.name} here has "
                f"{found.digest[:12]}; get the data of the source, or mend the digest"
            )
        return found

    def study(
        self, protocol: Protocol, metrics: Sequence[str], seed: int, labels: Collection[str], working: Collection[str]
    ) -> Study:
        """The study that measures some of the algorithms under a protocol; ``working`` are all that work here."""
        assert self.data is not None
        whole = Study(
            self.data.name,
            protocol,
            [one.line for one in self.algorithms if one.label in working],
            metrics,
            seed=seed,
            question=self.title,
            data_options=self.data.options,
            folder=self.folder,
            tune=self._tuned(working),
        )
        return whole if all(entry.label in labels for entry in whole.entries) else whole.only(labels)
