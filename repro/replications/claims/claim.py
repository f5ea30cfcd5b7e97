"""The model of a claim: published numbers, the protocol that their source states, and a tolerance."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from repro.data import Interactions, load_dataset
from repro.errors import PluginError, StudyError
from repro.plugin import plugins
from repro.protocol import Protocol, Value
from repro.replications.claims.printed import Printed, Tolerance
from repro.study import Study
from repro.study.entry import EVERY, read_entries

if TYPE_CHECKING:
    from repro.replications.check import ClaimCheck

OWN = ""  # the name of the claim's main protocol, [protocol]
MEAN = " + "  # between the names of protocols over which a number is the mean
FILE = "claim.toml"


@dataclass(frozen=True)
class Data:
    """The data of a claim: a named data set or a file next to the claim, options for reading it, and its digest."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, eq=False)
class Setting:
    """A protocol as far as the source states it.

    open    decisions that the source leaves open, in the form of ``repro multiverse --vary``: ``ties``,
            ``relevance.threshold=3|4``
    stated  decisions that the claim file itself states
    """

    protocol: Protocol
    open: tuple[str, ...] = ()
    stated: frozenset[str] = frozenset()

    def changed(self, changes: Mapping[str, Value], folder: Path) -> Setting:
        """The setting with some decisions changed for a single cell; these count as stated, and not as open."""
        if not changes:
            return self
        still_open = tuple(name for name in self.open if name.partition("=")[0].strip() not in changes)
        return Setting(self.protocol.replace(changes, FILE, folder), still_open, self.stated | frozenset(changes))


