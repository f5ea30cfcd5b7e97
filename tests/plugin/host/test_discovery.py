"""Plug-ins are chosen by name; one that is broken is named and left out, and the others work."""

from __future__ import annotations

import json
import re
import sys
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from repro.errors import PluginError
from repro.evaluation.metrics import Metric, metrics
from repro.plugin import Framework, load_plugins, selected

IMPORTS = "from repro.plugin import Algorithm, Exporter, Framework, Parameter, Splitter, impl\n"
BROKEN = {
    "absent": ("import no_such_module_here", "ModuleNotFoundError: No module named 'no_such_module_here'"),
    "leaves": ("raise SystemExit(3)", "SystemExit: 3"),
    "misspelt": ("@impl\ndef repro_framwork(): ...", "unknown hook 'repro_framwork'"),
    "wrong": ("@impl\ndef repro_framework(half_life): ...", "half_life"),
    "raises": ("@impl\ndef repro_framework(): return 1 / 0", "repro_framework: ZeroDivisionError: division by zero"),
    "nonsense": ("@impl\ndef repro_framework(): return 'lenskit'", "must give a Framework, and gave 'lenskit'"),
    "unnamed": ("@impl\ndef repro_framework(): return Framework('a/b', '1', '', ())", "one word without '/'"),
    "unversioned": ("@impl\ndef repro_framework(): return Framework('a', None, '', ())", "version None, which must be"),
    "unplaced": ("@impl\ndef repro_framework(): return Framework('a', '1', '', (), {}, 'here')", "an Environment"),
    "listless": ("@impl\ndef repro_framework(): return Framework('a', '1', '', None)", "algorithms that is None"),
    "made": (
        "@impl\ndef repro_framework(): return Framework('a', '1', '', (Algorithm('x', '', None),))",
        "an algorithm 'x', which must have a name and a make",
    ),
    "twice": (
        "@impl\ndef repro_framework(): return Framework('a', '1', '', (Algorithm('x', '', dict),) * 2)",
        "gives a two algorithms 'x'",
    ),
    "default": (
        "@impl\ndef repro_framework():\n"
        "    return Framework('a', '1', '', (Algorithm('x', '', dict, (Parameter('k', None, ''),)),))",
        "k = None, which is no text, number or flag",
    ),
    "late": ("@impl\ndef repro_exporters(): raise OSError('disk')", "repro_exporters: OSError: disk"),
    "half": ("@impl\ndef repro_exporters(): return [Exporter('a', '', print), 'b']", "sequence of Exporter.*holds 'b'"),
    "none": ("@impl\ndef repro_splitters(): return [None]", "sequence of Splitter, and gave what holds None"),
    "flat": (
        "@impl\ndef repro_splitters(): return [Splitter('nth', '', print)]",
        "a splitter is called framework/name",
    ),
    "open": (
        "@impl\ndef repro_splitters(): return [Splitter('a/b', '', print, (Parameter('by', 'user', ''),))]",
        "the parameter by without the options that it has",
    ),
    "condition": (
        "from repro.protocol import When\n@impl\ndef repro_splitters():\n"
        "    return [Splitter('a/b', '', print, (Parameter('n', 5, '', when=(When('by', ('user',)),)),))]",
        "a condition on 'by', which is none of its parameters",
    ),
    "order": (
        "from repro.protocol import When\n@impl\ndef repro_splitters():\n"
        "    return [Splitter('a/b', '', print, own_order=When('shuffle', (True,)))]",
        "a condition on 'shuffle', which is none of its parameters",
    ),
    "exporter": ("@impl\ndef repro_exporters(): return [Exporter('a', '', None)]", "an exporter 'a', which must have"),
    "metric": (
        "from repro.evaluation.metrics import RankingMetric\n"
        "@impl\ndef repro_metrics(): return [RankingMetric('ndcg', '', print)]",
        "declares 'ndcg', which repro itself has already",
    ),
    "alias": (
        "from repro.evaluation.metrics import RankingMetric\n"
        "@impl\ndef repro_metrics(): return [RankingMetric('mine', '', print, aliases={'map': {}})]",
        "declares 'map', which repro itself has already",
    ),
    "variant": (
        "from repro.evaluation.metrics import RankingMetric\nfrom repro.protocol import Decision\n"
        "@impl\ndef repro_metrics():\n"
        "    return [RankingMetric('mine', '', print, variants=(Decision('ties.break', ''),))]",
        "it must begin with metric.mine.",
    ),
    "dataset": (
        "from repro.data import Dataset\n"
        "@impl\ndef repro_datasets(): return [Dataset('ml-100k', '', '', '', '', ('x',))]",
        "declares 'ml-100k', which repro itself has already",
    ),
    "sourceless": (
        "from repro.data import Dataset\n@impl\ndef repro_datasets(): return [Dataset('mine', '', '', '', '', ())]",
        "must have a name and a source",
    ),
}
GOOD = "@impl\ndef repro_framework(): return Framework('good', '7', '', (Algorithm('luck', '', dict),))"


@pytest.fixture
def load(write_plugin, monkeypatch):
    """Loads plug-ins, of which the source is given, in this process."""
    written: list[str] = []

    def of(**sources: str):
        for name, source in sources.items():
            monkeypatch.syspath_prepend(write_plugin(name, IMPORTS + source))
            written.append(f"plugin_{name}")
        return load_plugins([EntryPoint(name, f"plugin_{name}", "repro") for name in sources])

    yield of
    for module in written:
        sys.modules.pop(module, None)


