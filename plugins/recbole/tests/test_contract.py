"""The contract of plug-ins; what the algorithms score is compared with the framework in the other tests."""

from repro.testing import DeclarationContract


class TestContract(DeclarationContract):
    plugin = "repro_recbole.plugin"
