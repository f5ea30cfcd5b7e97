"""Every hook is documented, implemented by the example, and tested; the example is installed and used for real."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

from repro.plugin.api import spec

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
EXAMPLE = "\n".join(
    (ROOT / "plugins" / "example" / "repro_example" / f"{name}.py").read_text(encoding="utf-8")
    for name in ("recommender", "extras")
)
HOOKS = [name for name in vars(spec) if name.startswith("repro_")]


def sections():
    """The documentation of each hook."""
    _, _, hooks = DOCUMENT.partition("\n## Hooks\n")
    parts = re.split(r"^#+ (.*)\n", hooks, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_hook_is_documented_and_every_heading_is_a_hook():
    assert list(sections()) == HOOKS
    for name, text in sections().items():
        stated = str(inspect.signature(getattr(spec, name))).replace("'", "")
        assert f"```\n{name}{stated}\n```" in text
        assert len(re.findall("```python\n@impl\n", text)) == 1


def test_the_code_of_the_documentation_is_that_of_the_example():
    # tests/plugin/api/test_queries.py runs FollowedBy, which the example does not have.
    blocks = re.findall(r"```python\n((?:@impl|class (?!FollowedBy)).*?)```", DOCUMENT, flags=re.DOTALL)
    assert len(blocks) == len(HOOKS) + 1
    assert [block for block in blocks if block not in EXAMPLE] == []


def test_every_environment_variable_is_documented():
    read = set()
    for file in (ROOT / "repro" / "plugin").rglob("*.py"):
        read |= set(re.findall(r'"(REPRO_[A-Z]+)"', file.read_text()))
    assert read == set(re.findall(r"^\| `(REPRO_[A-Z]+)`", DOCUMENT, flags=re.MULTILINE))


def test_every_hook_is_implemented_by_the_example_and_tested():
    functions = {node.name for node in ast.walk(ast.parse(EXAMPLE)) if isinstance(node, ast.FunctionDef)}
    assert set(HOOKS) <= functions
    assert {f"test_hook_{name}" for name in HOOKS} <= set(globals())


def test_the_core_of_the_tutorial_is_short():
    source = (ROOT / "plugins" / "example" / "repro_example" / "recommender.py").read_text()
    code = [
        line for line in source.splitlines() if line.strip() and not line.strip().startswith(('"""', "from", "import"))
    ]
    assert len(code) <= 30


STUDY = """
import json
import sys

import numpy as np

from repro import Protocol, Study, export, load_dataset
from repro.data.interactions import Interactions
from repro.plugin import Case, Scores, plugins

changes = {"split.strategy": "example/every-nth", "split.example-every-nth.n": 4}
protocol = Protocol.load("random-5fold").replace(changes, "test")
algorithms = [{"use": "example/decayed-popularity", "parameters": {"half_life": 2}}]
results = Study("example-cinema", protocol, algorithms, ["filled@3", "hit@1"]).run(sys.argv[1] + "/run")
export(results, "markdown", sys.argv[1] + "/table.md")

data = load_dataset("example-cinema")
scores = np.array([[3.0, 2.0, 1.0, 0.0]] * 3 + [[0.0, np.nan, 1.0, 2.0]])
case = Case(Scores(scores), data, data.select(np.array([0, 10])), np.arange(4, dtype=np.int32))
found = plugins()
observed = found.evaluate(found.evaluators()["example/hits"], case, "hits", 1)
[fold] = found.run_pipeline(found.pipelines()["example/most-popular"], data, 0)
print(
    json.dumps(
        {
            "observed": [observed.value, observed.per_user],
            "rows": len(data),
            "pipeline": [fold.train.tolist(), fold.test.tolist(), fold.scores.values[0].tolist(), fold.reported],
        }
    )
)
"""


@pytest.fixture(scope="module")
def study(example, run, tmp_path_factory):
    """The folder in which a study with all that the example brings was run, and what else was seen."""
    folder = tmp_path_factory.mktemp("study")
    variables = {"REPRO_DATA": str(folder / "data"), "REPRO_PLUGINS": "example,example-extras"}
    done = run("-c", STUDY, str(folder), path=example, **variables)
    return folder, json.loads(done.stdout)


def lines(folder):
    return [json.loads(line) for line in (folder / "run" / "journal.jsonl").read_text().splitlines()]


def event(folder, kind):
    return next(line["event"] for line in lines(folder) if line["event"]["event"] == kind)


def test_hook_repro_framework(study, example, run):
    started = event(study[0], "cell.started")
    assert (started["algorithm"], started["framework_version"]) == ("example/decayed-popularity", "0.1.0")
    assert started["parameters"] == {"half_life": 2.0}
    shown = run("-m", "repro", "plugins", "list", path=example, REPRO_PLUGINS="example").stdout
    assert re.search(r"example +0\.1\.0 +in this process +decayed-popularity", shown)
    shown = run("-m", "repro", "algorithms", "show", "decayed-popularity", path=example, REPRO_PLUGINS="example").stdout
    assert re.search(r"half_life +30\.0", shown)


def test_hook_repro_evaluators(study):
    # Ann (row 0) has casablanca (column 0) on top, dea (row 3) vertigo (column 3); both were held out.
    assert study[1]["observed"] == [1.0, {"0": 1.0, "3": 1.0}]


def test_hook_repro_pipelines(study):
    # Of the first nine rows casablanca has three and the others two each; dea saw casablanca and metropolis after that.
    train, test, scores, reported = study[1]["pipeline"]
    assert (train, test) == (list(range(9)), [9, 10, 11])
    assert (scores, reported) == ([3.0, 2.0, 2.0, 2.0], {"hits": 1.0})


def test_hook_repro_datasets(study, example, run, tmp_path):
    assert study[1]["rows"] == 12
    assert event(study[0], "data.loaded")["data"] == "example-cinema"
    shown = run("-m", "repro", "data", "list", path=example, REPRO_PLUGINS="example-extras", REPRO_DATA=str(tmp_path))
    assert re.search(r"example-cinema +A dozen visits to a cinema +12 +unchecked +-", shown.stdout)


def test_hook_repro_metrics(study, example, run, tmp_path):
    # Held out are rows 4, 8 and 12: bob, cem and dea each have 3 rows, one of them held out, and so 2 of the 4 items
    # left; ann has no test row.
    value = event(study[0], "cell.finished")["values"][0]
    no_interval = {"lowest": None, "highest": None}  # the metric does not say what a tied item is worth
    assert value == {"metric": "filled@3", "value": pytest.approx(2 / 3), "users": 3, **no_interval}
    lists = tmp_path / "lists.csv"
    lists.write_text("user,item,score\nann,casablanca,2\nann,vertigo,1\n")
    given = ["--run", str(lists), "--truth", str(lists), "-m", "filled@4", "--json"]
    shown = run("-m", "repro", "evaluate", *given, path=example, REPRO_PLUGINS="example-extras")
    assert json.loads(shown.stdout)["results"][0]["value"] == 0.5
    shown = run("-m", "repro", "metrics", "show", "filled", path=example, REPRO_PLUGINS="example-extras")
    assert "The share of the k places of each list that have an item" in shown.stdout


def test_hook_repro_splitters(study):
    made = event(study[0], "fold.made")
    assert (made["train_rows"], made["test_rows"]) == (9, 3)
    decisions = {
        resolved["decision"]: resolved["value"] for resolved in event(study[0], "decisions.resolved")["decisions"]
    }
    assert decisions["split.strategy"] == "example/every-nth"
    assert decisions["split.example-every-nth.n"] == 4


def test_hook_repro_exporters(study):
    header, _, row = (study[0] / "table.md").read_text().splitlines()
    assert header == "| algorithm | filled@3 | hit@1 |"
    assert row.startswith("| example decayed-popularity | 0.6667 |")


def test_hook_repro_journal_event(study):
    written = [f"{line['number']} {line['event']['event']}" for line in lines(study[0])]
    assert (study[0] / "run" / "diary.txt").read_text().splitlines() == written
    assert any(line.endswith(" run.finished") for line in written)
