"""The README and its picture are right: its numbers, and the versions that it and others name."""

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from lenskit.data import ItemList
from lenskit.metrics import NDCG
from ranx import Qrels, Run, evaluate
from ruamel.yaml import YAML

import repro

ROOT = Path(__file__).parents[2]
LISTS = pd.DataFrame({"user": "ann", "item": ["A", "B", "C", "D"], "score": [4.0, 3.0, 2.0, 1.0]})
TRUTH = pd.DataFrame({"user": "ann", "item": ["B", "D"], "rating": [5, 4]})
PICTURE = ROOT / "docs" / "pictures" / "same-lists.svg"


def pictured():
    """The text of the picture, without its layout."""
    return " ".join(" ".join(ElementTree.parse(PICTURE).getroot().itertext()).split())


def measured(protocol):
    return repro.evaluate(LISTS, TRUTH, protocol=protocol, metrics=["ndcg@3"]).value[0]


def test_the_toolkits_report_the_numbers_of_the_picture():
    truth = Qrels({"ann": {"B": 5, "D": 4}})
    of_ranx = evaluate(truth, Run({"ann": {"A": 4.0, "B": 3.0, "C": 2.0, "D": 1.0}}), "ndcg@3")
    items = ItemList(item_ids=list(LISTS["item"]), scores=list(LISTS.score), ordered=True)
    of_lenskit = NDCG(3).measure_list(items, ItemList(item_ids=["B", "D"], rating=[5, 4]))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, number in (("ranx", of_ranx), ("LensKit", of_lenskit)):
        assert f"{number:.4f} in {name}" in readme
        assert f"nDCG@3 = {number:.4f}" in pictured()
    assert measured("inferred/ranx-evaluate-ndcg@k") == pytest.approx(of_ranx, abs=1e-12)
    assert measured("inferred/lenskit-RunAnalysis-NDCG") == pytest.approx(of_lenskit, abs=1e-12)


def test_the_two_decisions_of_the_picture_make_the_difference():
    lines = re.findall(r"metric\.ndcg\.(\w+): (\S+) / (\S+)", pictured())
    assert [name for name, _, _ in lines] == ["gain", "discount"]
    before = {f"metric.ndcg.{name}": value for name, value, _ in lines}
    after = {f"metric.ndcg.{name}": value for name, _, value in lines}
    ranx = repro.Protocol.load("inferred/ranx-evaluate-ndcg@k")
    assert before.items() <= dict(ranx).items()
    assert measured(ranx.replace(after)) == measured("inferred/lenskit-RunAnalysis-NDCG")
    assert all(measured(ranx.replace({key: value})) != measured(ranx) for key, value in after.items())


def test_citation_and_package_have_one_version():
    citation = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert str(citation["version"]) == project["version"]
    assert citation["license"] == project["license"]
    assert repro.__version__ == project["version"]


def test_the_readme_takes_a_screen_and_a_half():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_an_issue_form_has_what_forms_need(path):
    form = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    assert form["name"] and form["description"]
    ids = [entry["id"] for entry in form["body"] if entry["type"] != "markdown"]
    assert len(ids) == len(set(ids)) > 0
    for entry in form["body"]:
        assert entry["type"] in ("markdown", "textarea", "input", "dropdown", "checkboxes")
        assert entry["attributes"].get("label" if entry["type"] != "markdown" else "value")
        assert entry["type"] != "dropdown" or len(entry["attributes"]["options"]) > 1
