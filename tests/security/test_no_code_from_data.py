"""Nothing that is read is run: no unpickling, no eval, no shell, in the core or in a plug-in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for path in [*ROOT.glob("repro/**/*.py"), *ROOT.glob("plugins/*/repro_*/**/*.py"), *ROOT.glob("plugins/*.py")]
    if not {"tests", "build", "__pycache__"} & set(path.relative_to(ROOT).parts)
]

# Calls by the end of their name, and why they are not to be.
FORBIDDEN = {
    "eval": "runs text",
    "exec": "runs text",
    "compile": "makes code of text",
    "__import__": "imports what a text names",
    "pickle.load": "runs what is in the file",
    "pickle.loads": "runs what is in the bytes",
    "Unpickler": "runs what is in the file",
    "read_pickle": "runs what is in the file",
    "joblib.load": "runs what is in the file",
    "torch.load": "runs what is in the file",
    "shelve.open": "runs what is in the file",
    "marshal.loads": "gives code",
    "yaml.load": "makes any object",
    "os.system": "is a shell",
    "os.popen": "is a shell",
    "getoutput": "is a shell",
    "extractall": "writes wherever an archive says",
}
MODULES = {"pickle", "cPickle", "dill", "shelve", "marshal", "cloudpickle"}
ALLOWED = {
    # The text is a pattern of ours; re.compile makes no code.
    "re.compile",
    # torch's and RecBole's own method: switches a network from learning to scoring.
    "network.eval",
    "self.algorithm.model_.eval",
}

# A model that a user gives in Python goes to the workers of the same run by cloudpickle; no file or network feeds it.
ALLOWED_IMPORTS = {("repro/models/model.py", "imports cloudpickle")}


def dotted(node: ast.AST) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, name):
            return f"{dotted(value)}.{name}"
    return "?"


def faults(tree: ast.AST) -> list[str]:
    """The places of a module that run data as code, or could."""
    messages = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            ends = [end for end in FORBIDDEN if name == end or name.endswith(f".{end}")]
            if ends and name not in ALLOWED:
                messages.append(f"line {node.lineno}: {name} {FORBIDDEN[ends[0]]}")
            for word in node.keywords:
                true = not (isinstance(word.value, ast.Constant) and word.value.value is False)
                if word.arg in ("shell", "allow_pickle") and true:
                    messages.append(f"line {node.lineno}: {name} with {word.arg}")
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        messages += [f"line {node.lineno}: imports {name}" for name in names if name.partition(".")[0] in MODULES]
    return messages


def test_there_are_sources():
    assert len(SOURCES) > 300


@pytest.mark.parametrize("part", ["repro", "plugins"])
def test_nothing_that_is_read_is_run(part):
    own = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == part]
    messages = {
        (path.relative_to(ROOT).as_posix(), message.partition(": ")[2])
        for path in own
        for message in faults(ast.parse(path.read_text()))
    }
    assert messages - ALLOWED_IMPORTS == set()


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "import pickle",
        "from pickle import loads",
        "pd.read_pickle(path)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=asked)",
        "subprocess.run(text, shell=True)",
        "os.system(text)",
        "yaml.load(stream)",
        "torch.load(path)",
        "archive.extractall(folder)",
    ],
)
def test_what_would_run_data_is_found(source):
    assert faults(ast.parse(source))


@pytest.mark.parametrize("source", ["np.load(path, allow_pickle=False)", "re.compile(text)", "ast.literal_eval(text)"])
def test_what_does_not_is_left_alone(source):
    assert not faults(ast.parse(source))
