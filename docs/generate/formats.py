"""The pages about files, made from the models of events and from a small run."""

from __future__ import annotations

import inspect
import json
import re
import tempfile
from pathlib import Path
from typing import get_args

import pyarrow.parquet as pq
from pydantic import BaseModel
from tables import code, escaped, fence, table, toctree

import repro
from repro.protocol import json_schema
from repro.replications.claims.figures import FIGURES
from repro.replications.claims.keys import KINDS, RELATIONS, TABLES, TAKES, Table
from repro.replications.verdicts.judgement import VERDICTS
from repro.runs.journal import events, read_journal
from repro.runs.journal.audit_events import AuditEvent
from repro.runs.journal.events import Line, journal_schema

STUDY = """\
question = "Which is better?"
seed = 3
metrics = ["ndcg@10", "rmse"]

[data]
name = "synthetic"
users = 40
items = 30
ratings = 600

[protocol]
base = "random-5fold"
split.folds = 2

[[algorithms]]
use = "reference/popularity"

[[algorithms]]
use = "reference/item-knn"
"""
MEANING = {
    "study.toml": "the study, as it was written",
    "protocol.toml": "the resolved protocol: every decision with its origin",
    "journal.jsonl": "the hash-chained log of [events](journal.md)",
    "results.parquet": "the results",
    "results.csv": "the same table as text",
    "report.html": "the report: one file that loads nothing from elsewhere",
}
EXAMPLE_LINES = 2


def format_pages() -> dict[str, str]:
    """The pages about the run folder, the journal, per-user values and the files that people write."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        (Path(temporary) / "study.toml").write_text(STUDY, encoding="utf-8")
        run = repro.Study.load(Path(temporary) / "study.toml").run(folder, keep_scores=True)
        pages = {
            "reference/formats/run-folder.md": _run_folder(folder),
            "reference/formats/per-user.md": _per_user(run),
            "reference/formats/journal.md": _journal(folder),
        }
    written = {"reference/formats/protocol-file.md": _protocol_file(), "reference/formats/claim-file.md": _claim_file()}
    return {"reference/formats/index.md": _index(), **pages, **written}


def _index() -> str:
    rows = [
        ("[run folder](run-folder.md)", "what a study writes"),
        ("[journal](journal.md)", "`journal.jsonl`: the hash-chained log of a folder"),
        ("[values of each user](per-user.md)", "tables that `repro compare` reads"),
        ("[protocol file](protocol-file.md)", "TOML that states decisions"),
        ("[claim file](claim-file.md)", "TOML that states published numbers"),
        ("[lists and interactions](../../how-to/data.md)", "files that `repro evaluate` and studies read"),
    ]
    own = ("run-folder.md", "journal.md", "per-user.md", "protocol-file.md", "claim-file.md")
    return "\n".join(["# File formats", "", table(("format", "what it is for"), rows), toctree(own)])


def _run_folder(folder: Path) -> str:
    contents = read_journal(folder / "journal.jsonl")
    artifacts: dict[str, str] = {}
    for line in contents.lines:
        for name, digest in getattr(line.event, "artifacts", {}).items():
            artifacts.setdefault(name, digest)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    rows = [(code(name), MEANING[name]) for name in MEANING if name in names]
    rows += [
        (code("artifacts/*.parquet"), "tables of each fold and cell, named by the SHA-256 of their content"),
        (code("environments/*"), "every package and version of each environment that took part"),
    ]
    lines = [
        "# The run folder",
        "",
        "A run writes these files. Each of them, but the journal, has its SHA-256 in the journal.",
        "",
        table(("file", "contents"), rows),
        "## results.parquet",
        "",
        _columns(folder / "results.parquet"),
        "`results.csv` has the same columns. Text in it that a spreadsheet would take for a formula has an apostrophe "
        "before it.",
        "",
        "## Artefacts",
        "",
        "The events `fold.made`, `tuning.finished` and `cell.finished` of the journal name artefacts, and give their "
        "digests. Scores are stored with `repro run --keep-scores`.",
        "",
    ]
    for name, digest in sorted(artifacts.items()):
        lines += [f"### {name}", "", _columns(folder / "artifacts" / f"{digest}.parquet")]
    return "\n".join(lines)


def _columns(path: Path) -> str:
    schema = pq.read_schema(path)
    return table(("column", "type"), [(code(field.name), str(field.type)) for field in schema])


def _per_user(run: repro.Run) -> str:
    frame = run.per_user("ndcg@10")
    lines = [
        "# Values of each user",
        "",
        "`repro evaluate --per-user FILE` and `Run.per_user(metric)` give a row for each user and metric. `repro "
        "compare` reads such files: CSV, TSV or Parquet, one for each system, or one file with a column `algorithm`.",
        "",
        fence(frame.head(4).to_csv(index=False), "text"),
        table(("column", "type"), [(code(name), str(kind)) for name, kind in frame.dtypes.items()]),
    ]
    return "\n".join(lines)


def _journal(folder: Path) -> str:
    lines = [
        "# The journal",
        "",
        escaped(inspect.getdoc(Line) or ""),
        "",
        table(
            ("field", "meaning"),
            [
                (code(name), escaped(field.description or "one of the events below"))
                for name, field in Line.model_fields.items()
            ],
        ),
        "The first lines of a journal, shortened:",
        "",
        fence("\n".join(_shortened(line) for line in _first_lines(folder)), "json"),
        "A journal may be compressed: `journal.jsonl.gz`. In Python, `run.journal` has the lines; "
        "`repro verify` checks the chain.",
        "",
    ]
    run_events = [kind for kind in get_args(get_args(events.Event)[0]) if kind not in _audit_events()]
    for title, kinds in (("Events of a run", run_events), ("Events of an audit", _audit_events())):
        lines += [f"## {title}", ""]
        for kind in kinds:
            lines += [f"### {kind.model_fields['event'].default}", "", *_model(kind, skip=("event",))]
    parts = _parts([*run_events, *_audit_events()])
    lines += ["## Parts of events", ""]
    for part in parts:
        lines += [f"### {part.__name__}", "", *_model(part)]
    lines += ["## JSON Schema of a line", "", fence(json.dumps(journal_schema(), indent=1), "json")]
    return "\n".join(lines)


def _first_lines(folder: Path) -> list[str]:
    with (folder / "journal.jsonl").open(encoding="utf-8") as file:
        return [next(file) for _ in range(EXAMPLE_LINES)]


def _shortened(line: str) -> str:
    """A line of the journal without times, machines and most of its lists."""
    value = json.loads(line)
    event = {key: part for key, part in value["event"].items() if not isinstance(part, dict | list)}
    hidden = {"time": "…", "event": event | {"…": "…"}}
    kept = {key: f"{part[:8]}…" if key in ("previous", "hash") else part for key, part in value.items()}
    return json.dumps(kept | hidden, ensure_ascii=False)


def _audit_events() -> list[type[BaseModel]]:
    return list(get_args(AuditEvent))


def _parts(kinds: list[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models that fields of ``kinds`` are made of, in the order in which they are met."""
    models: dict[type[BaseModel], None] = {}
    todo = list(kinds)
    while todo:
        for field in todo.pop(0).model_fields.values():
            for part in _models(field.annotation):
                if part not in models and part not in kinds:
                    models[part] = None
                    todo.append(part)
    return list(models)


