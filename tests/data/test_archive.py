"""Archives that are not trusted."""

import bz2
import gzip
import io
import tarfile
import zipfile

import pytest

from repro.data.archive import extract_member
from repro.errors import DataError


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in members.items():
            bundle.writestr(name, content)
    return path


def tar_of(path, *members):
    with tarfile.open(path, "w:gz") as bundle:
        for info, content in members:
            info.size = len(content)
            bundle.addfile(info, io.BytesIO(content))
    return path


def refused(archive, member="a/data.csv", **options):
    target = archive.with_name("target")
    with pytest.raises(DataError) as caught:
        extract_member(archive, member, target, **options)
    return str(caught.value)


def test_one_member_of_a_zip(tmp_path):
    archive = zip_of(tmp_path / "a.zip", {"a/README": b"read me", "a/data.csv": b"1,2\n"})
    extract_member(archive, "a/data.csv", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"1,2\n"


def test_one_member_of_a_tar(tmp_path):
    archive = tar_of(tmp_path / "a.tgz", (tarfile.TarInfo("./a/data.csv"), b"1,2\n"), (tarfile.TarInfo("a/z"), b""))
    extract_member(archive, "a/data.csv", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"1,2\n"


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_a_single_compressed_file(tmp_path, compress):
    (tmp_path / "a").write_bytes(compress(b"1,2\n"))
    extract_member(tmp_path / "a", "data.csv", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"1,2\n"


@pytest.mark.parametrize("name", ["../escape.csv", "a/../../escape.csv", "/etc/escape", "a\\..\\..\\escape", "C:\\x"])
def test_a_path_that_climbs_out_of_its_folder(tmp_path, name):
    archive = zip_of(tmp_path / "a.zip", {"a/data.csv": b"1,2\n", name: b"!"})
    message = refused(archive)
    assert "would be written outside its folder" in message
    assert repr(name) in message or repr(name.replace("\\", "/")) in message
    archive = tar_of(tmp_path / "a.tgz", (tarfile.TarInfo("a/data.csv"), b"1,2\n"), (tarfile.TarInfo(name), b"!"))
    assert "would be written outside its folder" in refused(archive)
    assert sorted(p.name for p in tmp_path.parent.rglob("escape*")) == []


def test_a_link_in_a_zip(tmp_path):
    link = zipfile.ZipInfo("a/link")
    link.external_attr = 0o120777 << 16
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("a/data.csv", b"1,2\n")
        bundle.writestr(link, b"/etc/passwd")
    assert "'a/link' is a link" in refused(archive)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_in_a_tar(tmp_path, kind):
    link = tarfile.TarInfo("a/data.csv")
    link.type, link.linkname = kind, "/etc/passwd"
    assert "is a link or device" in refused(tar_of(tmp_path / "a.tgz", (link, b"")))


def test_an_archive_that_unpacks_to_too_much(tmp_path):
    much = b"1,2\n" * (1 << 18)
    assert "unpacks to more than" in refused(zip_of(tmp_path / "a.zip", {"a/data.csv": much}), limit=1 << 10)
    archive = tar_of(tmp_path / "a.tgz", (tarfile.TarInfo("a/data.csv"), much))
    assert "unpacks to more than" in refused(archive, limit=1 << 10)
    (tmp_path / "a.gz").write_bytes(gzip.compress(much))
    assert "unpacks to more than" in refused(tmp_path / "a.gz", limit=1 << 10)


def test_a_member_that_is_not_there(tmp_path):
    assert "has no file a/data.csv" in refused(zip_of(tmp_path / "a.zip", {"b": b""}))


def test_an_archive_cut_short(tmp_path):
    archive = tar_of(tmp_path / "a.tgz", (tarfile.TarInfo("a/data.csv"), bytes(range(256)) * 4000))
    archive.write_bytes(archive.read_bytes()[:-400])
    assert "cannot be unpacked" in refused(archive)


def test_a_page_where_an_archive_should_be(tmp_path):
    (tmp_path / "a.zip").write_text("<html>moved</html>")
    assert "is not a zip, tar, gzip or bzip2 file" in refused(tmp_path / "a.zip")
