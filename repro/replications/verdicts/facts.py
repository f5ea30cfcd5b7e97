"""Verdicts on printed figures of a data set."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from repro.data import Interactions, datasets, prepare
from repro.errors import ReproError, StudyError
from repro.protocol import Protocol
from repro.replications.claim_runs import Runs
from repro.replications.claims.claim import Claim, Fact
from repro.replications.claims.figures import FIGURES
from repro.replications.claims.printed import Rounding, infer_rounding
from repro.replications.verdicts.judgement import Judgement, VerdictName, by_digits, not_run
from repro.split import make_folds
from repro.split.share import exact
from repro.split.uniform_items import target_items


def judge_facts(claim: Claim) -> list[Judgement]:
    """Compare each printed figure with the data."""
    facts = [fact for fact in claim.facts if not fact.algorithm]
    if not facts:
        return []
    data, rows = claim.data.name if claim.data else "", claim.interactions()
    figures = [_figure(claim, fact, rows) for fact in facts]
    rounding = infer_rounding([(fact.printed, value) for fact, (value, _, _) in zip(facts, figures, strict=True)])
    judgements = []
    for fact, (value, counted, protocol) in zip(facts, figures, strict=True):
        verdict, why = _verdict(fact, value, counted, protocol, rounding)
        of_data = not (FIGURES[fact.name].of_protocol or FIGURES[fact.name].part or fact.prepared)
        if verdict == "differs" and of_data and claim.data is not None and claim.data.digest:
            verdict, why = "erratum", f"the data of the stated digest has {fact.printed.shown(value, 2)}"
        judgements.append(replace(not_run(fact, why, data), verdict=verdict, values=(value,)))
    return judgements


def judge_times(runs: Runs) -> list[Judgement]:
    """Compare each printed time with the seconds that the algorithm took here, up to the factor of the claim."""
    judgements = []
    for fact in (fact for fact in runs.claim.facts if fact.algorithm):
        took = runs.seconds_of(runs.claim.setting(fact.under).protocol, fact.algorithm)
        judgement = replace(not_run(fact, runs.not_run.get(fact.algorithm, "")), algorithm=fact.algorithm)
        if took:
            seconds, printed = took[fact.name.partition(" ")[0]], fact.printed.value
            near = printed / fact.factor <= seconds <= printed * fact.factor
            why = f"{seconds / printed:.2g} times the printed time, where a factor of {fact.factor:g} is allowed"
            judgement = replace(judgement, verdict="within" if near else "differs", values=(seconds,), why=why)
        elif not judgement.why:
            why = "the claim has no number of the algorithm under this protocol, so that it is not fitted"
            judgement = replace(judgement, why=why)
        judgements.append(judgement)
    return judgements


def _of_split(claim: Claim, fact: Fact, rows: Interactions, protocol: Protocol) -> tuple[float, Interactions]:
    """A figure of a part of the split, of one fold or the mean over folds, and the rows of that part."""
    figure, seed = FIGURES[fact.name], claim.seeds[0]
    split = make_folds(prepare(rows, protocol, seed)[0], protocol, seed)
    folds = [fold for fold in split.folds if fact.fold in ("", fold.name)]
    if not folds:
        names = ", ".join(fold.name for fold in split.folds)
        raise StudyError(f"{claim.path}: there is no fold '{fact.fold}'; the folds are {names}")
    parts = []
    for fold in folds:
        part = getattr(fold, str(figure.part))
        if part is None:
            raise StudyError(f"{claim.path}: '{fact.name}' needs a validation part, and the protocol sets none apart")
        parts.append(split.interactions.select(part))
    return math.fsum(figure.compute(part, protocol) for part in parts) / len(parts), parts[0]


def _figure(claim: Claim, fact: Fact, rows: Interactions) -> tuple[float, Interactions, Protocol | None]:
    """The value of a figure, the rows that it describes, and the protocol."""
    figure = FIGURES[fact.name]
    setting = claim.settings.get(fact.under)
    if setting is None and (figure.of_protocol or figure.part or fact.prepared):
        raise StudyError(
            f"{claim.path}: the figure '{fact.name}' depends on a protocol; write [protocol] with its split"
        )
    if figure.part and setting is not None:
        value, part = _of_split(claim, fact, rows, setting.protocol)
        return value, part, setting.protocol
    if fact.prepared and setting is not None:
        rows = prepare(rows, setting.protocol, claim.seeds[0])[0]
    if figure.of_protocol and setting is not None and "split.train_floor" not in setting.protocol:
        raise StudyError(
            f"{claim.path}: the figure '{fact.name}' needs split.strategy = \"uniform-items\", and the protocol "
            f'has "{setting.protocol["split.strategy"]}"; name another protocol with under = "..."'
        )
    protocol = setting.protocol if setting else None
    return figure.compute(rows, protocol), rows, protocol


def _verdict(
    fact: Fact, value: float, rows: Interactions, protocol: Protocol | None, rounding: Rounding
) -> tuple[VerdictName, str]:
    printed = fact.printed
    if fact.name == "eta" and protocol is not None:
        most = _most_of_a_target(rows, protocol)
        if printed.matches_rounded(most):
            return "exact", (
                f"(1 - epsilon) r(i_zeta) = {printed.shown(most, 2)} of the least popular target item; "
                f"sigma r / |T| = {printed.shown(value, 2)}"
            )
    if fact.name == "eta" and protocol is not None and (why := _too_many(printed.value, rows, protocol)):
        return ("erratum", why) if printed.matches_rounded(value) or printed.value > value else ("differs", "")
    if fact.name == "eta" and not printed.matches_rounded(value) and printed.value == int(value):
        return "exact", f"{printed.shown(value, 2)}, rounded down to a whole number of ratings"
    return by_digits(printed, value, rounding)


def _most_of_a_target(rows: Interactions, protocol: Protocol) -> float:
    """(1 - epsilon) r(i_zeta): as many ratings as the least popular target item can give to the test part."""
    counts = rows.item_counts()
    fewest = int(counts[target_items(counts, protocol)].min())
    return float((1 - exact(protocol.number("split.train_floor"))) * fewest)


def _too_many(eta: float, rows: Interactions, protocol: Protocol) -> str:
    """The reason why ``eta`` test ratings of each target item are impossible; empty if they are possible."""
    targets = len(target_items(rows.item_counts(), protocol))
    allowed = exact(protocol.number("split.test_ratio")) * len(rows)
    if eta != int(eta) or Fraction(int(eta)) * targets <= allowed:
        return ""
    sigma = protocol.number("split.test_ratio")
    return (
        f"|T| eta may be at most sigma r: {targets:,} x {int(eta):,} = {targets * int(eta):,} is more than "
        f"{sigma:g} x {len(rows):,} = {float(allowed):,.1f}; sigma r / |T| = {float(allowed / targets):.2f} allows "
        f"{int(allowed / targets):,}"
    )


def unavailable(claim: Claim) -> str:
    """The reason why the data of the claim is not available here, and what to do; empty if it is available."""
    if claim.data is None:
        return ""
    try:
        claim.interactions()
    except StudyError:
        raise  # the data is here, and its digest is not the one that the claim states
    except ReproError as error:
        name = claim.data.name
        how = f"; `repro data get {name}` downloads it" if name in datasets() else ""
        return f"the data {name} is not available here{how} ({str(error).splitlines()[0]})"
    return ""
