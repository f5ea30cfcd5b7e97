"""The examples of docs/why: each turns the order of two systems, and each decision is explained."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

from repro.app import Application
from repro.plugin import Plugins

ROOT = Path(__file__).parents[2]
CASES = tomllib.loads((ROOT / "docs" / "why" / "cases.toml").read_text(encoding="utf-8"))
OF_LISTS = [decision for decision, case in CASES.items() if "algorithms" not in case]
DECISIONS = [key for key in Application(Plugins()).registry if not key.startswith("metric.") and key.count(".") == 1]


@pytest.fixture(scope="module")
def worked():
    folder = ROOT / "docs" / "generate"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("worked", folder / "worked.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["worked"] = module  # for dataclasses
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("worked", None)


def turns(worked, decision):
    example = worked.compute(decision, CASES[decision])
    assert example.turns, example.numbers
    assert "**" in worked.shown(example).partition("better |")[2]


@pytest.mark.parametrize("decision", OF_LISTS)
def test_another_answer_makes_the_other_system_better(worked, decision):
    turns(worked, decision)


@pytest.mark.slow
@pytest.mark.parametrize("decision", [decision for decision in CASES if decision not in OF_LISTS])
def test_another_answer_makes_the_other_algorithm_better(worked, decision):
    turns(worked, decision)


def test_a_case_worked_by_hand(worked):
    """Relevant items on ranks 1 and 5 against ranks 2 and 3; with a list for each of them, 1 and 4 against 2 and 2."""
    example = worked.compute("candidates.relevant", CASES["candidates.relevant"])
    discount = 1 / 1.584962500721156  # of rank 2
    assert example.numbers[0] == pytest.approx((1 / (1 + discount), discount / (1 + discount)))
    assert example.numbers[1] == pytest.approx(((1 + 0) / 2, (discount + discount) / 2))
    assert (example.winner(0), example.winner(1)) == (0, 1)


def test_a_case_that_turns_nothing_is_noticed(worked):
    case = {**CASES["candidates.relevant"], "second": CASES["candidates.relevant"]["first"]}
    assert not worked.compute("candidates.relevant", case).turns


def test_every_decision_is_explained_and_no_other():
    explained = []
    for page in sorted((ROOT / "docs" / "why").glob("*.md")):
        sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        for section in sections:
            name, _, text = section.partition("\n")
            assert len(text.split()) > 5, name
            assert name.partition(".")[0] == page.stem
            explained.append(name)
    assert sorted(explained) == sorted(DECISIONS)
    assert {*CASES} <= {*DECISIONS}
