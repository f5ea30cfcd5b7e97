"""A framework that two files next to the module of a plug-in describe."""

from __future__ import annotations

import pytest

from repro.errors import PluginError
from repro.plugin import pinned_framework

PINS = "torch==2.1 --hash=sha256:aa \\\n --hash=sha256:bb\nTiny_Framework==1.5\n"


@pytest.fixture
def declared(tmp_path):
    (tmp_path / "requirements.txt").write_text(PINS)

    def framework(text):
        (tmp_path / "framework.toml").write_text(text)
        return pinned_framework(str(tmp_path / "plugin.py"))

    return framework


def test_names_follow_from_that_of_the_framework(declared):
    framework = declared('name = "tiny_framework"\nsummary = "small"\n')
    assert (framework.name, framework.version, framework.summary) == ("tiny_framework", "1.5", "small")
    environment = framework.environment
    assert environment.imports == ("tiny_framework",)
    assert environment.install == "pip install 'recsys-repro-tiny-framework[framework]'"
    assert environment.steps == (("--no-deps", "torch==2.1", "Tiny_Framework==1.5"),)
    assert environment.hashes == {"torch==2.1": ("sha256:aa", "sha256:bb")}


def test_pins_are_installed_first_by_name(declared):
    framework = declared('name = "x"\nsummary = ""\ndistribution = "tiny-framework"\nfirst = ["torch"]\n')
    assert framework.version == "1.5" and framework.environment.steps[0] == ("torch==2.1",)


@pytest.mark.parametrize(("text", "fault"), [('name = "x"\n', "summary"), ('nam = "x"\n', "nam"), ("name", "Expected")])
def test_a_wrong_file_is_named(declared, text, fault):
    with pytest.raises(PluginError, match=f"framework.toml does not declare a framework: .*{fault}"):
        declared(text)
