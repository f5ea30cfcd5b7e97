"""The contract of plug-ins; and the same answers in an environment of its own."""

import pytest

from repro.plugin import Case
from repro.testing import DeclarationContract, EvaluatorContract, IsolationContract, case_of


class _WithCase:
    plugin = "repro_sklearn.plugin"

    def case(self) -> Case:
        """Ratings of 1, and whole lists: what the metrics of scikit-learn can be given."""
        return case_of({1: {1: 0.9, 2: 0.5, 3: 0.5}, 2: {1: 0.1, 2: 0.2, 3: 0.3}}, {1: {3: 1.0}, 2: {1: 1.0, 3: 1.0}})


class TestContract(_WithCase, DeclarationContract, EvaluatorContract):
    pass


@pytest.mark.slow
class TestIsolation(_WithCase, IsolationContract):
    pass
