"""Commands of other systems are run without a shell: what a shell would do with them is text."""

import sys

import pytest

from repro.data import synthetic_interactions
from repro.errors import PluginError
from repro_external.command import make_command

DATA = synthetic_interactions(users=5, items=5, ratings=12, alpha=1.0, seed=1)
# Writes its arguments to standard error, and a score for the first pair.
SHOWN = """
import sys
print("\\n".join(sys.argv[2:]), file=sys.stderr)
open(sys.argv[1], "w").write("user,item,score\\n1,1,1\\n")
"""


@pytest.mark.parametrize(
    "hostile",
    ["; touch {mark}", "$(touch {mark})", "`touch {mark}`", "&& touch {mark}", "| touch {mark}", "> {mark}", "*"],
)
def test_what_a_shell_would_run_is_an_argument(tmp_path, hostile):
    mark = tmp_path / "mark"
    given = hostile.replace("{mark}", str(mark))
    script = tmp_path / "system.py"
    script.write_text(SHOWN)
    command = make_command(f"{sys.executable} {script} {{output}} {given}", "recognised", "", "scores", 0.0)
    command.fit(DATA, seed=1)
    assert not mark.exists()
    assert command.notes["standard error"].split() == given.split()


def test_a_program_that_is_not_there_is_no_command_for_a_shell(tmp_path):
    with pytest.raises(PluginError, match="the command cannot be started"):
        make_command(f"no-such-program; touch {tmp_path / 'mark'}", "recognised", "", "scores", 0.0).fit(DATA, seed=1)
    assert not (tmp_path / "mark").exists()
