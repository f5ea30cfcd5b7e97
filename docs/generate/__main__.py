"""Build the site: write its pages into build/docs, then call Sphinx, for which every warning is an error.

`python docs/generate [--fast] [--into FOLDER]`: pages in docs/ as they are, with links to other files of the
repository; pages made from the code; outputs of examples, which run here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from api import api_pages
from commands import command_pages
from decisions import decision_pages, metric_pages, protocol_pages
from examples import with_outputs
from formats import format_pages
from plugin_pages import plugin_pages
from repository import ROOT, Repository, gallery
from sphinx.cmd.build import main as sphinx
from worked import examples, with_examples

DOCS = ROOT / "docs"
PAGES = (api_pages, command_pages, decision_pages, metric_pages, protocol_pages, plugin_pages, format_pages)

# Files of the repository that docs/index.md names in the navigation.
IN_NAVIGATION = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def write_source(folder: Path, *, run: bool) -> None:
    """Write everything that Sphinx reads into ``folder``; with ``run``, examples in pages run."""
    repository = Repository()
    worked = examples() if run else {}
    pages = {}
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS).as_posix()
        text = with_outputs(path.read_text(encoding="utf-8"), run=run)
        if name.startswith("why/"):
            text = with_examples(text, worked)
        pages[name] = repository.rewritten(text, f"docs/{name}", name)
    readme = repository.rewritten((ROOT / "README.md").read_text(encoding="utf-8"), "README.md", "index.md")
    pages["index.md"] = readme + pages["index.md"]
    for generate in PAGES:
        pages |= generate()
    pages |= gallery(repository)
    listed = {repository.address(name) for name in IN_NAVIGATION}
    others = {
        name: text if name in listed else f"---\norphan: true\n---\n\n{text}" for name, text in repository.pages.items()
    }
    pages = others | pages
    for name, text in pages.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (folder / "extra").mkdir()
    for name, file in repository.files.items():
        target = folder / ("extra" if file.suffix == ".html" else "") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    shutil.copytree(DOCS / "pictures", folder / "pictures")
    for notebook in DOCS.glob("notebooks/*.ipynb"):
        shutil.copy(notebook, folder / "notebooks")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="only check the pages: run no examples, write no HTML")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "site", help="the folder of the site")
    options = parser.parse_args()
    source = options.into.with_name(f"{options.into.name}-source")
    for folder in (source, options.into):
        shutil.rmtree(folder, ignore_errors=True)
    write_source(source, run=not options.fast)
    if options.fast:
        os.environ["DOCS_NOTEBOOKS"] = "off"
    return sphinx(
        [
            *("-b", "dummy" if options.fast else "html", "--fail-on-warning", "--quiet", "--jobs", "1"),
            *("-c", os.fspath(Path(__file__).parent), "-D", f"html_extra_path={source / 'extra'}"),
            *(os.fspath(source), os.fspath(options.into)),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
