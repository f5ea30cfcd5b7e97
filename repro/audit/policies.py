"""Policies: inferred just now, or read from files that were written when they were."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from repro.audit.inference import Inference
from repro.audit.space import Hypothesis, Space
from repro.errors import ProtocolError
from repro.protocol import Protocol, read_protocol

Policy = Inference | Protocol
Policies = Mapping[str, Policy]  # by the name of the black box


def protocol_of(policy: Policy) -> Protocol | None:
    """The policy as a protocol; None where nothing was inferred."""
    return policy.protocol if isinstance(policy, Inference) else policy


def hypothesis_of(protocol: Protocol, space: Space) -> Hypothesis:
    """What a protocol decides of that which bears on a metric."""
    return space.hypothesis({key: protocol[key] for key in space.decisions if key in protocol})


def write_policy(inference: Inference, folder: Path) -> list[Path]:
    """Write what was found out as JSON and, where there is a policy, as a protocol; the files.

    They are called after the evaluator and its measure: ``implicit-ranking_metrics_at_k-ndcg.toml``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.@-]+", "-", inference.name).strip("-")
    written = [folder / f"{stem}.json"]
    found = json.dumps(inference.to_dict(), indent=2, ensure_ascii=False, default=str)
    written[0].write_text(found + "\n", encoding="utf-8")
    if inference.protocol is not None:
        written.append(folder / f"{stem}.toml")
        written[1].write_text(inference.protocol.to_toml(), encoding="utf-8")
    return written


def read_policies(folder: Path) -> dict[str, Protocol]:
    """The protocols in a folder that :func:`write_policy` wrote, by the names of the black boxes."""
    if not folder.is_dir():
        raise ProtocolError(
            f"there is no folder {folder}; `repro audit infer NAME --into {folder}` writes policies there"
        )
    found = [read_protocol(file) for file in sorted(folder.glob("*.toml"))]
    return {protocol.source: protocol for protocol in found if protocol.source}
