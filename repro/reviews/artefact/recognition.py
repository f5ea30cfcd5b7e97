"""From the files of a folder to data sets: the role of each file, and how it was recognised."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

import numpy as np

from repro.errors import DataError, ReproError, nearest
from repro.grouping import grouped
from repro.reviews.artefact.data_sets import DataSet, NamedRows, folds_of, make_data_set
from repro.reviews.artefact.listing import FoundFile, Unread, list_files
from repro.reviews.artefact.names import (
    NEGATIVES,
    OTHER,
    ROLES,
    RUN,
    TEST,
    TRAIN,
    VALIDATION,
    WHOLE,
    NameClues,
    name_clues,
)
from repro.reviews.artefact.rows import FileRows, read_rows

_ALONE, _STATED = "alone with its name", "stated"
_NUMBER = re.compile(r"(?:part|fold|split|cv)?\d+")


@dataclass(frozen=True)
class FileReport:
    """The role of a file, and how it was recognised.

    role  a name of :data:`repro.reviews.artefact.names.ROLES`, or "undetermined"
    how   how the role was recognised
    form  how the rows were read
    """

    name: str
    role: str
    how: str
    form: str = ""
    rows: int | None = None
    users: int | None = None
    items: int | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return {**vars(self), "notes": list(self.notes)}


@dataclass(frozen=True)
class Recognised:
    """The data sets of a folder, what each file is, and the files that were not read."""

    data_sets: tuple[DataSet, ...]
    files: tuple[FileReport, ...]
    unread: tuple[Unread, ...]


@dataclass
class _Candidate:
    """A file with the clues of its name."""

    file: FoundFile
    role: str
    how: str
    clues: NameClues

    @property
    def folder(self) -> str:
        return self.clues.key[0]


@dataclass
class _Reading:
    """The reports of the files that have been read so far."""

    reports: list[FileReport] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def rows(self, candidate: _Candidate, role: str, lists: bool = False) -> FileRows | None:
        """The rows of a file, or None with the reason among the unread files."""
        name = candidate.file.name
        try:
            rows = read_rows(candidate.file.path, lists=lists or role == NEGATIVES, by_item=candidate.clues.by_item)
        except (ReproError, ValueError, MemoryError, OverflowError) as error:
            reason = str(error).removeprefix(f"{candidate.file.path}: ").replace(str(candidate.file.path), name)
            self.unread.append(Unread(name, reason, refused="pickle" in reason))
            return None
        self.reports.append(FileReport(name, role, candidate.how, rows.form, len(rows), notes=rows.notes))
        return rows

    def count(self, data_set: DataSet) -> None:
        """Add the numbers of users and items to the reports of the files of a data set."""
        parts = {part.file: part for part in (*data_set.parts.values(), *data_set.negatives)}
        for place, report in enumerate(self.reports):
            if (part := parts.get(report.name)) is not None:
                users, items = len(np.unique(part.users)), len(np.unique(part.items))
                self.reports[place] = replace(report, users=users, items=items)


def recognise(
    folder: Path, roles: Mapping[str, str], step: Callable[[int, int], None] = lambda done, total: None
) -> Recognised:
    """The data sets in a folder; ``roles`` states the roles of files by name or pattern, such as ``*.neg``."""
    files, unread = list_files(folder)
    _check_roles(roles, [file.name for file in files])
    candidates = [_candidate(file, roles) for file in files]
    reading = _Reading(unread=list(unread))
    for candidate in candidates:
        if candidate.role == OTHER:
            reading.reports.append(FileReport(candidate.file.name, OTHER, candidate.how))
    useful = [candidate for candidate in candidates if candidate.role != OTHER]
    data_sets: list[DataSet] = []
    groups = _groups(useful)
    split_only = {of[0].folder for _, of in groups if {one.role for one in of} & {TEST, VALIDATION, TRAIN}}
    complete = {of[0].folder for _, of in groups if {TEST, TRAIN} <= {one.role for one in of}}
    numbered = _numbered(useful)
    for done, (name, members) in enumerate(groups):
        in_split = members[0].folder in split_only - complete or any(one.file.name in numbered for one in members)
        data_sets += _data_sets(name, members, reading, in_split)
        step(done + 1, len(groups))
    return Recognised(
        tuple(data_sets),
        tuple(sorted(reading.reports, key=lambda report: report.name)),
        tuple(sorted(reading.unread, key=lambda file: file.name)),
    )


def _check_roles(roles: Mapping[str, str], names: list[str]) -> None:
    for pattern, role in roles.items():
        if role not in ROLES:
            raise DataError(f"there is no role '{role}'{nearest(role, ROLES)} Roles: {', '.join(ROLES)}")
        if not any(_fits(name, pattern) for name in names):
            raise DataError(f"no file of the folder is {pattern}{nearest(pattern, names)}")


def _fits(name: str, pattern: str) -> bool:
    """Whether a pattern is that of a file: of its name from the folder on, or of its last part."""
    return fnmatch(name, pattern) or fnmatch(name.rpartition("/")[2], pattern)


def _candidate(file: FoundFile, roles: Mapping[str, str]) -> _Candidate:
    clues = name_clues(file.name)
    stated = next((role for pattern, role in roles.items() if _fits(file.name, pattern)), None)
    if stated is not None:
        return _Candidate(file, stated, _STATED, clues)
    return _Candidate(file, clues.role, "by its name" if clues.role else "", clues)


def _groups(candidates: list[_Candidate]) -> list[tuple[str, list[_Candidate]]]:
    """Files that belong together: the same folder and the same words beside those of the role.

    In a folder where each role occurs once, files with further words belong together too, and those whose roles are
    stated. Negatives and runs, whose names have further words, go with the group that has the most words in common.
    """
    groups: list[tuple[str, list[_Candidate]]] = []
    for folder, members in grouped(candidates, lambda candidate: candidate.folder).items():
        followers = [one for one in members if one.role in (NEGATIVES, RUN)]
        leaders = [one for one in members if one.role not in (NEGATIVES, RUN)]
        together = _belong_together([one for one in leaders if one.role])
        by_words: dict[tuple[str, ...], list[_Candidate]] = {}
        for leader in leaders:
            by_words.setdefault(() if together and leader.role else leader.clues.key[1], []).append(leader)
        named = [(_name(folder, words), words, of) for words, of in by_words.items()]
        for follower in followers:
            words = set(follower.clues.key[1])
            fitting = [group for group in named if set(group[1]) <= words or len(named) == 1]
            if fitting:
                max(fitting, key=lambda group: len(group[1]))[2].append(follower)
            else:
                named.append((_name(folder, follower.clues.key[1]), follower.clues.key[1], [follower]))
        groups += [(name, of) for name, _, of in named]
    if len(leading := [of for _, of in groups if any(one.role not in (NEGATIVES, RUN) for one in of)]) == 1:
        followers = [one for _, of in groups if of is not leading[0] for one in of]
        groups = [(name, [*of, *followers]) for name, of in groups if of is leading[0]]
    return groups


def _belong_together(leaders: list[_Candidate]) -> bool:
    """Whether files of different roles are of one split: their roles are stated, or names only add words to others."""
    roles = [one.role for one in leaders]
    if len(roles) < 2 or len(set(roles)) < len(roles):
        return False
    words = sorted((set(one.clues.key[1]) for one in leaders), key=len)
    return any(one.how == _STATED for one in leaders) or all(few <= more for few, more in pairwise(words))


def _numbered(candidates: list[_Candidate]) -> set[str]:
    """The names of files without a role that differ in the number of a part only, such as ml.part1 and ml.part2."""
    alike = grouped(
        [one for one in candidates if not one.role],
        lambda one: (one.folder, tuple(word for word in one.clues.key[1] if not _NUMBER.fullmatch(word))),
    )
    return {one.file.name for of in alike.values() if len(of) > 1 for one in of}


def _name(folder: str, words: tuple[str, ...]) -> str:
    return "/".join(filter(None, ("" if folder == "." else folder, "-".join(words)))) or "the folder"


def _data_sets(name: str, members: list[_Candidate], reading: _Reading, in_split: bool) -> list[DataSet]:
    """The data sets of a group, usually one; none if no file of it could be read.

    ``in_split`` says that a file without a role may be a part of a split: its folder has other such parts.
    """
    files = _files(members, reading, in_split)
    runs = [(one.file.name, one.file.path) for one in members if one.role == RUN]
    if not files:
        return []
    try:
        data_set = make_data_set(name, files, runs)
    except ReproError as error:
        reading.unread += [Unread(file.file, str(error)) for file in files]
        return []
    reading.count(data_set)
    whole = next((file for file in files if file.role == WHOLE and file.rows.folds is not None), None)
    if whole is not None and whole.rows.folds is not None:
        return folds_of(data_set, data_set.parts[WHOLE], whole.rows.folds)
    return [data_set]


def _files(members: list[_Candidate], reading: _Reading, in_split: bool) -> list[NamedRows]:
    """The files of a group that could be read, each with its role."""
    files: list[NamedRows] = []
    for candidate in members:
        role = candidate.role
        if role == RUN:
            reading.reports.append(FileReport(candidate.file.name, RUN, candidate.how))
            continue
        if not role:
            leaders = [one for one in members if one.role not in (NEGATIVES, RUN)]
            if len(leaders) > 1 or in_split:
                reading.reports.append(FileReport(candidate.file.name, "undetermined", _undetermined(members)))
                continue
            role, candidate.how = WHOLE, _ALONE
        doubles = [one.file.name for one in members if one.role == role and role != NEGATIVES]
        if len(doubles) > 1:
            why = f"{' and '.join(doubles)} may all be the {role} part; state the role of each"
            reading.reports.append(FileReport(candidate.file.name, "undetermined", why))
            continue
        rows = reading.rows(candidate, role)
        if rows is not None and candidate.how == _ALONE and _is_mapping(rows):
            why = "each of its ids occurs once, as in a mapping of ids; state its role if it is one of a split"
            reading.reports[-1] = FileReport(candidate.file.name, "undetermined", why)
            continue
        if rows is not None and len(rows):
            files.append(NamedRows(role, candidate.file.name, rows, candidate.clues.negatives_of or TEST))
    lists = any(file.rows.is_lists for file in files if file.role != NEGATIVES)
    return [_as_lists(file, members, reading) if lists and _may_be_lists(file) else file for file in files]


def _may_be_lists(file: NamedRows) -> bool:
    """Whether a table of three or four columns may be lists of items: whole numbers, a single line for each user."""
    rows = file.rows
    if rows.is_lists or rows.has_header or rows.ratings is None or file.role == NEGATIVES:
        return False
    whole = bool((rows.ratings == np.floor(rows.ratings)).all()) and bool((rows.ratings >= 0).all())
    return whole and len(set(map(str, np.asarray(rows.users).tolist()))) == len(rows)


def _as_lists(file: NamedRows, members: list[_Candidate], reading: _Reading) -> NamedRows:
    """The file, read as its siblings are: a line for each user, then items."""
    candidate = next(one for one in members if one.file.name == file.file)
    reading.reports = [report for report in reading.reports if report.name != file.file]
    rows = reading.rows(candidate, file.role, lists=True)
    return file if rows is None else replace(file, rows=rows)


def _is_mapping(rows: FileRows) -> bool:
    """Whether no user and no item has two rows."""
    return all(len(set(map(str, np.asarray(ids).tolist()))) == len(rows) for ids in (rows.users, rows.items))


def _undetermined(members: list[_Candidate]) -> str:
    others = [one.file.name for one in members if one.role]
    beside = f" next to {', '.join(others)}" if others else " in a folder with a part of a split"
    return f"nothing tells its role{beside}; state it"
