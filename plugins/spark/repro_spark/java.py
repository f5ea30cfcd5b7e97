"""The Java that Spark would start: is it there, and is it recent enough?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from repro.errors import PluginError

OLDEST = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')
_REMEDY = f"install a Java {OLDEST} runtime (such as openjdk-{OLDEST}-jre-headless), or set JAVA_HOME to one"


def require_java() -> None:
    """Raise an error that says what to do if there is no Java that Spark can run on."""
    java = _java()
    printed = _printed_version(java)
    match = _VERSION.search(printed)
    if match is None:
        raise PluginError(f"Spark needs Java {OLDEST} or later, and {java} does not print its version; {_REMEDY}")
    if int(match[1]) < OLDEST:
        raise PluginError(f"Spark needs Java {OLDEST} or later, and {java} is {match[0]}; {_REMEDY}")


def _java() -> str:
    """The Java of Spark's launcher: in JAVA_HOME if it is set, and otherwise on the path."""
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise PluginError(f"Spark needs Java {OLDEST} or later, and JAVA_HOME = {home} has no bin/java; {_REMEDY}")
        return str(java)
    on_path = shutil.which("java")
    if on_path is None:
        raise PluginError(f"Spark needs Java {OLDEST} or later, and there is no java on the path; {_REMEDY}")
    return on_path


def _printed_version(java: str) -> str:
    """The output of ``java -version`` (on standard error)."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout
