"""`repro study`: write a first study of a data set, and check a study."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from repro.cli.help_text import Group
from repro.cli.options.evaluator_options import complete_data
from repro.cli.options.option_classes import argument, command, completes, flag, option
from repro.cli.options.protocol_options import complete_protocol
from repro.cli.options.shared_options import FILE, JsonOption, metric_option
from repro.cli.output import Styled, echo, print_json
from repro.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from repro.study.check import Problem
    from repro.study.draft import Draft

Answer = TypeVar("Answer")


@completes()
def complete_use(text: str) -> list[str]:
    """Algorithms as studies name them."""
    from repro.plugin import plugins

    return [f"{name}/{each.name}" for name, framework in plugins().frameworks.items() for each in framework.algorithms]


@click.group(cls=Group, epilog="Examples: repro study new ratings.csv --into first.toml; repro study check study.toml")
def study() -> None:
    """Write a first study of a data set, and find all problems of a study."""


@dataclass(frozen=True, kw_only=True)
class NewOptions(JsonOption):
    data: str = argument(shell_complete=complete_data)
    into: str = option("The file of the study; an existing file is never replaced.", type=FILE, default="study.toml")
    protocol: str | None = option(
        "A protocol [default: one that fits the data].", metavar="NAME|FILE", shell_complete=complete_protocol
    )
    metrics: tuple[str, ...] = metric_option("A metric; may be repeated [default: by the protocol].")
    algorithms: tuple[str, ...] = option(
        "An algorithm, such as reference/ease; may be repeated [default: some that can run here].",
        "--algorithm",
        metavar="NAME",
        shell_complete=complete_use,
    )
    question: str | None = option("What the study asks.")
    seed: int | None = option("Random seed [default: 42].", type=click.IntRange(0))
    yes: bool = flag("Ask nothing: take the proposals for all that is not given.")


@command(
    "repro study new ratings.csv --into first.toml --yes",
    "repro study new ratings.csv --protocol leave-one-last -m hit@10 -m ndcg@10 --into last.toml --yes",
    group=study,
)
def new(options: NewOptions) -> None:
    """Write a first study of a data set, by looking at the data.

    DATA is a file of users, items and, where there are any, ratings and times, or a name of `repro data list`. The
    protocol, the metrics and the algorithms are proposed by what the data has, and asked on a terminal; comments in the
    file say why, and what the alternatives are.
    """
    from repro.errors import StudyError
    from repro.study.check import check_study
    from repro.study.draft import draft_study

    target = Path(options.into)
    _refuse_existing(target)
    draft = draft_study(options.data, target.parent).with_choices(
        options.protocol, options.metrics, options.algorithms, options.question, options.seed
    )
    if not options.yes and not options.as_json and sys.stdin.isatty() and sys.stdout.isatty():
        draft = _asked(draft, options)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(draft.to_toml())
    except FileExistsError:
        _refuse_existing(target)
    problems = check_study(target)
    errors = [problem for problem in problems if problem.severity == "error"]
    if options.as_json:
        print_json(
            {
                "study": str(target),
                "protocol": draft.protocol,
                "changes": dict(draft.changes),
                "metrics": draft.metrics,
                "algorithms": draft.algorithms,
                "why": {key: " ".join(lines) for key, lines in draft.why.items()},
                "problems": [asdict(problem) for problem in problems],
            }
        )
    else:
        _print_choices(draft)
        _print_problems(problems, target)
        echo(f"\nwritten  {target}\nnext     repro run {shlex.quote(str(target))}")
    if errors:
        raise StudyError(f"{target} cannot run with these choices; change them in the file, then `repro study check`")


def _print_choices(draft: Draft) -> None:
    changes = "".join(f", {key} = {value}" for key, value in draft.changes.items())
    for topic, text in (
        ("data", draft.why["data"][0]),
        ("protocol", f"{draft.protocol}{changes}"),
        *(("", draft.why[key][0]) for key in ("protocol", *draft.changes) if key in draft.why),
        ("metrics", ", ".join(draft.metrics)),
        ("algorithms", ", ".join(draft.algorithms)),
    ):
        echo(Styled(f"{topic:<12}"), text)


def _refuse_existing(target: Path) -> None:
    from repro.errors import StudyError

    if target.exists():
        raise StudyError(f"{target} exists, and is not replaced; name another file with --into, or remove it")


def _asked(draft: Draft, options: NewOptions) -> Draft:
    """The draft after the questions about what no option states; an answer that cannot be read is asked for again."""
    from repro.evaluation.metrics import metrics, own_name, parse_measure
    from repro.protocol import read_protocol
    from repro.study.entry import read_entries

    def known_protocol(text: str) -> str:
        read_protocol(text.strip())
        return text.strip()

    def known_metrics(text: str) -> tuple[str, ...]:
        names = tuple(map(own_name, _words(text)))
        for name in names:
            parse_measure(name, read_protocol(draft.protocol), metrics())
        return names

    def known_algorithms(text: str) -> tuple[str, ...]:
        read_entries(_words(text))
        return _words(text)

    echo(draft.why["data"][0])
    if options.protocol is None:
        echo("\n" + " ".join(draft.why["protocol"][:2]))
        draft = draft.with_choices(_answer("Protocol", draft.protocol, known_protocol), options.metrics)
    if not options.metrics:
        names = _answer("Metrics", " ".join(draft.metrics), known_metrics)
        draft = draft.with_choices(metrics=names if names != draft.metrics else ())
    if not options.algorithms:
        draft = draft.with_choices(algorithms=_answer("Algorithms", " ".join(draft.algorithms), known_algorithms))
    return draft


def _answer(question: str, proposal: str, read: Callable[[str], Answer]) -> Answer:
    """The answer to a question, which is asked again until ``read`` accepts it."""
    from repro.errors import ReproError

    def value(text: str) -> Answer:
        try:
            return read(text)
        except ReproError as error:
            raise click.UsageError(printable(str(error))) from None

    answer: Answer = click.prompt(question, default=proposal, value_proc=value)
    return answer


def _words(text: str) -> tuple[str, ...]:
    """The parts of an answer, with blanks or commas between them (commas in brackets belong to a name)."""
    inside, parts = 0, [""]
    for letter in text:
        inside += {"[": 1, "]": -1}.get(letter, 0)
        if letter in " ," and not inside:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(filter(None, parts))


@dataclass(frozen=True, kw_only=True)
class CheckOptions(JsonOption):
    study: str = argument(type=FILE)


@command("repro study check study.toml", group=study)
def check(options: CheckOptions) -> None:
    """Find all problems of a study at once: keys, data, protocol, metrics, algorithms, frameworks.

    STUDY is a TOML file. Nothing is fitted. Errors stop a run; warnings are about numbers that may mislead. The exit
    code is 1 if there is an error.
    """
    from repro.study.check import check_study

    problems = check_study(options.study)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.as_json:
        print_json(
            {"study": options.study, "can_run": not errors, "problems": [asdict(problem) for problem in problems]}
        )
    else:
        _print_problems(problems, Path(options.study))
        if not errors:
            echo(Styled(f"{options.study} can run", fg="green"), f": repro run {shlex.quote(options.study)}")
    if errors:
        raise click.exceptions.Exit(1)


def _print_problems(problems: Sequence[Problem], path: Path) -> None:
    colours = {"error": "red", "warning": "yellow"}
    for problem in problems:
        place = f"{path}:{problem.line}: " if problem.line else f"{path}: "
        echo(place, Styled(problem.severity, fg=colours[problem.severity]), f": {problem.text}")
    counts = Counter(problem.severity for problem in problems)
    if counts["error"]:
        listed = [f"{count} {severity}{'s' * (count > 1)}" for severity, count in sorted(counts.items())]
        echo(Styled(f"{' and '.join(listed)}", fg="red"), "; errors stop a run")
