"""Everything that a command does can be done in Python, and public names are complete, documented and typed."""

import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import repro
from repro.cli import cli

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
TABLE = {
    command: re.findall(r"`(repro\.[\w.]+)`", functions)
    for command, functions in re.findall(r"^\| `repro ([\w -]+)` \| (.*) \|$", PAGE, re.MULTILINE)
}
NAMES = sorted({name for names in TABLE.values() for name in names})
PUBLIC = [name for name in repro.__all__ if callable(getattr(repro, name))]


def commands(path=(), command=cli):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands((*path, name), command.get_command(context, name))
    else:
        yield " ".join(path)


def test_every_command_has_a_function():
    assert set(TABLE) == set(commands())
    assert all(TABLE.values())


@pytest.mark.parametrize("name", NAMES)
def test_each_function_exists_and_is_documented(name):
    member = repro
    for part in name.split(".")[1:]:
        member = getattr(member, part)
    assert callable(member) and inspect.getdoc(member)


def test_a_command_without_a_function_is_noticed():
    assert {*commands(), "new-command"} != set(TABLE)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_name_their_options_and_explain_them(name):
    function = getattr(repro, name)
    if inspect.isclass(function):
        assert inspect.getdoc(function)
        return
    signature, text = inspect.signature(function), inspect.getdoc(function)
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter
        if name != "load_dataset":  # its options are those of readers and of synthetic data
            assert parameter.kind is not parameter.VAR_KEYWORD, parameter
    assert signature.return_annotation is not signature.empty
    assert text and len(text.splitlines()) > 1


def test_dir_has_every_public_name_and_each_can_be_imported():
    assert set(dir(repro)) == set(repro.__all__)
    for name in repro.__all__:
        assert getattr(repro, name) is not None


def test_help_shows_functions_and_not_modules():
    for name in ("evaluate", "audit", "explain", "verify", "report", "export", "replicate"):
        assert inspect.isfunction(getattr(repro, name)), name
        assert pkgutil.resolve_name(f"repro.{name}") is getattr(repro, name)


@pytest.mark.parametrize(
    "folder",
    ["repro", *sorted(path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("plugins/*/repro_*/__init__.py"))],
)
def test_packages_say_that_they_have_types(folder):
    assert (ROOT / folder / "py.typed").is_file()


@pytest.mark.slow
def test_a_script_that_uses_everything_passes_a_strict_type_check(tmp_path):
    """With a script whose types are wrong next to it, so that the check is known to see the types of repro."""
    script = ROOT / "tests/examples/typed_script.py"
    used = script.read_text(encoding="utf-8")
    missing = [name for name in repro.__all__ if not name.startswith("_") and f"repro.{name}" not in used]
    assert not missing
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import repro\n\nrun: str = repro.Run("run")\nrepro.verify("run", levle="rescore")\n')
    options = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--config-file", ""]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(tmp_path / "cache"), str(script), str(wrong)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    errors = [line for line in result.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 2 and all("wrong.py" in error for error in errors), result.stdout + result.stderr
    assert "assignment" in errors[0] and "levle" in errors[1]
