"""The claims that are kept, for real: those that take seconds in every test run, the others in the long one."""

from dataclasses import replace
from pathlib import Path

import pytest

from repro.data import datasets
from repro.replicate import Claim, Options, replicate

SURPRISE = Path(__file__).parents[2] / "reports" / "replications" / "surprise-readme-ml100k" / "claim.toml"


def some(path, folder, labels):
    """The claim with the numbers of some algorithms only, in another folder."""
    claim = Claim.load(path)
    (folder / "claim.toml").write_text(claim.text)
    cells = tuple(cell for cell in claim.cells if cell.place.algorithm in labels)
    return replace(claim, path=folder / "claim.toml", cells=cells)


@pytest.fixture
def surprise():
    pytest.importorskip("surprise")
    if datasets()["ml-100k"].cached() is None:
        pytest.skip("MovieLens 100K is not here; `repro data get ml-100k` gets it")


def test_fast_algorithms_of_the_readme_of_surprise(tmp_path, surprise):
    claim = some(SURPRISE, tmp_path, ["BaselineOnly", "KNNBasic"])
    found = replicate(claim, options=Options(installed=True))
    assert found.summary == "4 exact"
    assert [one.printed.text for one in found.judged] == ["0.98", "0.774", "0.944", "0.748"]


@pytest.mark.slow
def test_the_readme_of_surprise(tmp_path, surprise):
    claim = some(SURPRISE, tmp_path, Claim.load(SURPRISE).labels)
    found = replicate(claim, options=Options(workers=2, installed=True))
    assert found.summary == "18 exact, 2 within"
    assert {one.algorithm for one in found.judged if one.verdict == "within"} == {"NormalPredictor"}
