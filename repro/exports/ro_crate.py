"""A run folder as an RO-Crate that follows the Process Run Crate profile (https://w3id.org/ro/wfrun/process/0.5).

The run is one action: its instruments are the core and each framework, its objects are the data and the study, its
results are all files that it made. The data set is named by its digest; the crate has only the parts of folds that the
run stored, which are marked with the terms of the data set.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.extras import needed_for
from repro.runs.folder import JOURNAL
from repro.runs.run import Run
from repro.runs.stored_files import PROTOCOL, STUDY

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
RUN = "run"  # the run folder within the crate, which can be verified and replayed
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
DESCRIPTIONS = {
    STUDY: "The study as written: data, algorithms, metrics and seed.",
    PROTOCOL: "Every decision of the evaluation, with its origin.",
    JOURNAL: "The hash-chained log of the run.",
    "results.parquet": "The numbers: algorithm, framework, fold, metric, value, users, lowest, highest.",
    "results.csv": "The same numbers as text.",
    "report.html": "The report of the run, for people.",
}


def write_crate(run: Run, target: Path, license: str = "", author: str = "") -> None:
    """``run/`` and ``ro-crate-metadata.json``, with the author and the licence if they are stated."""
    with needed_for("the form 'ro-crate'"):
        from rocrate.rocrate import ROCrate

    crate = ROCrate(version=VERSION)
    crate.metadata.extra_terms.update(TERMS)
    _describe_root(crate, run, license)
    files = _add_files(crate, run)
    properties = {
        "@type": "CreateAction",
        "name": f"repro run: {run.started.question or run.loaded.data}",
        "description": _description(run),
        "startTime": run.started_at.isoformat(timespec="seconds"),
        "endTime": run.ended_at.isoformat(timespec="seconds"),
        **_status(run),
    }
    action = _add(crate, f"#run-{run.end.hash}", properties)
    action["instrument"] = [*_software(crate, run)]
    action["object"] = [_data(crate, run), *(files[name] for name in (STUDY, PROTOCOL) if name in files)]
    action["result"] = [entity for name, entity in files.items() if name not in (STUDY, PROTOCOL)]
    if author:
        person = _add(crate, "#author", {"@type": "Person", "name": author})
        action["agent"] = person
        crate.root_dataset["author"] = person
    crate.root_dataset["mentions"] = action
    crate.write(target)
    for path in target.rglob("*"):
        if path.is_file():  # a crate is made for publication: everyone may read it
            path.chmod(0o644)


def _describe_root(crate: ROCrate, run: Run, license: str) -> None:
    root = crate.root_dataset
    crate.name = run.started.question or f"Recommender-system study on {run.loaded.data}"
    crate.description = _description(run)
    root["datePublished"] = run.ended_at.isoformat(timespec="seconds")
    root["identifier"] = run.end.hash
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": PROFILE.rpartition("/")[2]}
    root["conformsTo"] = _add(crate, PROFILE, profile)
    description = "The licence of this crate."
    if not license:
        description = "Whoever publishes this crate decides under which licence; the data set has terms of its own."
    entity = {"@type": "CreativeWork", "name": license or "No licence stated", "description": description}
    root["license"] = _add(crate, license if "://" in license else "#license", entity)


def _description(run: Run) -> str:
    algorithms, metrics = run.algorithms, list(run.metric_names.values())
    return (
        f"{len(algorithms)} algorithms on {run.loaded.data}, protocol {run.resolved.protocol or 'as stated'} "
        f"(hash {run.started.protocol_hash}), measured by {', '.join(metrics)}, with the seed {run.started.seed}. "
        f"The run finished in its journal with {run.end.cited()}."
    )


def _add_files(crate: ROCrate, run: Run) -> dict[str, Entity]:
    """All files of the run, by their names."""
    artifacts = _artifacts(run)
    of_data = {digest for fold in run.folds for digest in fold.artifacts.values()}
    files = {}
    for name, digest in run.file_digests():
        path = run.folder / name
        properties: dict[str, Any] = {
            "name": name,
            "sha256": digest,
            "contentSize": str(path.stat().st_size),
            "encodingFormat": FORMATS.get(path.suffix, "application/octet-stream"),
            "description": DESCRIPTIONS.get(name)
            or artifacts.get(digest)
            or "Every package and version of an environment.",
        }
        if digest in of_data and run.dataset:
            properties["conditionsOfAccess"] = run.dataset.terms
        files[name] = crate.add_file(path, dest_path=f"{RUN}/{name}", properties=properties)
    _add(crate, FORMATS[".parquet"][1]["@id"], {"@type": "WebSite", "name": "Apache Parquet"})  # type: ignore[index]
    return files


def _artifacts(run: Run) -> dict[str, str]:
    """A description of each artefact, by its digest."""
    descriptions = {
        digest: f"The {part} rows of fold {fold.fold}." for fold in run.folds for part, digest in fold.artifacts.items()
    }
    for event in run.journal.events("tuning.finished"):
        descriptions |= dict.fromkeys(event.artifacts.values(), f"Every trial of tuning {event.cell}.")
    for cell in run.cell_records:
        for part, digest in cell.finish.artifacts.items() if cell.finish else ():
            also = f" {descriptions[digest]}" if digest in descriptions else ""
            descriptions[digest] = f"The {part} of {cell.label} on fold {cell.fold}.{also}"
    return descriptions


def _software(crate: ROCrate, run: Run) -> list[Entity]:
    """The core, with its requirements, and each framework."""
    versions = run.versions
    core = _application(crate, "repro", versions["repro"])
    core["description"] = "Splits the data, ranks, measures and writes the journal."
    packages = [
        _application(crate, name, version, f"https://pypi.org/project/{name}/{version}/")
        for name, version in versions.items()
        if name not in ("repro", "python") and ":" not in name
    ]
    python = _application(crate, "python", versions["python"], "https://www.python.org/")
    core["softwareRequirements"] = [python, *packages]
    return [core, *(_application(crate, name, version) for name, version in run.framework_versions.items())]


def _application(crate: ROCrate, name: str, version: str, url: str = "") -> Entity:
    """A piece of software, identified by its address or else by its package URL (ECMA-427)."""
    properties = {"@type": "SoftwareApplication", "name": name, "softwareVersion": version}
    if url:
        properties["url"] = url
    return _add(crate, url or f"pkg:generic/{name}@{version}", properties)


def _data(crate: ROCrate, run: Run) -> Entity:
    """The data set, which is not in the crate: its name, digest and source."""
    loaded, dataset = run.loaded, run.dataset
    properties = {
        "@type": "CreativeWork",
        "name": dataset.title if dataset else loaded.data,
        "description": f"{loaded.rows:,} interactions of {loaded.users:,} users with {loaded.items:,} items; "
        "the identifier is the SHA-256 of its content.",
        "identifier": loaded.digest,
    }
    if dataset:
        properties |= {"url": dataset.home, "conditionsOfAccess": dataset.terms, "citation": dataset.citation}
    return _add(crate, f"#data-{loaded.digest}", {key: value for key, value in properties.items() if value})


def _status(run: Run) -> dict[str, Any]:
    if not run.failed:
        return {"actionStatus": "http://schema.org/CompletedActionStatus"}
    errors = "; ".join(f"{cell}: {error}" for cell, error in run.failed.items())
    return {"actionStatus": "http://schema.org/FailedActionStatus", "error": errors}


def _add(crate: ROCrate, identifier: str, properties: dict[str, Any]) -> Entity:
    from rocrate.model import ContextEntity

    return crate.add(ContextEntity(crate, identifier, properties=properties))
