"""Whether there is a Java that Spark can run on is said in a sentence, before Spark fails in many."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import PluginError
from repro_spark.java import require_java


def install(folder: Path, answer: str) -> Path:
    """A java in ``folder``/bin that tells this version; the folder."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No Java on the path."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return monkeypatch


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_recent_java_is_fine(version: str, nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("JAVA_HOME", str(install(tmp_path / "jdk", f'openjdk version "{version}" 2025-04-15')))
    require_java()


def test_java_is_looked_for_on_the_path(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("PATH", str(install(tmp_path / "jdk", 'openjdk version "17.0.15"') / "bin"))
    require_java()


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "16.0.1"])
def test_an_old_java_is_said(version: str, nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("JAVA_HOME", str(install(tmp_path / "jdk", f'java version "{version}"')))
    expected = f'needs Java 17 or later, and .*/jdk/bin/java is version "{version}"; install a Java 17'
    with pytest.raises(PluginError, match=expected):
        require_java()


@pytest.mark.usefixtures("nowhere")
def test_no_java_is_said() -> None:
    with pytest.raises(PluginError, match=r"there is no java on the path; install a Java 17 .* or set JAVA_HOME"):
        require_java()


def test_a_wrong_home_of_java_is_said(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PluginError, match=r"JAVA_HOME = .* has no bin/java"):
        require_java()


def test_a_java_that_tells_nothing_is_said(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("JAVA_HOME", str(install(tmp_path / "jdk", "not today")))
    with pytest.raises(PluginError, match="does not print its version"):
        require_java()
