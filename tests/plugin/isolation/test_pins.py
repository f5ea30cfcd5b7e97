"""Other versions of a framework: an environment of their own, here and in the processes of a study."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.current import reset
from repro.errors import PluginError
from repro.plugin import Environment, Framework, Plugins, how_to_install, pinned, plugins
from repro.plugin.isolation import environment
from repro.plugin.isolation.pins import SETTING, checked_pins, current_pins, pins_as_setting, with_pins
from repro.runs.journal import read_journal
from repro.study import RunOptions, run_study
from repro.verification import replay


def requirements():
    """The plug-in's requirements, as RecBole has them."""
    steps = (("torch==2.13.0",), ("--no-deps", "Rec_Bole==1.2.1", "numpy==1.26.4", "torch==2.13.0"))
    return Environment(("recbole",), steps, "pip install it")


def test_pins_take_the_place_of_the_same_distribution_and_others_are_added():
    pins = checked_pins("recbole", ["rec.bole == 1.1.1", "Torch==1.13.1+cpu", "thop==0.1.1"])
    assert pins == ("rec-bole==1.1.1", "thop==0.1.1", "torch==1.13.1+cpu")
    actual = with_pins(requirements(), pins)
    assert actual.steps == (
        ("torch==1.13.1+cpu",),
        ("--no-deps", "rec-bole==1.1.1", "numpy==1.26.4", "torch==1.13.1+cpu", "thop==0.1.1"),
    )
    assert actual.imports == ("recbole",)
    assert with_pins(Environment((), ()), ("a==1",)).steps == (("a==1",),)


@pytest.mark.parametrize(
    "text",
    [
        *("numpy", "numpy>=1.26", "numpy==1.*", "numpy===1.26", "numpy==1.26,<2", "numpy~=1.26", "numpy==1.26;x"),
        *("--pre", "-r file", "git+https://example.org/x", "x @ https://example.org/x.whl", "x[y]==1", "./x-1.whl", ""),
    ],
)
def test_anything_but_an_exact_version_is_refused(text):
    with pytest.raises(PluginError, match="is not a pin of surprise; a pin is a name and one exact version"):
        checked_pins("surprise", [text])


def test_two_versions_of_one_distribution_and_no_pins_are_refused():
    with pytest.raises(
        PluginError, match=r"surprise is pinned to both scikit-surprise==1\.1\.4 and scikit-surprise==1\.1\.3"
    ):
        checked_pins("surprise", ["scikit-surprise==1.1.4", "scikit_surprise==1.1.3"])
    assert checked_pins("surprise", ["numpy==1.26.4", "numpy==1.26.4"]) == ("numpy==1.26.4",)
    for nothing in ([], "numpy==1.26.4"):
        with pytest.raises(PluginError, match="the pins of surprise are"):
            checked_pins("surprise", nothing)


def test_the_setting_is_read_as_people_write_it(monkeypatch):
    monkeypatch.setenv(SETTING, " surprise: scikit-surprise == 1.1.4, numpy==1.26.4 ;cornac:cornac==2.2.2; ")
    assert current_pins() == {"surprise": ("numpy==1.26.4", "scikit-surprise==1.1.4"), "cornac": ("cornac==2.2.2",)}
    for wrong in ("numpy==1.26.4", "a: x==1; a: x==2", ": x==1"):
        monkeypatch.setenv(SETTING, wrong)
        with pytest.raises(PluginError, match=r"REPRO_PINS has '.*'; write each framework once, before its pins"):
            current_pins()


def test_pins_are_restored_and_earlier_ones_stay(monkeypatch):
    monkeypatch.setenv(SETTING, "a: x==0; c: z==1")
    outer = {"a": ("x==1",), "b": ("y==1",), "c": ("z==1",)}
    with pinned({"a": ["x==1"], "b": ["y==1"]}):
        with pinned({"b": ["y==2"]}):
            assert current_pins() == outer | {"b": ("y==2",)}
        assert current_pins() == outer
        with pytest.raises(PluginError), pinned({"b": ["y"]}):
            pass
        assert current_pins() == outer
        assert os.environ[SETTING] == "a: x==0; c: z==1"
        monkeypatch.setenv(SETTING, pins_as_setting(current_pins()))
    assert current_pins() == outer


