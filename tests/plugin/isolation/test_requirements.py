"""The requirements of every framework's environment are all that is in it, and enough."""

import re
import subprocess

import pytest

from repro.plugin import plugins
from repro.plugin.isolation import environment

FRAMEWORKS = [name for name, framework in plugins().frameworks.items() if framework.environment]
# What an empty environment has.
THERE = {"pip", "setuptools"}


def versions(lines):
    """By the name of a distribution, spelt as the index does, without the local part of a version."""
    pairs = (line.partition("==")[::2] for line in lines)
    return {re.sub(r"[-_.]+", "-", name).lower(): version.partition("+")[0] for name, version in pairs}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_requirement_is_an_exact_version(name):
    steps = plugins().framework(name).environment.steps
    stated = [argument for step in steps for argument in step if not argument.startswith("--")]
    assert [entry for entry in stated if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][^+\s]*", entry)] == []
    assert set(environment.WORKER) <= versions(stated).keys()


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_requirement_but_torch_has_hashes(name):
    """torch is the machine's own build (SECURITY.md); nothing else is installed by its name and version alone."""
    needs = plugins().framework(name).environment
    stated = {argument for step in needs.steps for argument in step if not argument.startswith("--")}
    assert {pin for pin in stated if pin not in needs.hashes} <= {"torch==2.13.0"}
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", entry) for pin in needs.hashes for entry in needs.hashes[pin])


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_environment_holds_what_is_required_and_nothing_is_missing_in_it(name):
    needs = plugins().framework(name).environment
    python = environment.build(name, needs, print)
    stated = versions(argument for step in needs.steps for argument in step if not argument.startswith("--"))
    actual = versions(environment.freeze_of(name, needs))
    assert {entry: version for entry, version in actual.items() if entry not in THERE | stated.keys()} == {}
    assert {entry: actual[entry] for entry in stated} == stated
    checked = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
