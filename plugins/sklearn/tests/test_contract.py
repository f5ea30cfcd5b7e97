"""The contract of plug-ins; and the same answers in an environment of its own."""

import pytest

from repro.testing import DeclarationContract, EvaluatorContract, IsolationContract


class TestContract(DeclarationContract, EvaluatorContract):
    plugin = "repro_sklearn.plugin"


@pytest.mark.slow
class TestIsolation(IsolationContract):
    plugin = "repro_sklearn.plugin"