def ask(actual):
    actual.evaluators(), actual.pipelines(), actual.splitters(), actual.exporters()
    actual.metrics(Metric, [alias for metric in metrics().values() for alias in (metric.name, *metric.aliases)])
    actual.datasets(["ml-100k"])


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_named_and_left_out(load, name):
    source, reason = BROKEN[name]
    actual = load(**{name: source}, good=GOOD)
    ask(actual)
    assert list(actual.broken) == [name]
    assert re.search(reason, actual.broken[name]), actual.broken[name]
    assert list(actual.frameworks) == ["good"]
    assert not actual.exporters() and not actual.splitters()


def test_all_broken_plugins_are_listed_by_name_and_the_rest_works(write_plugin, run):
    for name, (source, _) in BROKEN.items():
        write_plugin(name, IMPORTS + source)
    path = write_plugin("good", IMPORTS + "print('hello')\n" + GOOD)
    listed = json.loads(run("-m", "repro", "plugins", "list", "--json", path=path).stdout)
    assert set(BROKEN) <= set(listed["broken"])
    assert {"good", "reference"} <= {framework["name"] for framework in listed["frameworks"]}
    shown = run("-m", "repro", "plugins", "list", path=path, REPRO_PLUGINS="good,raises,late")
    assert "broken: raises: repro_framework: ZeroDivisionError: division by zero" in shown.stdout
    assert "broken: late: repro_exporters: OSError: disk" in shown.stdout
    assert "hello" in shown.stderr


def test_a_name_that_another_plugin_has_is_taken(load):
    actual = load(first=GOOD, second=GOOD + "\n@impl\ndef repro_exporters(): return [Exporter('x', '', print)]")
    assert actual.broken == {"second": "repro_framework declares 'good', which first has already"}
    assert actual.frameworks["good"].version == "7"
    assert not actual.exporters()
    export = "@impl\ndef repro_exporters(): return [Exporter('x', '', print)]"
    actual = load(third=export, fourth=export)
    assert list(actual.exporters()) == ["x"]
    assert actual.broken == {"fourth": "repro_exporters declares 'x', which third has already"}


def test_a_plugin_that_breaks_later_takes_its_framework_along(load):
    actual = load(good=GOOD + "\n@impl\ndef repro_exporters(): raise OSError('disk')")
    assert isinstance(actual.framework("good"), Framework)
    assert actual.exporters() == {}
    with pytest.raises(PluginError, match="plug-in good is installed but broken: repro_exporters: OSError: disk"):
        actual.framework("good")


def test_an_observer_that_fails_is_told_once_in_a_run_and_changes_nothing(load):
    actual = load(
        nosy="@impl\ndef repro_journal_event(folder, line):\n    line['number'] = 0\n    raise OSError('disk')\n"
        + GOOD,
        calm="seen = []\n@impl\ndef repro_journal_event(folder, line): seen.append(line['number'])",
    )
    line = {"number": 7}
    with pytest.warns(UserWarning, match="plug-in nosy failed to observe the journal.*OSError: disk"):
        actual.observe(Path("run"), line)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual.observe(Path("run"), line)
    with pytest.warns(UserWarning, match="nosy"):
        actual.observe(Path("another"), line)
    assert line == {"number": 7}
    assert sys.modules["plugin_calm"].seen == [7, 7, 7]
    assert "good" in actual.frameworks


POINTS = [EntryPoint(name, "nowhere", "repro") for name in ("lenskit", "reference", "surprise")]


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        (None, ["lenskit", "reference", "surprise"]),
        ("", []),
        ("surprise, lenskit", ["lenskit", "surprise"]),
        ("-lenskit", ["reference", "surprise"]),
        ("-lenskit,-surprise", ["reference"]),
    ],
)
def test_plugins_are_selected_or_left_out(setting, left):
    assert [point.name for point in selected(POINTS, setting)] == left


@pytest.mark.parametrize("setting", ["lenskitt", "-lenskitt", "lenskit,lenskitt"])
def test_an_unknown_plugin_is_told_with_the_nearest(setting):
    with pytest.raises(PluginError, match=r"REPRO_PLUGINS names 'lenskitt'.*did you mean 'lenskit'"):
        selected(POINTS, setting)


def test_the_choice_is_read_from_the_environment(example, run):
    def listed(setting):
        shown = run("-m", "repro", "plugins", "list", "--json", path=example, REPRO_PLUGINS=setting)
        return {framework["name"] for framework in json.loads(shown.stdout)["frameworks"]}

    assert listed("example") == {"example"}
    assert listed("") == set()
    assert "example" not in listed("-example")
    assert "reference" in listed("-example")
    wrong = run("-m", "repro", "plugins", "list", path=example, REPRO_PLUGINS="exampel", status=1)
    assert "error: REPRO_PLUGINS names 'exampel'" in wrong.stderr
    assert "did you mean 'example'" in wrong.stderr


def test_every_call_of_a_hook_can_be_traced(example, run):
    chosen_ones = {"REPRO_PLUGINS": "example,example-extras"}
    listed = run("-m", "repro", "plugins", "list", path=example, REPRO_TRACE="1", **chosen_ones)
    for hook in ("framework", "evaluators", "pipelines", "datasets", "metrics", "splitters", "exporters"):
        assert f"repro_{hook} [hook]" in listed.stderr
        assert f"finish repro_{hook} -->" in listed.stderr
    assert "example: " in listed.stderr
    assert "example-extras: " in listed.stderr
    assert max(map(len, listed.stderr.splitlines())) < 240
    quiet = run("-m", "repro", "plugins", "list", path=example, **chosen_ones)
    assert (quiet.stdout, quiet.stderr) == (listed.stdout, "")
