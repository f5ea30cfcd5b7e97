"""What Surprise predicts: pairs with the real rating, the prediction, and whether it had to be made up.

Its predictions are named tuples (uid, iid, r_ui, est, details), and ``details["was_impossible"]`` says that the
algorithm had nothing to say and that the estimate is a fallback. They are recognised by these names; Surprise itself
is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

FIELDS = ("uid", "iid", "r_ui", "est", "details")

# The text of a dictionary, as Python or JSON writes it; looked at, never executed.
_IMPOSSIBLE = re.compile(r"""['"]was_impossible['"]\s*:\s*(?:np\.)?(true|1)\b""", re.IGNORECASE)


def are_predictions(given: object) -> TypeGuard[Sequence[Any]]:
    """Whether these are predictions of Surprise: a list of tuples with its names."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not given:
        return False
    return all(hasattr(given[0], name) for name in FIELDS)


def prediction_frame(predictions: Sequence[Any]) -> pd.DataFrame:
    """The predictions as a frame under the names that Surprise gives them."""
    return pd.DataFrame({name: pd.Series([getattr(one, name) for one in predictions]) for name in FIELDS})


def states_of_details(details: Iterable[object]) -> npt.NDArray[Any]:
    """Fallbacks are where ``details`` (dictionaries, or the text of them) say that a prediction was impossible."""
    return _states((str(one) for one in details), lambda text: bool(_IMPOSSIBLE.search(text)))


def states_of_flags(flags: Iterable[object]) -> npt.NDArray[Any]:
    """Fallbacks are where a column ``was_impossible`` is true."""
    return _states((str(one) for one in flags), lambda text: text.strip().lower() in ("true", "1", "1.0", "yes"))


def _states(texts: Iterable[str], impossible: Callable[[str], bool]) -> npt.NDArray[Any]:
    """Each text is looked at once, however many rows have it."""
    codes, distinct = pd.factorize(np.array(list(texts), dtype=object))
    return np.array(["fallback" if impossible(text) else "scored" for text in distinct], dtype=object)[codes]
