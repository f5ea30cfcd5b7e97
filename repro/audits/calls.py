"""The audits as functions: of functions and evaluators by name, of evaluators against each other, of pipelines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from repro.audits.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audits.black_boxes.python_function import Function, box_of_function
from repro.audits.campaign import audit_run
from repro.audits.campaign.audit_results import AuditResults
from repro.audits.comparison.agreement import Agreement
from repro.audits.comparison.pairwise import compare_evaluators
from repro.audits.examination.examination import infer_policy
from repro.audits.examination.inference import Inference
from repro.audits.pipelines.pipeline_audit import PipelineAudit, audit_pipeline, evaluator_of
from repro.audits.policies import Policy, read_policies
from repro.audits.questions.aspects import aspects_of
from repro.audits.targets import (
    chosen_evaluators,
    evaluator_called,
    measures_called,
    metric_in_name,
    pipeline_called,
    refuse_missing,
    usable,
)
from repro.data import load_dataset
from repro.errors import PluginError
from repro.evaluation.metrics import MetricName, metric_named, metric_text, metric_texts
from repro.models import load_code
from repro.plugin import Evaluator, plugins
from repro.progress import Shown, progress_reporter
from repro.protocol import Protocol
from repro.types import Progress


def audit(
    target: Function | str,
    metric: MetricName | None = None,
    k: int | Sequence[int] | None = None,
    *,
    cannot: Collection[str] = (),
    name: str = "",
    seed: int = 0,
    evidence: bool = True,
    progress: Shown = True,
) -> Inference:
    """Infer what a function or an evaluator that is said to compute ``metric`` really computes, by asking it.

    target    a function, or its name ``package.module:function``; or an evaluator of a plug-in by its name, such as
              ``implicit/ranking_metrics_at_k``. ``function(scores, truth, train, k)`` gets three pandas frames, with
              the columns user, item and score, and user, item and rating; it returns one number, or a mapping (or
              series) of users to numbers
    metric    what it is said to compute; by default the metric in the name of the function, or the one that the
              evaluator has. The evaluator's own names are understood too
    k         the cut-off that a function is called with, always the same, so a function may have it built in. With
              several, ``k=(1, 5, 20)``, each question has one of them, and effects of the cut-off show
    cannot    input that a function does not accept, so that it is not asked: "ties", "missing_scores", "duplicates",
              "empty_lists" and others (:data:`repro.audits.CANNOT`)
    name      the name of a function in the result
    seed      the random seed of the questions
    evidence  whether to search for the cases that reject other options
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns an :class:`repro.audits.Inference`: ``policy`` has the decisions that the answers determine.

    >>> def rmse(scores, truth, train, k):
    ...     pairs = truth.merge(scores, on=["user", "item"]).dropna()
    ...     return ((pairs.score - pairs.rating) ** 2).mean() ** 0.5
    >>> inference = repro.audit(rmse, cannot=["duplicates"])
    >>> inference.policy["predict.missing"], inference.policy["predict.average"]
    ('skip', 'ratings')
    """
    box = _box(target, None if metric is None else metric_text(metric), k, cannot, name)
    with (
        ignored_warnings(),
        progress_reporter(progress) as report_progress,
        steps_as_stage(box, report_progress) as step,
    ):
        return infer_policy(box, seed=seed, evidence=evidence, progress=step)


def compare(
    metrics: Collection[MetricName] = (),
    *,
    only: Collection[str] | None = None,
    policies: str | Path | None = None,
    seed: int = 0,
    progress: Shown = True,
) -> list[Agreement]:
    """Compare the evaluators of all plug-ins on the same rankings, to 12 digits: an agreement for each metric.

    metrics   only these, such as ``["ndcg"]``
    only      only these frameworks or evaluators; evaluators whose framework is not installed are left out
    policies  the table of policies that :func:`audit_all` writes, or a folder of them: the decisions that explain cases
              of disagreement
    seed      the random seed of the rankings
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    >>> agreements = repro.audits.compare(["rmse"], only=["surprise", "sklearn"])
    >>> [agreement.metric for agreement in agreements]
    ['rmse']
    """
    chosen, _ = usable(chosen_evaluators(only))
    names = [metric_named(name).name for name in metric_texts(metrics)]
    inferred = read_policies(Path(policies)) if policies is not None else {}
    with ignored_warnings(), progress_reporter(progress) as report_progress:
        return compare_evaluators(chosen, metrics=names, seed=seed, policies=inferred, progress=report_progress)


def check_pipeline(
    name: str,
    data: str | Path = "ml-100k",
    *,
    measures: Collection[str] = (),
    protocol: Protocol | str | Path | None = None,
    policies: str | Path | None = None,
    seed: int = 0,
    progress: Shown = True,
) -> PipelineAudit:
    """Compare a framework's whole evaluation with the core, which measures the framework's scores again.

    name      a pipeline of a plug-in, such as ``surprise/cross_validate``: the framework splits, fits and measures
    data      the name of a data set, or a file
    measures  only these of the numbers that the framework reports
    protocol  how the core measures; by default the policy that is inferred from the framework's evaluator
    policies  the table of policies that :func:`audit_all` writes, or a folder of them, in place of ``protocol``
    seed      the random seed
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)
    """
    if protocol is not None and policies is not None:
        raise PluginError("protocol and policies exclude each other; give one of them")
    pipeline = pipeline_called(name)
    evaluator = evaluator_of(pipeline)
    refuse_missing(evaluator)
    rows = load_dataset(data)
    with ignored_warnings(), progress_reporter(progress) as report_progress:
        policy_of = _policies(evaluator, protocol, policies, seed, report_progress)
        return audit_pipeline(
            pipeline, rows, policy_of, data=str(data), seed=seed, measures=measures, progress=report_progress
        )


def audit_all(
    into: str | Path = "audit",
    *,
    only: Collection[str] | None = None,
    metrics: Collection[MetricName] = (),
    pipelines: bool = True,
    data: str = "ml-100k",
    protocols: str | Path | None = None,
    resume: bool = False,
    fresh: bool = False,
    workers: int = 1,
    seed: int = 0,
    progress: Shown = True,
) -> AuditResults:
    """Audit all evaluators into a folder: their policies, their agreement, and the pipelines of frameworks.

    into       the folder of the journal, of a table of policies and of a page for each measure
    only       only these frameworks or evaluators; evaluators whose framework is not installed are left out
    metrics    only measures that are declared as these metrics
    pipelines  whether to run the frameworks' whole evaluations too, on ``data``
    protocols  the file for the table of inferred protocols; by default protocols.toml in the folder
    resume     finish an interrupted audit, or begin one
    fresh      replace the audit that is in the folder
    workers    the number of processes, which changes no result
    seed       the random seed of all questions
    progress   whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns the results, whose ``report()`` writes the pages.
    """
    evaluators, left_out = usable(chosen_evaluators(only))
    settings = audit_run.AuditOptions(
        pipelines=list(plugins().pipelines().values()) if pipelines else [],
        metrics=metric_texts(metrics),
        left_out=left_out,
        data=data,
        resume=resume,
        fresh=fresh,
        workers=workers,
        seed=seed,
    )
    table = Path(protocols) if protocols is not None else Path(into) / audit_run.PROTOCOLS
    with progress_reporter(progress) as report_progress:
        return audit_run.run_audit(evaluators, Path(into), table, settings, report_progress)


def _box(
    target: Function | str, metric: str | None, k: int | Sequence[int] | None, cannot: Collection[str], name: str
) -> BlackBox:
    if isinstance(target, str) and ":" not in target:
        if k is not None or cannot or name:
            raise PluginError(f"k, cannot and name are for functions; {target} declares its own input")
        evaluator = evaluator_called(target)
        own = [metric] if metric is not None and metric in evaluator.measures else []
        measures = own or measures_called(evaluator, () if metric is None else (metric,))
        if len(measures) != 1:
            known = ", ".join(f"{measure} ({evaluator.measures[measure]})" for measure in measures)
            raise PluginError(f"{target} has several measures: {known}; name one of them as metric")
        return box_of_evaluator(evaluator, measures[0])
    if isinstance(target, str):
        function, called = load_code(target), target
    else:
        function, called = target, getattr(target, "__name__", "the function")
    if isinstance(cannot, str):
        raise PluginError(f"cannot is a list of words; write cannot=['{cannot}']")
    return box_of_function(function, metric or metric_in_name(called), k, name or called, cannot)


def _policies(
    evaluator: Evaluator,
    protocol: Protocol | str | Path | None,
    policies: str | Path | None,
    seed: int,
    report_progress: Progress,
) -> Callable[[str], Policy | None]:
    """The policy of each measure of an evaluator: stated, read from a folder, or inferred now."""
    if protocol is not None:
        stated = protocol if isinstance(protocol, Protocol) else Protocol.load(protocol)
        return lambda measure: stated
    if policies is not None:
        read = read_policies(Path(policies))
        return lambda measure: read.get(f"{evaluator.name} {measure}")

    def inferred(measure: str) -> Policy:
        box = box_of_evaluator(evaluator, measure)
        with steps_as_stage(box, report_progress) as step:
            return infer_policy(box, seed=seed, evidence=False, progress=step)

    return inferred


@contextmanager
def steps_as_stage(box: BlackBox, report_progress: Progress) -> Iterator[Callable[[str], None]]:
    """Passes on the steps of an examination as a stage with the name of the black box."""
    total, done = len(aspects_of(box.metric)) + 3, 0  # three more: stability, all aspects together, evidence

    def step(name: str) -> None:
        nonlocal done
        report_progress(box.name, min(done, total - 1), total)  # a step may be repeated
        done += 1

    yield step
    report_progress(box.name, total, total)


@contextmanager
def ignored_warnings() -> Iterator[None]:
    """Hides warnings: frameworks warn about unusual input, which most questions are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
