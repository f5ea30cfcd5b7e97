"""The one registry of decisions: TOML reader, JSON Schema, command-line help and reports derive from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from repro.current import current
from repro.errors import ProtocolError, nearest
from repro.protocol.decision import AnyOf, Decision, Value, When
from repro.protocol.stages import Stage, stage_named_by


class Registry(dict[str, Decision]):
    """All decisions by id, in the order of the flow."""

    def __init__(self, decisions: Iterable[Decision]) -> None:
        for decision in decisions:
            if decision.id in self:
                raise ProtocolError(f"decision {decision.id} is declared twice; give the second another id")
            self[decision.id] = decision

    def __missing__(self, key: str) -> Decision:
        raise ProtocolError(f"there is no decision '{key}'{nearest(key, self)} `repro protocol explain` lists them all")

    def family(self, prefix: str) -> list[Decision]:
        """The decisions below ``prefix``: ``ties`` gives ``ties.break`` and so on."""
        return [decision for key, decision in self.items() if f"{key}.".startswith(f"{prefix}.")]

    def of_stages(self, *stages: Stage) -> list[str]:
        """The ids of the decisions that these stages read."""
        return [key for key, decision in self.items() if decision.stage in stages]

    def stage_of(self, key: str) -> Stage | None:
        """The stage that reads a decision, also that of a plug-in that is not installed; None where it is unknown."""
        return self[key].stage if key in self else stage_named_by(key)

    def active(self, decision: Decision, values: Mapping[str, Value]) -> bool:
        """Whether ``decision`` has an effect, given the others; a decision that depends on an inactive one has none."""
        return not decision.when or all(self._holds(condition, values) for condition in decision.when)

    def allows(self, decision: Decision, value: Value, values: Mapping[str, Value]) -> bool:
        """Whether an active decision may take ``value``, given the others."""
        option = decision.option(value)
        return option is None or not option.when or all(self._holds(condition, values) for condition in option.when)

    def depends_on(self, decision: str, other: str) -> bool:
        """Whether a decision has an effect only under some values of another one; each depends on itself."""
        if decision == other:
            return True
        conditions = [
            condition
            for stated in self[decision].when
            for condition in (stated.conditions if isinstance(stated, AnyOf) else (stated,))
        ]
        return any(self.depends_on(condition.decision, other) for condition in conditions)

    def _holds(self, condition: When | AnyOf, values: Mapping[str, Value]) -> bool:
        if isinstance(condition, AnyOf):
            return any(self._holds(alternative, values) for alternative in condition.conditions)
        return condition.holds(values.get(condition.decision)) and self.active(self[condition.decision], values)


def registry() -> Registry:
    """The decisions of the core, of every metric, and of plug-ins."""
    known: Registry = current().registry
    return known


def json_schema() -> dict[str, object]:
    """The JSON Schema of a protocol file, for editors and other languages."""
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "base": {**text, "description": "The protocol that this one differs from, by name or file."},
        "name": text,
        "title": text,
        "source": text,
        "notes": text,
        "open": {"type": "array", "items": {"enum": list(registry())}},
    }
    for decision in registry().values():
        table = properties
        for part in decision.family.split("."):
            empty = {"type": "object", "additionalProperties": False, "properties": {}}
            table = table.setdefault(part, empty)["properties"]
        table[decision.id.rpartition(".")[2]] = _schema_of(decision)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "repro protocol",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _schema_of(decision: Decision) -> dict[str, object]:
    schema: dict[str, object] = {"description": decision.question}
    if not decision.required:
        schema["default"] = decision.default
    match decision.kind:
        case "choice":
            schema["oneOf"] = [{"const": option.value, "description": option.meaning} for option in decision.options]
        case "flag":
            schema["type"] = "boolean"
        case "path":
            schema["anyOf"] = [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
        case "weights":
            schema["anyOf"] = [{"type": "string"}, {"type": "array", "items": {"type": "number"}, "minItems": 1}]
        case _:
            bounds = {"minimum": decision.minimum, "maximum": decision.maximum}
            number: dict[str, object] = {"type": decision.kind}
            number |= {name: bound for name, bound in bounds.items() if bound is not None}
            if decision.excluded:
                number["not"] = {"enum": list(decision.excluded)}
            schema["anyOf"] = [number, *({"const": word} for word in decision.words)]
    return schema
