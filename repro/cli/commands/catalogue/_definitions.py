"""`repro algorithms audit`, `agree` and `align`: the definitions that implementations follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from repro.cli.options.evaluator_options import complete_data
from repro.cli.options.option_classes import argument, command, completes, flag, option
from repro.cli.options.protocol_options import toml_pair
from repro.cli.options.shared_options import ProgressOptions, seed_option
from repro.cli.output import Styled, echo, print_json, print_table
from repro.progress import Stages


@completes()
def complete_algorithm(text: str) -> dict[str, str]:
    from repro.plugin import plugins

    return {
        f"{name}/{algorithm.name}": algorithm.summary
        for name, framework in plugins().frameworks.items()
        for algorithm in framework.algorithms
    }


@completes()
def complete_canonical(text: str) -> list[str]:
    from repro.plugin.api.canonical import CANONICAL

    return list(CANONICAL)


@completes(after_comma=True)
def complete_framework(text: str) -> list[str]:
    from repro.plugin import plugins

    return list(plugins().frameworks)


def parameters_option() -> Any:
    """``--set name=value``."""
    return option("A parameter of the algorithm, such as k=5; may be repeated.", "--set", metavar="NAME=VALUE")


@dataclass(frozen=True, kw_only=True)
class DefinitionOptions(ProgressOptions):
    """Options of every command about definitions."""

    set: tuple[str, ...] = parameters_option()
    data: str | None = option(
        "A data set, or a file, with which the result is checked too.",
        metavar="NAME|FILE",
        shell_complete=complete_data,
    )
    seed: int = seed_option()


def frameworks_option() -> Any:
    """``--only``, frameworks."""
    return option("Only these frameworks.", metavar="NAME,NAME,...", shell_complete=complete_framework)


@dataclass(frozen=True, kw_only=True)
class AuditOptions(DefinitionOptions):
    target: str = argument(shell_complete=complete_algorithm)
    only: str | None = option("Only definitions of these algorithms.", metavar="NAME,NAME,...")
    no_evidence: bool = flag("Do not search for cases that reject other options (faster).")


@command(
    "repro algorithms audit lenskit/item-knn",
    "repro algorithms audit my_package.model:Recommender --set k=5",
)
def audit(options: AuditOptions) -> None:
    """The definition that an implementation follows, with the evidence.

    TARGET is an algorithm of a plug-in, such as lenskit/item-knn, or a class with fit and score, called
    package.module:Class. It is fitted to small training sets, and its scores are compared with those of all
    definitions. Of a factor model, the factors show which objective they minimise.
    """
    from repro.definitions import audit as audit_algorithm

    with Stages(hidden=options.hidden) as stages:
        audited = audit_algorithm(
            options.target,
            _parameters(options.set),
            only=_names(options.only) or (),
            data=options.data,
            evidence=not options.no_evidence,
            seed=options.seed,
            progress=stages.update,
        )
    if options.as_json:
        print_json(audited.to_dict())
    else:
        echo(audited.to_text())


@dataclass(frozen=True, kw_only=True)
class AgreeOptions(DefinitionOptions):
    name: str = argument(shell_complete=complete_canonical)
    only: str | None = frameworks_option()
    no_definitions: bool = flag("Do not infer the definition of each implementation (faster).")


@command("repro algorithms agree item-knn", "repro algorithms agree ease --only lenskit,recbole")
def agree(options: AgreeOptions) -> None:
    """Show which frameworks compute the same under the name of an algorithm, and by which decision they differ.

    NAME is an algorithm that several frameworks have, such as item-knn.
    """
    from repro.definitions import agree as agree_on

    with Stages(hidden=options.hidden) as stages:
        agreement = agree_on(
            options.name,
            _parameters(options.set),
            only=_names(options.only),
            definitions=not options.no_definitions,
            data=options.data,
            seed=options.seed,
            progress=stages.update,
        )
    if options.as_json:
        print_json(agreement.to_dict())
        return
    echo(Styled(f"{agreement.name} in {len(agreement.labels)} frameworks"))
    numbers = [str(number) for number in range(1, len(agreement.labels) + 1)]
    rows = zip(numbers, agreement.labels, agreement.marks(), strict=True)
    print_table(["", "implementation", *numbers], [[number, label, *marks] for number, label, marks in rows])
    echo(f"{agreement.legend}.\n\n{agreement.details()}")


@dataclass(frozen=True, kw_only=True)
class AlignOptions(DefinitionOptions):
    name: str = argument(shell_complete=complete_canonical)
    like: str = option(
        "The framework, or the name of a definition, that others are to follow.", required=True, metavar="NAME"
    )
    only: str | None = frameworks_option()


@command(
    "repro algorithms align item-knn --like recpack",
    "repro algorithms align item-knn --like cosine-sum --set k=20",
)
def align(options: AlignOptions) -> None:
    """The parameters with which other frameworks compute the same, or what stands in the way.

    NAME is an algorithm that several frameworks have, such as item-knn.
    """
    from repro.definitions import align as align_frameworks

    with Stages(hidden=options.hidden) as stages:
        results = align_frameworks(
            options.name,
            options.like,
            _parameters(options.set),
            only=_names(options.only),
            data=options.data,
            seed=options.seed,
            progress=stages.update,
        )
    if options.as_json:
        print_json([aligned.to_dict() for aligned in results])
        return
    for aligned in results:
        echo(Styled(aligned.label))
        for line in aligned.lines():
            echo(f"  {line}")


def _parameters(stated: tuple[str, ...]) -> dict[str, Any]:
    return dict(toml_pair(text, "NAME=VALUE, such as k=5", "--set") for text in stated)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
