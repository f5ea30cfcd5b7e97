"""The contract of plug-ins; what the algorithms score is in files and commands, which the other tests have."""

from repro.testing import DeclarationContract


class TestContract(DeclarationContract):
    plugin = "repro_external.plugin"
