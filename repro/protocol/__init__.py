"""Decisions as data: what lies between a data set and a number."""

from repro.protocol.decision import REQUIRED, AnyOf, Contradiction, Decision, Option, Value, When
from repro.protocol.model import DEFAULT, Protocol, resolve
from repro.protocol.reader import (
    flatten,
    line_of,
    parse_protocol,
    protocol_folder,
    protocol_names,
    read_protocol,
    read_table,
)
from repro.protocol.registry import Registry, json_schema, registry
from repro.protocol.stages import BEFORE_FITTING, OF_LISTS, OF_PREDICTIONS, STAGES, Stage
from repro.protocol.table import table_text
from repro.protocol.toml import toml_value

__all__ = [
    "BEFORE_FITTING",
    "DEFAULT",
    "OF_LISTS",
    "OF_PREDICTIONS",
    "REQUIRED",
    "STAGES",
    "AnyOf",
    "Contradiction",
    "Decision",
    "Option",
    "Protocol",
    "Registry",
    "Stage",
    "Value",
    "When",
    "flatten",
    "json_schema",
    "line_of",
    "parse_protocol",
    "protocol_folder",
    "protocol_names",
    "read_protocol",
    "read_table",
    "registry",
    "resolve",
    "table_text",
    "toml_value",
]
