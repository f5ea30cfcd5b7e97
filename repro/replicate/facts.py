"""Figures of a data set that papers print: how many users and ratings, how dense, how unequal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from repro.data import Interactions, describe, prepare
from repro.errors import ReproError, StudyError
from repro.protocol import Protocol
from repro.replicate.claim import Claim, Fact
from repro.replicate.digits import Digits, digits_of
from repro.replicate.verdict import Found, Judged
from repro.split.share import exact
from repro.split.uniform_items import target_items

Figure = Callable[[Interactions, Protocol | None], float]


@dataclass(frozen=True)
class Kind:
    """A figure: what it is in words, how it is had, and whether it hangs on a protocol."""

    meaning: str
    figure: Figure
    of_protocol: bool = False


def _targets(rows: Interactions, protocol: Protocol | None) -> float:
    assert protocol is not None
    return float(len(target_items(rows.item_counts(), protocol)))


def _per_target(rows: Interactions, protocol: Protocol | None) -> float:
    """sigma r / |T|, exactly."""
    assert protocol is not None
    share = exact(protocol.number("split.test_ratio")) * len(rows) / len(target_items(rows.item_counts(), protocol))
    return float(share)


FACTS: Mapping[str, Kind] = {
    "users": Kind("users with a rating", lambda rows, _: float(describe(rows).users)),
    "items": Kind("items with a rating", lambda rows, _: float(describe(rows).items)),
    "ratings": Kind("ratings", lambda rows, _: float(len(rows))),
    "density": Kind("the share of all user-item pairs that have a rating", lambda rows, _: describe(rows).density),
    "gini": Kind("the Gini coefficient of the ratings per item", lambda rows, _: describe(rows).gini),
    "mean rating": Kind("the mean of all ratings", lambda rows, _: describe(rows).mean_rating),
    "target items": Kind("|T| of a split with as many test ratings for each item", _targets, of_protocol=True),
    "eta": Kind("test ratings of each target item, sigma r / |T|", _per_target, of_protocol=True),
}


def judge_facts(claim: Claim) -> list[Judged]:
    """Each figure against the data."""
    if not claim.facts:
        return []
    rows = claim.interactions()
    known = [_figure(claim, fact, rows) for fact in claim.facts]
    digits = digits_of([(fact.printed, value) for fact, (value, _, _) in zip(claim.facts, known, strict=True)])
    return [
        Judged(
            what="fact",
            algorithm=claim.data.name if claim.data else "",
            metric=fact.name,
            verdict=verdict,
            printed=fact.printed,
            values=(value,),
            under=fact.under,
            why=why,
        )
        for fact, (value, counted, protocol) in zip(claim.facts, known, strict=True)
        for verdict, why in [_found(fact, value, counted, protocol, digits)]
    ]


def _figure(claim: Claim, fact: Fact, rows: Interactions) -> tuple[float, Interactions, Protocol | None]:
    """A figure, the rows that it is of, and the protocol."""
    kind = FACTS[fact.name]
    setting = claim.settings.get(fact.under)
    if setting is None and (kind.of_protocol or fact.prepared):
        raise StudyError(f"{claim.path}: the figure '{fact.name}' hangs on a protocol; write [protocol] with its split")
    if fact.prepared and setting is not None:
        rows = prepare(rows, setting.protocol, claim.seeds[0])[0]
    if kind.of_protocol and setting is not None and "split.train_floor" not in setting.protocol:
        raise StudyError(
            f"{claim.path}: the figure '{fact.name}' is one of split.strategy = \"uniform-items\", and the protocol "
            f'has "{setting.protocol["split.strategy"]}"; say under = "..." which protocol it is of'
        )
    protocol = setting.protocol if setting else None
    return kind.figure(rows, protocol), rows, protocol


def _found(
    fact: Fact, value: float, rows: Interactions, protocol: Protocol | None, digits: Digits
) -> tuple[Found, str]:
    printed = fact.printed
    if fact.name == "eta" and protocol is not None and (why := _too_many(printed.value, rows, protocol)):
        return ("erratum", why) if printed.rounds_from(value) or printed.value > value else ("differs", "")
    if printed.rounds_from(value):
        return "exact", ""
    if fact.name == "eta" and printed.value == int(value):
        return "exact", f"{printed.shown(value, 2)}, rounded down to a whole number of ratings"
    if digits.gives(printed, value):
        return "within", f"{printed.shown(value, 2)}: {digits.sentence}"
    return "differs", digits.doubt(printed, value)


def _too_many(eta: float, rows: Interactions, protocol: Protocol) -> str:
    """Why there cannot be as many test ratings of each target item; empty where there can."""
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
    """Why the data of the claim cannot be had here, and what to do; empty where it can."""
    from repro.data import datasets

    if claim.data is None:
        return ""
    try:
        claim.interactions()
    except StudyError:
        raise  # another digest than the claim's: it is here, and another one
    except ReproError as error:
        name = claim.data.name
        how = f"; `repro data get {name}` gets it where there is a way to it" if name in datasets() else ""
        return f"the data {name} cannot be had here{how} ({str(error).splitlines()[0]})"
    return ""
