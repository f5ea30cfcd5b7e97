"""Every `repro` command in the documentation and in help texts parses; all but those named here are run."""

import contextlib
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.cli.help_text import examples_of

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks/README.md",
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

# Commands that are parsed and not run, with the reason.
READER = "names a package of the reader"
HOURS = "takes minutes or hours: it fits or audits many frameworks"
BUILDS = "builds the environment of a framework from the package index"
WRITES = "writes into the reports of this repository"
ONLY_PARSED = {
    "repro run reports/cross-framework-ml100k/study.toml": HOURS,
    "repro run reports/reference-ml100k/study.toml": HOURS,
    "repro audit infer implicit/ranking_metrics_at_k": HOURS,
    "repro audit infer implicit/ranking_metrics_at_k -m ndcg": HOURS,
    "repro audit infer my_package.metrics:ndcg_at_k --k 10": READER,
    "repro audit infer my_package.metrics:ndcg_at_k --metric ndcg --k 10 --cannot ties": READER,
    "repro audit evaluators": HOURS,
    "repro audit evaluators -m ndcg": HOURS,
    "repro audit evaluators -m ndcg --only lenskit,implicit": HOURS,
    "repro audit pipeline surprise/cross_validate": HOURS,
    "repro audit pipeline implicit/train_test_split -m ndcg --data ml-1m --policies audit/protocols.toml": HOURS,
    "repro audit report": HOURS,
    "repro audit report --resume": HOURS,
    "repro audit report --only sklearn,surprise -m rmse --into audit-of-rmse": HOURS,
    "repro replicate reports/replications": HOURS,
    "repro replicate reports/replications --workers 4": HOURS,
    "repro replicate reports/replications/surprise-readme-ml100k/claim.toml": HOURS,
    "repro study-metrics reports/metric-study-ml100k/run": HOURS,
    "repro plugins install recbole": BUILDS,
    "repro plugins install surprise --pin scikit-surprise==1.1.4 --pin numpy==1.26.4": BUILDS,
    'REPRO_PINS="surprise: scikit-surprise==1.1.4 numpy==1.26.4" repro run study.toml': BUILDS,
    "repro run study.toml --executor ray --address auto": "needs a Ray cluster; tests/study/test_ray.py starts one",
    "repro report run --open": "opens a browser",
    "repro review their-data --users 6040 --items 3706 --rows 1000209": "finds that the files here have other sizes",
    "repro claim new": "asks questions; tests/replications/drafts/test_draft.py answers them",
    "repro algorithms show decayed-popularity": "needs plugins/example, which its own tests install",
    "repro algorithms audit implicit/implicit-als --data ml-100k": HOURS,
    "repro algorithms audit my_package.model:Recommender --set reg=0.5": READER,
    "repro algorithms audit lenskit/biased-mf --json": HOURS,
    "repro algorithms agree implicit-als": HOURS,
    "repro algorithms agree item-knn": HOURS,
    "repro algorithms agree popularity": HOURS,
    "repro algorithms agree ease --only lenskit,recbole": HOURS,
    "repro algorithms align item-knn --like cosine-sum": HOURS,
    "repro algorithms align item-knn --like cosine-sum --set k=20": HOURS,
    "repro algorithms align item-knn --like recpack": HOURS,
    "repro algorithms audit lenskit/item-knn": HOURS,
    "repro algorithms audit implicit/item-knn": HOURS,
    "repro algorithms audit implicit/implicit-als": HOURS,
    "repro algorithms align implicit-als --like weighted-binary --set alpha=10 --set regularisation=200": HOURS,
    "repro algorithms align implicit-als --like spark --data ml-100k": HOURS,
    "repro seal reports/cross-framework-ml100k": WRITES,
    "repro seal reports/multiverse-ml100k": WRITES,
}


def in_pages():
    """The commands in the shell blocks of pages, in the order of the page."""
    for page in PAGES:
        for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if language in ("", "sh", "bash", "console"):
                for line in block.splitlines():
                    # An assignment before a command is for its environment; two blanks and # begin a comment.
                    command = re.sub(r"\s{2,}#.*$|\s# .*$", "", line).strip()
                    if re.match(r"^(\w+=(\"[^\"]*\"|\S*) )*repro ", command):
                        yield page.name, command


def all_commands(path=(), command=cli):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from all_commands((*path, name), command.get_command(context, name))


def in_help():
    """The commands in the examples of help texts."""
    for path, command in all_commands():
        for example in examples_of(command.epilog):
            yield f"repro {' '.join(path)} --help".replace("  ", " "), example


def examples():
    return list(dict.fromkeys(command for _, command in (*in_pages(), *in_help())))


def arguments(command):
    """The words after `repro`, without assignments before it and without a redirection."""
    words = shlex.split(command.partition(" > ")[0])
    return words[words.index("repro") + 1 :]


def parse(words):
    """Parse as click does, without running; raises click.ClickException where something is unknown."""
    command, context = cli, click.Context(cli, info_name="repro")
    while isinstance(command, click.Group):
        assert words, "a command is missing"
        name, *words = words
        subcommand = command.get_command(context, name)
        assert subcommand is not None, f"there is no command {name}"
        command, context = subcommand, click.Context(subcommand, info_name=name, parent=context)
    with contextlib.suppress(click.exceptions.Exit):  # an option such as --list that answers at once
        command.make_context(context.info_name, list(words), parent=context.parent)


@pytest.mark.parametrize("command", examples())
def test_it_parses(command, made, monkeypatch):
    monkeypatch.chdir(made)
    parse(arguments(command))


@pytest.mark.parametrize("wrong", ["repro no-such-command", "repro compare run --no-such-option", "repro data"])
def test_what_does_not_exist_does_not_parse(wrong):
    with pytest.raises((click.ClickException, AssertionError)):
        parse(arguments(wrong))


def test_what_is_not_run_is_still_in_the_documentation():
    assert {*ONLY_PARSED} <= set(examples())


@pytest.mark.parametrize("command", [command for command in examples() if command not in ONLY_PARSED])
def test_it_runs(command, workspace):
    if re.fullmatch(r"repro run study.toml( --(keep-scores|install|cell-seconds \d+))?", command):
        shutil.rmtree("run")  # the folder that it makes
    if command.startswith("repro claim new"):
        Path("claim.toml").unlink()  # the file that it makes
    result = CliRunner().invoke(cli, arguments(command))
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
