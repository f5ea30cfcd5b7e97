"""A run folder as an RO-Crate that follows the Process Run Crate profile (https://w3id.org/ro/wfrun/process/0.5).

The run is one action: its instruments are the core and each framework, its objects are the data and the study, its
results are all files that it made. The data set is named by its digest; of it, the crate has the parts of folds that
the run stored, which are marked with the terms of the data set.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.export.record import PROTOCOL, STUDY, RunRecord
from repro.runs.folder import JOURNAL

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
RUN = "run"  # the run folder within the crate: it can be verified and replayed as it is
VERSION = "1.1"  # of RO-Crate, on which the profile is built
# Neither term is in the context of RO-Crate; the profile has them in one of its own.
TERMS = {
    "sha256": "https://w3id.org/ro/terms/workflow-run#sha256",
    "environment": "https://w3id.org/ro/terms/workflow-run#environment",
}
FORMATS = {
    ".parquet": ["application/vnd.apache.parquet", {"@id": "https://www.nationalarchives.gov.uk/PRONOM/fmt/1974"}],
    ".csv": "text/csv",
    ".html": "text/html",
    ".jsonl": "application/jsonl",
    ".toml": "application/toml",
    ".txt": "text/plain",
}
TOLD = {
    STUDY: "The study as it was asked: data, algorithms, metrics and seed.",
    PROTOCOL: "Every decision of the evaluation, with its origin.",
    JOURNAL: "The hash-chained log of the run.",
    "results.parquet": "The numbers: algorithm, framework, fold, metric, value, users, lowest, highest.",
    "results.csv": "The same numbers as text.",
    "report.html": "The report of the run, for people.",
}


def write_crate(folder: Path, target: Path, license: str = "", author: str = "") -> None:
    """``run/`` and ``ro-crate-metadata.json``, with who made it and under which licence, where that is stated."""
    from rocrate.rocrate import ROCrate

    record = RunRecord.read(folder)
    crate = ROCrate(version=VERSION)
    crate.metadata.extra_terms.update(TERMS)
    _describe_root(crate, record, license)
    files = _add_files(crate, record)
    action = {
        "@type": "CreateAction",
        "name": f"repro run: {record.began.question or record.loaded.data}",
        "description": _told(record),
        "startTime": record.started_at.isoformat(timespec="seconds"),
        "endTime": record.ended_at.isoformat(timespec="seconds"),
        **_status(record),
    }
    run = _add(crate, f"#run-{record.identity}", action)
    run["instrument"] = [*_software(crate, record)]
    run["object"] = [_data(crate, record), *(files[name] for name in (STUDY, PROTOCOL) if name in files)]
    run["result"] = [entity for name, entity in files.items() if name not in (STUDY, PROTOCOL)]
    if author:
        person = _add(crate, "#author", {"@type": "Person", "name": author})
        run["agent"] = person
        crate.root_dataset["author"] = person
    crate.root_dataset["mentions"] = run
    crate.write(target)
    for path in target.rglob("*"):
        if path.is_file():  # it is made to be read by others, however private the run was
            path.chmod(0o644)


def _describe_root(crate: ROCrate, record: RunRecord, license: str) -> None:
    root = crate.root_dataset
    crate.name = record.began.question or f"Recommender-system study on {record.loaded.data}"
    crate.description = _told(record)
    root["datePublished"] = record.ended_at.isoformat(timespec="seconds")
    root["identifier"] = record.identity
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": PROFILE.rpartition("/")[2]}
    root["conformsTo"] = _add(crate, PROFILE, profile)
    stated = {"@type": "CreativeWork", "name": license, "description": "The licence of this crate."}
    open_ = {
        "@type": "CreativeWork",
        "name": "No licence stated",
        "description": "Whoever publishes this crate decides under which licence; the data set has terms of its own.",
    }
    root["license"] = _add(crate, license if "://" in license else "#license", stated if license else open_)


def _told(record: RunRecord) -> str:
    algorithms, metrics = record.run.algorithms, list(record.metrics.values())
    return (
        f"{len(algorithms)} algorithms on {record.loaded.data}, protocol {record.resolved.protocol or 'as stated'} "
        f"(hash {record.began.protocol_hash}), measured by {', '.join(metrics)}, with the seed {record.began.seed}. "
        f"The run finished in its journal with {record.end.cited()}."
    )


def _add_files(crate: ROCrate, record: RunRecord) -> dict[str, Entity]:
    """All files of the run, by their names."""
    what = _artifacts(record)
    of_data = {digest for fold in record.folds for digest in fold.artifacts.values()}
    files = {}
    for name, digest in record.files():
        path = record.folder / name
        properties: dict[str, Any] = {
            "name": name,
            "sha256": digest,
            "contentSize": str(path.stat().st_size),
            "encodingFormat": FORMATS.get(path.suffix, "application/octet-stream"),
            "description": TOLD.get(name) or what.get(digest) or "Every package and version of an environment.",
        }
        if digest in of_data and record.dataset:
            properties["conditionsOfAccess"] = record.dataset.terms
        files[name] = crate.add_file(path, dest_path=f"{RUN}/{name}", properties=properties)
    _add(crate, FORMATS[".parquet"][1]["@id"], {"@type": "WebSite", "name": "Apache Parquet"})  # type: ignore[index]
    return files


def _artifacts(record: RunRecord) -> dict[str, str]:
    """What each artefact is."""
    told = {
        digest: f"The {part} rows of fold {fold.fold}."
        for fold in record.folds
        for part, digest in fold.artifacts.items()
    }
    for event in record.run.journal.events("tuning.finished"):
        told |= dict.fromkeys(event.artifacts.values(), f"Every trial of tuning {event.cell}.")
    for cell in record.cells:
        for part, digest in cell.finish.artifacts.items() if cell.finish else ():
            also = f" {told[digest]}" if digest in told else ""
            told[digest] = f"The {part} of {cell.label} on fold {cell.fold}.{also}"
    return told


def _software(crate: ROCrate, record: RunRecord) -> list[Entity]:
    """The core and each framework; what the core stands on is required by it."""
    versions = record.versions
    core = _application(crate, "repro", versions["repro"])
    core["description"] = "Splits the data, ranks, measures and writes the journal."
    below = [
        _application(crate, name, version, f"https://pypi.org/project/{name}/{version}/")
        for name, version in versions.items()
        if name not in ("repro", "python") and ":" not in name
    ]
    python = _application(crate, "python", versions["python"], "https://www.python.org/")
    core["softwareRequirements"] = [python, *below]
    return [core, *(_application(crate, name, version) for name, version in record.frameworks.items())]


def _application(crate: ROCrate, name: str, version: str, url: str = "") -> Entity:
    """A piece of software, called by its address, or, where none is known, by its package URL (ECMA-427)."""
    properties = {"@type": "SoftwareApplication", "name": name, "softwareVersion": version}
    if url:
        properties["url"] = url
    return _add(crate, url or f"pkg:generic/{name}@{version}", properties)


def _data(crate: ROCrate, record: RunRecord) -> Entity:
    """The data set, which is not in the crate: what it is called, its digest and where it can be had."""
    loaded, known = record.loaded, record.dataset
    properties = {
        "@type": "CreativeWork",
        "name": known.title if known else loaded.data,
        "description": f"{loaded.rows:,} interactions of {loaded.users:,} users with {loaded.items:,} items; "
        "the identifier is the SHA-256 of its content.",
        "identifier": loaded.digest,
    }
    if known:
        properties |= {"url": known.home, "conditionsOfAccess": known.terms, "citation": known.citation}
    return _add(crate, f"#data-{loaded.digest}", {key: value for key, value in properties.items() if value})


def _status(record: RunRecord) -> dict[str, Any]:
    if not record.failed:
        return {"actionStatus": "http://schema.org/CompletedActionStatus"}
    told = "; ".join(f"{cell}: {error}" for cell, error in record.failed.items())
    return {"actionStatus": "http://schema.org/FailedActionStatus", "error": told}


def _add(crate: ROCrate, identifier: str, properties: dict[str, Any]) -> Entity:
    from rocrate.model import ContextEntity

    return crate.add(ContextEntity(crate, identifier, properties=properties))
