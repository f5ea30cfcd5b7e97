"""TREC run files with a header of ir_metadata (https://www.ir-metadata.org), which describes an experiment by its
platform, research goal, implementation, method, actor and data (PRIMAD).

Breuer, Keller & Schaer, ir_metadata: an extensible metadata schema for IR experiments, SIGIR 2022.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repro.exports.trec import TrecFiles
from repro.extras import needed_for
from repro.runs.cell_records import CellRecord
from repro.runs.run import Run

SCHEMA = "0.1"
START, END = "# ir_metadata.start", "# ir_metadata.end"


def write_ir_metadata(run: Run, target: Path) -> None:
    """The files of the form ``trec``, each run with its header."""
    files = TrecFiles(run)
    files.write(target, lambda cell: _header(files, cell))


def _header(files: TrecFiles, cell: CellRecord) -> Iterator[str]:
    with needed_for("the form 'ir-metadata'"):
        from ruamel.yaml import YAML

    text = io.StringIO()
    yaml = YAML()
    yaml.width = 4096  # a value is one line: readers strip the comment sign from each line
    yaml.allow_unicode = False
    yaml.dump(_metadata(files, cell), text)
    yield START
    yield from (f"# {line}" for line in text.getvalue().splitlines())
    yield END


def _metadata(files: TrecFiles, cell: CellRecord) -> dict[str, Any]:
    run, start = files.run, cell.start
    return {
        "ir_metadata": SCHEMA,
        "tag": files.tags[cell.label],
        "platform": _platform(run),
        "research goal": _goal(run),
        "implementation": {
            "executable": {"cmd": "repro run study.toml"},
            "source": {"software": f"{start.framework} {start.framework_version}", "where": start.where},
        },
        "method": {
            "automatic": "true",
            "retrieval": [
                {
                    "name": cell.label,
                    "method": start.algorithm,
                    "parameters": dict(start.parameters),
                    "seed": start.seed,
                    "tuned": start.tuned,
                    "fitted on": start.fitted_on,
                }
            ],
            "protocol": {"name": run.resolved.protocol, "hash": run.started.protocol_hash, **run.decisions},
        },
        "actor": {"role": "experimenter"},
        "data": _data(files, cell),
    }


def _platform(run: Run) -> dict[str, Any]:
    machine = run.started.machine
    memory = machine.get("memory_bytes")
    return {
        "hardware": {
            "cpu": {
                "model": machine.get("processor"),
                "architecture": machine.get("architecture"),
                "number of cores": machine.get("cores"),
            },
            "ram": f"{memory / 1024**3:.2f} GB" if isinstance(memory, int | float) else None,
        },
        "operating system": {"platform": machine.get("system"), "kernel": machine.get("release")},
        "software": {"libraries": {"python": [f"{name} {version}" for name, version in run.versions.items()]}},
    }


def _goal(run: Run) -> dict[str, Any]:
    return {
        "venue": None,
        "publication": {"abstract": run.started.question},
        "evaluation": {
            "reported measures": [measure.name for measure in run.resolved.measures],
            "variants": [measure.full_name for measure in run.resolved.measures],
            "study digest": run.started.study_digest,
            "journal": run.end.cited(),
        },
    }


def _data(files: TrecFiles, cell: CellRecord) -> dict[str, Any]:
    run = files.run
    known, loaded = run.dataset, run.loaded
    fold = next(fold for fold in run.folds if fold.fold == cell.fold)
    return {
        "test collection": {
            "name": known.title if known else loaded.data,
            "source": known.home if known else loaded.data,
            "digest": loaded.digest,
            "qrels": files.qrels_path(cell.fold),
            "topics": "users of the test part",
            "fold": cell.fold,
            "test digest": fold.test_digest,
        },
        "training data": [{"name": f"training part of fold {cell.fold}", "digest": fold.train_digest}],
    }
