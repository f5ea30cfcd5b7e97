"""The claims that are kept, for real: those that take seconds in every test run, the others in the long one."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from repro.replications import VERDICTS, Claim, Options, replicate

KEPT = Path(__file__).parents[2] / "reports" / "replications"
SURPRISE = KEPT / "surprise-readme-ml100k" / "claim.toml"
CORNAC = KEPT / "cornac-readme-ml100k" / "claim.toml"


def some(path, folder, labels):
    """The claim with the numbers of some algorithms only, in another folder."""
    claim = Claim.load(path)
    (folder / "claim.toml").write_text(claim.text)
    cells = tuple(cell for cell in claim.cells if cell.key.algorithm in labels)
    return replace(claim, path=folder / "claim.toml", cells=cells)


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("tutorial-nan-table", "15 exact, 3 erratum"),
        ("lecture-worked-example", "10 exact"),
        ("lecture-worked-errors", "3 exact"),
    ],
)
def test_worked_examples(name, summary, tmp_path):
    shutil.copytree(KEPT / name, tmp_path / name)
    result = replicate(Claim.load(tmp_path / name / "claim.toml"))
    assert result.summary == summary


def test_fast_algorithms_of_the_readme_of_surprise(tmp_path):
    claim = some(SURPRISE, tmp_path, ["BaselineOnly", "KNNBasic", "NormalPredictor"])
    result = replicate(claim, options=Options(installed=True))
    assert result.summary == "6 exact"
    assert [judgement.printed.text for judgement in result.judgements] == [
        "0.98",
        "0.774",
        "0.944",
        "0.748",
        "1.518",
        "1.219",
    ]


@pytest.mark.slow
def test_the_readme_of_surprise(tmp_path):
    claim = some(SURPRISE, tmp_path, Claim.load(SURPRISE).labels)
    assert replicate(claim, options=Options(workers=2, installed=True)).summary == "20 exact"


@pytest.mark.slow
def test_the_readme_of_cornac_under_the_protocols_inferred_from_its_answers(tmp_path):
    claim = some(CORNAC, tmp_path, Claim.load(CORNAC).labels)
    assert replicate(claim, options=Options(workers=2, installed=True)).summary == "19 exact"


@pytest.mark.parametrize("path", sorted(KEPT.rglob("claim.toml")), ids=lambda path: path.parent.name)
def test_the_verdicts_that_are_kept_are_those_of_the_claim(path):
    claim = Claim.load(path)
    with (path.parent / "verdicts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(claim.cells) + len(claim.facts) + len(claim.patterns)
    printed = [row["printed"] for row in rows if row["what"] == "cell"]
    assert sorted(printed) == sorted(cell.printed.text for cell in claim.cells)
    stored = json.loads((path.parent / "verdicts.json").read_text(encoding="utf-8"))
    assert [judgement["verdict"] for judgement in stored["verdicts"]] == [row["verdict"] for row in rows]


def test_the_readme_counts_the_verdicts_of_all_claims():
    replications = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(KEPT.glob("*/verdicts.json"))]
    counts = {}
    for claim in replications:
        for verdict, number in claim["counts"].items():
            counts[verdict] = counts.get(verdict, 0) + number
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    assert f"{len(replications)} claims: {words}" in (KEPT / "README.md").read_text(encoding="utf-8")
