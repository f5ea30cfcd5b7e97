"""User by user: how far the others are from the best, and for how many users."""

from __future__ import annotations

from repro.report.pages import table
from repro.report.run.distributions import quantile_chart, quantiles
from repro.report.run.figures import figure, section, wide
from repro.report.run.material import Material
from repro.report.run.significance import Tested, written_p


def differences_section(run: Material) -> str:
    """The differences of each algorithm to the best one, by the first metric."""
    title = "User by user against the best"
    one = run.tested.get(run.first)
    if one is None or one.against.empty:
        return section("differences", title, ["<p>There are no two algorithms with values of each user.</p>"])
    others = [label for label in run.leaders(run.first) if label in one.against.index]
    spread = quantiles(one.values[others].sub(one.values[one.best], axis=0))
    side = {"higher": "left of", "lower": "right of"}.get(one.better, "beside")
    sentence = (
        f"{one.metric} of each user minus that of {one.best}: {side} zero, {one.best} is the better one. Half of the "
        "users lie within the bar, 90% within the line; the tick is the median, the dot the mean."
    )
    drawn = figure(f"Differences to {one.best}", sentence, quantile_chart(spread, f"difference in {one.metric}"))
    return section("differences", title, [drawn, wide(_table(one, others), title)])


def _table(one: Tested, others: list[str]) -> str:
    header = ["algorithm", "difference", "95% interval", "d_z", "users better off", "same", "worse off", "p", "verdict"]
    rows = []
    for label in others:
        row = one.against.loc[label]
        apart = (one.values[label] - one.values[one.best]).dropna()
        better = apart < 0 if one.better == "lower" else apart > 0
        same = apart == 0
        shares = (f"{share.mean():.1%}" for share in (better, same, ~better & ~same))
        interval = f"{row['low']:+.4f} to {row['high']:+.4f}"
        told = written_p(float(row["p_corrected"]))
        rows.append(
            [label, f"{row['difference']:+.4f}", interval, f"{row['cohen_dz']:+.2f}", *shares, told, row["verdict"]]
        )
    caption = (
        f"Each algorithm against {one.best}: {one.stated}. Users are better or worse off with the algorithm of the row."
    )
    return table(header, rows, header[1:-1], caption)
