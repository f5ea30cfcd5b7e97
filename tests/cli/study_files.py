"""Files of small studies for the tests of commands."""

import json


def write_study(path, metrics, algorithms, data):
    """Write a study of two folds: reference algorithms by label, data as a file name or as settings."""
    parts = [f"metrics = {json.dumps(metrics)}", 'question = "Which?"']
    if isinstance(data, str):
        parts.append(f"data = {json.dumps(data)}")
    else:
        parts += ["[data]", *(f"{name} = {json.dumps(value)}" for name, value in data.items())]
    parts += ["[protocol]", 'base = "random-5fold"', "split.folds = 2"]
    for label, name in algorithms.items():
        parts += ["[[algorithms]]", f'use = "reference/{name}"', f"label = {json.dumps(label)}"]
    path.write_text("\n".join(parts))
    return path
