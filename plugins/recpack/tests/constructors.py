"""Runs in RecPack's environment: prints the parameters of its algorithms' constructors with their defaults."""

import inspect
import json

import recpack.algorithms

classes = inspect.getmembers(recpack.algorithms, inspect.isclass)
signatures = {
    name: {entry.name: entry.default for entry in inspect.signature(cls).parameters.values()}
    for name, cls in classes
    if "DecayFunction" not in name
}
plain = (str, int, float, bool, type(None))
print(
    json.dumps(
        {
            name: {key: value for key, value in entry.items() if isinstance(value, plain)}
            for name, entry in signatures.items()
        }
    )
)
