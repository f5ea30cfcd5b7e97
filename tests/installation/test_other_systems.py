"""The core on a system without the modules and functions of POSIX, such as Windows."""

import ast
import pkgutil
from pathlib import Path

import repro

ROOT = Path(__file__).parents[2]
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"}
FUNCTIONS = {
    "os": (
        *("chown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getpgrp", "getuid"),
        *("killpg", "mkfifo", "nice", "pipe2", "posix_spawn", "pread", "sched_getaffinity", "set_blocking", "setpgid"),
        *("setsid", "sync", "sysconf", "uname", "wait3", "wait4"),
    ),
    "signal": (
        *("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "alarm", "pause"),
        *("pthread_kill", "pthread_sigmask", "setitimer", "sigtimedwait", "sigwait"),
    ),
    "select": ("epoll", "poll"),
    "time": ("clock_gettime", "tzset"),
}
# The standard library and platformdirs use these wherever they are not on Windows.
LEFT = ("os:getuid", "os:geteuid", "os:uname", "os:pread", "signal:SIGKILL")
# A worker of an isolated framework starts only where there are process groups (repro.system.HAS_PROCESS_GROUPS).
POSIX_ALONE = ("repro/plugin/isolation/worker.py", "repro/plugin/isolation/pipes.py")

EVERY_MODULE = """
import importlib, pkgutil
import repro
for module in pkgutil.walk_packages(repro.__path__, "repro."):
    if not module.name.endswith(("__main__", "renderer_process")):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_everything_is_imported_and_a_study_runs_without_them(without, study, evaluate_code):
    """In a process where they are hidden, one command after the other."""
    functions = (f"{module}:{name}" for module in FUNCTIONS for name in FUNCTIONS[module])
    absent = [*sorted(MODULES - {"posix"}), *(name for name in functions if name not in LEFT)]
    commands = [
        ["python", EVERY_MODULE],
        ["python", evaluate_code],
        ["run", str(study), "--into", "run", "--quiet", "--workers", "1"],
        ["verify", "run"],
        ["report", "run"],
    ]
    outcomes = without(absent, commands)
    for command, (status, printed) in zip(commands, outcomes, strict=True):
        assert status == 0, (command, printed)
    imported = set(outcomes[0][1].split())
    assert {"repro.plugin.isolation.client", "repro.cli.commands.runs.run", "repro.data.io.parquet"} <= imported
    assert len(imported) > 400
    assert outcomes[1][1].split()[-1] == "0.5"


def uses(tree):
    """POSIX modules that a file imports, and POSIX functions that it uses without a look whether they are there."""
    looked_at = {
        node.args[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr"
        if isinstance(node.args[1], ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            own = FUNCTIONS.get(node.value.id, ())
            yield from (f"{node.value.id}.{name}" for name in own if name == node.attr and name not in looked_at)


def test_no_file_uses_what_only_posix_has():
    actual = {}
    for path in sorted((ROOT / "repro").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name not in POSIX_ALONE and (used := sorted(set(uses(ast.parse(path.read_text(encoding="utf-8")))))):
            actual[name] = used
    # SIGKILL is used next to killpg alone.
    assert actual.pop("repro/system.py", ["signal.SIGKILL"]) == ["signal.SIGKILL"]
    assert actual.pop("repro/plugin/isolation/process_guard.py", ["signal.SIGKILL"]) == ["signal.SIGKILL"]
    assert not actual


def test_the_check_sees_modules_and_functions():
    source = "import fcntl\nfrom resource import getrlimit\nos.fork()\nsignal.alarm(1)\nos.getcwd()"
    assert set(uses(ast.parse(source))) == {"fcntl", "resource", "os.fork", "signal.alarm"}
    assert not set(uses(ast.parse("if hasattr(os, 'fork'):\n    os.fork()")))


def test_every_module_of_the_core_is_found():
    assert len(list(pkgutil.walk_packages(repro.__path__, "repro."))) > 400
