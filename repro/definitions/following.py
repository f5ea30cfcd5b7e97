"""Parameters with which the algorithms of frameworks follow a named definition, proven and stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from repro.definitions.alignment import CONVERSIONS, align_with
from repro.definitions.audit import FACTOR_MODELS
from repro.definitions.comparison import FILLERS, Level
from repro.definitions.confirmation import Confirmation, confirm
from repro.definitions.named import NAMED, NamedDefinition
from repro.definitions.optimality.alignment import SETS, FactorAlignment, Objective
from repro.definitions.result import Definition, rows_as_text
from repro.definitions.space import Setting, Space
from repro.errors import PluginError, nearest
from repro.plugin import ParameterValue, plugins
from repro.plugin.api.canonical import CANONICAL


@dataclass(frozen=True)
class Followed:
    """The way in which an algorithm of a framework follows a definition.

    parameters   those with which it does; None where there are none
    reason       why there are none, as a sentence
    agreement    how far the scores agree
    sets, pairs  the training sets and scores that confirmed it
    residual     of a factor model, whose scores depend on where it starts: how far its factors are from meeting the
                 equations of the objective
    """

    algorithm: str
    definition: str
    parameters: Setting | None = None
    reason: str = ""
    agreement: str = ""
    sets: int = 0
    pairs: int = 0
    conversions: Mapping[str, str] = field(default_factory=dict)
    residual: float | None = None

    @property
    def proof(self) -> str:
        """The agreement and its extent, in words."""
        if self.residual is not None:
            return f"{self.agreement} as {self.definition}: residual {self.residual:.1e} on {self.sets} training sets"
        return f"{self.agreement} as {self.definition}: {self.pairs:,} scores of {self.sets} training sets"


def named(definition: str, algorithm: str) -> NamedDefinition:
    """The definition of that name, which must be one of the algorithm where its name is canonical."""
    known = [name for name, each in NAMED.items() if each.algorithm == algorithm or algorithm not in CANONICAL]
    if definition not in known:
        offered = f" Definitions of {algorithm}: {', '.join(known)}" if known else f" {algorithm} has none"
        raise PluginError(f"'{definition}' is no definition of {algorithm}{nearest(definition, known)}{offered}")
    return NAMED[definition]


def follow(
    definition: str,
    label: str,
    stated: Mapping[str, ParameterValue],
    progress: Callable[[str], None] = lambda text: None,
) -> Followed:
    """The parameters with which an algorithm follows a definition, ``stated`` being those of the definition.

    They are inferred with values that show on small training sets, such as three neighbours, and confirmed with the
    stated ones. The result is stored in the user's cache, by the versions and the source of all that it depends on.
    """
    meant = NAMED[definition]
    if label == meant.label:
        parameters = meant.implementation(stated).parameters
        return Followed(label, definition, parameters, agreement=Level.EQUAL.meaning)
    path = _stored(meant, label, stated)
    if path.is_file():
        try:
            return Followed(**json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            path.unlink()
    progress(f"{label} as {definition}")
    follows = _follow_objective if meant.algorithm in FACTOR_MODELS else _follow
    followed = follows(meant, label, stated)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(followed), indent=1), encoding="utf-8")
    return followed


def _follow(meant: NamedDefinition, label: str, stated: Mapping[str, ParameterValue]) -> Followed:
    shown = meant.implementation({**stated, **meant.probes})
    aligned = align_with(shown, label)
    finding = aligned.finding
    if not isinstance(finding, Definition):
        case = "" if finding.case is None else f", for example on (user, item, rating) {rows_as_text(finding.case)}"
        reason = finding.reason or f"no parameters of it give these scores{case}"
        return Followed(label, meant.name, reason=f"{label} cannot follow {meant.name}: {reason}")
    target = replace(meant.implementation(stated), tolerance=aligned.tolerance)
    parameters = {**finding.setting, **converted(aligned.conversions, target.parameters, Space.of(label))}
    expected = finding.confirmation.level, np.ones(len(FILLERS), dtype=bool)
    outcome = confirm(target, Space.of(label), parameters, expected, seed=1)
    if not isinstance(outcome, Confirmation):
        reason = (
            f"{label} cannot follow {meant.name} with {_in_words(stated)}, for example on (user, item, rating) "
            f"{rows_as_text(outcome.train)}"
        )
        return Followed(label, meant.name, reason=reason)
    return Followed(
        label,
        meant.name,
        parameters,
        "",
        outcome.level.meaning + ("" if aligned.tolerance is None else " in single precision"),
        outcome.sets + finding.confirmation.sets,
        outcome.pairs + finding.confirmation.pairs,
        dict(aligned.conversions),
    )


def _follow_objective(meant: NamedDefinition, label: str, stated: Mapping[str, ParameterValue]) -> Followed:
    """The parameters with which a factor model minimises the objective of a definition."""
    target = meant.implementation(stated)
    aligned = FactorAlignment(Objective.of(meant.algorithm, target.parameters), label).run()
    if aligned.parameters is None or aligned.residual is None:
        reason = ", ".join(f"its {name} is {own}, not {wanted}" for name, (own, wanted) in aligned.decisions.items())
        reason = reason or aligned.reason
        return Followed(label, meant.name, reason=f"{label} cannot follow {meant.name}: {reason}")
    own = {parameter.name for parameter in plugins().algorithm(label)[1].parameters}
    sizes = {name: value for name, value in stated.items() if name in own and name not in aligned.parameters}
    parameters = {**aligned.parameters, **sizes}
    return Followed(
        label,
        meant.name,
        parameters,
        agreement="the same objective",
        sets=SETS,
        conversions=dict(aligned.conversions),
        residual=aligned.residual.whole,
    )


def converted(
    conversions: Mapping[str, str], parameters: Mapping[str, ParameterValue], space: Space
) -> dict[str, ParameterValue]:
    """The values of numbers of a space that follow from parameters of the target."""
    values: dict[str, ParameterValue] = {}
    for parameter in space.numbers:
        for text, convert in CONVERSIONS.items():
            for name, value in parameters.items():
                if conversions.get(parameter.name) == text.format(name):
                    values[parameter.name] = type(parameter.default)(convert(value))
    return values


def _in_words(stated: Mapping[str, ParameterValue]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in stated.items()) or "its defaults"


def _stored(meant: NamedDefinition, label: str, stated: Mapping[str, ParameterValue]) -> Path:
    """The file of the cache that has the parameters."""
    installed = plugins()
    frameworks = [installed.algorithm(each)[0] for each in (label, meant.label)]
    modules = {installed.algorithm(each)[1].make for each in (label, meant.label)}
    content: dict[str, Any] = {
        "definition": asdict(meant),
        "stated": dict(sorted(stated.items())),
        "algorithm": label,
        "versions": [[framework.name, framework.version, dict(framework.packages)] for framework in frameworks],
        "source": sorted({_source(_package_of(module)) for module in modules} | {_source("repro.definitions")}),
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
    return platformdirs.user_cache_path("repro") / "definitions" / f"{digest[:32]}.json"


def _package_of(make: Any) -> str:
    while hasattr(make, "func"):
        make = make.func
    return str(make.__module__).partition(".")[0]


def _source(package: str) -> str:
    """The digest of all source files of a package."""
    folder = Path(str(import_module(package).__file__)).parent
    digest = hashlib.sha256()
    for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()