def _models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _model(kind: type[BaseModel], skip: tuple[str, ...] = ()) -> list[str]:
    rows = [
        (
            code(name),
            code(_type(field.annotation)),
            "" if field.is_required() else code(field.get_default(call_default_factory=True)),
        )
        for name, field in kind.model_fields.items()
        if name not in skip
    ]
    return [escaped(inspect.getdoc(kind) or ""), "", table(("field", "type", "default"), rows)]


def _type(annotation: object) -> str:
    text = (
        getattr(annotation, "__name__", str(annotation))
        if isinstance(annotation, type) and not get_args(annotation)
        else str(annotation)
    )
    text = re.sub(r"typing\.Annotated\[(\w+), .*?\)\]", r"\1", text)
    return re.sub(r"\b(?:repro|typing|pydantic)(?:\.\w+)*\.(\w+)", r"\1", text)


def _protocol_file() -> str:
    lines = [
        "# Protocol files",
        "",
        "A protocol is a TOML file. It states decisions, on its own or as differences from a base:",
        "",
        fence('base = "random-5fold"\nties.break = "expected"\n\n[metric.ndcg]\ngain = "exp2"', "toml"),
        "Beside [decisions](../decisions/index.md) a file has these keys:",
        "",
        table(
            ("key", "meaning"),
            [
                (code("base"), "the protocol that this one differs from, by name or file"),
                (code("name"), "its name"),
                (code("title"), "what it is, in a line"),
                (code("source"), "where it is described"),
                (code("notes"), "remarks"),
                (code("open"), "decisions that the source leaves open, and that are stated here by choice"),
            ],
        ),
        "`repro protocol schema` prints the JSON Schema, from which editors complete and check such files.",
        "",
    ]
    assert set(json_schema()["properties"]) >= {"base", "name", "title", "source", "notes", "open"}  # type: ignore[call-overload]
    return "\n".join(lines)


def _claim_file() -> str:
    lines = [
        "# Claim files",
        "",
        "A claim is a TOML file about published numbers; [Claim files](../../claims.md) shows one, and how its numbers "
        "are judged. It is read strictly: an unknown key, or one without which nothing can be judged, is an error that "
        "states its line. `repro claim new` writes a draft, and `repro claim check` lists what is open.",
        "",
    ]
    for declared in TABLES:
        lines += [f"## {_heading(declared)}", "", escaped(declared.meaning), ""]
        rows = [
            (code(name), escaped(meaning), "required" if name in declared.required else "")
            for name, meaning in declared.keys.items()
        ]
        lines += [table(("key", "meaning", ""), rows)]
    choices = {
        "Kinds of tolerance": KINDS,
        "Relations of patterns": RELATIONS,
        "Choices of take": TAKES,
        "Figures of the data": {name: figure.meaning for name, figure in FIGURES.items()},
        "Verdicts": VERDICTS,
    }
    for title, meanings in choices.items():
        lines += [f"## {title}", ""]
        lines += [table(("", "meaning"), [(code(name), escaped(meaning)) for name, meaning in meanings.items()])]
    return "\n".join(lines)


def _heading(declared: Table) -> str:
    return re.sub(r"\[+[\w.]+\]+", lambda name: code(name[0]), declared.heading).capitalize()
