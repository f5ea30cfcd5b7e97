"""What all events of a journal have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

Number = int | float | str | bool | None


class BaseEvent(BaseModel):
    """An event, or a part of one: it has what its model says, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True)
