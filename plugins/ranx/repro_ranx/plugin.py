"""The declaration of the framework ``ranx``, which has evaluators and no algorithms."""

from __future__ import annotations

from pathlib import Path

from repro.plugin import Framework, impl, pinned_framework
from repro_ranx.evaluators import EVALUATORS


@impl
def repro_framework() -> Framework:
    return pinned_framework(
        "ranx",
        summary="ranking measures, compiled as they are first used",
        requirements=Path(__file__).with_name("requirements.txt"),
    )


repro_evaluators = impl(lambda: EVALUATORS)
