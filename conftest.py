"""For all tests: property tests draw the same examples every time and have no time limit.

Look for new examples with `HYPOTHESIS_PROFILE=explore make test`.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
