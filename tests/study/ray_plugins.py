"""Plug-ins that the nodes of a cluster run in tests: algorithms that wait, fail or die, and a missing framework."""

import sysconfig
import zipfile
from pathlib import Path

HERE = Path(sysconfig.get_paths()["purelib"])
SEES_HERE = f"import site; site.addsitedir({str(HERE)!r})"

STAGED = '''
"""Algorithms that wait, fail or die in ``fit``, depending on their parameters."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from repro.errors import DataError
from repro.plugin import Algorithm, Framework, Parameter, Scores, impl


class Staged:
    def __init__(self, stage, folder):
        self.stage, self.folder = stage, Path(folder)

    def fit(self, train, *, seed):
        self.counts = train.item_counts().astype(float)
        self.noise = np.random.default_rng(seed).random(train.n_items)
        getattr(self, "_" + self.stage)()

    def _plain(self):
        pass

    def _wait(self):
        """Write a file with the node and the process, and wait for the file ``go``."""
        import ray

        if ray.is_initialized():
            mark = self.folder / ray.get_runtime_context().get_node_id()
            mark.with_suffix(".part").write_text(str(os.getpid()))
            mark.with_suffix(".part").rename(mark)
            while not (self.folder / "go").exists():
                time.sleep(0.01)

    _stay = _wait

    def _die_once(self):
        died = self.folder / "died"
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def _die(self):
        with (self.folder / "deaths").open("a") as deaths:
            deaths.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    def _fail(self):
        with (self.folder / "failures").open("a") as failures:
            failures.write("x")
        raise DataError("there is nothing to learn here; take other data")

    def score(self, queries, items):
        users = queries.users
        return Scores(self.counts[items] + self.noise[items] * (1 + users[:, None] % 3))


@impl
def repro_framework():
    stages = ("plain", "wait", "stay", "die_once", "die", "fail")
    parameters = (Parameter("stage", "plain", "", stages), Parameter("folder", "", ""))
    return Framework("staged", "1.0", "", (Algorithm("staged", "", Staged, parameters),))
'''


TINY = '''
"""A framework that no node has, and that scores by its version."""

import sys
from importlib.metadata import version

import numpy as np

from repro.plugin import Algorithm, Environment, Framework, Scores, impl


class Constant:
    def fit(self, train, *, seed):
        import tiny_framework

        self.sign = tiny_framework.SIGN
        self.notes = {"version": version("tiny-framework"), "prefix": sys.prefix}

    def score(self, queries, items):
        users = queries.users
        return Scores(np.tile(self.sign * np.asarray(items, dtype=float), (len(users), 1)))


@impl
def repro_framework():
    steps = (("--no-index", "--no-deps", "--find-links", "WHEELS", "tiny-framework==2.0"),)
    algorithm = Algorithm("constant", "", Constant)
    return Framework("tiny", "2.0", "", (algorithm,), environment=Environment(("tiny_framework",), steps))
'''


def add_wheel(folder):
    """A package of one module, in a folder that pip can search; its environment sees the packages of this one."""
    about = "tiny_framework-2.0.dist-info"
    files = {
        "tiny_framework.py": "SIGN = -1\n",
        "here.pth": SEES_HERE,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: tiny-framework\nVersion: 2.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / "tiny_framework-2.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
