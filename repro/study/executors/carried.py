"""Frameworks that a node of a cluster lacks: Ray builds their environments there, from the versions that are here.

A framework then runs in a Ray actor whose runtime environment has its requirements, on the node of the cell that asks
it, behind the same border as in a worker of this machine. The core stays in the environment of the cluster, so that
what is computed from the scores has the same bits as anywhere. Ray allows no other Ray in such an environment: where a
framework needs one (RecBole does), the node builds the environment as `repro plugins install` does.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repro.errors import PluginError
from repro.plugin import Guarded, ParameterValue, environment, plugins, wire
from repro.plugin.isolated import LAST_LINES, ONE_THREAD, IsolatedRecommender, failure_in
from repro.plugin.worker import Responder

# How long Ray may take to build an environment: some are gigabytes to download.
BUILD_SECONDS = 3600
_OPTIONS = ("--disable-pip-version-check", "--no-input", "--no-deps")


@dataclass(frozen=True)
class Requirements:
    """What is installed for a framework: ``packages`` with their versions, all of them, and options of pip."""

    module: str
    packages: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def has_ray(self) -> bool:
        """Whether Ray itself is among them."""
        return any(package.startswith("ray==") for package in self.packages)

    @property
    def runtime_env(self) -> dict[str, Any]:
        """As Ray takes it."""
        return {
            "pip": {"packages": list(self.packages), "pip_install_options": list(self.options), "pip_check": False},
            "config": {"setup_timeout_seconds": BUILD_SECONDS},
            "env_vars": {**ONE_THREAD, "PYTHONHASHSEED": "0"},
        }


def requirements_of(frameworks: Sequence[str]) -> dict[str, Requirements]:
    """The requirements of those frameworks that have an environment of their own here: its freeze, without pip."""
    found = {}
    for name in frameworks:
        freeze, needs = plugins().freeze(name), plugins().environment_of(name)
        if freeze is not None and needs is not None:
            stated = [argument for argument in needs.steps[-1] if "==" not in argument] if needs.steps else []
            packages = tuple(line for line in freeze if not line.startswith("pip=="))
            options = (*_OPTIONS, *(argument for argument in stated if argument not in _OPTIONS))
            found[name] = Requirements(plugins().modules[name], packages, options)
    return found


class CarriedWorker:
    """An actor that answers for a framework on this node; what goes wrong is told as a worker's is."""

    def __init__(self, name: str, requirements: Requirements) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self.name = name
        self.made = 0
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._actor: Any = (
            ray.remote(Responder)
            .options(num_cpus=0, runtime_env=requirements.runtime_env, scheduling_strategy=here)
            .remote(requirements.module)
        )
        self.alive = True
        self.ask("hello", limit=BUILD_SECONDS)

    def ask(
        self, what: str, arrays: Sequence[wire.AnyArray] = (), limit: float | None = None, **header: Any
    ) -> wire.Message:
        """Send a request and wait for its answer, at most ``limit`` seconds."""
        import ray
        from ray.exceptions import GetTimeoutError, RayError, RuntimeEnvSetupError

        request = b"".join(wire.encode({"ask": what, **header}, arrays))
        try:
            given = ray.get(self._actor.respond_to.remote(request), timeout=limit)
        except GetTimeoutError:
            self._stop()
            raise self._error(f"did not answer within {limit:g} seconds ({what}) and was stopped") from None
        except RuntimeEnvSetupError as error:
            self._stop()
            said = "\n".join(str(error).strip().splitlines()[-LAST_LINES:])
            raise PluginError(f"Ray cannot build the environment of {self.name}; its last lines:\n{said}") from None
        except RayError as error:
            self._stop()
            raise self._error(f"died during {what}: {str(error).strip().splitlines()[0]}") from None
        answer, results = wire.decode(io.BytesIO(given).read)
        if failure := failure_in(answer, what):
            raise PluginError(failure.message) if failure.known else self._error(failure.message)
        return answer, results

    def _stop(self) -> None:
        import ray

        self.alive = False
        ray.kill(self._actor)

    def _error(self, what: str) -> PluginError:
        return PluginError(f"the worker of {self.name} {what}")


_workers: dict[tuple[str, Requirements], CarriedWorker] = {}


@dataclass(frozen=True)
class Carried:
    """Makes recommenders on a node: of what it has itself, and else of what is carried there, by framework."""

    requirements: Mapping[str, Requirements]

    def __call__(self, reference: str, parameters: dict[str, ParameterValue], limit: float | None) -> Guarded:
        framework, algorithm = plugins().algorithm(reference)
        wanted = self.requirements.get(framework.name)
        if wanted is None or plugins().place(framework.name) != "missing":
            return plugins().recommender(reference, parameters, limit)
        if wanted.has_ray:
            needs = plugins().environment_of(framework.name)
            assert needs is not None
            environment.build(framework.name, needs, lambda line: None)
            return plugins().recommender(reference, parameters, limit)
        worker = _workers.get((framework.name, wanted))
        if worker is None or not worker.alive:
            worker = _workers[framework.name, wanted] = CarriedWorker(framework.name, wanted)
        made = IsolatedRecommender(worker, algorithm.name, parameters, limit)
        return Guarded(made, reference, predicts=made.predicts)
