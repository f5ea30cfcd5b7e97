"""The core works without the optional packages, and names the extra of one that is missing."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from repro.extras import EXTRAS, MissingPackage, missing, needed_for

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = {module: extra for extra, packages in EXTRAS.items() for module in packages}
# Modules of the core's own dependencies whose names are not those of their packages.
CORE = {re.match(r"[\w.-]+", line)[0].replace("-", "_") for line in PROJECT["dependencies"]}


def names(requirements):
    return {re.match(r"[\w.-]+", line)[0] for line in requirements}


def test_extras_are_those_of_the_project():
    declared = PROJECT["optional-dependencies"]
    assert {extra: set(packages.values()) for extra, packages in EXTRAS.items()} == {
        extra: names(lines) for extra, lines in declared.items() if extra not in ("all", "dev", "docs")
    }
    assert declared["all"] == [f"recsys-repro[{','.join(sorted(EXTRAS))}]"]


def imports(tree):
    """Each import of a module: its top name, whether it is at the top of the file, and the code around it."""

    def visit(node, around):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], around, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0], around, node.lineno
        for child in ast.iter_child_nodes(node):
            yield from visit(child, [*around, node])

    yield from visit(tree, [])


def guarded(around):
    """Whether an import is for types alone, in a function, or may fail."""
    return any(
        isinstance(node, ast.FunctionDef | ast.Try) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node))
        for node in around
    )


def test_every_import_is_of_the_core_or_of_an_extra():
    """Optional packages are imported where they are used, and nothing else is imported."""
    known = {*sys.stdlib_module_names, *CORE, *OPTIONAL, "repro", "grpc", "IPython"}  # of Ray's client; of notebooks
    unknown, unguarded = [], []
    for path in sorted((ROOT / "repro").rglob("*.py")):
        # The drawing process is started where its package is installed; the kit is for authors who have pytest.
        if path.name == "renderer_process.py" or path.parent.name == "testing":
            continue
        for module, around, line in imports(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path.relative_to(ROOT)}:{line} {module}"
            unknown += [place] if module not in known else []
            unguarded += [place] if module in OPTIONAL and not guarded(around) else []
    assert not unknown
    assert not unguarded


@pytest.mark.parametrize(("module", "extra"), [(module, extra) for module, extra in OPTIONAL.items() if extra != "ray"])
def test_the_error_about_a_missing_package_has_package_extra_and_command(module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackage) as raised, needed_for("the picture"):
        __import__(module)
    package = EXTRAS[extra][module]
    assert str(raised.value) == (
        f"the picture needs the package {package}, which is not installed; the extra '{extra}' has it: "
        f'pip install "recsys-repro[{extra}]"'
    )
    assert package in missing(extra, "the picture") and f"[{extra}]" in missing(extra, "the picture")


def test_another_missing_module_is_no_matter_of_extras():
    with pytest.raises(ModuleNotFoundError), needed_for("the picture"):
        __import__("no_such_module_at_all")


def test_nothing_is_missing_where_all_is_installed():
    assert not missing("stats", "a test")


STEPS = {
    "evaluate": (["python", "{evaluate}"], ""),
    "run": (["run", "study.toml", "--into", "run", "--quiet"], ""),
    "verify": (["verify", "run"], ""),
    "retrain": (["verify", "run", "--level", "retrain", "--quiet"], ""),
    "replay": (["replay", "run", "--into", "replayed", "--quiet"], ""),
    "report": (["report", "run"], ""),
    "diff": (["diff", "run", "replayed"], "stats"),
    "export trec": (["export", "run", "--to", "trec", "--to", "csv", "--into", "plain"], ""),
    "export prov": (["export", "run", "--to", "prov", "--into", "prov"], "export"),
    "export ro-crate": (["export", "run", "--to", "ro-crate", "--into", "ro-crate"], "export"),
    "export ir-metadata": (["export", "run", "--to", "ir-metadata", "--into", "ir-metadata"], "export"),
    "export checklist": (["export", "run", "--to", "checklist", "--into", "checklist"], "export"),
    "export latex": (["export", "run", "--to", "latex", "--into", "latex"], "stats"),
    "compare": (["compare", "run"], "stats"),
    "curve": (["curve", "--run", "lists.csv", "--truth", "truth.csv", "--plot", "curve.svg"], "report"),
}
LISTS = "user,item,score\n1,10,0.9\n1,11,0.8\n2,10,0.3\n2,12,0.4\n"


def test_the_core_alone_does_everything_or_names_the_extra(without, study, evaluate_code, tmp_path):
    """Commands of a minimal installation, in the order of a user."""
    (tmp_path / "lists.csv").write_text(LISTS)
    (tmp_path / "truth.csv").write_text("user,item\n1,11\n2,12\n")
    commands = [[part.replace("{evaluate}", evaluate_code) for part in command] for command, _ in STEPS.values()]
    outcomes = dict(zip(STEPS, without(sorted({*OPTIONAL, "patsy", "jsonschema"}), commands), strict=True))
    for step, (_, extra) in STEPS.items():
        status, printed = outcomes[step]
        assert "Traceback" not in printed, (step, printed)
        if extra:
            assert status == 1 and f"not installed; the extra '{extra}' has" in printed, (step, printed)
            assert f'pip install "recsys-repro[{extra}]"' in printed, step
        else:
            assert status == 0, (step, printed)
    # Of user 1 the first item is not relevant, of user 2 it is: half of the users have a precision of 1.
    assert outcomes["evaluate"][1].split() == ["0.5"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for extra in ("stats", "report"):
        assert f"recsys-repro[{extra}]" in page
    assert "ndcg@5" in page and "short memory" in page and "<svg" not in page
