"""Text of others is shown and never commands the terminal: no control character of a file reaches it raw."""

import ast
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import repro.cli
from repro.cli import cli, main
from repro.cli.command_group import command_modules
from repro.cli.output import Styled, echo, print_json, print_table
from repro.terminal import printable, printable_json
from repro.testing import study_toml

UNSAFE = [chr(code) for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"]
DIRECTIONS = [chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp\x7f\x85"

STUDY = study_toml("{label}=reference/popularity", "reference/item-mean", question="{basic}")


def bad_in(text):
    return sorted({character for character in text if character in UNSAFE or character in DIRECTIONS})


@given(st.text(st.characters() | st.sampled_from([*UNSAFE, *DIRECTIONS, "\x1b", "\x9b", "\ud800"])))
def test_nothing_unsafe_is_left_and_nothing_else_is_changed(text):
    shown = printable(text)
    assert bad_in(shown) == []
    assert shown.encode().decode() == shown  # no halves of characters
    if not bad_in(text) and all(not 0xD800 <= ord(letter) < 0xE000 for letter in text):
        assert shown == text
    assert json.loads(printable_json(json.dumps(text, ensure_ascii=False))) == text


def test_what_commands_print_passes_one_place(capsys):
    echo(HOSTILE, Styled(HOSTILE))
    print_table([HOSTILE, "n"], [[HOSTILE, HOSTILE]], title=HOSTILE, right=[HOSTILE])
    print_json({HOSTILE: HOSTILE})
    output = capsys.readouterr().out
    assert bad_in(output) == [] and "\\x1b[2J" in output and "\\u202e" in output


def test_no_command_prints_in_another_way():
    """But for output.py, no module of the commands calls click.echo and the like, print, or an own console's print."""
    places = []
    for path in sorted(Path(repro.cli.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if path.name == "output.py" or not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            printed = called in ("click.echo", "click.secho", "click.style", "click.echo_via_pager", "print")
            if printed or called.endswith(("stdout.write", "stderr.write")):
                places.append((path.name, node.lineno, called))
            if called.endswith(("console.print", ".add_task", "status.update", "console.status")):
                safe = [argument for argument in node.args[:1] if "printable(" in ast.unparse(argument)]
                constant = [argument for argument in node.args[:1] if isinstance(argument, ast.Constant)]
                if not safe and not constant:
                    places.append((path.name, node.lineno, called))
    assert places == []


def run_main(monkeypatch, capsys, *arguments):
    """The command as the shell starts it; what it printed, and how it ended."""
    monkeypatch.setattr(sys, "argv", ["repro", *map(str, arguments)])
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    hooks = sys.excepthook
    try:
        main()
        status = 0
    except SystemExit as ended:
        status = ended.code or 0
    finally:
        sys.excepthook = hooks
    output = capsys.readouterr()
    return output.out + output.err, status


def quoted(text):
    return "".join(f"\\u{ord(letter):04x}" if letter in UNSAFE or letter in DIRECTIONS else letter for letter in text)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run whose question, label and ids, and whose protocol's name, try to command the terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [f'"u{HOSTILE}{n % 9}","i{HOSTILE}{n % 13}",{n % 5 + 1}' for n in range(117)]
    (folder / "ratings.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n", encoding="utf-8", newline="")
    label = quoted(HOSTILE.replace("\x1b", "").replace("\x07", ""))  # a label is one line: U+009B and others remain
    (folder / "study.toml").write_text(STUDY.format(basic=quoted(HOSTILE), label=label), encoding="utf-8")
    return folder


def test_no_command_lets_text_of_others_through(place, monkeypatch, capsys, tmp_path):
    run, again = place / "run", place / "again"
    other = place / f"no{HOSTILE}such"
    claim = place / "claim"
    claim.mkdir(exist_ok=True)
    head = f'title = "{quoted(HOSTILE)}"\nsource = "{quoted(HOSTILE)}"\n'
    (claim / "claim.toml").write_text(head + '[data]\nname = "absent.csv"\n', encoding="utf-8")
    lists = place / "lists.csv"
    lists.write_text(f'user,item,score\n"u{HOSTILE}0","i{HOSTILE}1",1\n', encoding="utf-8", newline="")
    calls = [
        ("run", place / "study.toml", "--into", run, "--workers", 1, "--keep-scores"),
        ("run", place / "study.toml", "--into", run, "--workers", 1, "--resume", "--json"),
        ("report", run),
        ("verify", run, "--level", "rescore"),
        ("seal", run),
        ("diff", run, run),
        ("compare", run, "-m", "ndcg@10"),
        ("compare", run, "--json"),
        ("explain", run, "--to-protocol", "said-bellogin-ut", "-m", "ndcg@10", "--workers", 1),
        ("multiverse", run, "--vary", "ties.break=item-asc|item-desc", "--into", place / "m"),
        (
            "study-metrics",
            run,
            "-m",
            "ndcg",
            "--cutoffs",
            "3,5",
            "--samples",
            2,
            "--randomisations",
            20,
            "--workers",
            1,
        ),
        ("export", run, "--to", "csv"),
        ("replay", run, "--into", again, "--here", "--workers", 1),
        ("evaluate", "--run", lists, "--truth", place / "ratings.csv", "-m", "ndcg@5"),
        ("evaluate", "--run", f"{HOSTILE}={lists}", "--truth", place / "ratings.csv", "-m", "ndcg@5", "--json"),
        ("curve", "--run", lists, "--truth", place / "ratings.csv", "--kind", "roc"),
        ("data", "describe", place / "ratings.csv"),
        ("claim", "check", claim / "claim.toml"),
        ("replicate", claim / "claim.toml", "--workers", 1),
        *((command, other) for command in command_modules()),
        *((command, f"--{HOSTILE}") for command in command_modules()),
        (HOSTILE,),
        ("metrics", "show", HOSTILE),
        ("protocol", "explain", HOSTILE),
        ("protocol", "show", HOSTILE),
        ("audit", "infer", HOSTILE),
        ("plugins", "install", HOSTILE),
    ]
    shown = []
    for arguments in calls:
        output, status = run_main(monkeypatch, capsys, *arguments)
        assert bad_in(output) == [], (arguments, output)
        shown.append((arguments[0], status, "\\x9b" in output or "\\u009b" in output))
    assert {status for _, status, _ in shown[:8]} == {0}, shown
    assert sum(hostile for _, _, hostile in shown) > len(calls) // 2  # it was there, and was shown


def test_errors_and_warnings_that_nobody_foresaw(monkeypatch, capsys):
    import warnings

    def broken(**settings):
        warnings.warn(HOSTILE, stacklevel=1)
        raise RuntimeError(HOSTILE)

    monkeypatch.setattr(cli, "main", broken)
    with pytest.raises(RuntimeError) as error, warnings.catch_warnings():
        warnings.simplefilter("always")
        run_main(monkeypatch, capsys)
    repro.cli._show_error(error.type, error.value, error.tb)
    output = capsys.readouterr().err
    assert "RuntimeError" in output and bad_in(output) == []


def test_tests_of_commands_see_what_people_see():
    assert bad_in(CliRunner().invoke(cli, ["metrics", "list"]).output) == []
