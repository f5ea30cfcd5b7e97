"""What is declared is what is there, here and in an environment of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from repro.plugin import Case, plugins
from repro.plugin.isolation.environment import build
from repro_pytrec_eval.plugin import PINS, repro_evaluators, repro_framework


def test_the_installed_plugin_is_found_and_runs_here() -> None:
    assert plugins().location("pytrec_eval") == "in-process"
    assert plugins().framework("pytrec_eval").version == "0.5.11"
    assert plugins().framework("pytrec_eval").algorithms == ()


def test_the_declaration_does_not_need_the_framework() -> None:
    code = (
        "import sys\n"
        "for name in ('pytrec_eval', 'scipy', 'pandas', 'numba', 'pyarrow', 'pydantic'):\n"
        "    sys.modules[name] = None\n"
        "from repro_pytrec_eval.plugin import repro_evaluators\n"
        "assert repro_evaluators()[0].name == 'pytrec_eval/RelevanceEvaluator'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_environment_is_pinned_in_full() -> None:
    assert all(pin.count("==") == 1 and "+" not in pin for pin in PINS)
    assert {"pytrec-eval-terrier", "numpy", "pandas", "pluggy", "scipy"} <= {pin.partition("==")[0] for pin in PINS}


@pytest.mark.slow
def test_here_and_in_an_environment_of_its_own_the_answers_are_the_same(
    five_users: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = repro_framework().environment
    assert needs is not None
    build("pytrec_eval", needs, lambda line: None)
    for evaluator in repro_evaluators():
        for measure, metric in evaluator.measures.items():
            found = []
            for apart in ("", "pytrec_eval"):
                monkeypatch.setenv("REPRO_ISOLATE", apart)
                found.append(plugins().evaluate(evaluator, five_users, measure, 3 if "@" in metric else None))
            assert found[0] == found[1]
