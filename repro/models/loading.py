"""Code of a user by its name: ``package.module:name``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repro.errors import PluginError


def load_code(name: str) -> Callable[..., Any]:
    """The function or class ``package.module:name``; modules in the current folder can be imported too."""
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        raise PluginError(f"'{name}' is not the name of a function or class; write package.module:name")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        loaded: Any = importlib.import_module(module)
    except ImportError as error:
        raise PluginError(f"cannot import {module}: {error}; is it installed, or in this folder?") from None
    for part in path.split("."):
        if not hasattr(loaded, part):
            raise PluginError(f"{module} has no {path}")
        loaded = getattr(loaded, part)
    if not callable(loaded):
        raise PluginError(f"{name} is {type(loaded).__name__}, not a function or class")
    code: Callable[..., Any] = loaded
    return code
