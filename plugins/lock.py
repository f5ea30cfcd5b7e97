"""Write the hashes of every pinned requirement of the plug-ins, as the package index states them.

    python plugins/lock.py [NAME ...]    # all plug-ins, or some; versions stay as they are

A pin gets the SHA-256 of each file of that version in the index that Python 3.11 or newer could install, so that pip
can choose the file that fits the machine, and no other. Change a version by hand, and run this.
"""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
import urllib.request
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from repro.plugin import read_requirements

OLDEST = (3, 11)
# Installed without hashes, before the others: its build depends on the machine (see SECURITY.md).
UNHASHED = ("torch",)


class Links(HTMLParser):
    """The files that a page of an index lists: name and SHA-256."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get("href") or ""
        path, _, fragment = address.partition("#")
        if tag == "a" and fragment.startswith("sha256="):
            self.files[urllib.request.unquote(path.rpartition("/")[2])] = fragment.removeprefix("sha256=")


@cache
def index() -> str:
    """The package index that pip uses here."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return os.environ.get("PIP_INDEX_URL") or configured or "https://pypi.org/simple"


@cache
def listed(name: str) -> dict[str, str]:
    """All files of a distribution."""
    request = urllib.request.Request(
        f"{index().rstrip('/')}/{canonicalize_name(name)}/", headers={"Accept": "text/html"}
    )
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
    with urllib.request.urlopen(request, timeout=60, context=context) as page:
        links = Links()
        links.feed(page.read().decode())
    return links.files


def hashes(pin: str) -> list[str]:
    """The SHA-256 of every file of a pinned version that can be installed."""
    name, _, version = pin.partition("==")
    digests = sorted({sha for file, sha in listed(name).items() if _is_of(file, Version(version))})
    if not digests:
        raise SystemExit(f"{pin}: the index lists no file of this version with a SHA-256")
    return digests


def _is_of(file: str, version: Version) -> bool:
    """Whether a file is of that version, and for a Python that is not too old."""
    try:
        if file.endswith(".whl"):
            _, wheel_version, _, tags = parse_wheel_filename(file)
            return wheel_version == version and any(_is_recent(tag.interpreter, tag.abi) for tag in tags)
        return parse_sdist_filename(file)[1] == version
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return False


def _is_recent(interpreter: str, abi: str) -> bool:
    """Whether a tag is of CPython 3.11 or newer, or of any Python 3."""
    match = re.fullmatch(r"(cp|py)3(\d*)", interpreter)
    if not match:
        return False
    return match[1] == "py" or abi == "abi3" or (3, int(match[2] or 0)) >= OLDEST


def lock(file: Path) -> None:
    """Write the requirements of a plug-in with their hashes."""
    pins, _ = read_requirements(file)
    lines = []
    for pin in pins:
        known = [] if pin.partition("==")[0] in UNHASHED else hashes(pin)
        lines.append(" \\\n    ".join([pin, *(f"--hash=sha256:{entry}" for entry in known)]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{file}: {len(pins)} pins")


def main() -> None:
    folder = Path(__file__).parent
    for file in sorted(folder.glob("*/repro_*/requirements.txt")):
        if not sys.argv[1:] or file.parts[-3] in sys.argv[1:]:
            lock(file)


if __name__ == "__main__":
    main()
