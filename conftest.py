"""For all tests: property tests draw the same examples every time and have no time limit.

Look for new examples with `HYPOTHESIS_PROFILE=explore make test`.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Whoever starts the tests in the background may ignore Ctrl-C; what the tests start must not.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _all_decisions() -> None:
    """The default application knows all plug-ins before a test chooses fewer of them (and resets the application)."""
    from repro.protocol import registry

    registry()


@pytest.fixture(scope="session", autouse=True)
def _reports_on_request() -> None:
    """Tests run hundreds of studies: they write reports where they are about reports."""
    from repro import Study

    Study.writes_report = False


# Modules and folders whose tests share what takes seconds to make: an environment, a framework, a browser, runs.
ONE_PROCESS = (
    *(folder.relative_to(ROOT).as_posix() for folder in sorted(ROOT.glob("plugins/*/tests"))),
    "tests/plugin/isolation/test_environment.py",
    "tests/plugin/isolation/test_pins.py",
    "tests/reports/run",
    "tests/study/test_kill.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of each of them in one process under `--dist loadgroup`."""
    for item in items:
        for group in ONE_PROCESS:
            if item.path.is_relative_to(ROOT / group):
                item.add_marker(pytest.mark.xdist_group(group))
