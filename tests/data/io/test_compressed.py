"""A compressed file is read as what is in it, however it is read: by blocks, or as a whole."""

import bz2
import gzip
import zipfile

import numpy as np
import pytest

from repro.data import read_interactions

FORMS = {
    "a.csv": "user,item,rating\n1,2,3\n1,3,4\n",
    "a.dat": "1::2::3\n1::3::4\n",
    "a.txt": "1  2 3\n1 3  4\n",
    "a.json": '[{"user": 1, "item": 2, "rating": 3}, {"user": 1, "item": 3, "rating": 4}]',
    "lists.txt": "1 2 3\n4 2 3 5 6 7\n",
    "a.qrels": "1 0 2 3\n1 0 3 4\n",
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("packed", [".gz", ".bz2", ".zip"])
def test_packed_or_not_it_is_the_same(name, packed, tmp_path):
    plain = tmp_path / name
    plain.write_text(FORMS[name])
    expected = read_interactions(plain)
    file = tmp_path / f"{name}{packed}"
    if packed == ".zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.write(plain, name)
    else:
        file.write_bytes((gzip if packed == ".gz" else bz2).compress(plain.read_bytes()))
    interactions = read_interactions(file)
    assert interactions.to_frame().equals(expected.to_frame())
    assert np.array_equal(interactions.user_ids, expected.user_ids)
