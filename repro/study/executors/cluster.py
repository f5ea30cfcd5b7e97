"""Connect to a Ray cluster without its log lines, and explain quickly where that is impossible."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from repro.errors import StudyError
from repro.extras import needed_for

# How long a cluster may take to answer at all; Ray itself would wait for minutes.
ANSWER_SECONDS = 10.0
CLIENT, CLIENT_PORT = "ray://", 10001
# Read by Ray when it is imported. A task that ran out of memory is tried as often as others, not for ever.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_task_oom_retries": "3",
}


def import_ray() -> ModuleType:
    """Ray, set to print and report nothing."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    with needed_for('the executor "ray"'):
        import ray
    return ray


@contextlib.contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[ModuleType]:
    """Ray, connected to the cluster at ``address``: "auto" by default; "local" starts one with that many workers.

    An existing connection is used, and stays open.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    address = address or "auto"
    _check_answers(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address == "local":
        options |= {"num_cpus": workers, "include_dashboard": False}
    with _quiet():
        try:
            ray.init(address, **options)
        except Exception as error:  # of many types, also of other libraries
            raise StudyError(_why_not(address, str(error))) from None
        try:
            yield ray
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Drop Ray's lines about repeated tasks, which it prints to standard output whatever its settings."""
    from ray._private import worker

    name = "print_to_stdstream"
    before = getattr(worker, name, None)
    setattr(worker, name, lambda *_, **__: None)
    try:
        yield
    finally:
        setattr(worker, name, before)


def _check_answers(address: str) -> None:
    """Refuse an address where nothing answers, or where another service than Ray does."""
    if address in ("auto", "local"):
        return
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not colon and address.startswith(CLIENT):
        host, port = port, str(CLIENT_PORT)
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise StudyError(
            f"'{address}' is not the address of a Ray cluster; expected auto, local, HOST:PORT or {CLIENT}HOST:PORT, "
            f"such as 10.0.0.1:6379 or {CLIENT}10.0.0.1:{CLIENT_PORT}"
        )
    try:
        with socket.create_connection((host, int(port)), ANSWER_SECONDS):
            pass
    except OSError as error:
        raise StudyError(_why_not(address, f"{error.strerror or error}")) from None
    if os.environ.get("RAY_USE_TLS", "0") == "0" and not _speaks_grpc(f"{host}:{port}"):
        raise StudyError(_why_not(address, "another service than Ray answers there"))


def _speaks_grpc(target: str) -> bool:
    """Whether the service at ``target`` speaks gRPC, as Ray does."""
    import grpc

    with grpc.insecure_channel(target) as channel:
        try:
            grpc.channel_ready_future(channel).result(ANSWER_SECONDS)
        except grpc.FutureTimeoutError:
            return False
    return True


def _why_not(address: str, reason: str) -> str:
    """The reason why there is no connection, and what to do about it."""
    if "ersion mismatch" in reason:
        versions = "; ".join(" ".join(line.split()) for line in reason.splitlines() if line.strip())
        return (
            f"the Ray cluster at {address} has other versions of Ray or Python than this machine, and they must be "
            f"the same ({versions})"
        )
    reason = ([line.strip() for line in reason.splitlines() if line.strip(" ;")] or ["no reason given"])[-1].rstrip(".")
    if address == "auto":
        return (
            "there is no Ray cluster on this machine; `ray start --head` starts one, --address names one elsewhere, "
            "and --address local starts one for this run"
        )
    if address == "local":
        return f"Ray could not be started: {reason}"
    return f"cannot connect to a Ray cluster at {address}: {reason}; `ray status` on its head shows whether it is up"
