"""The sentences of a methods section: every decision that has an effect on the numbers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from repro.errors import PluginError
from repro.evaluation.metrics import bearing, simple_measures
from repro.exports.significance import Significance
from repro.plugin import plugins
from repro.protocol import registry, toml_value
from repro.protocol.sentences import Sentence, sentences
from repro.runs.journal import events
from repro.runs.run import Run


@dataclass(frozen=True)
class Section:
    """A paragraph with its heading. Citations in its text are in double brackets: ⟦Steck (2019), WWW⟧."""

    title: str
    sentences: tuple[Sentence, ...]


def sections(run: Run, **settings: Any) -> list[Section]:
    """The methods section of a run; ``settings`` are those of the tests of significance."""
    values, measures = run.decisions, run.measures
    relevant = bearing(values, measures)
    in_metrics = {key for measure in simple_measures(measures) for key in measure.decisions}

    def of(*families: str) -> list[Sentence]:
        keys = [key for key in relevant if key.partition(".")[0] in families and key not in in_metrics]
        return sentences(values, keys)

    unknown = [key.partition(".")[0] for key in relevant if registry().stage_of(key) is None]
    parts: dict[str, Iterable[str | Sentence]] = {
        "Data": (*_data(run), *of("data"), *_after_filters(run)),
        "Splitting": (*of("split"), *_folds(run)),
        "Algorithms": (*_algorithms(run), *_tuning(run)),
        "Candidates": of("candidates"),
        "Ranking": of("missing", "scores", "ties"),
        "Rating prediction": of("predict"),
        "Metrics": (*of("relevance"), *_metrics(run), *of("average")),
        "Statistical testing": _testing(run, **settings),
        "Further decisions": of(*dict.fromkeys(unknown)),
        "Software and reproducibility": _software(run),
    }
    all_sections = [
        Section(title, tuple(each if isinstance(each, Sentence) else Sentence(each, ()) for each in part))
        for title, part in parts.items()
    ]
    return [section for section in all_sections if section.sentences]


def _hash(digest: str) -> str:
    """The start of a digest, which identifies it; the journal has the rest."""
    return f"SHA-256 {digest[:16]}"


def _data(run: Run) -> Iterator[str]:
    loaded, known = run.loaded, run.dataset
    name = known.title if known else "synthetic data" if loaded.data == "synthetic" else f"the data set {loaded.data}"
    cite = _cited(f"data:{known.name}" if known and known.citation else "")
    low, high = run.prepared.scale
    yield (
        f"We used {name}{cite}, with {loaded.rows:,} interactions of {loaded.users:,} users with {loaded.items:,} "
        f"items and ratings from {low:g} to {high:g} ({_hash(loaded.digest)} of its content)."
    )


def _after_filters(run: Run) -> Iterator[str]:
    prepared = run.prepared
    if run.loaded.digest != prepared.digest:
        yield (
            f"This left {prepared.rows:,} interactions of {prepared.users:,} users with {prepared.items:,} items "
            f"({_hash(prepared.digest)})."
        )


def _folds(run: Run) -> Iterator[str]:
    folds = run.folds
    parts = [f"{_span([fold.train_rows for fold in folds])} interactions for training"]
    if any(fold.validation_rows for fold in folds):
        parts.append(f"{_span([fold.validation_rows for fold in folds])} for validation")
    parts.append(f"{_span([fold.test_rows for fold in folds])} for testing")
    sizes = f"{', '.join(parts[:-1])} and {parts[-1]}"
    yield f"This gave {sizes}." if len(folds) == 1 else f"Each of the {len(folds)} folds had {sizes}."


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _algorithms(run: Run) -> Iterator[str]:
    """The label, the algorithm and the parameters of each algorithm."""
    labels = list(dict.fromkeys(cell.label for cell in run.cell_records))
    given = {event.label: event for event in run.journal.events("model.given")}
    frameworks = [f"{name} {version}" for name, version in run.framework_versions.items()]
    where = f", in {frameworks[0]}" if len(frameworks) == 1 else ""
    yield (f"We compared {len(labels)} algorithms{where}." if len(labels) > 1 else f"We used one algorithm{where}.")
    for label in labels:
        start = next(cell.start for cell in run.cell_records if cell.label == label)
        tuned = {name for event in run.journal.events("tuning.finished") for name in event.space}
        fixed = {name: value for name, value in start.parameters.items() if not (start.tuned and name in tuned)}
        parameters = ", ".join(
            f"{name} = {value if isinstance(value, str) else toml_value(value)}" for name, value in fixed.items()
        )
        sentence = f"“{label}” is {_named(start, given.get(label))}"
        sentence += (
            f" of {start.framework} {start.framework_version}" if len(frameworks) > 1 and label not in given else ""
        )
        sentence += f" ({parameters})" if parameters else ""
        if start.tuned:
            sentence += "; its other parameters were tuned" if parameters else "; its parameters were tuned"
        sentence += "" if start.deterministic or label in given else "; it is not deterministic for a seed"
        yield sentence + "."
        for name, reason in start.unmapped.items():
            yield f"The parameter {name} of “{label}” could not be set: {reason.rstrip('.')}."
    for label, reason in run.left_out.items():
        yield f"“{label}” was left out: {reason.rstrip('.')}."
    if run.failed:
        yield f"{len(run.failed)} of {len(run.cell_records)} fits failed: {', '.join(run.failed)}."


def _named(start: events.CellStarted, given: events.ModelGiven | None) -> str:
    """The algorithm, or what is known of code that is given in Python."""
    if given is None:
        return f"{start.algorithm}{_cite_of(start.algorithm)}"
    digest = f"{_hash(given.source)} of its source" if given.source else f"{_hash(given.content)} of its content"
    own = f"of {given.package}" if given.package else "of our own"
    what = "a matrix of scores" if given.form == "matrix" else f"the {given.form} {start.algorithm.partition('/')[2]}"
    before = "" if given.form in ("model", "recommender") else ", the same in every fold"
    return f"{what} {own} ({digest}){before}"


def _cite_of(algorithm: str) -> str:
    try:
        return _cited(plugins().algorithm(algorithm)[1].cite)
    except PluginError:  # the plug-in is not installed
        return ""


def _cited(cite: str) -> str:
    return f" ⟦{cite}⟧" if cite else ""


def _tuning(run: Run) -> Iterator[str]:
    events = run.journal.events("tuning.finished")
    if not events:
        return
    first = events[0]
    searches = {"grid": "a grid search", "tpe": "the tree-structured Parzen estimator"}
    search = " or ".join(searches[name] for name in dict.fromkeys(event.search for event in events))
    limit = f" or {first.budget.seconds:g} seconds" if first.budget.seconds is not None else ""
    part = run.protocol.get("split.tuned_on", "validation")
    before = ", and chosen before the test set was used" if part == "validation" else ""
    yield (
        f"Parameters were tuned by {first.metric.name} on the {part} set of each fold with {search}, with up to "
        f"{first.budget.trials} trials{limit} for each algorithm{before}."
    )
    spaces = {event.cell.rpartition("/")[0]: event.space for event in events}
    for label, space in spaces.items():
        domains = "; ".join(f"{name} {_domain(domain)}" for name, domain in space.items())
        yield f"The search space of “{label}” was: {domains}."


def _domain(domain: Any) -> str:
    if isinstance(domain, list):
        return "in " + ", ".join(map(str, domain))
    return f"from {domain.low:g} to {domain.high:g}" + (" (logarithmic)" if domain.log else "")


def _metrics(run: Run) -> Iterator[Sentence]:
    """Each metric with its variants, in the words of the registry."""
    decisions = registry()
    for measure in run.measures:
        metric, name = measure.metric, run.metric_names[measure.full_name]
        parts = simple_measures([measure]) if measure.parts else [measure]
        variants = {key: value for part in (measure, *parts) for key, value in part.decisions.items()}
        meanings = []
        for key, value in variants.items():
            option = decisions[key].option(value)
            meaning = f"{key.rpartition('.')[2]}: {decisions[key].meaning(value)}"
            meanings.append(meaning + _cited(option.cite if option else ""))
        title = metric.title if metric.title[1:2].isupper() else metric.title[0].lower() + metric.title[1:]
        cutoff = f" of the first {measure.cutoff} items" if measure.cutoff is not None else ""
        variant = f" ({'; '.join(meanings)})" if meanings else ""
        yield Sentence(f"{name} is the {title}{cutoff}{_cited(metric.cite)}{variant}.", tuple(variants))


def _testing(run: Run, **settings: Any) -> Iterator[str]:
    significance = Significance.of(run, **settings)
    if significance.tested:
        yield from significance.sentences()
    else:
        yield "No differences were tested: no metric has values of two algorithms for each user."


def _software(run: Run) -> Iterator[str]:
    versions, machine = run.versions, run.started.machine
    frameworks = " and ".join(f"{name} {version}" for name, version in run.framework_versions.items())
    yield (
        f"Algorithms were fitted and scored by {frameworks}; all else was done by repro {versions['repro']} on Python "
        f"{versions['python']}, with NumPy {versions.get('numpy', 'of an unknown version')}, on {machine['system']} "
        f"({machine['architecture']}, {machine['processor']}, {machine['cores']} cores)."
    )
    yield f"All random draws come from the seed {run.started.seed}, each from a stream of its own."
    if run.resolved.protocol:
        left_open = ", ".join(run.resolved.left_open_by_source)
        source = f", whose source leaves open: {left_open}" if left_open else ""
        yield f"The protocol is called {run.resolved.protocol}{source}."
    yield (
        f"The protocol has the {_hash(run.started.protocol_hash)}; the run is logged in a hash-chained journal "
        f"(journal.jsonl), in which it finished with {run.end.cited(16)}."
    )
