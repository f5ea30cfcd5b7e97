"""The stages of an experiment, from the data to a number; each decision belongs to one of them.

``data`` and ``split`` come before a model is fitted. Lists are then judged (``relevance``), given their items
(``candidates``), completed where scores are missing (``missing``), compared (``precision``: when are two scores equal),
ordered (``ties``), measured (``metric``) and averaged (``average``). Predicted ratings are compared with real ones
(``predict``) and measured.
"""

from __future__ import annotations

from typing import Literal, get_args

Stage = Literal[
    "data", "split", "relevance", "candidates", "missing", "precision", "ties", "metric", "average", "predict"
]
STAGES: tuple[Stage, ...] = get_args(Stage)
BEFORE_FITTING: tuple[Stage, ...] = ("data", "split")
OF_LISTS: tuple[Stage, ...] = ("relevance", "candidates", "missing", "precision", "ties", "average")
OF_PREDICTIONS: tuple[Stage, ...] = ("predict",)


def stage_named_by(decision: str) -> Stage | None:
    """The stage that the first word of a decision's id names; None where it names none."""
    first = decision.partition(".")[0]
    return next((stage for stage in STAGES if stage == first), None)