@dataclass(frozen=True)
class CellKey:
    """Identifies a number: the metric of an algorithm (or system) under one of the claim's protocols.

    under    the name of the protocol, or the names of several with " + " between them
    changes  decisions that apply to this cell only
    user     in worked examples, the user whose number it is; empty for the average over users
    data     the name of one of the claim's further data sets
    """

    algorithm: str
    metric: str
    under: str = OWN
    changes: tuple[tuple[str, Value], ...] = ()
    user: str = ""
    data: str = OWN

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of its protocols: several where the number is the mean over them."""
        return tuple(self.under.split(MEAN)) if MEAN in self.under else (self.under,)

    @property
    def sentence(self) -> str:
        """The key in words."""
        sentence = f"{self.metric} of {self.algorithm}" + (f", user {self.user}" if self.user else "")
        sentence += f" on {self.data}" if self.data else ""
        sentence += f" under {self.under}" if self.under else ""
        changed = ", ".join(f"{key} = {value}" for key, value in self.changes)
        return f"{sentence} with {changed}" if changed else sentence


@dataclass(frozen=True)
class Cell:
    """A printed number, and its tolerance."""

    key: CellKey
    printed: Printed
    tolerance: Tolerance


@dataclass(frozen=True)
class Fact:
    """A printed figure of the data set, of a split, or of a run.

    prepared   whether the figure is that of the data after the protocol's filters
    fold       of a split: the name of the fold; the mean over folds if it is empty
    algorithm  of a run: the label of the algorithm
    factor     of a run: by how much a time may differ on another machine
    data       the name of one of the claim's further data sets
    """

    name: str
    printed: Printed
    under: str = OWN
    prepared: bool = False
    fold: str = ""
    algorithm: str = ""
    factor: float = 0.0
    data: str = OWN


@dataclass(frozen=True)
class Operand:
    """One side of a pattern: a constant ``number``, or ``times`` a measured number.

    algorithms  labels, in which ``*`` matches anything
    take        which of their numbers to compare: each of them, the minimum, the maximum or the mean
    property_of_metric  in place of ``metric``: which property of ``metrics`` over all algorithms is meant
    share       for "sparsity", of the held-out ratings that are kept; for "popularity", of the items that are removed
    """

    number: float | None = None
    algorithms: tuple[str, ...] = ()
    metric: str = ""
    property_of_metric: Literal["", "dp", "tau", "sparsity", "popularity"] = ""
    metrics: tuple[str, ...] = ()
    share: float = 0.0
    under: str = OWN
    changes: tuple[tuple[str, Value], ...] = ()
    times: float = 1.0
    take: Literal["each", "min", "max", "mean"] = "each"

    @property
    def protocols(self) -> tuple[str, ...]:
        """The name of its protocol."""
        return (self.under,)

    @property
    def measures(self) -> tuple[str, ...]:
        """The metrics to measure, if any."""
        return self.metrics or ((self.metric,) if self.metric else ())

    def matching(self, labels: Sequence[str]) -> list[str]:
        """The labels that match ``algorithms``."""
        return [label for label in labels if any(fnmatchcase(label, name) for name in self.algorithms)]


@dataclass(frozen=True)
class Pattern:
    """A claim about two numbers, such as ``left`` < ``right``.

    within  for "about", the allowed distance; with ``relative``, as a share of the right number
    """

    says: str
    left: Operand
    relation: Literal["<", "<=", ">", ">=", "about"]
    right: Operand
    within: float = 0.0
    relative: bool = False
    data: str = OWN

    @property
    def relation_in_words(self) -> str:
        if self.relation != "about":
            return self.relation
        return f"about, within {self.within:.4g}" + (" of the right" if self.relative else "")


@dataclass(frozen=True)
class System:
    """Recommendations or predictions in a file next to the claim."""

    label: str
    file: str


@dataclass(frozen=True)
class Examples:
    """Worked examples: the truth, and the output of systems, in files next to the claim."""

    truth: str
    systems: tuple[System, ...]
    train: str = ""


@dataclass(frozen=True)
class ClaimedAlgorithm:
    """An algorithm of a claim: its label, its framework, and the entry of a study that requests it alone."""

    label: str
    framework: str
    line: Mapping[str, Any]


def claimed_algorithms(lines: Sequence[Any]) -> tuple[ClaimedAlgorithm, ...]:
    """The algorithms that the entries of a claim request, including those whose plug-in is broken."""
    if not lines:
        return ()
    try:
        return tuple(_of_lines(lines))
    except PluginError:
        broken = [line for line in lines if _is_broken(line)]
        if not broken:
            raise
    by_line = {id(line): claimed_algorithms([line]) for line in lines if line not in broken}
    by_line |= {id(line): (_of_broken(line),) for line in broken}
    return tuple(algorithm for line in lines for algorithm in by_line[id(line)])


def _of_lines(lines: Sequence[Any]) -> Iterator[ClaimedAlgorithm]:
    """Each algorithm with its own entry; ``*/algorithm`` gives one for each framework that has it, perhaps none."""
    entries = list(read_entries(lines)[0])
    for entry in lines:
        line = {"use": entry} if isinstance(entry, str) else entry
        framework, _, algorithm = line["use"].partition("/")
        label = line.get("label", algorithm)
        while entries and (framework != EVERY or entries[0].label == f"{entries[0].framework} {label}"):
            first = entries.pop(0)
            yield ClaimedAlgorithm(first.label, first.framework, {**line, "use": first.use, "label": first.label})
            if framework != EVERY:
                break


def _is_broken(line: Any) -> bool:
    """Whether an entry requests an algorithm of a plug-in that is installed but broken."""
    framework = str(line.get("use", "")).partition("/")[0] if isinstance(line, Mapping) else ""
    return plugins().owners.get(framework, framework) in plugins().broken


def _of_broken(line: Mapping[str, Any]) -> ClaimedAlgorithm:
    use = str(line["use"])
    return ClaimedAlgorithm(str(line.get("label", use.replace("/", " "))), use.partition("/")[0], line)


@dataclass(frozen=True, eq=False)
class Claim:
    """A claim, as read from its file.

    further  further data sets, by name
    part     the name of the data set, if this is the part of a claim that is about one of several
    """

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
    algorithms: tuple[ClaimedAlgorithm, ...]
    tune: Mapping[str, Any] | None
    examples: Examples | None
    tolerance: Tolerance
    cells: tuple[Cell, ...]
    facts: tuple[Fact, ...]
    patterns: tuple[Pattern, ...]
    labels: tuple[str, ...]
    further: Mapping[str, Data] = field(default_factory=dict)
    part: str = OWN
    text: str = field(repr=False, default="")

    @classmethod
    def load(cls, path: str | Path) -> Claim:
        """Read a claim from a TOML file; paths in it are relative to its folder."""
        from repro.replications.claims.reader import read_claim

        return read_claim(Path(path))

    def check(self) -> ClaimCheck:
        """Report what the source leaves open, what would be run, and what is missing for it; nothing is run.

        >>> repro.Claim.load("claim.toml").check().missing
        ()
        """
        from repro.replications.check import check

        return check(self)

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def name(self) -> str:
        """The name of the claim: that of its folder."""
        return self.path.resolve().parent.name if self.path.name == FILE else self.path.stem

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def systems(self) -> frozenset[str]:
        """The labels of worked examples."""
        return frozenset(system.label for system in self.examples.systems) if self.examples else frozenset()

    def parts(self) -> list[Claim]:
        """The claim about each of its data sets, as a claim of its own."""
        if not self.further:
            return [self]
        parts = [
            replace(
                self,
                data=self.data if name == OWN else self.further[name],
                further={},
                part=name,
                cells=tuple(cell for cell in self.cells if cell.key.data == name),
                facts=tuple(fact for fact in self.facts if fact.data == name),
                patterns=tuple(pattern for pattern in self.patterns if pattern.data == name),
            )
            for name in (OWN, *self.further)
        ]
        return [part for part in parts if part.cells or part.facts or part.patterns]

    @property
    def operands(self) -> list[Operand]:
        """Both sides of all patterns."""
        return [side for pattern in self.patterns for side in (pattern.left, pattern.right)]

    def setting(self, under: str, changes: tuple[tuple[str, Value], ...] = ()) -> Setting:
        """The setting under which a cell is measured."""
        return self.settings[under].changed(dict(changes), self.folder)

    def _tuned(self, labels: Collection[str]) -> Mapping[str, Any] | None:
        """The [tune] section for some of the algorithms: without the search spaces of the others."""
        if self.tune is None or not isinstance(self.tune.get("space"), Mapping):
            return self.tune
        names: dict[bool, set[str]] = {True: set(), False: set()}
        for algorithm in self.algorithms:
            names[algorithm.label in labels].add(str(algorithm.line["use"]).partition("/")[2])
        excluded = names[False] - names[True]
        space = {key: space for key, space in self.tune["space"].items() if key not in excluded}
        return {**self.tune, "space": space} if space else None

    def interactions(self) -> Interactions:
        """Load the data; raise an error if its digest is not the one that the claim states."""
        data = self.data
        if data is None:
            raise StudyError(f'{self.path} has no data; write [data] with name = "ml-100k"')
        own_file = self.folder / data.name
        rows = load_dataset(own_file if own_file.is_file() else data.name, **data.options)
        if data.digest and rows.digest != data.digest:
            raise StudyError(
                f"the claim {self.path} is about data with the digest {data.digest[:12]}, and {data.name} here has "
                f"{rows.digest[:12]}; get the data of the source, or correct the digest"
            )
        return rows

    def study(
        self, protocol: Protocol, metrics: Sequence[str], seed: int, labels: Collection[str], working: Collection[str]
    ) -> Study:
        """The study that measures the algorithms of ``labels`` under a protocol; ``working`` are all that run here."""
        assert self.data is not None
        study = Study(
            self.data.name,
            protocol,
            [algorithm.line for algorithm in self.algorithms if algorithm.label in working],
            metrics,
            seed=seed,
            question=self.title,
            data_options=self.data.options,
            folder=self.folder,
            tune=self._tuned(working),
        )
        return study if all(entry.label in labels for entry in study.entries) else study.only(labels)
