"""Machine code of an earlier process: the same results as those of Numba, and Numba wherever it cannot be used."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from llvmlite import binding

from repro.compiling import objects, stored
from repro.compiling.kernel import Kernel

# Where machine code was not tried, nothing is stored, and everything else holds as well.
TRIED = stored.machine() is not None

# Every kind of argument and result. What the functions compute is said by their plain Python code.
SOURCE = """
from typing import Any, NamedTuple
import numpy as np
from repro.compiling import compiled, inlined

SCALE = {scale}

class Pair(NamedTuple):
    weight: float
    flag: bool

def half(x):
    return x / 2

inlined(half)

@compiled("numpy", stored=False)
def inner(x):
    return SCALE * half(x)

@compiled("numpy")
def everything(matrix, codes, pair, options, number, flag):
    sums, kept = np.zeros(matrix.shape[0]), np.empty((len(codes), 2), np.int32)
    for row in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            sums[row] += inner(matrix[row, column])
    for n in range(len(codes)):
        kept[n, 0], kept[n, 1] = codes[n], -codes[n] if flag else number
    return sums, kept, pair.weight * options[0], pair.flag, len(codes)

@compiled()
def fill(target, value):
    target[:] = value

@compiled()
def total(values):
    total = 0.0
    for value in values:
        total += value
    return total

@compiled()
def divided(first, second):
    return first / second
