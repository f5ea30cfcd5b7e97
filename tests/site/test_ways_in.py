"""The architecture page names every package and no other; the glossary explains the abbreviations of protocols."""

import re
import tomllib
from pathlib import Path

import pytest

from repro import ReproWarning

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGES = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "repro").rglob("__init__.py")} - {"repro"}


def protocol_titles():
    paths = sorted((ROOT / "protocols").glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["title"] for path in paths}


def abbreviations(text):
    """Words of capitals and digits, such as 1R, AN, TI-NN (two of them) and P1R."""
    return {word for word in re.findall(r"\b[A-Z0-9]{2,4}\b", text) if re.search("[A-Z]", word)}


def defined_terms():
    cells = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY, re.MULTILINE)
    return {term.strip() for cell in cells for term in re.split(r"[,;]|\*\*", cell)}


def test_the_architecture_names_every_package_and_only_packages_that_exist():
    named = set(re.findall(r"^\| `(repro/[a-z_/]+)` \|", ARCHITECTURE, re.MULTILINE))
    assert named == PACKAGES


def test_every_path_in_the_architecture_exists():
    for path in re.findall(r"`((?:repro|plugins|protocols|reports|tests|benchmarks)/[\w/.]*)`", ARCHITECTURE):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("name", protocol_titles())
def test_the_glossary_explains_the_abbreviations_of_protocols(name):
    words = abbreviations(protocol_titles()[name]) | abbreviations(re.sub("[-_]", " ", name).upper()) & KNOWN
    assert words <= defined_terms(), words - defined_terms()


KNOWN = {"1R", "AI", "TI", "UT", "AN", "NN", "RPN", "P1R", "U1R", "UAR"}


def test_protocols_use_these_abbreviations():
    used = set().union(*map(abbreviations, protocol_titles().values()))
    assert KNOWN - {"AI", "TI"} <= used and {"AI", "TI"} <= used


def test_an_abbreviation_without_an_explanation_is_noticed():
    assert not abbreviations("ranked by XYZ (Q7R)") <= defined_terms()


def test_the_commands_of_the_guide_for_contributors_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"^make ([a-z-]+)", CONTRIBUTING, re.MULTILINE))
    assert named and named <= targets


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md"])
def test_links_lead_to_files(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_first_example_prints_what_the_readme_shows(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL).groups()
    with pytest.warns(ReproWarning, match="tie"):
        exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown
