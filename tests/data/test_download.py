"""Getting data sets: sources in order, checksums, and nothing half done."""

import hashlib
import threading
import zipfile
from dataclasses import fields
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from repro.data import datasets, download
from repro.data.download import ChecksumError, fetch, fetch_source, get_dataset
from repro.data.io.options import ReadOptions
from repro.data.io.tables import read_interactions
from repro.data.registry import Dataset, Source, data_folder, parse_registry
from repro.errors import DataError

CSV = b"user,item\n1,2\n"


def dataset(*sources):
    return Dataset("mine", "My data", "https://example.org", "free", "Me (2020)", tuple(sources))


def bundle(path, member="folder/ratings.csv", content=CSV):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    return path


def sha256(path):
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def leftovers(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


class Server:
    """A web server of a folder that counts what it is asked, fails on demand, and ends answers early."""

    def __init__(self, folder):
        self.requested, self.failures, self.cut = [], 0, False
        outer = self

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self):
                outer.requested.append(self.path)
                if outer.failures:
                    outer.failures -= 1
                    self.send_error(503)
                elif outer.cut:
                    self.send_response(200)
                    self.send_header("Content-Length", "1000")
                    self.end_headers()
                    self.wfile.write(b"half")
                else:
                    super().do_GET()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def server(site):
    running = Server(site)
    yield running
    running.close()


def test_a_member_of_an_archive_with_progress(tmp_path, site, server):
    archive = bundle(site / "data.zip")
    declared = dataset(Source(f"{server.address}/data.zip", sha256(archive), "me", "folder/ratings.csv"))
    seen = []
    fetched = fetch(declared, lambda done, total: seen.append((done, total)), folder=tmp_path / "cache")
    assert fetched.path == tmp_path / "cache" / "mine" / "ratings.csv"
    assert fetched.path.read_bytes() == CSV
    assert fetched.check == "checksum confirmed by me"
    size = archive.stat().st_size
    assert seen[-1] == (size, size)
    fetch(declared, folder=tmp_path / "cache")
    assert len(server.requested) == 1, "what is here is not downloaded again"


def test_a_bare_file_without_checksum_is_reported_as_unchecked(tmp_path, site):
    (site / "ratings.csv").write_bytes(CSV)
    fetched = fetch(dataset(Source((site / "ratings.csv").as_uri())), folder=tmp_path / "cache")
    assert fetched.path.read_bytes() == CSV
    assert fetched.check.startswith("unchecked")


def test_checksum_mismatch_names_both_and_keeps_nothing(tmp_path, site):
    archive = bundle(site / "data.zip")
    promised = "sha256:" + "0" * 64
    declared = dataset(Source(archive.as_uri(), promised, "me", "folder/ratings.csv"))
    with pytest.raises(ChecksumError) as caught:
        fetch(declared, folder=tmp_path / "cache", pause=0)
    assert promised.removeprefix("sha256:") in str(caught.value)
    assert sha256(archive).removeprefix("sha256:") in str(caught.value)
    assert leftovers(tmp_path / "cache") == []


def test_checksum_mismatch_is_not_tried_again(tmp_path, site, server):
    bundle(site / "data.zip")
    declared = dataset(Source(f"{server.address}/data.zip", "md5:" + "0" * 32, "me", "folder/ratings.csv"))
    with pytest.raises(ChecksumError):
        fetch(declared, folder=tmp_path / "cache", pause=0)
    assert len(server.requested) == 1


def test_checksum_of_the_member(tmp_path, site):
    archive = bundle(site / "data.zip")
    source = Source(archive.as_uri(), member="folder/ratings.csv", member_checksum="md5:" + "0" * 32)
    with pytest.raises(ChecksumError, match=r"data.zip: MD5 hash of .*folder/ratings.csv.* does not match"):
        fetch_source(source, tmp_path / "cache")
    assert leftovers(tmp_path / "cache") == []
    right = f"md5:{hashlib.md5(CSV).hexdigest()}"
    good = Source(archive.as_uri(), member="folder/ratings.csv", member_checksum=right)
    assert fetch_source(good, tmp_path / "cache").read_bytes() == CSV


def test_archive_that_climbs_out_of_its_folder(tmp_path, site):
    archive = site / "data.zip"
    with zipfile.ZipFile(archive, "w") as bad:
        bad.writestr("folder/ratings.csv", CSV)
        bad.writestr("../../escaped.csv", CSV)
    with pytest.raises(DataError, match=r"its member '../../escaped.csv' would be written outside its folder"):
        fetch(dataset(Source(archive.as_uri(), member="folder/ratings.csv")), folder=tmp_path / "cache", pause=0)
    assert leftovers(tmp_path / "cache") == []
    assert not list(tmp_path.rglob("escaped.csv"))


def test_the_second_source_when_the_first_fails(tmp_path, site, server):
    (site / "ratings.csv").write_bytes(CSV)
    declared = dataset(Source(f"{server.address}/gone.zip", member="x.csv"), Source(f"{server.address}/ratings.csv"))
    fetched = fetch(declared, folder=tmp_path / "cache", pause=100)
    assert fetched.source is declared.sources[1]
    assert server.requested == ["/gone.zip", "/ratings.csv"], "no source is tried twice before all were tried"


