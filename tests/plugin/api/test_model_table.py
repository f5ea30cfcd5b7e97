"""Classes of a framework in a TOML file, and canonical names with several, fixed and chosen parameters."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from repro.plugin import Algorithm, Parameter
from repro.plugin.api.adapting import as_canonical
from repro.plugin.api.model_table import read_classes

TABLE = """
[parameters.descent]
epochs = [20, "passes"]

[parameters.factors]
size = { default = 64, meaning = "length", least = 1 }
descent = "group"

[classes.First]
summary = "with everything"
absent = ["loss"]

[classes.First.parameters]
alpha = [0.5, "weight"]
factors = "group"
loss = ["log", "loss of a pair", ["log", "hinge"]]

[classes.Second]
summary = "with nothing"
"""


@dataclass(frozen=True)
class Model:
    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bounded(Parameter):
    least: float | None = None


def test_groups_stand_for_their_parameters_in_the_order_of_the_file(tmp_path):
    (tmp_path / "models.toml").write_text(TABLE)
    assert read_classes(tmp_path / "models.toml", Model, Bounded) == {
        "First": Model(
            "First",
            "with everything",
            (
                Bounded("alpha", 0.5, "weight"),
                Bounded("size", 64, "length", least=1),
                Bounded("epochs", 20, "passes"),
                Bounded("loss", "log", "loss of a pair", ("log", "hinge")),
            ),
            ("loss",),
        ),
        "Second": Model("Second", "with nothing", ()),
    }


PARAMETERS = tuple(Parameter(name, default, name) for name, default in {"h": 1.0, "w": 1.0, "size": 3, "k": 9}.items())
OWN = Algorithm("Own", "", lambda **own: own, PARAMETERS)


@pytest.mark.parametrize(
    ("canonical", "parameters", "made"),
    [
        (
            as_canonical("bpr", OWN, {"regularisation": ("h", "w")}, fixed={"k": 0}),
            ["regularisation", "size"],
            {"h": 2.0, "w": 2.0, "size": 5, "k": 0},
        ),
        (
            as_canonical("bpr", OWN, {"factors": "size"}, Parameter("factors", 8, "length"), kept=("k",)),
            ["factors", "k"],
            {"size": 5, "k": 7},
        ),
    ],
)
def test_canonical_parameters_reach_those_of_the_framework(canonical, parameters, made):
    values = {"regularisation": 2.0, "size": 5, "factors": 5, "k": 7}
    assert [parameter.name for parameter in canonical.parameters] == parameters
    assert canonical.make(**{name: values[name] for name in parameters}) == made


def test_the_mapping_has_the_names_of_the_framework_and_notes():
    names = {"regularisation": ("h", "w"), "factors": "size"}
    canonical = as_canonical("bpr", OWN, names, notes={"factors": "size / 2"})
    assert canonical.mapping == {"regularisation": "h and w", "factors": "size / 2"}