def test_pins_of_two_threads_do_not_meet(monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)
    inside = threading.Barrier(2, timeout=60)

    def pins_in_thread(version):
        with pinned({"a": [f"x=={version}"]}):
            inside.wait()  # both are inside at once
            pins = current_pins()
            inside.wait()
        return pins

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(pins_in_thread, "12")) == [{"a": ("x==1",)}, {"a": ("x==2",)}]
    assert current_pins() == {}


def test_a_whole_freeze_is_of_what_comes_along():
    pins = checked_pins("recbole", ["~Rec.Bole==1.1.1", "~ruff==0.1", "~torch == 2.9.0", "thop==0.1.1"])
    assert pins == ("~rec-bole==1.1.1", "~ruff==0.1", "thop==0.1.1", "~torch==2.9.0")
    actual = with_pins(requirements(), pins)
    assert actual.steps == (
        ("torch==2.9.0",),
        ("--no-deps", "rec-bole==1.1.1", "numpy==1.26.4", "torch==2.9.0", "thop==0.1.1"),
    )
    assert actual.frozen == ("rec-bole==1.1.1", "ruff==0.1", "torch==2.9.0")
    other = with_pins(requirements(), checked_pins("recbole", ["~Rec.Bole==1.1.1", "~torch==2.9.0", "thop==0.1.1"]))
    assert actual.steps == other.steps and environment.digest(actual) != environment.digest(other)


def test_who_cannot_be_pinned_is_told(monkeypatch):
    actual = Plugins(
        frameworks={"plain": Framework("plain", "1", "", ()), "lenskit": Framework("lenskit", "1", "", ())}
    )
    with pinned({"lensket": ["x==1"]}), pytest.raises(PluginError, match=r"'lensket'.*did you mean 'lenskit'"):
        actual.framework("plain")
    with pinned({"plain": ["x==1"]}), pytest.raises(PluginError, match=r"plain has no environment.*x==1 cannot be"):
        actual.location("plain")


TINY = '''
"""A framework that scores by its version."""

from importlib.metadata import PackageNotFoundError, version

import numpy as np

from repro.plugin import Algorithm, Environment, Framework, Scores, Splitter, impl


class Constant:
    def fit(self, train, *, seed):
        import tiny_framework

        self.sign = tiny_framework.SIGN
        self.notes = {"tiny": tiny_framework.__name__ + " " + version("tiny-framework")}

    def score(self, queries, items):
        users = queries.users
        return Scores(np.tile(self.sign * np.asarray(items, dtype=float), (len(users), 1)))


def split(rows, seed):
    import tiny_framework

    half = np.arange(len(rows)) % 2 == (tiny_framework.SIGN > 0)
    return [(np.flatnonzero(half), np.flatnonzero(~half))]


@impl
def repro_framework():
    try:
        packages = {"tiny-framework": version("tiny-framework")}
    except PackageNotFoundError:
        packages = {}
    steps = (("--no-index", "--no-deps", "--find-links", "WHEELS", "tiny-framework==2.0"),)
    return Framework(
        name="tiny",
        version=packages.get("tiny-framework", "2.0"),
        summary="",
        algorithms=(Algorithm("constant", "", Constant),),
        packages=packages,
        environment=Environment(("tiny_framework",), steps, "pip install tiny"),
    )


@impl
def repro_splitters():
    return [Splitter("tiny/halves", "", split)]
'''


