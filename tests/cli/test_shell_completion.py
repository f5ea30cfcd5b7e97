"""Tab completion in real shells: what stands on the line after the Tab key."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(_REPRO_COMPLETE=bash_source repro)"'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'bindkey -e; autoload -U compinit; compinit -u -D; eval "$(_REPRO_COMPLETE=zsh_source repro)"',
    ),
}
# What is typed before the Tab key, and what stands on the line after it.
LINES = [
    ("repro mul", "repro multiverse "),
    ("repro run --keep", "repro run --keep-scores "),
    ("repro run --set ties.br", "repro run --set ties.break="),
    ("repro run study.toml --set ties.break=rand", "repro run study.toml --set ties.break=random "),
    ("repro run --set=ties.break=rand", "repro run --set=ties.break=random "),
    ("repro protocol explain metric.ndcg.ga", "repro protocol explain metric.ndcg.gain "),
    ("repro metrics show ndc", "repro metrics show ndcg "),
    ("repro evaluate -m ndcg@2", "repro evaluate -m ndcg@20 "),
    ("repro algorithms show item-kn", "repro algorithms show item-knn "),
    ("repro study new my.csv --algorithm reference/item-kn", "repro study new my.csv --algorithm reference/item-knn "),
    ("repro run --executor ray --address ray", "repro run --executor ray --address ray://"),
    ("repro report my-ru", "repro report my-run/"),
]


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_commands_options_decisions_metrics_and_algorithms(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    command, preparation = SHELLS[shell]
    (tmp_path / "my-run").mkdir()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with Terminal(command, tmp_path, PATH=path, PS1="", PROMPT="", HOME=str(tmp_path), HISTFILE="") as terminal:
        terminal.type(f"{preparation}; stty -echo; echo rea''dy\r")
        terminal.until(r"ready\n")
        for line, expected in LINES:
            terminal.type(f"{line}\t")
            # Ctrl-A and Ctrl-E go to the ends of the line, which is printed between bars, and not run.
            terminal.type("\x01printf '|%s|\\n' '\x05'\r")
            shown = terminal.until(r"\|repro [^|\n]*\|\r?\n").rpartition("|repro")[2].rstrip("|\r\n")
            # zsh takes a blank or a slash back when another key follows.
            assert f"repro{shown}" in ({expected} if shell == "bash" else {expected, expected.rstrip(" /")}), line
