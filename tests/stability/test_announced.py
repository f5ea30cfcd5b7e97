"""A hash, a number or a stored format that changes is announced in CHANGELOG.md, or these tests fail.

``pinned.toml`` has what must not change by chance. CHANGELOG.md quotes the digest of that file, so that nobody changes
the one without the other; docs/stability.md is the policy.
"""

import hashlib
import json
import math
import re
import tomllib
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import repro
from repro.app import Application
from repro.plugin import Plugins
from repro.protocol import protocol_names
from repro.runs.journal.events import journal_schema

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("pinned.toml")
PINNED = tomllib.loads(TABLE.read_text(encoding="utf-8"))
DEFAULTS = tomllib.loads((ROOT / "tests" / "protocol" / "defaults.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
HEADING = "### Hashes, numbers and formats"
ADVICE = "If this is meant: docs/stability.md says how to change tests/stability/pinned.toml and CHANGELOG.md."


def newest(changelog):
    """The section about hashes, numbers and formats of the newest version in a changelog."""
    version = re.split(r"^## ", changelog, flags=re.MULTILINE)[1]
    assert HEADING in version, f"the newest version in CHANGELOG.md has no section '{HEADING}'"
    return version.partition(HEADING)[2].partition("\n### ")[0]


def announced(section, content):
    """Whether a section of the changelog quotes the digest of the table."""
    return f"`{hashlib.sha256(content).hexdigest()[:16]}`" in section


def test_the_changelog_announces_the_table():
    content = TABLE.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    assert announced(newest(CHANGELOG), content), f"its section '{HEADING}' must quote `{digest}`. {ADVICE}"


def test_a_changed_table_is_not_announced():
    assert not announced(newest(CHANGELOG), TABLE.read_bytes().replace(b"random-5fold", b"random-6fold"))


@pytest.mark.parametrize("name", [name for name in protocol_names() if "/" not in name])
def test_the_hash_of_a_protocol_is_that_of_the_table(name):
    protocol = repro.Protocol.load(name)
    core = Application(Plugins()).registry
    stated = {key: value for key, value in protocol.items() if key in core}
    differing = {key: value for key, value in stated.items() if value != DEFAULTS["defaults"].get(key)}
    text = json.dumps({"decisions": differing, "version": DEFAULTS["version"]}, sort_keys=True, separators=(",", ":"))
    assert protocol.hash == hashlib.sha256(text.encode()).hexdigest()
    expected = PINNED["hashes"].get(name)
    assert protocol.hash == expected, f'{name} = "{protocol.hash}", and not {expected}. {ADVICE}'


def test_no_protocol_of_the_table_is_gone():
    assert {*PINNED["hashes"]} <= {*protocol_names()}


LISTS = pd.DataFrame({"user": [1, 1, 1, 2, 2], "item": ["a", "b", "c", "b", "a"], "score": [3.0, 2.0, 1.0, 2.0, 1.0]})
TRUTH = pd.DataFrame({"user": [1, 1, 2, 3], "item": ["b", "d", "a", "c"], "rating": [5.0, 3.0, 4.0, 2.0]})
PREDICTED = pd.DataFrame({"user": [1, 1, 2, 3], "item": ["b", "d", "a", "c"], "score": [4.0, 3.0, 2.0, 2.5]})


@pytest.mark.parametrize("name", PINNED["numbers"])
def test_a_number_is_the_one_worked_by_hand(name):
    worked = PINNED["numbers"][name]
    expected = eval(worked, {"__builtins__": {}}, {"log2": math.log2, "sqrt": math.sqrt})
    lists = PREDICTED if name in ("rmse", "mae", "mse") else LISTS
    [value] = repro.evaluate(lists, TRUTH, metrics=[name]).value
    assert value == pytest.approx(expected, abs=1e-15), f"{name} is {value}, and not {worked} = {expected}. {ADVICE}"


def fields():
    """The fields of each event of the journal, by the JSON Schema."""
    models = journal_schema()["$defs"]
    return {
        model["properties"]["event"]["const"]: sorted(model["properties"].keys() - {"event"})
        for model in models.values()
        if "event" in model.get("properties", {})
    }


def test_events_of_the_journal_have_the_fields_of_the_table():
    actual = fields()
    for event in actual.keys() | PINNED["events"].keys():
        expected = PINNED["events"].get(event)
        assert actual.get(event) == expected, f'"{event}" has {actual.get(event)}, and not {expected}. {ADVICE}'


def test_the_tables_of_a_run_have_the_columns_of_the_table(tmp_path):
    data = pd.DataFrame([(user, item, (user * item) % 5 + 1) for user in range(8) for item in range(1, 7)])
    data.columns = ["user", "item", "rating"]
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    repro.Study(data, protocol, ["reference/popularity"], ["ndcg@3"]).run(tmp_path / "run")
    assert pq.read_schema(tmp_path / "run" / "results.parquet").names == PINNED["columns"]["results"], ADVICE
    assert list(repro.Run(tmp_path / "run").per_user("ndcg@3")) == PINNED["columns"]["per_user"], ADVICE
