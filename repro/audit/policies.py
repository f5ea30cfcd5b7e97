"""Policies of black boxes: inferred in this process, or read from files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repro.audit.examination.inference import Inference
from repro.audit.hypotheses.space import Hypothesis, Space
from repro.errors import ProtocolError
from repro.protocol import Protocol, read_protocol


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


def read_policies(folder: Path) -> dict[str, Protocol]:
    """The protocols in a folder that :func:`write_policy` wrote, by the names of the black boxes."""
    if not folder.is_dir():
        raise ProtocolError(
            f"there is no folder {folder}; `repro audit infer NAME --into {folder}` writes policies there"
        )
    protocols = [read_protocol(file) for file in sorted(folder.glob("*.toml"))]
    return {protocol.source: protocol for protocol in protocols if protocol.source}
