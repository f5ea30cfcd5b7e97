"""A run that is not trusted: verification reads its files whatever its journal says."""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa

from repro.errors import ReproError
from repro.protocol import Protocol
from repro.runs.run import Run

# What reading and computing with damaged or forged files can raise.
BROKEN = (ReproError, pa.ArrowException, OSError, LookupError, ValueError, TypeError)


def first_line(error: BaseException) -> str:
    """The first line of an error, or its type where it has no text."""
    return str(error).partition("\n")[0] or type(error).__name__


class UntrustedRun(Run):
    """A run that can be read although files are wrong or missing, so that verification can list all failures.

    No table is required, and the protocol is that of ``protocol.toml``, also where the journal has another one.
    """

    def _require_results(self) -> None:
        """Missing tables are reported with the files."""

    @cached_property
    def protocol(self) -> Protocol:
        return self.protocol_file
