"""The best algorithm, its lead, and the algorithms that it cannot be distinguished from."""

from __future__ import annotations

from repro.reports.html import number
from repro.reports.run.run_view import RunView, Tested, written_p

_NAMED = 8  # most algorithms that a sentence names


def best_sentences(view: RunView) -> list[str]:
    """A paragraph by the main metric, and a short one by that of the other kind of output."""
    return [best_answer(view, view.main_metric), *(_in_short(view, name) for name in view.headlines[1:])]


def best_answer(view: RunView, metric: str) -> str:
    """The best algorithm by a metric, its lead, whether the lead is significant, and who is as good."""
    better = view.better[metric]
    leaders = view.leaders(metric)
    if not leaders:
        return "No algorithm has a number on all folds, so there is no answer."
    best, value = leaders[0], float(view.values[metric][leaders[0]])
    if len(leaders) == 1:
        low, high = view.means.get(metric, {}).get(best, (0.0, float("nan"), float("nan")))[1:]
        within = f" (95% interval over users: {number(low)} to {number(high)})" if low == low else ""
        return f"{best} has {metric} {number(value)}{within}; there is no other algorithm to compare it with."
    second, next_value = leaders[1], float(view.values[metric][leaders[1]])
    superlative = {"higher": "is best", "lower": "is best, with the lowest value"}.get(better, "has the highest value")
    if value == next_value:
        gap = f"the same as {second}"
    else:
        share = f" ({abs(value - next_value) / abs(next_value):.1%})" if next_value else ""
        gap = f"which is {abs(value - next_value):.4f}{share} {'less' if value < next_value else 'more'} than {second}"
    tested = view.tested.get(metric)
    sentences = [
        f"By {metric}, {best} {superlative}: {number(value)}, {gap} ({number(next_value)}).",
        view.untested and f"Whether that is more than chance is not tested: {view.untested}.",
        "" if view.untested else _chance(tested, best, second),
        _as_good(view, tested, best, leaders),
    ]
    if suspicious := [label for label in (best, second) if label in view.suspected]:
        verb = "is" if len(suspicious) == 1 else "are"
        sentences.append(f"But {' and '.join(suspicious)} {verb} suspicious: see above.")
    return " ".join(filter(None, sentences))


def _chance(tested: Tested | None, best: str, second: str) -> str:
    if tested is None or second not in tested.p.index or best not in tested.p.index:
        return "Whether that is more than chance cannot be tested: there is no number for each user."
    p = float(tested.p[best][second])
    if p != p:
        return "Whether that is more than chance cannot be tested: there are fewer than two users."
    row = tested.against.loc[second]
    if not row["significant"]:
        verdict = "No difference is shown"
    elif row["mean_a"] == row["mean_b"] or (row["mean_b"] > row["mean_a"]) != (tested.better != "lower"):
        verdict = f"The difference is more than chance, though not by the mean over users ({row['verdict']})"
    else:
        verdict = f"The difference is more than chance ({row['verdict']})"
    return f"{verdict}: {written_p(p)} ({tested.description})."


def _as_good(view: RunView, tested: Tested | None, best: str, leaders: list[str]) -> str:
    """The algorithms that no difference from the best is shown for, and how many differ."""
    if tested is None or tested.compared is None or best != tested.best or len(leaders) < 3:
        return ""
    others = [label for label in leaders[1:] if label in tested.against.index]
    as_good = [label for label in others if not tested.differs(label)]
    if not as_good:
        return f"All {len(others)} other algorithms differ from it."
    if len(as_good) == len(others):
        return f"No difference from it is shown for any of the {len(others)} others."
    return f"Of the {len(others)} others, no difference from it is shown for {_listed(view, as_good)}."


def _listed(view: RunView, labels: list[str]) -> str:
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return view.names(labels[:_NAMED]) + more


def _in_short(view: RunView, metric: str) -> str:
    """The best algorithm by another metric, and who is as good."""
    leaders = view.leaders(metric)
    value = number(float(view.values[metric][leaders[0]]))
    sentence = f"By {metric}, it is {leaders[0]}: {value}."
    return " ".join(filter(None, [sentence, _as_good(view, view.tested.get(metric), leaders[0], leaders)]))
