"""Environments: built once, told when they cannot be, and never half-built."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import PluginError
from repro.plugin import Environment, Framework, Plugins
from repro.plugin.isolation import environment


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An empty environment, made once."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, *environment.VENV, str(folder)], check=True)
    return folder


@pytest.fixture(autouse=True)
def folder(bare, tmp_path, monkeypatch):
    """Environments in a temporary folder, of frameworks that need nothing, and no pauses between tries.

    Each begins as a copy of an empty one, which takes less time than to make it.
    """
    copy = f"import shutil, sys; shutil.copytree({str(bare)!r}, sys.argv[1], symlinks=True)"
    monkeypatch.setattr(environment, "VENV", ("-c", copy))
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setattr(environment, "WORKER", ())
    monkeypatch.setattr(environment, "PAUSE", 0.0)
    return tmp_path / "environments"


def wheel(folder: Path, name: str, source: str) -> str:
    """A package of one module, as a wheel; how pip is told to install it, and nothing else."""
    about = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": source,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {path: hashlib.sha256(text.encode()).digest() for path, text in files.items()}
    records = [f"{path},sha256={base64.urlsafe_b64encode(d).rstrip(b'=').decode()}," for path, d in digests.items()]
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, f"{about}/RECORD": "\n".join([*records, f"{about}/RECORD,,"]) + "\n"}.items():
            archive.writestr(file, text)
    return str(path)


def installing(path: str, module: str = "tiny_framework") -> Environment:
    return Environment((module,), (("--no-index", "--no-deps", path),))


def test_an_environment_is_built_once_and_holds_what_was_asked_for(tmp_path, folder):
    needs = installing(wheel(tmp_path, "tiny_framework", "answer = 42\n"))
    assert environment.python_of("tiny", needs) is None
    reports: list[str] = []
    python = environment.build("tiny", needs, reports.append)
    assert python == environment.python_of("tiny", needs) == environment.folder_of("tiny", needs) / "bin" / "python"
    assert python.is_relative_to(folder)
    shown = subprocess.run([python, "-c", "import tiny_framework; print(tiny_framework.answer)"], capture_output=True)
    assert shown.stdout == b"42\n"
    assert "tiny_framework" in "\n".join(environment.freeze_of("tiny", needs))
    assert any(line.startswith("installing --no-index") for line in reports)
    assert reports[-1] == "tiny is ready"
    reports.clear()
    assert environment.build("tiny", needs, reports.append) == python
    assert reports == []
    environment.build("tiny", needs, reports.append, again=True)
    assert reports[-1] == "tiny is ready"


def test_a_pip_that_fails_is_tried_again_and_told_with_its_last_lines(folder):
    needs = Environment(("x",), (("--no-index", "no-such-distribution-here==1.0"),))
    reports: list[str] = []
    with pytest.raises(PluginError) as error:
        environment.build("sad", needs, reports.append)
    message = str(error.value)
    assert message.startswith("the environment of sad cannot be built: `")
    assert "ended with status 1; its last lines:" in message
    assert "No matching distribution found for no-such-distribution-here==1.0" in message
    assert reports.count("failed with status 1; trying again") == environment.TRIES - 1
    assert environment.python_of("sad", needs) is None


def test_what_can_be_built_is_built_where_another_cannot(tmp_path, monkeypatch):
    frameworks = {
        "sad": Framework("sad", "1", "", (), environment=Environment((), (("--no-index", "nothing-here==1.0"),))),
        "tiny": Framework("tiny", "1", "", (), environment=installing(wheel(tmp_path, "tiny_framework", ""))),
        "plain": Framework("plain", "1", "", ()),
    }
    monkeypatch.setattr("repro.plugin.plugins", lambda: Plugins(frameworks=frameworks))
    done = CliRunner().invoke(cli, ["plugins", "install", "all", "--json"])
    assert isinstance(done.exception, PluginError)
    assert "the environment of sad cannot be built" in str(done.exception)
    assert "plain needs no environment of its own" in done.stderr
    built = json.loads(done.stdout)
    assert built == {"tiny": str(environment.python_of("tiny", frameworks["tiny"].environment))}
    again = CliRunner().invoke(cli, ["plugins", "install", "tiny"])
    assert again.output == f"tiny: ready in {environment.folder_of('tiny', frameworks['tiny'].environment)}\n"


def test_what_cannot_be_imported_is_told(tmp_path):
    needs = installing(wheel(tmp_path, "tiny_framework", "raise ImportError('numpy is too new')\n"))
    with pytest.raises(
        PluginError, match=r"import tiny_framework` ended with status 1(?s:.*)ImportError: numpy is too new"
    ):
        environment.build("tiny", needs, print)
    assert environment.python_of("tiny", needs) is None


def test_what_the_worker_needs_is_looked_for_too(monkeypatch):
    monkeypatch.setattr(environment, "WORKER", ("numpy",))
    with pytest.raises(PluginError, match="import numpy` ended with status 1"):
        environment.build("bare", Environment((), ()), print)


def test_a_half_built_environment_is_begun_anew():
    needs = Environment((), ())
    half = environment.folder_of("half", needs)
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").write_text("this is no program")
    (half / "left-over").touch()
    assert environment.python_of("half", needs) is None
    python = environment.build("half", needs, lambda line: None)
    assert subprocess.run([python, "-c", "print(7)"], capture_output=True, check=True).stdout == b"7\n"
    assert not (half / "left-over").exists()


def test_one_that_is_stopped_while_it_is_removed_is_not_complete(monkeypatch):
    needs = Environment((), ())
    folder = environment.folder_of("going", needs)
    folder.mkdir(parents=True)
    (folder / environment.COMPLETE).write_text(json.dumps({"freeze": []}))

    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("shutil.rmtree", stopped)
    with pytest.raises(KeyboardInterrupt):
        environment.build("going", needs, print, again=True)
    assert environment.python_of("going", needs) is None


def test_two_that_build_the_same_wait_for_each_other():
    needs = Environment((), ())
    building, waiting = threading.Event(), threading.Event()
    first: list[str] = []
    second: list[str] = []

    def tell_first(line):
        first.append(line)
        building.set()
        assert waiting.wait(60)

    def tell_second(line):
        second.append(line)
        waiting.set()

    thread = threading.Thread(target=environment.build, args=("both", needs, tell_first))
    thread.start()
    assert building.wait(60)
    python = environment.build("both", needs, tell_second)
    thread.join()
    assert second == ["another process is building the same environment; waiting for it"]
    assert first[-1] == "both is ready"
    assert python.is_file()


def test_other_requirements_are_another_environment():
    earlier, other = Environment((), (("a==1",),)), Environment((), (("a==2",),))
    assert environment.folder_of("same", earlier) != environment.folder_of("same", other)
    assert environment.folder_of("same", earlier) == environment.folder_of("same", Environment(("a",), (("a==1",),)))


def hashed(folder: Path, *hashes: str) -> Environment:
    """An environment of one package that is in ``folder``, and must have one of the hashes."""
    options = ("--no-index", "--find-links", str(folder), "--no-deps")
    return Environment(
        ("tiny_framework",), ((*options, "tiny_framework==1.0"),), hashes={"tiny_framework==1.0": hashes}
    )


def test_what_has_hashes_is_installed_only_with_one_of_them(tmp_path):
    file = Path(wheel(tmp_path, "tiny_framework", "answer = 42\n"))
    right = "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()
    python = environment.build("tiny", hashed(tmp_path, "sha256:" + "1" * 64, right), print)
    assert subprocess.run([python, "-c", "import tiny_framework"]).returncode == 0


def test_a_file_with_another_hash_is_refused_at_once_and_never_installed(tmp_path):
    file = Path(wheel(tmp_path, "tiny_framework", "answer = 42\n"))
    needs = hashed(tmp_path, "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest())
    wheel(tmp_path, "tiny_framework", "import os; os.system('echo stolen')\n")  # the same name, other content
    reports: list[str] = []
    with pytest.raises(
        PluginError, match=r"not built: pip downloaded a file that is not one .*\(tiny_framework==1\.0\)"
    ):
        environment.build("tiny", needs, reports.append)
    assert not [line for line in reports if "trying again" in line]
    assert environment.python_of("tiny", needs) is None
    assert not list(environment.folder_of("tiny", needs).glob("lib/*/site-packages/tiny_framework*"))


def test_what_has_no_hashes_is_installed_beside_what_has_some(tmp_path):
    file = Path(wheel(tmp_path, "tiny_framework", "answer = 42\n"))
    wheel(tmp_path, "pinned_by_a_claim", "")
    earlier = hashed(tmp_path, "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest())
    both = Environment(
        ("tiny_framework", "pinned_by_a_claim"), ((*earlier.steps[0], "pinned_by_a_claim==1.0"),), hashes=earlier.hashes
    )
    environment.build("tiny", both, print)
    actual = environment.freeze_of("tiny", both)
    assert {line.partition("==")[0] for line in actual} >= {"tiny_framework", "pinned_by_a_claim"}


def test_hashes_do_not_make_another_environment(tmp_path):
    """They say which files may be installed, not what an environment holds."""
    plain = Environment(("a",), (("a==1",),))
    assert environment.folder_of("a", plain) == environment.folder_of(
        "a", Environment(("a",), (("a==1",),), hashes={"a==1": ("sha256:00",)})
    )
