"""One door for named data sets, files and synthetic data."""

import pytest

import repro.data
from repro.data import get_dataset, load, load_dataset
from repro.data.registry import parse_registry
from repro.errors import DataError

REGISTRY = """
[mine]
title = "My data"
home = "https://example.org"
terms = "free"
citation = "me"
rows = {rows}
{digest}
[[mine.sources]]
address = "{address}"
reader = {{ delimiter = ";", header = false }}
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A registry with one data set, a file of two rows."""
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "cache"))
    (tmp_path / "mine.txt").write_text("1;2;3\n4;5;6\n")

    def registered(rows=2, digest=""):
        text = REGISTRY.format(rows=rows, digest=digest, address=(tmp_path / "mine.txt").as_uri())
        known = parse_registry(text)
        monkeypatch.setattr("repro.data.registry.datasets", lambda: known)
        monkeypatch.setattr(load, "datasets", lambda: known)
        return known

    registered()
    return registered


def test_a_named_data_set_is_fetched_and_read_as_the_registry_says(mine, tmp_path):
    assert load_dataset("mine").to_frame().to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert (tmp_path / "cache" / "mine" / "mine.txt").exists()


def test_options_change_how_it_is_read(mine):
    assert not load_dataset("mine", columns=["user", "item", "-"]).explicit


def test_content_is_checked_after_every_load(mine):
    digest = load_dataset("mine").digest
    mine(digest=f'digest = "{digest}"')
    assert load_dataset("mine").digest == digest
    mine(digest=f'digest = "{"0" * 64}"')
    with pytest.raises(DataError, match=f"its content digest is {digest}, but that of My data is 0000"):
        load_dataset("mine")
    mine(rows=3)
    with pytest.raises(DataError, match="has 2 rows, but My data has 3; delete the file"):
        load_dataset("mine")


def test_a_file_of_ones_own(tmp_path):
    (tmp_path / "a.csv").write_text("u,i\n")
    assert len(load_dataset(tmp_path / "a.csv")) == 1
    assert len(load_dataset(str(tmp_path / "a.csv"), header=False)) == 1


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*nothing.csv"):
        load_dataset(str(tmp_path / "nothing.csv"))


def test_an_unknown_name():
    with pytest.raises(DataError, match=r"no data set and no file 'ml-1n'; did you mean 'ml-1m'"):
        load_dataset("ml-1n")
    with pytest.raises(DataError, match="did you mean 'synthetic'"):
        load_dataset("syntetic")


def test_synthetic_is_a_data_set_like_any_other():
    data = load_dataset("synthetic", users=20, items=10, ratings=50, alpha=1)
    assert len(data) == 50


def test_unknown_options():
    with pytest.raises(DataError, match=r"synthetic has no option 'usrs'; did you mean 'users'\?"):
        load_dataset("synthetic", usrs=3)
    with pytest.raises(DataError, match=r"no option 'delimeter'; did you mean 'delimiter'\?"):
        load_dataset("ml-100k", delimeter=3)


def test_every_public_name_is_there():
    for name in repro.data.__all__:
        assert getattr(repro.data, name) is not None
    assert dir(repro.data) == sorted(repro.data.__all__)


@pytest.mark.parametrize(
    ("name", "option", "types"),
    [
        ("synthetic", {"users": "many"}, "int"),
        ("synthetic", {"users": True}, "int"),
        ("synthetic", {"alpha": "steep"}, "float"),
        ("ratings.csv", {"delimiter": 5}, "str"),
        ("ratings.csv", {"columns": 5}, "Mapping or Sequence"),
        ("ratings.csv", {"columns": "user"}, "Mapping or Sequence"),
        ("ratings.csv", {"header": 7}, "bool"),
    ],
)
def test_an_option_of_the_wrong_kind(name, option, types):
    ((key, value),) = option.items()
    with pytest.raises(DataError, match=rf"{name}: the option {key} is {value!r}, but must be {types}"):
        load_dataset(name, **option)


def test_synthetic_data_is_not_downloaded():
    with pytest.raises(DataError, match="generated, not downloaded"):
        get_dataset("synthetic")
