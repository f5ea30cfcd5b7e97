"""Runs commands where modules and attributes are hidden: `python hiding.py ABSENT COMMANDS`, both in JSON.

ABSENT lists names of modules, and of attributes as ``module:attribute``. COMMANDS are lists of arguments of `repro`, or
``["python", code]``. Prints for each its status and what it printed, in JSON.
"""

import contextlib
import importlib
import io
import json
import sys
import traceback


class Hidden:
    """Finds none of the hidden modules, and leaves the others to the next finder."""

    def __init__(self, names):
        self.names = set(names)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def hide(absent):
    """Hide modules that are not imported yet, and take attributes from modules."""
    modules = [name for name in absent if ":" not in name]
    sys.meta_path.insert(0, Hidden(modules))
    for name in absent:
        module, colon, attribute = name.partition(":")
        if not colon:
            sys.modules.pop(module, None)
        elif hasattr(loaded := importlib.import_module(module), attribute):
            delattr(loaded, attribute)


def outcome(command):
    """The status of a command, and all that it printed."""
    printed = io.StringIO()
    status = 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            if command[0] == "python":
                exec(command[1], {"__name__": "__main__"})
            else:
                from repro.cli import main

                sys.argv = ["repro", *command]
                main()
        except SystemExit as stop:
            status = stop.code or 0
        except BaseException:
            traceback.print_exc()
            status = "traceback"
    return [status, printed.getvalue()]


if __name__ == "__main__":
    hide(json.loads(sys.argv[1]))
    print(json.dumps([outcome(command) for command in json.loads(sys.argv[2])]))
