"""Files of the repository that pages link to, as pages of the site; and the reports as its gallery."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from tables import code, fence, table, toctree

ROOT = Path(__file__).parents[2]
DOCS = "docs"
LINK = re.compile(r"(?P<before>!?\[[^\]]*\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?P<after>(?: \"[^\"]*\")?\))")
FENCE = re.compile(r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh", ".json": "json", ".txt": "text", ".yml": "yaml"}
LARGEST_PAGE = 60_000
# Folders that tests and builds leave.
SKIPPED = ("__pycache__", "run")


class Repository:
    """Pages and files of the site that stand for files of the repository, collected as links are met."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.files: dict[str, Path] = {}

    def rewritten(self, markdown: str, source: str, page: str) -> str:
        """``markdown`` of the file ``source`` with links that lead to pages of the site, seen from ``page``."""
        parts, end = [], 0
        for block in FENCE.finditer(markdown):
            parts += [self._links(markdown[end : block.start()], source, page), block[0]]
            end = block.end()
        return "".join([*parts, self._links(markdown[end:], source, page)])

    def _links(self, text: str, source: str, page: str) -> str:
        def replace(match: re.Match[str]) -> str:
            target = match["target"]
            if "://" in target or target.startswith("mailto:"):
                return match[0]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
            if not (ROOT / path).exists():
                return match[0]  # Sphinx says that the link is broken, or a generated page is meant
            address = posixpath.relpath(self.address(path), posixpath.dirname(page) or ".")
            return f"{match['before']}{address}{match['anchor'] or ''}{match['after']}"

        return LINK.sub(replace, text)

    def address(self, path: str) -> str:
        """The source of the page, or the file of the site, that stands for a file or folder of the repository."""
        if path == DOCS or path.startswith(f"{DOCS}/"):
            return path.removeprefix(DOCS).lstrip("/") or "index.md"
        if path == "README.md":
            return "index.md"
        file = ROOT / path
        inside = path.removeprefix("reports/")
        base = f"gallery/{inside}" if path != inside else f"files/{path}"
        if file.is_dir():
            readme = f"{path}/README.md"
            if (ROOT / readme).exists():
                return self.address(readme)
            return self._page(f"{base}/index.md", lambda: _listing(path, file))
        if file.suffix == ".md":
            return self._page(base, lambda: self.rewritten(file.read_text(encoding="utf-8"), path, base))
        if file.suffix in LANGUAGES or file.name in ("LICENSE", "Makefile"):
            text = file.read_text(encoding="utf-8")
            if len(text) < LARGEST_PAGE:
                return self._page(f"{base}.md", lambda: _source(path, text))
        self.files[base] = file
        return base

    def _page(self, address: str, content) -> str:  # type: ignore[no-untyped-def]
        if address not in self.pages:
            self.pages[address] = ""  # pages may link to each other
            self.pages[address] = content()
        return address


def _source(path: str, text: str) -> str:
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"# {code(path)}\n\n{fence(text, language)}"


def _listing(path: str, folder: Path) -> str:
    files = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]
    shown = [name for name in files if not {*name.split("/")} & {*SKIPPED}]
    return f"# {code(path)}\n\n" + table(("file",), [(code(name),) for name in shown])


def gallery(repository: Repository) -> dict[str, str]:
    """A page for each report: its README, its figures, and the pages that `make reports` made, if there are any."""
    pages: dict[str, str] = {}
    rows = []
    for folder in sorted(path for path in (ROOT / "reports").iterdir() if path.is_dir()):
        address = f"gallery/{folder.name}/README.md"
        pages[address] = _report(repository, folder, address)
        title = pages[address].partition("\n")[0].lstrip("# ")
        rows.append((f"[{title}]({folder.name}/README.md)", ", ".join(_made(folder)) or "–"))
    lines = [
        "# Gallery",
        "",
        "Questions that were answered with repro. Each has its study or claim, its results and its journal in the "
        "repository; `make reports` computes them again, and `repro verify` checks them. Pages are there where "
        "`make reports` made them before the site was built.",
        "",
        table(("question", "pages"), rows),
    ]
    lines += [toctree(page.removeprefix("gallery/") for page in pages)]
    return {"gallery/index.md": "\n".join(lines), **pages}


def _report(repository: Repository, folder: Path, address: str) -> str:
    path = f"reports/{folder.name}"
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else _without_readme(folder)
    text = repository.rewritten(text, f"{path}/README.md", address)
    for name, file in _pages_of(folder):
        repository.files[f"gallery/{folder.name}/{name}"] = file
    links = [f"[{name}]({name})" for name in _made(folder)]
    return text + (f"\n\n## Pages\n\n{', '.join(links)}\n" if links else "")


def _without_readme(folder: Path) -> str:
    """The question of the study of a report, with its figures."""
    study = (folder / "study.toml").read_text(encoding="utf-8")
    question = re.search(r'^question = "(.*)"', study, re.MULTILINE)
    figures = [f"![{path.stem.replace('-', ' ')}]({path.name})\n" for path in sorted(folder.glob("*.svg"))]
    tables = [f"- [{path.name}]({path.name})" for path in sorted(folder.glob("*.csv"))]
    title = question[1] if question else folder.name
    return "\n".join([f"# {title}", "", fence(study, "toml"), *figures, *tables, ""])


def _pages_of(folder: Path) -> Iterator[tuple[str, Path]]:
    made = ROOT / "build" / "reports" / folder.name
    for file in sorted(made.rglob("*.html")) if made.is_dir() else ():
        name = file.relative_to(made)
        if "run" not in name.parts:
            yield name.as_posix(), file


def _made(folder: Path) -> list[str]:
    """The pages of a report that stand at its top."""
    return [name for name, _ in _pages_of(folder) if "/" not in name]
