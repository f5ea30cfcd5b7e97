"""What is declared is what is there, here and in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from repro.plugin import Case, plugins
from repro.plugin.isolation.environment import build
from repro_ranx.plugin import PINS, repro_evaluators, repro_framework


def test_the_installed_plugin_is_found_and_runs_here() -> None:
    assert plugins().location("ranx") == "in-process"
    assert plugins().framework("ranx").version == "0.3.21"
    assert plugins().framework("ranx").algorithms == ()


def test_the_declaration_does_not_need_the_framework() -> None:
    code = (
        "import sys\n"
        "for name in ('ranx', 'scipy', 'pandas', 'numba', 'pyarrow', 'pydantic'):\n"
        "    sys.modules[name] = None\n"
        "from repro_ranx.plugin import repro_evaluators\n"
        "assert repro_evaluators()[0].name == 'ranx/evaluate'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_environment_is_pinned_in_full() -> None:
    assert all(pin.count("==") == 1 and "+" not in pin for pin in PINS)
    assert {"ranx", "numpy", "pandas", "pluggy", "scipy"} <= {pin.partition("==")[0] for pin in PINS}


@pytest.mark.slow
def test_here_and_in_an_environment_of_its_own_the_answers_are_the_same(
    case_of: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of({1: {1: 0.9, 2: 0.5, 3: 0.4}, 2: {1: 0.1, 2: 0.2}}, {1: {3: 2.0, 2: 0.0}, 2: {1: 5.0, 3: 4.0}})
    needs = repro_framework().environment
    assert needs is not None
    build("ranx", needs, lambda line: None)
    for evaluator in repro_evaluators():
        for measure, k in (("ndcg@k", 3), ("precision", None)):  # each takes long to compile
            found = []
            for apart in ("", "ranx"):
                monkeypatch.setenv("REPRO_ISOLATE", apart)
                found.append(plugins().evaluate(evaluator, case, measure, k))
            assert found[0] == found[1]
