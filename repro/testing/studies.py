"""Small studies for tests, as TOML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def study_toml(
    *algorithms: str,
    question: str = "Which?",
    metrics: Sequence[str] = ("ndcg@10", "precision@5"),
    data: str | Mapping[str, object] = "ratings.csv",
    folds: int = 2,
    seed: int | None = None,
) -> str:
    """A study of these algorithms on random folds, with the protocol ``random-5fold``.

    Args:
        algorithms: references such as ``reference/bias``, or with a label, ``label=reference/bias``.
        data: the name of a data set, or the settings of the table ``[data]``.
    """
    lines = [f"question = {_value(question)}", *([] if seed is None else [f"seed = {seed}"])]
    lines.append(f"metrics = {_value(list(metrics))}")
    lines += ["[data]", *_settings({"name": data} if isinstance(data, str) else data)]
    lines += ["[protocol]", *_settings({"base": "random-5fold", "split.folds": folds})]
    for algorithm in algorithms:
        label, _, use = algorithm.rpartition("=")
        lines += ["[[algorithms]]", *_settings({"use": use} | ({"label": label} if label else {}))]
    return "\n".join([*lines, ""])


def _settings(table: Mapping[str, object]) -> list[str]:
    return [f"{name} = {_value(value)}" for name, value in table.items()]


def _value(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"[{', '.join(map(_value, value))}]" if isinstance(value, list) else str(value)
