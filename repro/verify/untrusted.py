"""A run that is not trusted: what its folder holds is read, whatever its journal says."""

from __future__ import annotations

from functools import cached_property

from repro.protocol import Protocol
from repro.runs.run import Run


class UntrustedRun(Run):
    """A run as verification reads it, so that everything that is wrong with it can be named, not only the first thing.

    No table need be there, and the protocol is that of ``protocol.toml``, also where the journal has another one.
    """

    def _require_results(self) -> None:
        """A table that is missing is named among the files."""

    @cached_property
    def protocol(self) -> Protocol:
        return self.protocol_file
