"""Any command line: what it is given, what it may write, and what happens when it goes wrong."""

import hashlib
import math
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repro.data import Interactions
from repro.errors import PluginError

USERS, ITEMS = np.arange(3, dtype=np.int32), np.arange(4, dtype=np.int32)
NAN = math.nan
PYTHON = f"{sys.executable} -c"


@pytest.fixture
def run(make, data):
    """Fits a command; the recommender."""

    def of(command, **parameters):
        recommender = make("command", command=command, **parameters)
        recommender.fit(parameters.pop("data", data), seed=77)
        return recommender

    return of


def test_a_program_of_one_line_reads_the_training_file_and_prints_scores(run):
    # awk: each user's items again, with the rating as the score.
    actual = run("awk -F '\\t' '{print $1 \"\\t\" $2 \"\\t\" $3}' {train}", columns="score=3").score_users(USERS, ITEMS)
    np.testing.assert_array_equal(actual.values, [[5, 4, NAN, NAN], [2.5, NAN, 3, NAN], [NAN, NAN, NAN, 1]])


def test_the_files_are_written_as_they_are_said_to_be(make, data, tmp_path):
    command = f"cp {{train}} {{users}} {{items}} {{pairs}} {tmp_path}"
    recommender = make("command", command=f"sh -c '{command} && echo ann 10 {{seed}} > {{output}}'", columns="score=3")
    recommender.fit(data, seed=77)
    assert (tmp_path / "train.tsv").read_text() == (
        "ann\t10\t5.0\t3\nann\t20\t4.0\t1\nbob\t10\t2.5\t4\nbob\t30\t3.0\t1\ncem\t40\t1.0\t5\n"
    )
    assert (tmp_path / "users.tsv").read_text() == "ann\nbob\ncem\n"
    assert (tmp_path / "items.tsv").read_text() == "10\n20\n30\n40\n"
    pairs = (tmp_path / "pairs.tsv").read_text().splitlines()
    assert (len(pairs), pairs[0], pairs[-1]) == (12, "ann\t10", "cem\t40")
    assert recommender.score_users(USERS, ITEMS).values[0, 0] == 77


def test_whole_ratings_are_written_as_such_and_times_only_where_there_are_any(make, tmp_path):
    rows = Interactions.from_frame(pd.DataFrame({"user": ["ann", 'b"b'], "item": ["x y", "z"], "rating": [5, 3]}))
    make("command", command=f"sh -c 'cp {{train}} {tmp_path}; echo ann,z,1'").fit(rows, seed=1)
    assert (tmp_path / "train.tsv").read_text() == 'ann\tx y\t5\nb"b\tz\t3\n'
    tabbed = Interactions.from_frame(pd.DataFrame({"user": ["a\tb"], "item": ["x"]}))
    with pytest.raises(PluginError, match=r"user 'a\\tb' cannot be written"):
        make("command", command="cat {train}").fit(tabbed, seed=1)


def test_there_is_no_shell_and_other_braces_are_left_alone(run):
    script = "import sys; assert sys.argv[1:] == ['$HOME', ';', '{other}', '*']; print('ann,10,5')"
    assert run(f"""{PYTHON} "{script}" $HOME ';' {{other}} *""").score_users(USERS, ITEMS).values[0, 0] == 5


def test_it_runs_in_a_folder_of_its_own_that_is_gone_afterwards(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("user,item,score\nann,10,3\n")
    script = "import os; open('left-over', 'w'); print(os.getcwd(), file=open(r'{here}/where', 'w'))"
    run(f'sh -c "{PYTHON} \\"{script}\\"; cp {{here}}/scores.csv {{output}}"')
    where = (tmp_path / "where").read_text().strip()
    assert "repro-command-" in where
    assert not (tmp_path / "left-over").exists()
    assert not Path(where).exists()


def test_what_it_says_and_what_it_wrote_is_noted(run):
    notes = run("sh -c 'echo epoch 1 >&2; echo epoch 2 >&2; echo ann,10,1'", gives="lists", columns="score=3").notes()
    assert notes["exit status"] == "0"
    assert notes["standard error"] == "epoch 1\nepoch 2"
    assert notes["output"] == f"SHA-256 {hashlib.sha256(b'ann,10,1' + bytes([10])).hexdigest()}"
    assert notes["ties.*"].startswith("taken by the system")


def test_lists_of_other_systems(run):
    actual = run("printf 'ann\\t[30:9,20:8]\\n'", format="mymedialite", gives="lists").score_users(USERS, ITEMS)
    np.testing.assert_array_equal(actual.values[0], [NAN, -2, -1, NAN])


def test_predictions_on_the_rating_scale(run):
    recommender = run("awk '{print $1, $2, 3.5}' {pairs}", gives="predictions", columns="score=3")
    assert recommender.predicts
    assert recommender.predict_pairs(USERS, ITEMS[:3]).values.tolist() == [3.5] * 3


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (
            "sh -c 'echo no licence >&2; exit 3'",
            r"the command ended with status 3: sh -c .*; its last lines:\n    no licence",
        ),
        ("sh -c 'kill -SEGV $$'", r"the command was killed by signal 11 \(SIGSEGV\)"),
        ("no-such-program-here {train}", "cannot be started: no-such-program-here: No such file or directory"),
        ("./relative", "it runs in a temporary folder; {here} is"),
        ("true", "the output of the command is empty"),
        ("sh -c 'true {output}'", "succeeded and wrote no file {output}"),
        ("echo hello", "the output of the command"),
        ("echo ann,10,high", "the output of the command.*score is 'high', not a number"),
        ("", "needs a command"),
        ("sh -c 'unfinished", "cannot be split into arguments: No closing quotation"),
    ],
)
def test_what_goes_wrong_is_told(run, command, complaint):
    with pytest.raises(PluginError, match=f"external/command: .*{complaint}") as failure:
        run(command, columns="score=3")
    assert "repro-command-" not in str(failure.value)


def test_a_program_that_takes_too_long_is_stopped_with_what_it_started(run, tmp_path):
    began = time.monotonic()
    mark = tmp_path / "mark"
    with pytest.raises(PluginError, match=r"took longer than 0\.5 seconds and was stopped(?s:.*)    thinking"):
        run(f"sh -c '(sleep 3; touch {mark}) & echo thinking >&2; sleep 1000'", time_limit=0.5)
    assert time.monotonic() - began < 60
    time.sleep(4)
    assert not mark.exists()
    with pytest.raises(PluginError, match="time_limit = -1 must be 0"):
        run("true", time_limit=-1)
