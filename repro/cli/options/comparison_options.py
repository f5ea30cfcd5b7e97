"""Options of tests of significance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from repro.cli.options.option_classes import completes, option


def _complete_from(table: str) -> Callable[..., Any]:
    """Offers the names of a table of :mod:`repro.stats`."""

    @completes()
    def names(text: str) -> Iterable[str]:
        import repro.stats

        return list(getattr(repro.stats, table))

    return names


complete_test, complete_correction, complete_zeros = map(_complete_from, ("TESTS", "CORRECTIONS", "ZEROS"))


def test_option() -> Any:
    """``--test``, randomisation by default."""
    return option(
        "randomisation, wilcoxon, t, sign, bootstrap, nemenyi, conover.",
        metavar="NAME",
        shell_complete=complete_test,
        default="randomisation",
    )


def correct_option(family: str) -> Any:
    """``--correct``, the correction for the number of tests of a ``family``."""
    return option(
        f"none, bonferroni, holm, hochberg, sidak, benjamini-hochberg; over {family}.",
        metavar="NAME",
        shell_complete=complete_correction,
        default="holm",
    )
