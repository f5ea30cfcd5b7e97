"""Connections to a Ray cluster: addresses, versions, and errors before anything runs."""

import socket
import sys

import pytest
import ray

from repro.cli.commands.runs.run import run
from repro.errors import StudyError
from repro.extras import MissingPackage
from repro.study import RunOptions, run_study
from repro.study.executors.on_node import require_same, software_of

pytestmark = pytest.mark.xdist_group("ray")


def test_a_node_with_other_software_is_rejected():
    expected = software_of("reference")
    require_same(expected, "reference", "n1")
    with pytest.raises(StudyError, match=r"node n1 has numpy .* and not 1\.0; install on every node what is installed"):
        require_same({**expected, "numpy": "1.0"}, "reference", "n1")
    with pytest.raises(StudyError, match="node n1 lacks a plug-in: there is no framework 'nowhere'"):
        require_same(expected, "nowhere", "n1")


def test_without_ray_the_error_says_how_to_install_it(study, tmp_path, monkeypatch):
    ray.shutdown()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackage, match=r'needs the package ray.*pip install "recsys-repro\[ray\]"'):
        run_study(study, tmp_path / "run", RunOptions(executor="ray"))


def test_an_address_without_a_cluster_is_an_error_at_once(study, tmp_path, monkeypatch):
    """Ray itself would wait for two minutes."""
    ray.shutdown()
    monkeypatch.setattr("repro.study.executors.cluster.ANSWER_SECONDS", 1.0)
    with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as mute:
        closed.bind(("127.0.0.1", 0))
        ports = closed.getsockname()[1], mute.getsockname()[1]
        sentences = {
            f"127.0.0.1:{ports[0]}": "cannot connect to a Ray cluster at .*: Connection refused",
            f"ray://127.0.0.1:{ports[0]}": "cannot connect to a Ray cluster at ray://.*: Connection refused",
            f"127.0.0.1:{ports[1]}": "another service than Ray answers there",
            "ray://nowhere.invalid": "cannot connect to a Ray cluster at ray://nowhere.invalid: ",
            "everywhere": "'everywhere' is not the address of a Ray cluster; expected auto, local, HOST:PORT",
        }
        for address, sentence in sentences.items():
            with pytest.raises(StudyError, match=sentence):
                run_study(study, tmp_path / "run", RunOptions(executor="ray", address=address))
    with pytest.raises(StudyError, match='address = "auto" is that of a Ray cluster; it needs executor = "ray"'):
        run_study(study, tmp_path / "run", RunOptions(address="auto"))
    with pytest.raises(StudyError, match="there is no executor 'rey'; did you mean 'ray'"):
        run_study(study, tmp_path / "run", RunOptions(executor="rey"))
    assert not (tmp_path / "run").exists()


def test_addresses_and_executors_are_completed():
    def offered(option, start):
        (parameter,) = [parameter for parameter in run.params if option in parameter.opts]
        return [item.value for item in parameter.shell_complete(None, start)]

    assert offered("--executor", "") == ["local", "ray"]
    assert offered("--address", "") == ["auto", "local", "ray://"]
    assert offered("--address", "r") == ["ray://"]
