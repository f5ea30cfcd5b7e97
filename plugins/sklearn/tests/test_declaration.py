"""What is declared is what is there, here and in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from repro.plugin import Case, plugins
from repro.plugin.isolation.environment import build
from repro_sklearn.plugin import PINS, repro_evaluators, repro_framework


def test_the_installed_plugin_is_found_and_runs_here() -> None:
    assert plugins().location("sklearn") == "in-process"
    assert plugins().framework("sklearn").version == "1.9.1"
    assert plugins().framework("sklearn").algorithms == ()


def test_the_declaration_does_not_need_the_framework() -> None:
    code = (
        "import sys\n"
        "for name in ('sklearn', 'scipy', 'pandas', 'numba', 'pyarrow', 'pydantic'):\n"
        "    sys.modules[name] = None\n"
        "from repro_sklearn.plugin import repro_evaluators\n"
        "assert repro_evaluators()[0].name == 'sklearn/ndcg_score'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_environment_is_pinned_in_full() -> None:
    assert all(pin.count("==") == 1 and "+" not in pin for pin in PINS)
    assert {"scikit-learn", "numpy", "pandas", "pluggy", "scipy"} <= {pin.partition("==")[0] for pin in PINS}


@pytest.mark.slow
def test_here_and_in_an_environment_of_its_own_the_answers_are_the_same(
    case_of: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of({1: {1: 0.9, 2: 0.5, 3: 0.5}, 2: {1: 0.1, 2: 0.2, 3: 0.3}}, {1: {3: 1.0}, 2: {1: 1.0, 3: 1.0}})
    needs = repro_framework().environment
    assert needs is not None
    build("sklearn", needs, lambda line: None)
    for evaluator in repro_evaluators():
        for measure, metric in evaluator.measures.items():
            found = []
            for apart in ("", "sklearn"):
                monkeypatch.setenv("REPRO_ISOLATE", apart)
                found.append(plugins().evaluate(evaluator, case, measure, 3 if "@" in metric else None))
            assert found[0] == found[1]
