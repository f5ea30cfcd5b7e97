"""The provenance of a run as W3C PROV-JSON (https://www.w3.org/submissions/prov-json/).

Entities are the data, the protocol, the parts of each fold, the artefacts of each cell and the tables of results; each
is named by its SHA-256 if it has one. Activities are the run, each cell and the writing of results, with the times of
the journal. Agents are the core and each framework, in their versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.extras import needed_for
from repro.runs.cell_records import CellRecord
from repro.runs.journal.events import FoldMade
from repro.runs.run import Run

if TYPE_CHECKING:
    from prov.identifier import QualifiedName
    from prov.model import ProvDocument

NAMESPACE = "urn:recsys-repro:"


def write_prov(run: Run, target: Path) -> None:
    """One PROV-JSON file."""
    document = _Provenance(run).document
    target.write_text(f"{document.serialize(format='json', indent=2)}\n", encoding="utf-8")


class _Provenance:
    """The document of a run, in the order of the journal."""

    def __init__(self, run: Run) -> None:
        with needed_for("the form 'prov'"):
            from prov.model import ProvDocument

        self.run = run
        self.document: ProvDocument = ProvDocument()
        self.document.add_namespace("repro", NAMESPACE)
        self.document.add_namespace("sha256", "urn:sha256:")
        self.document.add_namespace("run", f"{NAMESPACE}run:{run.end.hash}:")
        self.known: set[str] = set()
        self.core = self._agent("repro", run.versions["repro"])
        self._beginning()
        self._folds()
        for number, cell in enumerate(run.cell_records, 1):
            self._cell(number, cell)
        self._results()

    def _beginning(self) -> None:
        run, document = self.run, self.document
        self.activity = document.activity(
            "run:run",
            run.started_at,
            run.ended_at,
            {"prov:type": self._type("Run"), "repro:seed": run.started.seed, "repro:journal": run.end.cited()},
        )
        document.wasAssociatedWith(self.activity, self.core)
        loaded, prepared = run.loaded, run.prepared
        sizes = {"repro:rows": loaded.rows, "repro:users": loaded.users, "repro:items": loaded.items}
        self.source = self._entity(
            loaded.digest, f"data set {loaded.data}", {"prov:type": self._type("DataSet"), **sizes}
        )
        self.protocol = self._entity(
            run.started.protocol_hash,
            f"protocol {run.resolved.protocol}".strip(),
            {f"repro:{entry.decision}": entry.value for entry in run.resolved.decisions}
            | {"prov:type": self._type("Protocol")},
        )
        self.study = self._entity(run.started.study_digest, "study", {"prov:type": self._type("Study")})
        for used in (self.source, self.protocol, self.study):
            document.used(self.activity, used, run.started_at)
        self.data = self.source
        if prepared.digest != loaded.digest:
            self.data = self._entity(prepared.digest, "data set after filters", {"prov:type": self._type("DataSet")})
            document.wasGeneratedBy(self.data, self.activity, self._time("data.prepared"))
            document.wasDerivedFrom(self.data, self.source)

    def _folds(self) -> None:
        """The parts of each fold, which the run makes from the data."""
        self.parts: dict[str, dict[str, QualifiedName]] = {}
        for line in self.run.journal.lines:
            fold = line.event
            if not isinstance(fold, FoldMade):
                continue
            parts = self.parts.setdefault(fold.fold, {})
            for part in ("train", "validation", "test"):
                digest, rows = getattr(fold, f"{part}_digest"), getattr(fold, f"{part}_rows")
                if digest is None:
                    continue
                attributes = {"prov:type": self._type("FoldPart"), "repro:digest": digest, "repro:rows": rows}
                if part in fold.artifacts:
                    attributes["repro:artifact"] = fold.artifacts[part]
                # Not named by its digest: two folds, or two parts, may have the same rows.
                parts[part] = self._named(
                    f"run:fold-{fold.fold}-{part}", f"{part} part of fold {fold.fold}", attributes
                )
                self.document.wasGeneratedBy(parts[part], self.activity, datetime.fromisoformat(line.time))
                self.document.wasDerivedFrom(parts[part], self.data)

    def _cell(self, number: int, cell: CellRecord) -> None:
        """An algorithm on a fold, and its artefacts."""
        start, document = cell.start, self.document
        began, ended = (datetime.fromisoformat(line.time) for line in (cell.started, cell.ended))
        attributes: dict[str, Any] = {
            "prov:type": self._type("Cell"),
            "prov:label": start.cell,
            "repro:algorithm": start.algorithm,
            "repro:seed": start.seed,
            "repro:tuned": start.tuned,
            **{f"repro:parameter.{name}": value for name, value in start.parameters.items()},
        }
        if cell.finish is None:
            attributes["repro:failed"] = cell.error
        activity = document.activity(f"run:cell-{number}", began, ended, attributes)
        document.wasAssociatedWith(activity, self._agent(start.framework, start.framework_version))
        document.wasAssociatedWith(activity, self.core)
        document.wasStartedBy(activity, trigger=None, starter=self.activity, time=began)
        parts = self.parts.get(cell.fold, {})
        for part in parts.values():
            document.used(activity, part, began)
        document.used(activity, self.protocol, began)
        for name, digest in cell.finish.artifacts.items() if cell.finish else ():
            attributes = {"prov:type": self._type(name.capitalize()), "repro:digest": digest}
            # Not named by its digest: two cells may store the same bytes.
            entity = self._named(f"run:cell-{number}-{name}", f"{name} of {start.cell}", attributes)
            document.wasGeneratedBy(entity, activity, ended)
            for part in parts.values():
                document.wasDerivedFrom(entity, part, activity)

    def _results(self) -> None:
        """The tables, which are made from the artefacts of the cells."""
        document, when = self.document, self._time("results.written")
        activity = document.activity("run:results", when, when, {"prov:type": self._type("WritingResults")})
        document.wasAssociatedWith(activity, self.core)
        digests = {
            name: digest
            for event in self.run.journal.events("results.written")[-1:]
            for name, digest in event.files.items()
            if name.startswith("results.")
        }
        stored = [name for name in sorted(self.known) if name.startswith("run:cell-")]
        for name in stored:
            document.used(activity, name, when)
        for name, digest in digests.items():
            entity = self._entity(digest, name, {"prov:type": self._type("Results")})
            document.wasGeneratedBy(entity, activity, when)
            for source in stored:
                document.wasDerivedFrom(entity, source, activity)

    def _entity(self, digest: str, label: str, attributes: Mapping[str, Any]) -> Any:
        return self._named(f"sha256:{digest}", label, {**attributes, "repro:digest": digest})

    def _named(self, name: str, label: str, attributes: Mapping[str, Any]) -> Any:
        self.known.add(name)
        labelled: dict[Any, Any] = {"prov:label": label, **attributes}
        return self.document.entity(name, labelled)

    def _type(self, name: str) -> Any:
        return self.document.valid_qualified_name(f"repro:{name}")

    def _agent(self, name: str, version: str) -> Any:
        from prov.constants import PROV

        agent = f"repro:software/{name}/{version}"
        if agent not in self.known:
            self.known.add(agent)
            attributes: dict[Any, Any] = {"prov:type": PROV["SoftwareAgent"], "prov:label": name}
            self.document.agent(agent, attributes | {"repro:version": version})
        return agent

    def _time(self, kind: str) -> datetime:
        return datetime.fromisoformat(self.run.line(kind).time)
