"""Policies of black boxes: inferred in this process, or read from files and journals."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repro.audits.examination.conclusions import BASE, TITLE, as_protocol
from repro.audits.examination.inference import Inference
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.errors import ProtocolError
from repro.evaluation.metrics import metric_named
from repro.protocol import Protocol, Value, read_protocol, read_table, resolve, table_text
from repro.runs.journal.audit_events import MeasureInferred


@dataclass(frozen=True)
class RecordedPolicy:
    """The part of an inference that a journal has, and the protocol from its file; see :class:`Inference`."""

    protocol: Protocol | None
    summary: str
    decimals: int | None = None
    doubtful: tuple[str, ...] = ()


Policy = Inference | RecordedPolicy | Protocol
Policies = Mapping[str, Policy]  # by the name of the black box


def protocol_of(policy: Policy) -> Protocol | None:
    """The policy as a protocol; None where no policy was inferred."""
    return policy if isinstance(policy, Protocol) else policy.protocol


def hypothesis_of(protocol: Protocol, space: Space) -> Hypothesis:
    """The decisions of a protocol that affect the metric of a space."""
    return space.hypothesis({key: protocol[key] for key in space.decisions if key in protocol})


def file_stem(name: str) -> str:
    """The name of files about a black box, from its evaluator and measure: ``surprise-accuracy-rmse``."""
    return re.sub(r"[^\w.@-]+", "-", name).strip("-")


def write_policy(inference: Inference, folder: Path) -> Path | None:
    """Write the policy as a protocol, ``implicit-ranking_metrics_at_k-ndcg.toml``; None where there is no policy."""
    if inference.protocol is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{file_stem(inference.name)}.toml"
    path.write_text(inference.protocol.to_toml(), encoding="utf-8")
    return path


def policies_text(protocols: Mapping[str, Protocol]) -> str:
    """A table of policies, by the names of the black boxes: ``inferred/...`` protocols are made from such a table."""
    return table_text({file_stem(name): protocols[name] for name in sorted(protocols)}, BASE, TITLE)


def read_policies(path: Path) -> dict[str, Protocol]:
    """The policies in a table, or in a folder that :func:`write_policy` wrote into, by the names of the black boxes."""
    if path.is_file():
        protocols = list(read_table(path).values())
    elif path.is_dir():
        protocols = [read_protocol(file) for file in sorted(path.glob("*.toml"))]
    else:
        raise ProtocolError(
            f"there is no table or folder {path}; `repro audit report --protocols {path}` writes a table of policies, "
            f"`repro audit infer NAME --into {path}` a folder of them"
        )
    return {protocol.source: protocol for protocol in protocols if protocol.source}


def differing_decisions(protocol: Protocol) -> dict[str, Value]:
    """The decisions in which an inferred protocol differs from its base."""
    base = Protocol.load(BASE)
    return {key: value for key, value in protocol.items() if value != base.get(key)}


def recorded_protocol(event: MeasureInferred) -> Protocol | None:
    """The protocol of a policy that a journal records; None where there is none, or it cannot be made again.

    An event of earlier audits states the decisions that answers determine, the options that remain of others, and the
    hash of the protocol. A decision that no question was about has its value before the first question, or one that the
    hash shows.
    """
    if event.protocol_hash is None:
        return None
    space = Space(metric_named(event.metric))
    if event.decisions is not None:
        protocol = as_protocol(event.name, space, event.decisions, event.policy)
        return protocol if protocol.hash == event.protocol_hash else None
    remaining = {entry.decision: entry.options[0] for entry in event.unidentifiable if entry.options}
    values = {**space.start.values, **remaining, **event.policy}
    unrecorded = [key for key in space.decisions if key not in remaining and key not in event.policy]
    changes = [{}, *({key: value} for key in unrecorded for value in space.tried(key))]
    for change in changes:
        with contextlib.suppress(ProtocolError):
            active = resolve({**Protocol.load(BASE), **values, **change}, {}, strict=frozenset())
            chosen = {key: value for key, value in active.items() if key in space.decisions}
            protocol = as_protocol(event.name, space, chosen, event.policy)
            if protocol.hash == event.protocol_hash:
                return protocol
    return None
