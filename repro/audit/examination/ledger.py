"""The ledger of an examination: the state of every aspect, and the cases that the policy does not explain.

An aspect is unasked until it is examined. An explained aspect becomes unexplained when a later answer contradicts every
policy and the aspect is held responsible; an unexplained aspect is examined again when more is known.
Refused and random aspects stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from repro.audit.examination.inference import Unexplained, Unstable
from repro.audit.hypotheses.observation import AspectResult, State
from repro.audit.questions.aspects import ALL_TOGETHER

TRANSITIONS: Mapping[State, frozenset[State]] = {
    "unasked": frozenset({"explained", "unexplained", "refused", "random"}),
    "explained": frozenset({"unexplained"}),
    "unexplained": frozenset({"explained", "unexplained", "refused", "random"}),
    "refused": frozenset(),
    "random": frozenset(),
}


@dataclass(eq=False)
class AspectLedger:
    """The results of aspects in the order of their examination, unexplained cases and instabilities."""

    results: list[AspectResult] = field(default_factory=list)
    unexplained: list[Unexplained] = field(default_factory=list)
    instabilities: list[Unstable] = field(default_factory=list)

    def in_state(self, *states: State) -> list[AspectResult]:
        """The results of the aspects in one of these states."""
        return [result for result in self.results if result.state in states]

    def record(self, result: AspectResult) -> None:
        """Enter the first result of an aspect."""
        self.results.append(result)

    def move(self, result: AspectResult, successor: AspectResult) -> None:
        """Replace the result of an aspect by a later one."""
        if successor.state not in TRANSITIONS[result.state]:
            raise ValueError(f"{result.aspect.name} cannot become {successor.state}: it is {result.state}")
        self.results[self.results.index(result)] = successor

    def mark_unexplained(self, result: AspectResult) -> None:
        """An aspect that seemed explained is not."""
        self.move(result, replace(result, state="unexplained"))

    def mark_explained(self, result: AspectResult, successor: AspectResult) -> None:
        """An aspect that seemed unexplained is explained: its unexplained cases are void."""
        self.move(result, successor)
        self.drop_cases(lambda case: case.aspect == result.aspect.name)

    def drop_cases(self, is_void: Callable[[Unexplained], bool]) -> None:
        """Remove unexplained cases."""
        self.unexplained = [case for case in self.unexplained if not is_void(case)]

    @property
    def has_joint_failure(self) -> bool:
        """Whether some case is unexplained that no single aspect is responsible for."""
        return any(case.aspect == ALL_TOGETHER for case in self.unexplained)

    @property
    def is_random(self) -> bool:
        """Whether the same question got different answers."""
        return any(instability.kind == "random" for instability in self.instabilities)

    @property
    def is_doubtful(self) -> bool:
        """Whether anything was observed that a policy does not explain."""
        return bool(self.unexplained or self.instabilities or self.in_state("unexplained", "random"))
