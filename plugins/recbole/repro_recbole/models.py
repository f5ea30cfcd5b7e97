"""RecBole's models, from the table in ``models.toml``: names, parameters and defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repro.plugin import Parameter
from repro.plugin.api.model_table import read_classes


@dataclass(frozen=True)
class Model:
    """A class of RecBole.

    name        of the class, and of the algorithm
    parameters  under RecBole's names, with RecBole's defaults
    personal    whether scores depend on the user
    draws       whether it draws random numbers when it scores
    ratings     whether it may use ratings; all others count an interaction as 1
    one_by_one  whether RecBole itself scores users, or pairs, one after the other
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    cite: str = ""
    personal: bool = True
    draws: bool = False
    ratings: bool = False
    one_by_one: bool = False


MODELS = read_classes(Path(__file__).with_name("models.toml"), Model)
