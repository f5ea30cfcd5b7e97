"""Predictions of Surprise: pairs with the true rating, the prediction, and whether it is a fallback.

They are named tuples (uid, iid, r_ui, est, details); where ``details["was_impossible"]`` is true, the algorithm could
not predict, and the estimate is a fallback. They are recognised by these names; Surprise itself is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

FIELDS = ("uid", "iid", "r_ui", "est", "details")

# In the text of a dictionary, as Python or JSON writes it; it is searched, never evaluated.
_IMPOSSIBLE = re.compile(r"""['"]was_impossible['"]\s*:\s*(?:np\.)?(true|1)\b""", re.IGNORECASE)


def are_predictions(source: object) -> TypeGuard[Sequence[Any]]:
    """Whether these are predictions of Surprise: a list of tuples with its names."""
    if not isinstance(source, Sequence) or isinstance(source, str | bytes) or not source:
        return False
    return all(hasattr(source[0], name) for name in FIELDS)


def prediction_frame(predictions: Sequence[Any]) -> pd.DataFrame:
    """The predictions as a frame under the names that Surprise gives them."""
    return pd.DataFrame({name: pd.Series([getattr(prediction, name) for prediction in predictions]) for name in FIELDS})


def states_of_details(details: Iterable[object]) -> npt.NDArray[Any]:
    """Fallbacks are where ``details`` (dictionaries, or the text of them) say that a prediction was impossible."""
    return _states((str(cell) for cell in details), lambda text: bool(_IMPOSSIBLE.search(text)))


def states_of_flags(flags: Iterable[object]) -> npt.NDArray[Any]:
    """Fallbacks are where a column ``was_impossible`` is true."""
    return _states((str(flag) for flag in flags), lambda text: text.strip().lower() in ("true", "1", "1.0", "yes"))


def _states(texts: Iterable[str], impossible: Callable[[str], bool]) -> npt.NDArray[Any]:
    """Each text is looked at once, however many rows have it."""
    codes, distinct = pd.factorize(np.array(list(texts), dtype=object))
    return np.array(["fallback" if impossible(text) else "scored" for text in distinct], dtype=object)[codes]
