"""The contract of plug-ins."""

from repro.testing import DeclarationContract


class TestContract(DeclarationContract):
    plugin = "repro_mlflow.plugin"
