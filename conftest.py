"""For all tests: property tests draw the same examples every time and have no time limit.

Look for new examples with `HYPOTHESIS_PROFILE=explore make test`.
"""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Whoever starts the tests in the background may ignore Ctrl-C; what the tests start must not.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _all_decisions() -> None:
    """The decisions of all plug-ins are known before a test has fewer plug-ins: they are looked up once a process."""
    from repro.protocol import registry

    registry()
