"""JSON from files that are not trusted: whatever is in them is read, or is a JSONDecodeError."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str) -> Any:
    """The document in ``text``."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("lists or objects that are nested too deeply", text, 0) from None
    except ValueError as error:  # a number of thousands of digits
        raise json.JSONDecodeError(str(error).partition(";")[0], text, 0) from None
