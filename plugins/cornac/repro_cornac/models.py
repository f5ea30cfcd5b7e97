"""Cornac's models, from the table in ``models.toml``: parameters with Cornac's defaults, and scores of the unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from repro.plugin import Parameter
from repro.plugin.api.model_table import read_classes

Kind = Literal["plain", "neighbours", "logistic", "non-negative"]
UnknownUser = Literal["no part", "bias", "default", "nothing"]
UnknownItem = Literal["no part", "lowest", "nothing"]


@dataclass(frozen=True)
class ModelParameter(Parameter):
    """A parameter of a class of Cornac; among its options, ``none`` stands for None.

    least    the lowest valid value; Cornac's compiled code does not check values
    layers   whether the text is a list of sizes, such as ``64,32``
    """

    least: float | None = None
    layers: bool = False


@dataclass(frozen=True)
class Model:
    """A class of ``cornac.models``.

    kind       how its scores are read: see :mod:`repro_cornac.recommender`
    predicts   whether its scores for pairs are on the rating scale
    user       the scores of an unknown user: those of all users ("no part"), the item biases ("bias"; zeros if there
               are none), the default score ("default"), or no scores ("nothing")
    item       the scores of an unknown item: those of all items ("no part"), the lowest score of the known items
               ("lowest"), or no scores ("nothing")
    torch      whether it runs on PyTorch; a parameter ``backend`` takes precedence
    fixed      arguments that the caller cannot choose
    """

    name: str
    summary: str
    cite: str = ""
    parameters: tuple[ModelParameter, ...] = ()
    kind: Kind = "plain"
    predicts: bool = False
    user: UnknownUser = "default"
    item: UnknownItem = "lowest"
    torch: bool = False
    fixed: Mapping[str, object] = field(default_factory=dict)


MODELS = read_classes(Path(__file__).with_name("models.toml"), Model, ModelParameter)