"""
MATRIX = np.array([[1.0, 2.5, -1.0], [0.25, 4.0, 1e-3]])
ARGUMENTS = (MATRIX, np.array([3, 1, 2], np.int32), (0.5, True), (4, 2.0), 9, False)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def module(folder: Path, scale: float = 3.0):
    """A new module with the functions, as a new process has them."""
    path = folder / "functions.py"
    path.write_text(SOURCE.format(scale=scale))
    spec = importlib.util.spec_from_file_location("functions", path)
    made = importlib.util.module_from_spec(spec)
    sys.modules["functions"] = made
    spec.loader.exec_module(made)
    return made


def arguments(functions):
    matrix, codes, pair, *rest = ARGUMENTS
    return matrix, codes, functions.Pair(*pair), *rest


def uses_numba(kernel: Kernel) -> bool:
    return "dispatcher" in vars(kernel)


def does_without_numba(kernel: Kernel) -> bool:
    return not uses_numba(kernel) or not TRIED


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.machine"))


def test_every_kind_of_argument_and_result_is_that_of_numba(place):
    first = module(place)
    by_numba = first.everything(*arguments(first))
    assert uses_numba(first.everything) and len(files(place)) == TRIED
    second = module(place)
    sums, kept, product, flag, count = actual = second.everything(*arguments(second))
    assert does_without_numba(second.everything)
    for wanted, other in zip(by_numba, actual, strict=True):
        assert np.array_equal(wanted, other) and type(wanted) is type(other)
    # 3 * x / 2 of each number, added from left to right
    assert sums.tolist() == [1.5 + 3.75 - 1.5, 0.375 + 6.0 + 0.0015]
    assert kept.tolist() == [[3, 9], [1, 9], [2, 9]] and kept.dtype == np.int32
    assert (product, flag, count) == (2.0, True, 3)


def test_results_are_written_into_arrays_and_nothing_is_returned(place):
    for _ in range(2):
        functions, target = module(place), np.zeros((2, 3))
        assert functions.fill(target, 1.5) is None
        assert target.tolist() == [[1.5] * 3] * 2
    assert does_without_numba(functions.fill)


def test_code_is_told_apart_by_the_types_of_arguments(place):
    functions = module(place)
    columns = np.array([[1.0, 2.0], [4.0, 8.0]])
    kinds = [columns[0], columns[:, 0], columns[0].astype(np.float32), np.array([1, 2]), np.empty(0)]
    read_only = columns[0].copy()
    read_only.flags.writeable = False
    expected = [3.0, 5.0, 3.0, 3.0, 0.0, 3.0]
    assert [functions.total(values) for values in (*kinds, read_only)] == expected
    assert len(files(place)) == 5 * TRIED  # an empty array is of the type of the first
    again = module(place)
    assert [again.total(values) for values in (*kinds, read_only)] == expected
    assert does_without_numba(again.total)


def test_arrays_that_come_back_outlive_the_call(place):
    module(place).everything(*arguments(module(place)))
    functions = module(place)
    results = [functions.everything(*arguments(functions)) for _ in range(50)]
    assert does_without_numba(functions.everything)
    assert all(result[0].tolist() == results[0][0].tolist() and result[0].flags.owndata for result in results)


def test_errors_are_those_of_numba(place):
    for _ in range(2):
        functions = module(place)
        assert functions.divided(1.0, 4.0) == 0.25
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            functions.divided(1.0, 0.0)


def test_other_values_are_passed_to_numba(place):
    functions = module(place)
    assert functions.divided(1j, 2) == 0.5j and functions.divided(1 << 63, 2) == 2.0**62
    assert uses_numba(functions.divided) and not files(place)


@pytest.mark.parametrize("change", ["constant", "content", "symbol", "cut"])
def test_code_of_another_source_and_damaged_code_are_not_used(change, place):
    functions = module(place)
    functions.everything(*arguments(functions))
    if change == "constant":
        functions = module(place, scale=15.0)
    for file in files(place) if change != "constant" else ():
        content = file.read_bytes()
        if change == "content":
            content = content[:-1] + bytes([content[-1] ^ 1])
        elif change == "cut":
            content = content[: len(content) // 2]
        else:
            _, header, code = content.split(b"\n", 2)
            stated = json.loads(header)
            stated["needs"].append("no_such_function")
            header = json.dumps(stated).encode()
            content = stored.hashlib.sha256(header + code).hexdigest().encode() + b"\n" + header + b"\n" + code
        file.write_bytes(content)
        functions = module(place)
    sums = functions.everything(*arguments(functions))[0]
    assert uses_numba(functions.everything)
    assert sums[0] == 3.75 * (5 if change == "constant" else 1)
    assert len(files(place)) == TRIED


def test_a_function_that_is_called_often_goes_to_numba(place):
    module(place).total(MATRIX[0])
    functions = module(place)
    results = {functions.total(MATRIX[0]) for _ in range(201)}
    assert results == {2.5} and uses_numba(functions.total)


def test_the_symbols_that_an_object_needs():
    """An object file that LLVM makes of a module: of what it declares, it needs what it calls."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    text = """
    declare i32 @needed(i32)
    declare i32 @not_called(i32)
    define i32 @own(i32 %x) {
        %y = call i32 @needed(i32 %x)
        ret i32 %y
    }
    """
    made = binding.parse_assembly(text)
    made.triple = "x86_64-unknown-linux-gnu"
    machine = binding.Target.from_triple(made.triple).create_target_machine()
    assert objects.needed_symbols(machine.emit_object(made)) == ["needed"]
    with pytest.raises(ValueError, match="no ELF object"):
        objects.needed_symbols(b"MZ something else")


PROCESS = """
import json, sys
import pandas as pd, repro
lists, truth = pd.read_csv("lists.csv"), pd.read_csv("truth.csv")
names = ["ndcg@5", "ndcg[gain=exp2]@20", "precision@5", "recall@20", "ap@20", "rr", "hit@3"]
table = repro.evaluate(lists, truth, metrics=names, per_user=True)
print(json.dumps([[value.hex() for value in table["value"]], "numba" in sys.modules, "scipy" in sys.modules]))
"""


def test_an_evaluation_in_a_new_process_needs_no_numba_and_has_the_same_bits(tmp_path):
    rng = np.random.default_rng(5)
    rows = [(user, item) for user in range(40) for item in rng.choice(60, 25, replace=False)]
    lists = pd.DataFrame(rows, columns=["user", "item"]).assign(score=rng.integers(0, 12, len(rows)) / 4)
    lists.to_csv(tmp_path / "lists.csv", index=False)
    truth = pd.DataFrame(rows, columns=["user", "item"]).sample(300, random_state=1)
    truth.assign(rating=rng.integers(1, 6, len(truth))).to_csv(tmp_path / "truth.csv", index=False)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}

    def process(switch: str) -> list:
        done = subprocess.run(
            [sys.executable, "-c", PROCESS],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**environment, stored.SWITCH: switch},
        )
        assert not done.returncode, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    process("on")  # whatever was stored before, it is now
    with_code, numba, scipy = process("on")
    without, needed, _ = process("off")
    assert needed and (numba, scipy) == (not TRIED, not TRIED)
    assert with_code == without and len(with_code) == 7 * truth["user"].nunique()
