"""The contract of plug-ins as functions; each raises an AssertionError that names what is broken."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from threadpoolctl import threadpool_limits

from repro.data.interactions import CodeArray, Interactions
from repro.evaluation.metrics import Metric
from repro.plugin import (
    STATE,
    UNSCORED,
    Algorithm,
    Case,
    CheckedRecommender,
    Environment,
    Observed,
    ParameterValue,
    Plugins,
    Scores,
)
from repro.plugin.api.canonical import CANONICAL
from repro.plugin.host.placement import ISOLATED
from repro.plugin.isolation.environment import WORKER
from repro.plugin.isolation.pins import distribution, is_pin

SEED = 5
# The numbers of users and items in requests (None: all); a request may repeat a code.
_BLOCKS = ((1, 1), (1, None), (None, 1), (3, 5), (7, None))
_CORE = ("scipy", "pandas", "numba", "pyarrow", "pydantic")

# The laws that an algorithm keeps, except where it declares otherwise.
LAWS = ("blocks", "row-order", "generators")

Fit = Callable[[Interactions, int], CheckedRecommender]
Result = TypeVar("Result")


def codes(count: int) -> CodeArray:
    return np.arange(count, dtype=np.int32)


def score(recommender: CheckedRecommender, users: CodeArray, items: CodeArray) -> Scores:
    with threadpool_limits(1):  # as in a study
        return recommender.score_users(users, items)


def score_all(recommender: CheckedRecommender, rows: Interactions) -> Scores:
    """The scores of all users and items."""
    return score(recommender, codes(rows.n_users), codes(rows.n_items))


def scores_and_state(recommender: CheckedRecommender, rows: Interactions) -> list[Scores]:
    """The scores of all users and items, and the arrays of the state as if they were scores too."""
    return [score_all(recommender, rows), *map(Scores, recommender.state().values())]


def bits(scores: Scores) -> npt.NDArray[np.uint64]:
    """The bits of scores: NaN equals NaN, and 0 does not equal -0."""
    return scores.values.view(np.uint64)


def same_bits(first: Scores, second: Scores) -> bool:
    """Whether values and states are the same; a state that is missing is the same as one that is all scored."""
    return np.array_equal(bits(first), bits(second)) and np.array_equal(first.states, second.states)


def check_declarations(plugins: Plugins, plugin: str) -> None:
    """Every hook returns valid declarations under names of its own."""
    for declare in (plugins.evaluators, plugins.pipelines, plugins.splitters):
        declare()
    plugins.exporters()
    plugins.datasets()
    plugins.metrics(Metric)
    assert not plugins.broken, f"{plugin} is broken: {plugins.broken}"


def check_canonical(algorithm: Algorithm) -> None:
    """An algorithm with a canonical name has or maps each canonical parameter, or says why it cannot."""
    canonical = CANONICAL.get(algorithm.name)
    if canonical is None:
        return
    mapped, unmapped = set(algorithm.mapping), set(algorithm.unmapped)
    assert not mapped & unmapped, f"{algorithm.name} maps and does not map {sorted(mapped & unmapped)}"
    own, expected = {parameter.name for parameter in algorithm.parameters}, set(canonical.parameters)
    known = {name for canonical in CANONICAL.values() for name in canonical.parameters}
    missing, others = expected - mapped - unmapped - own, (mapped | unmapped) - known
    assert not missing, f"{algorithm.name} neither has nor maps nor explains {sorted(missing)}"
    assert not others, f"{algorithm.name} maps or explains {sorted(others)}, which are no canonical parameters"
    assert mapped <= own, f"{algorithm.name} maps {sorted(mapped - own)}, which are none of its parameters"


def check_parameters(algorithm: Algorithm) -> None:
    """Every parameter has a meaning, and a default that is one of its options."""
    for parameter in algorithm.parameters:
        assert parameter.meaning, f"{algorithm.name}: {parameter.name} has no meaning"
        assert not parameter.options or parameter.default in parameter.options, (
            f"{algorithm.name}: the default of {parameter.name}, {parameter.default!r}, is none of {parameter.options}"
        )


def check_environment(environment: Environment) -> None:
    """Every requirement is an exact version, and those of the worker are among them."""
    arguments = [argument for step in environment.steps for argument in step if not argument.startswith("-")]
    for argument in arguments:
        assert is_pin(argument) and "+" not in argument, f"'{argument}' is not an exact version such as numpy==1.26.4"
    lacking = set(WORKER) - {distribution(argument) for argument in arguments}
    assert not lacking, f"a worker needs {', '.join(sorted(lacking))} too"


def check_imports(module: str, environment: Environment) -> None:
    """The declarations import neither the framework nor large packages that they do not need."""
    forbidden = {name.partition(".")[0] for name in environment.imports} | set(_CORE)
    code = (
        "import importlib, sys\n"
        f"for name in {sorted(forbidden)!r}:\n"
        "    sys.modules[name] = None\n"
        f"module = importlib.import_module({module!r})\n"
        "for hook in ('repro_framework', 'repro_evaluators', 'repro_pipelines', 'repro_splitters'):\n"
        "    getattr(module, hook, lambda: ())()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{module} cannot be listed where its framework is missing:\n{done.stderr}"


def check_recommender(
    fit: Fit, train: Interactions, *, deterministic: bool = True, exceptions: Collection[str] = ()
) -> None:
    """All checks of an algorithm, with four fits; ``exceptions`` are the laws that it does not keep."""
    assert set(exceptions) <= set(LAWS), f"{sorted(exceptions)} are not all laws; there are {', '.join(LAWS)}"
    before = global_generators()
    recommender = fit(train, SEED)
    scores = score_all(recommender, train)
    if "generators" not in exceptions:
        check_global_generators(before)
    check_states(scores)
    check_state(recommender, train)
    if "blocks" not in exceptions:
        check_blocks(recommender, train, scores)
        check_predictions(recommender, train)
    if deterministic:
        check_refit(fit, train, scores)
    if deterministic and "row-order" not in exceptions:
        check_row_order(fit, train, scores)


def check_refit(fit: Fit, train: Interactions, expected: Scores) -> None:
    """The same rows and seed give the same bits, also in a recommender that was fitted to other rows before."""
    recommender = fit(train.select(np.arange(len(train)) % 2 == 0), SEED)
    recommender.fit(train, seed=SEED)
    assert same_bits(score_all(recommender, train), expected), "the same rows and seed gave other scores"


def check_blocks(recommender: CheckedRecommender, train: Interactions, expected: Scores | None = None) -> None:
    """A score depends neither on the other users and items of a request, nor on earlier requests.

    ``expected`` are the scores of all users and items, as the recommender gave them before.
    """
    whole = bits(score_all(recommender, train) if expected is None else expected)
    rng = np.random.default_rng(4)
    for n_users, n_items in _BLOCKS:
        users = rng.choice(train.n_users, n_users or train.n_users).astype(np.int32)
        items = rng.choice(train.n_items, n_items or train.n_items).astype(np.int32)
        block = bits(score(recommender, users, items))
        assert (block == whole[np.ix_(users, items)]).all(), (
            f"the scores of {len(users)} users and {len(items)} items differ from those of all together"
        )
    for users, items in ((codes(0), codes(train.n_items)), (codes(train.n_users), codes(0))):
        assert score(recommender, users, items).values.shape == (len(users), len(items))


def check_states(scores: Scores) -> None:
    """NaN is always unscored, and whatever is not unscored is a number."""
    not_marked = np.isnan(scores.values) & (scores.states != UNSCORED)
    assert not not_marked.any(), f"{not_marked.sum()} scores are NaN and not marked as unscored"


def check_state(recommender: CheckedRecommender, train: Interactions) -> None:
    """The arrays of a state have a number for each user and item with training rows, and its factors are of both."""
    state = recommender.state()
    known = {"users": train.user_counts() > 0, "items": train.item_counts() > 0}
    assert ("user_factors" in state) == ("item_factors" in state), f"a state has factors of one side: {sorted(state)}"
    for name, array in state.items():
        of = STATE[name][0] if STATE[name] else ""
        missing = ~np.isfinite(array[known[of]] if of else array)
        assert not missing.any(), f"{name} has {missing.sum()} values that are no numbers, of {of} with training rows"


def check_predictions(recommender: CheckedRecommender, train: Interactions) -> None:
    """A prediction does not depend on the other pairs of a request."""
    if not recommender.predicts:
        return
    rng = np.random.default_rng(1)
    pairs = rng.permutation(train.n_users * train.n_items)
    users, items = (pairs // train.n_items).astype(np.int32), (pairs % train.n_items).astype(np.int32)
    whole = recommender.predict_pairs(users, items)
    check_states(whole)
    part = rng.choice(len(pairs), 50)
    again = recommender.predict_pairs(users[part], items[part])
    assert (bits(again) == bits(whole)[part]).all(), "predictions of pairs differ in smaller requests"
    assert recommender.predict_pairs(users[:0], items[:0]).values.shape == (0,)


def check_row_order(fit: Fit, train: Interactions, expected: Scores) -> None:
    """The order of the training rows changes no bit of a score."""
    shuffled = train.select(np.random.default_rng(3).permutation(len(train)))
    assert same_bits(score_all(fit(shuffled, SEED), train), expected), "the order of the training rows changed scores"


def global_generators() -> dict[str, str]:
    """The state of the generators of the process."""
    return {"numpy.random": repr(np.random.get_state(legacy=False)), "random": repr(random.getstate())}  # noqa: NPY002


def check_global_generators(before: Mapping[str, str]) -> None:
    """The generators of the process are where they were: a plug-in draws from its seed alone."""
    moved = [name for name, state in global_generators().items() if state != before[name]]
    assert not moved, f"the global generator of {' and '.join(moved)} was used"


def check_evaluator(plugins: Plugins, name: str, case: Case, k: int, measures: Collection[str] = ()) -> None:
    """An evaluator gives the same answer twice, for each of its measures or for those named."""
    for measure, cutoff in _measures(plugins, name, k, measures):
        first, second = (plugins.evaluate(plugins.evaluators()[name], case, measure, cutoff) for _ in range(2))
        assert repr(first) == repr(second), f"{name} gave two answers for {measure}: {first} and {second}"


def _measures(plugins: Plugins, name: str, k: int, measures: Collection[str]) -> Iterator[tuple[str, int | None]]:
    evaluator = plugins.evaluators()[name]
    for measure, metric in evaluator.measures.items():
        if not measures or measure in measures:
            yield measure, max(k, evaluator.least_k) if "@" in metric else None


def check_splitter(plugins: Plugins, name: str, rows: Interactions) -> None:
    """The folds of a splitter hold rows at most once, and a seed gives the same folds."""
    parameters = {parameter.name: parameter.default for parameter in plugins.splitters()[name].parameters}
    first, second = (plugins.split(name, rows, SEED, dict(parameters)) for _ in range(2))
    assert len(first), f"{name} made no folds"
    for fold, again in zip(first, second, strict=True):
        for part, repeated in zip(fold, again, strict=True):
            assert (np.asarray(part) == np.asarray(repeated)).all(), f"{name}: a seed gave two splits"
        together = np.concatenate([np.asarray(part) for part in fold])
        assert len(np.unique(together)) == len(together), f"{name} puts a row into both parts of a fold"
        assert not len(together) or 0 <= together.min() <= together.max() < len(rows), (
            f"{name} has rows that the data set does not have"
        )


def check_isolated_split(
    plugins: Plugins, splitter: str, rows: Interactions, parameters: Mapping[str, ParameterValue]
) -> None:
    """A splitter holds out the same rows in this process and in the framework's own environment."""
    framework = splitter.partition("/")[0]
    folds = _in_both_places(plugins, framework, lambda: plugins.split(splitter, rows, SEED, dict(parameters)))
    for here, isolated in zip(*folds, strict=True):
        assert all(map(np.array_equal, here, isolated)), f"{splitter} holds out other rows in its own environment"


def check_isolated(plugins: Plugins, framework: str, answers: Callable[[], Sequence[Scores | Observed]]) -> None:
    """``answers()`` are the same bits in this process and in the framework's own environment."""
    for here, isolated in zip(*_in_both_places(plugins, framework, answers), strict=True):
        if isinstance(here, Scores) and isinstance(isolated, Scores):
            assert same_bits(here, isolated), f"{framework} gives other scores in its own environment"
        else:
            assert repr(here) == repr(isolated), f"{framework} answers {here} here and {isolated} isolated"


def _in_both_places(plugins: Plugins, framework: str, run: Callable[[], Result]) -> list[Result]:
    """The results of a function in this process, and with the framework in its own environment."""
    results = []
    for setting, location in (("", "in-process"), (framework, "isolated")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(ISOLATED, setting)
            assert plugins.location(framework) == location
            results.append(run())
    return results


def evaluator_answers(plugins: Plugins, case: Case, k: int, measures: Collection[str] = ()) -> list[Observed]:
    """The answers of all evaluators about a case."""
    return [
        plugins.evaluate(evaluator, case, measure, cutoff)
        for name, evaluator in plugins.evaluators().items()
        for measure, cutoff in _measures(plugins, name, k, measures)
    ]
