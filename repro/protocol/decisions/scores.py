"""Decisions on scores before they are compared."""

from repro.protocol.decision import Decision, Option

DECISIONS = (
    Decision.choice(
        "scores.clip",
        "Are scores clipped before items are ranked by them?",
        Option("none", "no"),
        Option(
            "scale",
            "to the rating scale: scores beyond an end become that end, and so are ties",
            "to the rating scale",
            used_by=("surprise",),
        ),
        Option(
            "train",
            "to the range of the training ratings: scores beyond an end become that end, and so are ties",
            "to the range of the training ratings",
        ),
        own_stage="precision",
        own_search=False,
        sentence="Scores were clipped {value} before items were ranked by them.",
        absent="clipping of scores before the ranking",
    ),
)
