"""A model as it was given to a study: its form, its digests, and how it becomes a recommender."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, get_args

import cloudpickle
import numpy as np
import pandas as pd

from repro.data import Interactions
from repro.errors import PluginError, StudyError
from repro.models.digests import attributes, content_digest, module_digest, package_of, source_digest
from repro.models.recommenders import Ids, Matrix, OwnCode, is_recommender, scores_by
from repro.models.returned import is_sparse, positions
from repro.models.signatures import signature_of
from repro.plugin import Algorithm, CheckedRecommender, Parameter, ParameterValue
from repro.plugin.host.catalogue import CODE
from repro.protocol.toml import Inline

Form = Literal["model", "recommender", "fitted", "function", "matrix"]
_WHAT: dict[Form, str] = {
    "model": "a model",
    "recommender": "a recommender",
    "fitted": "a fitted model",
    "function": "a function",
    "matrix": "a matrix of scores",
}
# The keys of a model in an algorithm's table, besides label, seed and tune.
KEYS = ("model", "users", "items", "predicts", "deterministic")


@dataclass(frozen=True)
class GivenModel:
    """A model that was given in Python, or, read from a file, the record of one.

    name           of its class or function
    source         SHA-256 of its source text; ``module_source`` of the file of its module, both None where unknown
    package        the installed distribution that it is from; empty for the user's own code
    content        SHA-256 of its state, or of the values of a matrix
    parameters     from ``get_params``, or its plain attributes
    object         the model itself, as it was when the study was made; None where it is known by its record only
    users, items   the ids of the rows and columns of a matrix; None for those of the data
    """

    name: str
    form: Form
    content: str
    source: str | None = None
    module: str = ""
    module_source: str | None = None
    package: str = ""
    predicts: bool = False
    deterministic: bool = False
    tunable: bool = False
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    object: Any = None
    users: Any = None
    items: Any = None
    text_ids: frozenset[str] = frozenset()
    packed: bytes = b""

    @property
    def use(self) -> str:
        return f"{CODE.name}/{self.name}"

    @property
    def kind(self) -> str:
        """Its form in words, such as "a matrix of scores"."""
        return _WHAT[self.form]

    @property
    def is_fitted_here(self) -> bool:
        """Whether each fold fits it on its training part."""
        return self.form in ("model", "recommender")

    @property
    def fitted(self) -> str:
        """A sentence on what is fitted on each fold."""
        if self.is_fitted_here:
            return "each fold fits a copy of it on the training part"
        return "it was fitted before, if at all, and is the same in every fold: it may have seen held-out rows"

    @property
    def is_here(self) -> bool:
        return self.object is not None or bool(self.packed)

    @property
    def algorithm(self) -> Algorithm:
        """Its declaration, as that of a plug-in."""
        by = "" if self.object is None or self.form == "matrix" else scores_by(self.object)
        return Algorithm(
            self.name,
            _WHAT[self.form],
            self._refuse,
            tuple(Parameter(name, value, "of the model that was given") for name, value in self.parameters.items()),
            own=".".join(filter(None, (self.module, self.name))),
            predicts=self.predicts,
            deterministic=self.deterministic,
            scores="ratings" if by == "predict" else "unknown",
        )

    def _refuse(self, **parameters: ParameterValue) -> Any:
        raise PluginError(self.absence)

    @property
    def absence(self) -> str:
        """The reason why it cannot be fitted where it is known by its record only, and what to do."""
        source = f"source SHA-256 {self.source[:12]}" if self.source else f"content SHA-256 {self.content[:12]}"
        return (
            f"{self.name} is {_WHAT[self.form]} that was given in Python ({source}), and no run folder has such code; "
            f"give it again: models={{label: model}} of repro.Study.load, repro.replay, repro.verify and repro.explain"
        )

    def record(self) -> dict[str, Any]:
        """The properties that decide its scores, and where it is from, as plain data."""
        names = ("form", "content", "source", "module", "module_source", "package", "predicts", "deterministic")
        record = {name: getattr(self, name) for name in (*names, "tunable") if getattr(self, name) not in (None, "")}
        return record | {"parameters": dict(self.parameters)}

    @classmethod
    def from_record(cls, use: str, record: Mapping[str, Any]) -> GivenModel:
        """The model of a record that a file has."""
        known = {
            name: record[name]
            for name in cls.__dataclass_fields__
            if name in record and name not in ("object", "packed")
        }
        if record.get("form") not in get_args(Form) or "content" not in record:
            raise StudyError(f"{use}: code = {dict(record)!r} lacks the form or the content of a model given in Python")
        return cls(use.partition("/")[2], **known)

    def document(self) -> Inline:
        """The record for a TOML file."""
        return Inline(self.record() | {"parameters": Inline(self.parameters)})

    def require_same(self, record: GivenModel, label: str) -> GivenModel:
        """This model in place of a record; refused where it is another one."""
        before, now = record.record(), self.record()
        if changed := [name for name in before if before[name] != now.get(name)]:
            raise StudyError(
                f"the model given as '{label}' is not that of the study: its {changed[0].replace('_', ' ')} differs "
                f"({before[changed[0]]!r:.80} there, {now.get(changed[0])!r:.80} here)"
            )
        return self

    # Use

    def bound(self, source: Interactions, prepared: Interactions, text_ids: frozenset[str]) -> GivenModel:
        """With the ids of the rows and columns of a matrix; refused where its shape is not that of the data."""
        if self.form != "matrix" or self.object is None:
            return replace(self, text_ids=text_ids)
        labels = []
        for axis, role in enumerate(("user", "item")):
            stated, size = (self.users, self.items)[axis], self.object.shape[axis]
            known = [getattr(rows, f"{role}_ids") for rows in (source, prepared)]
            ids = stated if stated is not None else next((ids for ids in known if len(ids) == size), None)
            if ids is None:
                raise StudyError(self._shape_fault(source, prepared))
            positions(known[1], ids, f"the {role}s of {self.name}")
            labels.append(ids)
        return replace(self, users=labels[0], items=labels[1])

    def _shape_fault(self, source: Interactions, prepared: Interactions) -> str:
        rows, columns = self.object.shape
        turned = " (transpose it?)" if (columns, rows) == (source.n_users, source.n_items) else ""
        sizes = dict.fromkeys(f"{data.n_users:,} x {data.n_items:,}" for data in (source, prepared))
        return (
            f"the matrix {self.name} has the shape {rows:,} x {columns:,}{turned}, and users x items of the data are "
            f"{' or, prepared, '.join(sizes)}; its rows and columns are the users and items in ascending order of ids, "
            "or give a pandas frame that is labelled with ids"
        )

    def recommender(
        self, parameters: Mapping[str, ParameterValue], data: Interactions, label: str
    ) -> CheckedRecommender:
        """A new recommender for one fit on a part of ``data``."""
        model = self._unpacked()
        if self.form == "matrix":
            rows, columns = (
                positions(ids, labels, f"the {role}s of {label}")
                for ids, labels, role in ((data.user_ids, self.users, "user"), (data.item_ids, self.items, "item"))
            )
            return CheckedRecommender(Matrix(model, rows, columns), label, self.predicts)
        changed = {name: value for name, value in parameters.items() if value != self.parameters.get(name)}
        if self.form == "recommender":
            copied = copy.deepcopy(model)
            if changed:
                copied.set_params(**changed)
            return CheckedRecommender(copied, label, uses_history=True)
        return CheckedRecommender(OwnCode(model, self.name, Ids(self.text_ids), changed), label, self.predicts)

    def _unpacked(self) -> Any:
        if self.object is not None:
            return self.object
        if not self.packed:
            raise StudyError(self.absence)
        try:
            return cloudpickle.loads(self.packed)
        except Exception as error:  # whatever the user's code does when it is imported
            raise StudyError(
                f"{self.name} cannot be loaded in another process ({type(error).__name__}: {error}); run with workers=1"
            ) from None

    # Other processes

    @cached_property
    def _pickled(self) -> bytes:
        try:
            return cloudpickle.dumps(self.object)
        except Exception:  # whatever the user's object does
            return b""

    @property
    def can_travel(self) -> bool:
        """Whether another process can get it."""
        return bool(self.packed or self._pickled)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return state | {"object": None, "packed": self.packed or (self._pickled if self.object is not None else b"")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def as_tables(algorithms: Any) -> list[Any]:
    """The algorithms of a study as a list, with each model that is given in Python as a table."""
    single = isinstance(algorithms, str | Mapping) or _is_named(algorithms) or not _is_list(algorithms)
    tables = [_as_table(algorithm) for algorithm in ([algorithms] if single else algorithms)]
    return _labelled(tables)


def _is_list(value: object) -> bool:
    form = isinstance(value, np.ndarray | pd.DataFrame | type) or is_sparse(value) or scores_by(value)
    return isinstance(value, Iterable) and not form


def _is_named(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and "/" not in value[0]
        and not (isinstance(value[1], str) and "/" not in value[1])
    )


def _as_table(algorithm: Any) -> Any:
    if _is_named(algorithm):
        label, inner = algorithm
        table = _as_table(inner)
        return {**({"use": table} if isinstance(table, str) else table), "label": label}
    if isinstance(algorithm, str) or (isinstance(algorithm, Mapping) and "model" not in algorithm):
        return algorithm
    table = dict(algorithm) if isinstance(algorithm, Mapping) else {"model": algorithm}
    options = {key: table.pop(key) for key in KEYS if key in table}
    model = options.pop("model")
    name = str(table.get("label", "")).replace(" ", "-")
    return {**table, "model": model if isinstance(model, GivenModel) else read_model(model, name, **options)}


def _labelled(tables: list[Any]) -> list[Any]:
    """Each model with a label: its name, what differs among models of that name, and a number where needed."""
    unnamed = [table["model"] for table in tables if isinstance(table, Mapping) and _needs_label(table)]
    used = {str(table["label"]) for table in tables if isinstance(table, Mapping) and "label" in table}
    labelled = []
    for table in tables:
        if isinstance(table, Mapping) and _needs_label(table):
            model = table["model"]
            alike = [other.parameters for other in unnamed if other.name == model.name]
            differing = [n for n, v in model.parameters.items() if any(other.get(n) != v for other in alike)]
            label = " ".join([model.name, *(f"{n}={model.parameters[n]}" for n in differing)]).replace("/", "-")
            number = 1
            unique = label
            while unique in used:
                number += 1
                unique = f"{label} {number}"
            used.add(unique)
            table = {**table, "label": unique}
        labelled.append(table)
    return labelled


def _needs_label(table: Mapping[str, Any]) -> bool:
    return "model" in table and "label" not in table


def read_model(
    model: Any, name: str = "", *, users: Any = None, items: Any = None, predicts: Any = None, deterministic: Any = None
) -> GivenModel:
    """The model that a user gave, as it is now: later changes of the object have no effect on the study."""
    if isinstance(model, pd.DataFrame | np.ndarray) or is_sparse(model):
        return _read_matrix(model, name or "matrix", users, items, bool(predicts))
    if users is not None or items is not None:
        raise StudyError("users and items are the ids of the rows and columns of a matrix; this model is none")
    if isinstance(model, type):
        try:
            model = model()
        except TypeError as error:
            raise StudyError(
                f"{model.__name__} is a class that needs arguments ({error}); give an object of it, such as "
                f"{model.__name__}(...)"
            ) from None
    form = _form(model)
    code = model if form == "function" else type(model)
    code = code.func if isinstance(code, partial) else code
    own_name = getattr(code, "__name__", type(code).__name__)
    own_name = (name or "function") if own_name == "<lambda>" else own_name
    _check_signatures(model, form, own_name)
    return GivenModel(
        own_name,
        form,
        content_digest(model),
        source_digest(code),
        getattr(code, "__module__", "") or "",
        module_digest(code) if getattr(code, "__module__", None) else None,
        package_of(code) if getattr(code, "__module__", None) else "",
        bool(predicts) if predicts is not None else callable(getattr(model, "predict", None)),
        bool(deterministic),
        callable(getattr(model, "set_params", None)) and callable(getattr(model, "get_params", None)),
        _parameters(model) if form != "function" else {},
        _copied(model, own_name),
    )


def _form(model: Any) -> Form:
    if is_recommender(model):
        return "recommender"
    if not scores_by(model):
        raise StudyError(_no_model(model))
    if callable(getattr(model, "fit", None)):
        return "model"
    return "fitted" if scores_by(model) != "call" else "function"


def _no_model(model: Any) -> str:
    name = type(model).__name__
    if callable(getattr(model, "fit", None)) or callable(getattr(model, "recommend", None)):
        return (
            f"{name} has neither score nor predict; wrap it in an object with fit(train) and score(users, items), "
            "which returns an array of users x items. Lists that it recommends are for repro.evaluate"
        )
    if hasattr(model, "to_pandas"):
        return f"an algorithm is of type {name}; give a matrix of scores as a pandas frame: {name.lower()}.to_pandas()"
    return (
        f'an algorithm is "framework/algorithm", a table with use, label, parameters, or a model with fit and score, a '
        f"function of users and items, or a matrix of scores; not {model!r:.80} of type {name}"
    )


def _check_signatures(model: Any, form: Form, name: str) -> None:
    """Refuse methods that require more than can be given, before anything is fitted."""
    methods: dict[str, Callable[..., Any]] = {}
    if form in ("model", "fitted"):
        used = ("predict", "score") if scores_by(model) == "score" else ("predict",)
        methods = {f"{name}.{method}": getattr(model, method) for method in used if hasattr(model, method)}
    elif form == "function":
        methods = {name: model}
    for label, method in methods.items():
        signature_of(method, label)


def _read_matrix(matrix: Any, name: str, users: Any, items: Any, predicts: bool) -> GivenModel:
    if isinstance(matrix, pd.DataFrame):
        names = {str(column).lower() for column in matrix.columns}
        if {"user", "item"} <= names:
            raise StudyError(
                'a frame of scores has a row for each user and a column for each item: scores.pivot(index="user", '
                'columns="item", values="score") makes one of rows with user, item and score'
            )
        labelled = [None if isinstance(axis, pd.RangeIndex) else axis for axis in (matrix.index, matrix.columns)]
        users = labelled[0] if users is None else users
        items = labelled[1] if items is None else items
        matrix = matrix.to_numpy()
    if len(matrix.shape) != 2:
        raise StudyError(f"the matrix {name} has the shape {matrix.shape}; give scores of users x items")
    for ids, size, role in ((users, matrix.shape[0], "rows"), (items, matrix.shape[1], "columns")):
        if ids is not None and len(ids) != size:
            raise StudyError(f"the matrix {name} has {size:,} {role}, and {len(ids):,} ids are given for them")
    try:
        values = matrix.astype(np.float64) if is_sparse(matrix) else np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StudyError(f"the matrix {name} is not of numbers: {error}") from None
    users, items = (None if ids is None else np.asarray(ids, dtype=object) for ids in (users, items))
    for ids, role in ((users, "user"), (items, "item")):
        if ids is not None:
            positions(np.empty(0, dtype=np.int64), ids, f"the {role}s of {name}")
    content = content_digest((values, users, items))
    return GivenModel(
        name, "matrix", content, predicts=predicts, deterministic=True, object=values, users=users, items=items
    )


def _copied(model: Any, name: str) -> Any:
    try:
        return copy.deepcopy(model)
    except Exception as error:  # whatever the user's object does
        raise StudyError(
            f"{name} cannot be copied ({type(error).__name__}: {error}), and each fold needs a copy of its own; give a "
            "class, or an object that opens files and starts threads in fit"
        ) from None


def _parameters(model: Any) -> dict[str, ParameterValue]:
    get_params = getattr(model, "get_params", None)
    held = get_params(deep=False) if callable(get_params) and not isinstance(model, type) else attributes(model)
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in held.items()}
    return {
        name: value
        for name, value in plain.items()
        if isinstance(value, str | int | float | bool)
        and not (isinstance(value, float) and not math.isfinite(value))
        and not name.startswith("_")
        and not name.endswith("_")
    }
