"""Infer the policy of a black box: aspect by aspect, then all together, and confirm it on fresh questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from repro.audit.aspects import FRACTIONS, PLAIN, STRANGERS, TOGETHER, Aspect, aspects_of
from repro.audit.black_boxes.black_box import TOLERANCE, BlackBox, agree, contradicts, told
from repro.audit.confirmation.adversary import Goal, traits_of
from repro.audit.confirmation.attacks import Attacks
from repro.audit.examination.conclusions import as_protocol, determined, measure_name, not_asked, refusals, undetermined
from repro.audit.examination.evidence import BESIDE, gathered
from repro.audit.examination.inference import SINGLE_DECIMALS, Inference, Unexplained, Unstable
from repro.audit.examination.thresholds import INCLUSIVE, RULE, THRESHOLD, Interval, interval
from repro.audit.examination.tie_description import describe
from repro.audit.examination.undetermined import equivalent
from repro.audit.hypotheses.elimination import Asked, Closest, Elimination, Found, unusual
from repro.audit.questions.generator import Drawing
from repro.audit.questions.question import HIGHEST, Question, User
from repro.audit.questions.shrinking import shrunk
from repro.audit.simulation import Outcome, Simulation
from repro.audit.space import Hypothesis, Space
from repro.plugin import Observed

CONFIRMED_ON = 200
_CONFIRMATIONS = 6
_REPEATED = 3
_STABILITY = 4  # questions asked again, of each kind
_TO_SEE_ROUNDING = 24
_TO_TELL = 12  # further questions about what is not explained, to say how often the closest policy is right
_FIRST = 3  # questions of each kind after which a black box that refuses all of them is left alone
_LOOKS = 3  # at what was not explained before
_ATTACKS = 40  # policies that are attacked before it is given up
_SEPARATING = 60  # questions of each generator that are looked at to part equivalent policies
_SHOWN_AT_ONCE = frozenset({"long-lists", "other-cutoffs", "many-users", "other-magnitudes"})

Tell = Callable[[str], None]


class _Examination:
    def __init__(self, box: BlackBox, seed: int, evidence: bool, tell: Tell) -> None:
        self._asked = 0
        self._box = replace(box, respond=self._counted(box.respond))
        self._evident = evidence
        self._tell = tell
        self._space = Space(box.metric)
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        binary = "graded" in box.cannot
        self._drawing = Drawing(box.cutoffs, box.metric.kind == "prediction", binary)
        self._engine = self._elimination(TOLERANCE)
        self._found: list[Found] = []
        self._unstable: list[Unstable] = []
        self._unexplained: list[Unexplained] = []
        self._attacks: Attacks | None = None
        self._equal: list[Hypothesis] = []
        self._threshold: Interval | None = None

    def _counted(self, respond: Callable[[Question], Observed]) -> Callable[[Question], Observed]:
        def counting(question: Question) -> Observed:
            self._asked += 1
            return respond(question)

        return counting

    def inference(self) -> Inference:
        aspects = aspects_of(self._box.metric)
        self._tell("stability")
        if self._refuses_everything(aspects[0]):
            return self._result("unexplained", None)
        self._unstable += self._instabilities(aspects[0])
        if any(one.kind == "random" for one in self._unstable):
            return self._result("unexplained", None)
        self._tell(aspects[0].name)
        plain, decimals = self._examine_plain(aspects[0])
        if plain.state != "explained" and "training" in self._box.possible:  # it may want users whom it knows
            plain, decimals = self._of_known_users_instead(plain, decimals)
        self._found.append(plain)
        if plain.state != "explained":
            self._unexplained += [one for _, one in self._told(None)]
            return self._result("unexplained", None, decimals)
        decimals = self._examine_all(aspects, plain, decimals)
        self._attacks = Attacks(self._box, self._engine, self._rng)
        self._tell(TOGETHER)
        self._engine.challenge()
        for _ in range(_LOOKS):
            if not self._look_again():
                break
            self._engine.challenge()
        self._together()
        confirmed, tried = self._confirmed()
        while self._blamed_instead(self._told(self._policy)):
            confirmed, tried = self._confirmed()
        survived = self._survives()
        self._unexplained += [one for _, one in self._told(self._policy)]
        if not survived or confirmed < tried or not self._of_state("explained"):
            return self._result("unexplained", None, decimals, confirmed, tried)
        self._describe_ties()
        doubtful = self._unexplained or self._unstable or self._of_state("unexplained", "random")
        return self._result("explained but for" if doubtful else "explained", self._policy, decimals, confirmed, tried)

    @property
    def _policy(self) -> Hypothesis:
        """Of the policies that give all answers so far, that with most defaults."""
        return self._chosen(self._engine.survivors)

    def _refuses_everything(self, plain: Aspect) -> bool:
        """Whether the first questions of each kind are all refused; they are kept as the reason."""
        asked: list[Asked] = []
        rng = np.random.default_rng(self._seed)
        for features in (frozenset[str](), {"training"}, {"training", "graded", "no-relevant"}):
            for _ in range(_FIRST):
                question = self._drawing.question(features & self._box.possible, rng)
                asked.append(Asked(question, self._box.ask(question), Simulation(question, self._space)))
                if not asked[-1].said.refusal:
                    return False
        self._found.append(Found(plain, "refused", tuple(asked), why=asked[0].said.refusal))
        return True

    @property
    def _of_known_users(self) -> bool:
        return "training" in self._engine.always

    def _examine_plain(self, aspect: Aspect) -> tuple[Found, int | None]:
        """The plain aspect, and to how many decimals answers are exact, where they are rounded."""
        plain = self._engine.examine(aspect)
        if plain.state == "refused" or (plain.state == "explained" and _exact_to(plain) is None):
            return plain, None
        more = [self._fresh(self._engine.features_of(aspect)) for _ in range(_TO_SEE_ROUNDING)]
        if plain.state == "explained":
            if self._engine.reconsider():
                return plain, None
            closest = self._engine.closest(self._engine.survivors, more)  # it was luck
            plain = Found(aspect, "unexplained", (*plain.asked, *more), closest)
        decimals, always = _exact_to(plain, more), self._engine.always
        if decimals is not None:
            self._engine = self._elimination(0.5 * 10.0**-decimals + TOLERANCE, always)
            rounded = self._engine.examine(aspect)
            if rounded.state != "unexplained":
                return rounded, decimals
        self._engine = self._elimination(TOLERANCE, always)
        return plain, None

    def _examine_all(self, aspects: Sequence[Aspect], plain: Found, decimals: int | None) -> int | None:
        """All further aspects; to how many decimals answers are exact, where they are rounded.

        They are looked at anew, with users who have training rows, where others get the same answer whatever is asked,
        and what was made of that does not hold for those who have.
        """
        found, unstable = list(self._found), list(self._unstable)
        for aspect in aspects[1:]:
            self._tell(aspect.name)
            self._found.append(self._examine(aspect))
        trained = [one for one in self._of_state("unexplained") if one.aspect.own == {"training"}]
        if not trained or self._of_known_users or not _constant(plain):
            return decimals
        stayed, self._found = self._found, found[:-1]
        again, exact = self._of_known_users_instead(plain, decimals)
        if again is plain:
            self._found = stayed
            return decimals
        self._found.append(again)
        self._unstable = unstable
        return self._examine_all(aspects, again, exact)

    def _of_known_users_instead(self, plain: Found, decimals: int | None) -> tuple[Found, int | None]:
        """The same, asked about users who have training rows, where nobody has trained on everything.

        What was found of others stays, unless this explains more.
        """
        engine, drawing = self._engine, self._drawing
        self._drawing = replace(self._drawing, known=True)
        self._engine = self._elimination(TOLERANCE, frozenset({"training"}))
        again, exact = self._examine_plain(_known_users(plain.aspect))
        more = again.state == "explained" and not (plain.state == "explained" and _constant(again))
        if plain.state != "refused" and not more:
            self._engine, self._drawing = engine, drawing
            return plain, decimals
        if again.state == "explained":
            of_others = self._engine.closest(self._engine.survivors, plain.asked)
            if of_others.wrong:  # and not only refusals
                aspect = replace(plain.aspect, name=STRANGERS)
                self._found.append(Found(aspect, "unexplained", plain.asked, of_others))
        return again, exact

    def _elimination(self, tolerance: float, always: frozenset[str] = frozenset()) -> Elimination:
        return Elimination(self._box, self._space, self._drawing, self._rng, tolerance, always)

    def _examine(self, aspect: Aspect) -> Found:
        if aspect.name == "ties" and "ties" in self._box.possible:
            random = [one for one in self._instabilities(aspect) if one.kind == "random"]
            if random:
                self._unstable += random[:1]
                self._engine.puzzling |= aspect.own
                return Found(aspect, "random")
        found = self._engine.examine(aspect)
        if found.state != "unexplained" or "fractional" not in self._engine.features_of(aspect) - aspect.own:
            return found
        self._engine.puzzling.add("fractional")  # it may be that alone
        whole = self._engine.examine(aspect)
        if whole.state != "explained":
            self._engine.puzzling.remove("fractional")
            return found
        fractional = replace(aspect, name=FRACTIONS, needs=(*aspect.needs, "fractional"))
        self._found.append(replace(found, aspect=fractional))
        return whole

    def _instabilities(self, aspect: Aspect) -> list[Unstable]:
        """Questions that have several answers: the first of each kind."""
        features = aspect.features(self._box.possible)
        found: dict[str, Unstable] = {}
        for _ in range(_STABILITY):
            question = self._drawing.question(features, self._rng)
            first = self._box.ask(question)
            again = [self._box.ask(question) for _ in range(_REPEATED - 1)]
            if not all(_same(first, one) for one in again):
                found.setdefault("random", Unstable("random", aspect.name, question, (first, *again)))
            elif aspect.name == PLAIN:
                other = self._box.ask(question.turned_round())
                if not _same(first, other):
                    found.setdefault("row order", Unstable("row order", aspect.name, question, (first, other)))
        return list(found.values())

    def _look_again(self, wanted: Callable[[Aspect], bool] = lambda aspect: True) -> bool:
        """Examine again what was not explained, with what was found out later; whether anything is explained now.

        Only aspects that are ``wanted`` are examined.
        """
        explained = False
        for number, found in enumerate(list(self._found)):
            if found.state == "unexplained" and found.aspect.name != STRANGERS and wanted(found.aspect):
                self._engine.puzzling -= found.aspect.own
                again = self._examine(found.aspect)
                if again.state == "explained":
                    self._found[number], explained = again, True
                    self._unexplained = [one for one in self._unexplained if one.aspect != found.aspect.name]
        return explained

    def _together(self) -> None:
        """Survivors must agree on questions with everything in them that is explained."""
        asked: list[Asked] = []
        if not self._engine.examine_together(asked):
            if self._refit():
                return
            closest = self._engine.closest(self._engine.survivors, asked)
            if not self._blamed(closest.hypothesis, asked):
                self._add_unexplained(TOGETHER, closest)

    def _of_state(self, *states: str) -> list[Found]:
        return [one for one in self._found if one.state in states]

    def _chosen(self, survivors: Sequence[Hypothesis]) -> Hypothesis:
        """Of hypotheses that cannot be told apart, that with most defaults."""
        best = min(survivors, key=unusual)
        if self._engine.opened.isdisjoint(self._space.below(["relevance"])) and "relevance.rule" in best.values:
            [best] = self._space.changed(best, {"relevance.rule": "any"})[:1] or [best]
        return best

    def _confirmed(self) -> tuple[int, int]:
        """On how many fresh questions the policy gives the answer, and how many there were.

        Where it does not, whatever else agrees with everything that was asked is confirmed in its place, if there is
        something. If not, one of the aspects may have been explained by luck. Else the smallest case is told.
        """
        for _ in range(_CONFIRMATIONS):
            policy = self._policy
            answered = self._answered()
            wrong = [one for one in answered if not self._agrees(policy, one)]
            if not wrong:
                break
            if not self._engine.reconsider() and not self._refit() and not self._blamed(policy, answered):
                break
        if wrong and not any(one.aspect == TOGETHER for one in self._unexplained):
            self._add_unexplained(TOGETHER, self._engine.closest([policy], answered))
        return len(answered) - len(wrong), len(answered)

    def _survives(self) -> bool:
        """Whether a policy withstands the adversary: every question that refutes one goes back into elimination.

        What no policy explains is named, and is not asked about again.
        """
        assert self._attacks is not None
        for _ in range(_ATTACKS):
            policy = self._policy
            refuting = (
                self._contradiction(policy)
                or self._attacks.refute(policy, self._tell_attack)
                or self._find_threshold()
                or self._separate()
            )
            if refuting is None and policy.values == self._policy.values:
                return True
            if refuting is not None and not self._repaired(policy, refuting):
                self._add_unexplained(TOGETHER, self._refuted(policy, refuting))
                return False
        return False

    def _contradiction(self, policy: Hypothesis) -> Asked | None:
        """An answer that was given before and that the policy does not give, unless it is known to be unexplained."""
        assert self._attacks is not None
        engine, barred = self._engine, self._attacks.barred
        wrong = [one for one in engine.asked if not one.said.refusal and not self._withstands(policy, one)]
        for asked in wrong:
            engine.asked.remove(asked)
            if not any(goal.met(asked.question) for goal in barred):
                return asked
        return None

    def _tell_attack(self, done: int, total: int) -> None:
        if done % 50 == 0:
            self._tell(f"attack: {done} of {total}")

    def _refuted(self, policy: Hypothesis, refuting: Asked) -> Closest:
        """The refuted policy as the closest one, with the questions that it withstood before."""
        assert self._attacks is not None
        gap = self._engine.closest([policy], [refuting]).residual
        passed = len(self._attacks.passed)
        return Closest(policy, gap, passed, passed + 1, (refuting,))

    def _repaired(self, policy: Hypothesis, refuting: Asked) -> bool:
        """Whether there is a policy again: another one that gives all answers, or the same without what refuted it."""
        assert self._attacks is not None
        engine, attacks = self._engine, self._attacks

        def wrong(question: Question) -> bool:
            said = self._box.ask(question)
            return not said.refusal and contradicts(said, self._predicted(policy, question), attacks.tolerance)

        smallest = shrunk(refuting.question, wrong, known_users=self._of_known_users, takes=self._box.takes)
        before = list(engine.asked)
        engine.asked.append(refuting)
        if smallest is not refuting.question:
            engine.ask(smallest)
        if engine.reconsider():
            self._look_again()
            return True
        if self._refit():
            return True
        engine.asked[:] = before
        traits = self._essential(traits_of(smallest), smallest, wrong)
        suspects = self._suspects(smallest)
        by_the_sort = any(one.aspect.own == {"ties"} for one in suspects) and traits & _SHOWN_AT_ONCE
        told_so = self._smallest(TOGETHER, self._refuted(policy, refuting))
        if traits and not by_the_sort:
            own = frozenset[str]().union(*(one.aspect.own for one in suspects))
            name = attacks.bar(own, traits, [one.aspect.name for one in suspects])
            self._unexplained.append(replace(told_so, aspect=name))
            return True
        if not suspects:
            return False
        blamed = next((one for one in suspects if by_the_sort and one.aspect.own == {"ties"}), suspects[-1])
        self._give_up(blamed)
        self._unexplained.append(replace(told_so, aspect=blamed.aspect.name))
        return True

    def _essential(
        self, traits: frozenset[str], question: Question, wrong: Callable[[Question], bool]
    ) -> frozenset[str]:
        """The traits that matter: not that nobody has a list where the policy is wrong about one who has none, too."""
        of_nobody = traits & {"nobody-listed", "nobody-relevant"}
        if not of_nobody:
            return traits
        scores = {item: float(place) for place, item in enumerate(question.items, start=1)}
        number = 1 + max(user.id for user in question.users)
        plain = User(number, scores, ((question.items[0], 1.0 if self._drawing.binary else float(HIGHEST)),))
        return traits - of_nobody if wrong(replace(question, users=(*question.users, plain))) else traits

    def _refit(self) -> bool:
        """Whether a threshold of relevance gives all answers that lies where none was tried."""
        before = self._policy
        self._find_threshold()
        if self._policy.values == before.values:
            return False
        if self._engine.consistent([self._policy]):
            return True
        self._engine.survivors = [before]
        return False

    def _find_threshold(self) -> Asked | None:
        """Narrow the threshold of relevance down; a question that refutes the policy, where there is one."""
        assert self._attacks is not None
        engine, policy, adversary = self._engine, self._policy, self._attacks.adversary()
        self._threshold = None
        if THRESHOLD not in policy.values or not {THRESHOLD, RULE} <= engine.opened:
            return None
        graded = Goal(frozenset({"graded"}))
        self._threshold = interval(
            policy,
            self._space,
            engine.ask,
            lambda: adversary.question(graded, self._rng),
            fractions="fractional" in adversary.allowed,
            zero="zero-ratings" in adversary.allowed,
            tolerance=self._attacks.tolerance,
            rng=self._rng,
        )
        if self._threshold is None:
            return None
        low, high = self._threshold.not_relevant, self._threshold.relevant
        number, inclusive = float(policy.values[THRESHOLD]), bool(policy.values[INCLUSIVE])
        if (low < number < high) or (number == high and inclusive) or (number == low and not inclusive):
            return None
        number, inclusive = self._threshold.simplest
        self._space.thresholds.add(number)
        for way in self._space.changed(policy, {THRESHOLD: number, INCLUSIVE: inclusive}):
            if engine.consistent([way]):
                engine.survivors = [way]
                self._look_again()
                return None
        self._threshold = None
        return None

    def _separate(self) -> Asked | None:
        """Ask whatever parts the policy from those that are equivalent so far; the question that refutes it, if any."""
        assert self._attacks is not None
        attacks, engine, policy = self._attacks, self._engine, self._policy
        others = equivalent(engine, policy)
        others = [one for one in others if all(self._withstands(one, asked) for asked in attacks.passed)]
        goals = attacks.questions()
        for turn in range(2 * _SEPARATING):
            if not others:
                break
            question = (
                self._drawing.question(engine.mixed(), self._rng)
                if turn % 2
                else attacks.adversary().question(next(goals), self._rng)
            )
            simulation = Simulation(question, self._space)
            mine = simulation.outcome(policy).as_told(engine.by_user)
            visible = max(1e-6, 2 * attacks.tolerance)
            if all(agree(mine, simulation.outcome(one).as_told(engine.by_user), visible) for one in others):
                continue
            asked = Asked(question, self._box.ask(question), simulation)
            if asked.said.refusal:
                continue
            if not self._withstands(policy, asked):
                return asked
            engine.asked.append(asked)
            others = [one for one in others if self._withstands(one, asked)]
        self._equal = others
        return None

    def _withstands(self, policy: Hypothesis, asked: Asked) -> bool:
        assert self._attacks is not None
        return not contradicts(asked.said, asked.simulation.outcome(policy), self._attacks.tolerance)

    def _describe_ties(self) -> None:
        """Say what is known of the order of equal scores where no rule explains it."""
        for at, one in enumerate(self._unexplained):
            if one.aspect == "ties":
                plain = [self._drawing.question(self._engine.always, self._rng) for _ in range(12 * _TO_TELL)]
                note = describe(self._policy, self._space, self._box.ask, plain, self._engine.tolerance)
                self._unexplained[at] = replace(one, note=note)

    def _answered(self) -> list[Asked]:
        """Fresh questions with anything in them that is explained, and the answers; refusals tell nothing."""
        answered: list[Asked] = []
        for _ in range(2 * CONFIRMED_ON):
            one = self._fresh(self._engine.mixed())
            answered += [] if one.said.refusal else [one]
            if len(answered) == CONFIRMED_ON:
                break
        return answered

    def _blamed(self, policy: Hypothesis, answered: Sequence[Asked]) -> bool:
        """Whether an aspect is to blame for wrong answers: the last that the smallest case shows.

        Nothing of it is explained any more.
        """
        smallest = self._smallest(TOGETHER, self._engine.closest([policy], answered))
        suspects = self._suspects(smallest.question)
        if not suspects:
            return False
        blamed = suspects[-1].aspect
        self._give_up(suspects[-1])
        drawn_so = [one for one in answered if blamed.own <= one.question.features]
        about = self._engine.closest([policy], drawn_so or answered)
        self._unexplained.append(
            replace(smallest, aspect=blamed.name, residual=about.residual, agreed=about.agreed, asked=about.asked)
        )
        return True

    def _told(self, policy: Hypothesis | None) -> list[tuple[Found, Unexplained]]:
        """What is not explained, each with the smallest case; but for what is told already."""
        found = [(one, self._closest(policy, one)) for one in self._of_state("unexplained")]
        return [(one, self._smallest(one.aspect.name, near)) for one, near in found if near is not None and near.wrong]

    def _blamed_instead(self, still: Sequence[tuple[Found, Unexplained]]) -> bool:
        """Whether another aspect is to blame where one was not explained: nothing of that one is in its smallest case.

        Nothing of the other is explained any more, if it was, and the one is looked at again without it.
        """
        for found, one in still:
            own = found.aspect.own
            if not own or own & one.question.shown:
                continue
            suspects = self._suspects(one.question)
            if suspects:
                self._give_up(suspects[-1])
                self._unexplained.append(replace(one, aspect=suspects[-1].aspect.name))
            elif not any((self._engine.puzzling - own) & asked.question.features for asked in found.asked):
                continue
            self._engine.puzzling -= own
            again = self._examine(found.aspect)
            self._found[self._found.index(found)] = again
            self._engine.challenge()
            self._together()
            return True
        return False

    def _suspects(self, question: Question) -> list[Found]:
        """What is explained, and can be seen in a question."""
        shown = question.shown - self._engine.always
        return [one for one in self._of_state("explained") if one.aspect.own & shown]

    def _give_up(self, suspect: Found) -> None:
        """Nothing of an aspect is explained any more; what did not fit together was that, if it is in the case.

        Other aspects that were blamed for a case with this one in it are examined again.
        """
        self._found[self._found.index(suspect)] = replace(suspect, state="unexplained")
        self._engine.close(suspect.aspect)
        own = suspect.aspect.own
        gone = self._attacks.reopen(own) if self._attacks else set()
        self._unexplained = [one for one in self._unexplained if one.aspect not in gone]
        self._unexplained = [one for one in self._unexplained if one.aspect != TOGETHER or not own & one.question.shown]
        blamed = {one.aspect for one in self._unexplained if own & one.question.shown} - {suspect.aspect.name}
        self._look_again(lambda aspect: aspect.name in blamed)

    def _fresh(self, features: Collection[str]) -> Asked:
        return self._engine.ask(self._drawing.question(features, self._rng))

    def _agrees(self, policy: Hypothesis, one: Asked) -> bool:
        return not contradicts(one.said, one.simulation.outcome(policy), self._engine.tolerance)

    def _add_unexplained(self, aspect: str, closest: Closest) -> None:
        self._unexplained.append(self._smallest(aspect, closest))

    def _smallest(self, aspect: str, closest: Closest) -> Unexplained:
        """The smallest case on which the closest hypothesis is wrong, found by asking."""
        hypothesis = closest.hypothesis

        def wrong(question: Question) -> bool:
            said = self._box.ask(question)
            predicted = self._predicted(hypothesis, question)
            return not said.refusal and contradicts(said, predicted, self._engine.tolerance)

        first = min(closest.wrong, key=lambda one: one.question.size)
        question = (
            shrunk(first.question, wrong, known_users=self._of_known_users, takes=self._box.takes)
            if wrong(first.question)
            else first.question
        )
        said = self._box.ask(question)
        predicted = self._predicted(hypothesis, question).as_told(said.is_by_user)
        settled = {key: hypothesis.values[key] for key in hypothesis.values if key not in BESIDE}
        return Unexplained(aspect, settled, closest.residual, closest.agreed, closest.asked, question, said, predicted)

    def _result(
        self, status: str, policy: Hypothesis | None, decimals: int | None = None, confirmed: int = 0, tried: int = 0
    ) -> Inference:
        self._tell("evidence")
        engine, attacks = self._engine, self._attacks
        evidence = gathered(engine, policy, self._equal) if policy and self._evident else []
        asked = len(engine.asked) + (len(attacks.passed) if attacks else 0)
        refused = self._of_state("refused")
        left = undetermined(engine, policy, self._equal, self._threshold, refused, asked) if policy else []
        settled = determined(engine, policy, left) if policy else {}
        return Inference(
            name=self._box.name,
            metric=self._box.metric.name,
            status=status,  # type: ignore[arg-type]
            policy=settled,
            protocol=as_protocol(self._box, policy, settled) if policy else None,
            measure=measure_name(self._box, policy, settled) if policy else self._box.metric.name,
            evidence=tuple(evidence),
            undetermined=tuple(left),
            unstable=tuple(self._unstable),
            unexplained=tuple(self._unexplained),
            refused=tuple(refusals(self._found, attacks.refused if attacks else {})),
            holds=tuple(one.aspect.name for one in self._of_state("explained")),
            confirmed=confirmed,
            tried=tried,
            decimals=decimals,
            asked=self._asked,
            cutoffs=tuple(self._box.cutoffs),
            threshold=self._threshold if policy else None,
            attacked=len(attacks.passed) if attacks and policy else 0,
            pairs=(len(attacks.met), len(attacks.goals())) if attacks and policy else (0, 0),
            not_asked=not_asked(self._box),
        )

    def _closest(self, policy: Hypothesis | None, found: Found) -> Closest | None:
        """How close a policy can come to what it does not explain, with what that leaves undecided taken in every way,
        and further questions asked; None where it is told already."""
        if found.closest is None:
            return None
        undecided = self._space.below(found.aspect.opens) - self._engine.opened
        ways = self._space.opened([policy or self._space.start], undecided)
        features, drawing = self._engine.features_of(found.aspect), self._drawing
        if found.aspect.name == STRANGERS:
            features, drawing = found.aspect.features(()), replace(drawing, known=False)
        further = [drawing.question(features, self._rng) for _ in range(_TO_TELL)]
        asked = [Asked(one, self._box.ask(one), Simulation(one, self._space)) for one in further]
        closest = self._engine.closest(ways, [*found.asked, *asked])
        return closest if closest.wrong else found.closest

    def _predicted(self, hypothesis: Hypothesis, question: Question) -> Outcome:
        return Simulation(question, self._space).outcome(hypothesis)


def _known_users(plain: Aspect) -> Aspect:
    """The plain aspect, asked about users who have training rows."""
    return replace(plain, opens=(*plain.opens, "candidates.exclude_train"), along=("training",))


def _constant(found: Found) -> bool:
    """Whether all answers are the same number."""
    answers = [one.said for one in found.asked if not one.said.refusal]
    numbers = [[one.value] if one.value is not None else list(told(one).values()) for one in answers]
    return len({round(number, 9) for some in numbers for number in some}) == 1


def _same(first: Outcome, second: Outcome) -> bool:
    if first.refusal or second.refusal:
        return bool(first.refusal) == bool(second.refusal)
    return agree(first, second, 1e-12)


def _exact_to(found: Found, more: Sequence[Asked] = ()) -> int | None:
    """To how many decimals all answers are rounded, or exact as numbers of single precision are; None if neither."""
    answers = [one.said.value for one in (*found.asked, *more)]
    values = [value for value in answers if value is not None and math.isfinite(value)]
    for decimals in range(2, SINGLE_DECIMALS + 1):
        if values and all(abs(value - round(value, decimals)) < 1e-12 for value in values):
            return decimals
    nearly = found.closest is not None and found.closest.residual <= 0.5 * 10.0**-SINGLE_DECIMALS
    return SINGLE_DECIMALS if nearly else None