def add_wheel(folder: Path, version: str, source: str) -> None:
    """A package of one module, in a folder that pip can search."""
    about = f"tiny_framework-{version}.dist-info"
    files = {
        "tiny_framework.py": source,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: tiny-framework\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"tiny_framework-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An empty environment that sees the packages of this one (the worker needs NumPy and others), made once."""
    folder, here = tmp_path_factory.mktemp("bare") / "environment", Path(sysconfig.get_paths()["purelib"])
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (folder / here.relative_to(sys.prefix) / "here.pth").write_text(str(here))
    return folder


@pytest.fixture
def tiny(bare, tmp_path, write_plugin, monkeypatch):
    """The folder of a plug-in whose framework can be had in the versions 1.0 (-1), 2.0 (1) and 3.0 (broken)."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    add_wheel(wheels, "1.0", "SIGN = -1\n")
    add_wheel(wheels, "2.0", "SIGN = 1\n")
    add_wheel(wheels, "3.0", "raise ImportError('numpy is too new')\n")
    copy = f"import shutil, sys; shutil.copytree({str(bare)!r}, sys.argv[1], symlinks=True)"
    monkeypatch.setattr(environment, "VENV", ("-c", copy))
    monkeypatch.setattr(environment, "TRIES", 1)
    monkeypatch.setattr(environment, "WORKER", ("numpy",))
    monkeypatch.setenv("REPRO_ENVIRONMENTS", str(tmp_path / "environments"))
    folder = write_plugin("tiny", TINY.replace("WHEELS", str(wheels)))
    monkeypatch.syspath_prepend(str(folder))
    reset()
    yield folder
    sys.modules.pop("plugin_tiny", None)
    reset()


def install(*arguments):
    return CliRunner().invoke(cli, ["plugins", "install", "tiny", *arguments])


STUDY = """
metrics = ["hit@3"]
seed = 1
[data]
name = "synthetic"
users = 20
items = 10
ratings = 100
seed = 1
[protocol]
base = "random-5fold"
split.folds = 2
[[algorithms]]
use = "tiny/constant"
"""


@pytest.fixture
def study(tiny):
    (tiny / "study.toml").write_text(STUDY)
    return tiny / "study.toml"


def test_a_study_runs_with_the_version_that_is_pinned_next_to_the_plug_in_s_own(study, tmp_path):
    with pinned({"tiny": ["tiny_framework==1.0"]}):
        reports = str(CliRunner().invoke(cli, ["run", str(study)]).exception)
    assert "tiny with tiny-framework==1.0 is not installed; " in reports
    assert "`repro plugins install tiny --pin tiny-framework==1.0` builds its environment" in reports
    assert "pip install tiny" not in reports

    assert install("--pin", "tiny_framework==1.0").exit_code == 0
    assert install().exit_code == 0
    assert len(list((tmp_path / "environments").glob("*/complete.json"))) == 2
    with pinned({"tiny": ["tiny_framework==1.0"]}):
        run_study(Study.load(study), tmp_path / "old", RunOptions(workers=2))
    run_study(Study.load(study), tmp_path / "new")
    for name, version in (("old", "1.0"), ("new", "2.0")):
        journal = read_journal(tmp_path / name / "journal.jsonl")
        cells = journal.events("cell.started")
        assert {(cell.framework_version, cell.where) for cell in cells} == {(version, "isolated")}
        assert [cell.notes["tiny"] for cell in journal.events("cell.finished")] == [f"tiny_framework {version}"] * 2
        assert journal.events("run.started")[0].versions["framework:tiny"] == version
        freeze = (tmp_path / name / "environments" / "tiny.txt").read_text().splitlines()
        assert f"tiny-framework=={version}" in [line.replace("_", "-") for line in freeze]
    old, new = ((tmp_path / name / "results.csv").read_text() for name in ("old", "new"))
    assert old != new


def test_a_run_is_replayed_with_the_versions_of_its_freeze(study, tmp_path):
    """With 1.0 items are ranked the other way round: only its own version gives the numbers of the run again."""
    assert install("--pin", "tiny_framework==1.0").exit_code == 0
    with pinned({"tiny": ["tiny_framework==1.0"]}):
        run_study(Study.load(study), tmp_path / "old")
    assert install().exit_code == 0
    messages = []
    done = replay(tmp_path / "old", tmp_path / "again", say=messages.append)
    [environment] = [text for text in messages if text.startswith("tiny: an environment with the versions of the run")]
    assert "no index has it" in environment  # what is installed from this source tree
    assert "tiny is ready" in messages
    assert done.reproduced and done.comparison.summary.startswith("1 numbers: 1 identical")
    (began,) = read_journal(tmp_path / "again" / "journal.jsonl").events("run.started")
    assert began.versions["framework:tiny"] == "1.0"
    assert "tiny-framework==1.0" in (tmp_path / "again" / "environments" / "tiny.txt").read_text().replace("_", "-")
    # The environment that the first replay built is there for the next one, whose freeze is the same.
    messages.clear()
    assert replay(tmp_path / "again", tmp_path / "third", say=messages.append).reproduced
    assert "tiny is ready" not in messages

    here = replay(tmp_path / "old", tmp_path / "here", here=True)
    assert here.changed["framework:tiny"] == ("1.0", "2.0")
    assert here.frameworks[0].sentence.startswith("tiny: as it is here, tiny-framework 1.0 then, 2.0 now, but for what")
    assert not here.reproduced and not here.comparison.orders["tiny constant"].same


def test_a_framework_says_its_pinned_version_and_splits_with_it(tiny, tmp_path):
    from repro.data import synthetic_interactions

    rows = synthetic_interactions(users=3, items=3, ratings=5, seed=1)
    assert install("--pin", "tiny-framework==1.0").exit_code == 0
    with pinned({"tiny": ["Tiny_Framework == 1.0"]}):
        framework = plugins().framework("tiny")
        assert (framework.version, framework.packages) == ("1.0", {"tiny-framework": "1.0"})
        assert plugins().location("tiny") == "isolated"
        (((train, test),)) = plugins().split("tiny/halves", rows, 1, {})
        assert (train.tolist(), test.tolist()) == ([0, 2, 4], [1, 3])
        listed = CliRunner().invoke(cli, ["plugins", "list", "--json"])
        (shown,) = [entry for entry in json.loads(listed.stdout)["frameworks"] if entry["name"] == "tiny"]
        assert (shown["version"], shown["runs"]) == ("1.0", "isolated")
    assert plugins().location("tiny") == "missing"
    assert plugins().framework("tiny").version == "2.0"
    with pinned({"tiny": ["tiny-framework==0.5"]}):
        assert plugins().framework("tiny").version == "tiny-framework==0.5"
        assert "--pin tiny-framework==0.5" in how_to_install(plugins().framework("tiny"))


def test_what_cannot_be_installed_or_imported_is_told_with_the_last_lines(tiny):
    done = install("--pin", "tiny-framework==9.9")
    assert isinstance(done.exception, PluginError)
    assert "No matching distribution found for tiny-framework==9.9" in str(done.exception)
    done = install("--pin", "tiny-framework==3.0")
    assert "ImportError: numpy is too new" in str(done.exception)
    done = install("cornac", "--pin", "tiny-framework==1.0")
    assert "--pin is for one framework, and 2 are named: tiny, cornac; name one" in str(done.exception)


OLD = ["scikit-surprise==1.1.4", "numpy==1.26.4"]


@pytest.mark.slow
def test_an_older_surprise_predicts_as_the_one_here():
    """1.1.4 has no wheels, and is compiled against NumPy 1, which it then needs."""
    import numpy as np

    from repro.data import synthetic_interactions

    rows = synthetic_interactions(users=60, items=40, ratings=900, seed=5)
    here = plugins().recommender("surprise/bias", {})
    here.fit(rows, seed=1)
    assert plugins().location("surprise") == "in-process"
    with pinned({"surprise": OLD}):
        needs = plugins().environment_of("surprise")
        assert needs is not None
        python = environment.build("surprise", needs, print)
        framework = plugins().framework("surprise")
        assert (framework.version, framework.packages["numpy"]) == ("1.1.4", "1.26.4")
        shown = subprocess.run([python, "-c", "import surprise; print(surprise.__version__)"], capture_output=True)
        assert shown.stdout == b"1.1.4\n"
        old = plugins().recommender("surprise/bias", {})
        old.fit(rows, seed=1)
        np.testing.assert_allclose(
            old.predict_pairs(rows.users, rows.items).values,
            here.predict_pairs(rows.users, rows.items).values,
            rtol=0,
            atol=1e-12,
        )
        users, items = np.arange(60, dtype=np.int32), np.arange(40, dtype=np.int32)
        np.testing.assert_allclose(
            old.score_users(users, items).values, here.score_users(users, items).values, rtol=0, atol=1e-12
        )
