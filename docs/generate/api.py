"""The pages about the Python interface: one for each public name, which autodoc fills."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

from tables import code, escaped, table, toctree

import repro

# Public packages whose public names have pages of their own kind.
PACKAGES = ("audits", "data", "plugin", "protocol", "replications", "reviews", "stats", "testing")


def api_pages() -> dict[str, str]:
    """A page for each public name of `repro`, one for each public package, and one that lists them."""
    names = [
        name for name in repro.__all__ if not name.startswith("_") and not isinstance(getattr(repro, name), ModuleType)
    ]
    functions = [name for name in names if not inspect.isclass(getattr(repro, name))]
    classes = [name for name in names if inspect.isclass(getattr(repro, name))]
    lines = ["# Python", "", "Everything here is imported with `import repro`.", ""]
    for title, chosen in (("Functions", functions), ("Classes", classes)):
        rows = [(f"[repro.{name}]({name}.md)", escaped(_summary(getattr(repro, name)))) for name in chosen]
        lines += [f"## {title}", "", table(("name", "what it does" if title == "Functions" else "what it is"), rows)]
    packages = [(f"[repro.{name}](package-{name}.md)", escaped(_summary(_package(name)))) for name in PACKAGES]
    lines += ["## Packages", "", table(("name", "contents"), packages)]
    pages = {f"{name}.md": f"# {name}\n\n{_directive('repro', name)}" for name in names}
    pages |= {f"package-{name}.md": _package_page(name) for name in PACKAGES}
    lines += [toctree(pages)]
    return {"reference/api/index.md": "\n".join(lines), **{f"reference/api/{key}": page for key, page in pages.items()}}


def _directive(package: str, name: str) -> str:
    kind = "class" if inspect.isclass(getattr(importlib.import_module(package), name)) else "function"
    return f"```{{eval-rst}}\n.. auto{kind}:: {package}.{name}\n```\n"


def _package(name: str) -> ModuleType:
    return importlib.import_module(f"repro.{name}")


def _package_page(name: str) -> str:
    package = _package(name)
    public = [member for member in package.__all__ if _is_documented(package, member)]
    constants = [member for member in package.__all__ if member not in public]
    own = [member for member in public if getattr(package, member) is not getattr(repro, member, None)]
    elsewhere = [f"[{member}]({member}.md)" for member in public if member not in own]
    lines = [f"# repro.{name}", "", escaped(inspect.getdoc(package) or ""), ""]
    if constants:
        lines += [f"Constants and types: {', '.join(map(code, constants))}.", ""]
    if elsewhere:
        lines += [f"Also in `repro` itself: {', '.join(elsewhere)}.", ""]
    for member in own:
        lines += [f"## {member}", "", _directive(f"repro.{name}", member)]
    return "\n".join(lines)


def _is_documented(package: ModuleType, name: str) -> bool:
    member = getattr(package, name)
    return inspect.isclass(member) or inspect.isfunction(member)


def _summary(member: object) -> str:
    return (inspect.getdoc(member) or "").split("\n\n")[0].replace("\n", " ")
