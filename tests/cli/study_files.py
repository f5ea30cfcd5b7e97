"""Files of small studies for the tests of commands."""

from repro.testing import study_toml


def write_study(path, metrics, algorithms, data):
    """Write a study of two folds: reference algorithms by label, data as a file name or as settings."""
    references = (f"{label}=reference/{name}" for label, name in algorithms.items())
    path.write_text(study_toml(*references, metrics=metrics, data=data))
    return path