def test_a_passing_fault_is_tried_again(tmp_path, site, server):
    (site / "ratings.csv").write_bytes(CSV)
    server.failures = 2
    fetched = fetch(dataset(Source(f"{server.address}/ratings.csv")), folder=tmp_path / "cache", pause=0)
    assert fetched.path.read_bytes() == CSV
    assert len(server.requested) == 3


def test_half_a_download_never_looks_finished(tmp_path, server):
    server.cut = True
    with pytest.raises(DataError, match=r"could not download mine:(?s:.)*download it yourself \(https://example.org\)"):
        fetch(dataset(Source(f"{server.address}/ratings.csv")), folder=tmp_path / "cache", pause=0)
    assert leftovers(tmp_path / "cache") == []


def test_an_address_that_does_not_answer(tmp_path):
    with pytest.raises(DataError, match="could not download mine"):
        fetch(dataset(Source("http://127.0.0.1:9/data.csv")), folder=tmp_path / "cache", pause=0)


def test_two_at_once_end_with_one_whole_file(tmp_path, site):
    content = b"user,item\n" + b"".join(b"%d,%d\n" % (n, n) for n in range(50_000))
    archive = bundle(site / "data.zip", content=content)
    declared = dataset(Source(archive.as_uri(), sha256(archive), "me", "folder/ratings.csv"))
    threads = [threading.Thread(target=fetch, args=(declared,), kwargs={"folder": tmp_path / "cache"}) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leftovers(tmp_path / "cache") == ["ratings.csv"]
    assert (tmp_path / "cache" / "mine" / "ratings.csv").read_bytes() == content


def test_a_package_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(DataError, match="pip download no-such-package-at-all"):
        fetch_source(Source("pip:no-such-package-at-all==1", member="x"), tmp_path)


@pytest.fixture(scope="session")
def recbole_copy(request):
    """MovieLens 100K through the package index, kept between test runs."""
    folder = Path(request.config.cache.mkdir("movielens-100k"))
    source = next(s for s in datasets()["ml-100k"].sources if s.address.startswith("pip:"))
    path = folder / source.file_name
    if not path.exists():
        fetch(Dataset("", "", "", "", "", (source,)), folder=folder)
    return path


def test_movielens_100k_from_the_package_index(recbole_copy, tmp_path):
    data = read_interactions(recbole_copy)
    assert (len(data), data.n_users, data.n_items) == (100_000, 943, 1_682)
    assert data.digest == datasets()["ml-100k"].digest
    as_u_data = tmp_path / "u.data"
    as_u_data.write_bytes(recbole_copy.read_bytes().partition(b"\n")[2])
    first = datasets()["ml-100k"].sources[0]
    assert read_interactions(as_u_data, **first.reader).digest == data.digest


def test_every_entry_of_the_registry_is_complete():
    assert set(datasets()) == {
        *("ml-100k", "ml-1m", "ml-10m", "ml-20m", "ml-25m", "ml-32m", "ml-latest-small"),
        *("hetrec-lastfm", "lastfm-360k", "book-crossing", "ta-feng"),
    }
    lengths = {"md5": 32, "sha256": 64}
    for known in datasets().values():
        assert known.title, known
        assert known.home.startswith("http"), known
        assert known.terms, known
        assert known.citation, known
        assert known.sources, known
        for source in known.sources:
            assert bool(source.confirmed) == source.checked, "a checksum is there only if someone confirms it"
            for checksum in filter(None, (source.checksum, source.member_checksum)):
                algorithm, _, value = checksum.partition(":")
                assert len(value) == lengths[algorithm], known
        names = [source.file_name for source in known.sources if source.reader != known.sources[0].reader]
        assert known.sources[0].file_name not in names, "the name of the file says how it is read"


def test_reader_options_of_the_registry_are_those_of_the_reader():
    known = {field.name for field in fields(ReadOptions)}
    for dataset in datasets().values():
        for source in dataset.sources:
            assert set(source.reader) <= known, dataset.name


def test_a_registry_is_a_file():
    text = """
        [mine]
        title = "T"
        home = "https://example.org"
        terms = "free"
        citation = "me"
        [[mine.sources]]
        address = "https://example.org/a/b.zip"
        member = "x/y.dat"
        reader = { delimiter = "::" }
        """
    mine = parse_registry(text)["mine"]
    assert mine.sources[0].file_name == "y.dat"
    assert not mine.sources[0].checked
    assert mine.rows is None


def test_unknown_name():
    with pytest.raises(DataError, match=r"'ml-100'; did you mean 'ml-100k'\? `repro data list` shows the names"):
        get_dataset("ml-100")


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("REPRO_DATA")
    assert data_folder().parts[-2:] == ("repro", "data")


def test_downloads_do_not_wait_for_ever():
    assert 0 < download.TIMEOUT <= 60
