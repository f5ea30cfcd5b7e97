"""The folders of stored machine code, and who may have written it."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from repro.compiling.identity import digest_of

_OTHERS = {stat.S_IWGRP: "st_gid", stat.S_IWOTH: None}


def folder_of(source: Path) -> Path:
    """The folder of the machine code of a source file: that of its bytecode, or where Numba is told to store."""
    if stated := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(stated) / f"repro-{digest_of(str(source.parent))[:16]}"
    beside = source.parent / "__pycache__"
    if os.access(beside if beside.exists() else source.parent, os.W_OK) or any(beside.glob("*.machine")):
        return beside
    import platformdirs

    return Path(platformdirs.user_cache_dir("repro")) / "machine-code" / digest_of(str(source.parent))[:16]


def read(path: Path, source: Path) -> bytes:
    """The content of a file; a PermissionError where somebody may have written it who may not change the source."""
    _require_trust(path.parent.stat(), path.parent, source)
    with path.open("rb") as file:
        _require_trust(os.fstat(file.fileno()), path, source)
        return file.read()


def write(path: Path, content: bytes, source: Path) -> None:
    """Write a file at once, so that no other process sees a part of it."""
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o755 if path.parent.name == "__pycache__" else 0o700, exist_ok=True)
    _require_trust(path.parent.stat(), path.parent, source)
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _require_trust(status: os.stat_result, path: Path, source: Path) -> None:
    """A PermissionError unless a file or folder is as safe as the source: who can change this can change anything."""
    of_source = source.parent.stat()
    if hasattr(os, "geteuid") and status.st_uid not in {os.geteuid(), 0, of_source.st_uid}:
        raise PermissionError(f"{path} belongs to another user")
    for bit, owner in _OTHERS.items():
        same = owner is None or getattr(status, owner) == getattr(of_source, owner)
        if status.st_mode & bit and not (of_source.st_mode & bit and same):
            raise PermissionError(f"{path} can be written by others, who cannot write {source.parent}")
