"""Numba's files of compiled functions, told apart by all that determines the code.

Only to be imported where Numba is needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from numba.core import sigutils
from numba.core.caching import FunctionCache, IndexDataCacheFile

_DIGEST = hashlib.sha256().digest_size
_LOCK = ".repro-compiling.lock"
_PATIENCE = 10.0  # seconds; without the lock, code is used but not stored


class _CheckedFiles(IndexDataCacheFile):
    """Files of code that end with a digest of their content, so that damaged code is an error and not used."""

    def _dump(self, obj: Any) -> bytes:
        content: bytes = super()._dump(obj)
        return content + hashlib.sha256(content).digest()  # Numba reads up to the end of the object

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
            raise ValueError(f"{name} is damaged")
        return super()._load_data(name)


class ExactCache(FunctionCache):
    """The files of one function.

    Numba goes by the source file of the function; here the functions that it calls count as well. Numba's index of a
    function may name the file of another process that stored code for other types at the same moment: here one process
    writes at a time, and code for other types than those asked for is not used. A damaged file counts as none.
    """

    def __init__(self, function: Callable[..., Any], identity: str) -> None:
        super().__init__(function)
        self._identity = identity
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, (self._impl.locator.get_source_stamp(), "with digests")
        )

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), self._identity)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            loaded = super()._load_overload(sig, target_context)
        except Exception:  # reading a damaged file raises errors of many kinds
            self._discard()
            return None
        if loaded is not None and tuple(loaded.signature.args) != tuple(sigutils.normalize_signature(sig)[0]):
            self._discard()
            return None
        return loaded

    def _save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError, Timeout, NotImplementedError), FileLock(Path(self.cache_path) / _LOCK, _PATIENCE):
            try:
                self._cache_file._load_index()
            except Exception:
                self._discard()
            super()._save_overload(sig, data)

    def _discard(self) -> None:
        with suppress(OSError):
            self.flush()
