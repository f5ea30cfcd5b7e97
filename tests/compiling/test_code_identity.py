"""Stored code is used for exactly the function, types, processor and versions that it was made for, or not at all."""

import importlib
import importlib.metadata
import os
import shutil
import stat
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numba
import numpy as np
import pytest
from filelock import FileLock
from llvmlite import binding
from numba.core import caching

import repro
from repro.compiling import compiled, folders, stored
from repro.compiling.identity import identity_of
from repro.compiling.kernel import Kernel

TRIED = stored.machine() is not None

INNER = """
from repro.compiling import compiled

@compiled(stored=False)
def inner(x):
    return x + {number}
"""
OUTER = """
from repro.compiling import compiled
from inner_module import inner

@compiled()
def total(values):
    total = 0.0
    for value in values:
        total += inner(value)
    return total

@compiled()
def product(values):
    total = 1.0
    for value in values:
        total *= inner(value)
    return total
"""
VALUES = np.array([1.0, 2.0, 5.0])


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))  # which Numba reads when it is imported
    for name in ("inner_module", "outer_module"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("inner_module", "outer_module"):
        sys.modules.pop(name, None)


def write(place: Path, number: int) -> None:
    """The two source files, always of the same size and date."""
    for name, text in (("inner_module", INNER.format(number=number)), ("outer_module", OUTER)):
        path = place / f"{name}.py"
        path.write_text(text)
        os.utime(path, (1e9, 1e9))


def read(place: Path):
    """The modules as a new process has them."""
    for name in ("inner_module", "outer_module"):
        path = place / f"{name}.py"
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = str(path)
        exec(compile(path.read_text(), path, "exec"), vars(module))
    return sys.modules["outer_module"]


def machine_files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.machine"))


def numba_called(kernel: Kernel) -> bool:
    return "dispatcher" in vars(kernel)


def by_numba(kernel: Kernel, *arguments):
    """The result by way of Numba and its files, whatever machine code is stored."""
    return kernel._compile(arguments)


def test_a_change_of_a_function_in_another_file_is_noticed(place):
    write(place, 1)
    assert read(place).total(VALUES) == 8.0 + 3
    write(place, 2)
    assert read(place).total(VALUES) == 8.0 + 6
    write(place, 3)
    assert by_numba(read(place).total, VALUES) == 8.0 + 9
    assert len(machine_files(place)) == TRIED


def test_a_source_that_is_changed_after_its_import_does_not_give_its_name_to_the_old_code(place):
    write(place, 1)
    imported_before = read(place)
    write(place, 4)
    assert imported_before.total(VALUES) == 8.0 + 3
    again = read(place)
    assert again.total(VALUES) == 8.0 + 12 and by_numba(read(place).total, VALUES) == 8.0 + 12


def test_a_file_under_the_name_of_another_is_not_used(place):
    write(place, 1)
    functions = read(place)
    assert functions.total(VALUES) == 11.0 and functions.product(VALUES) == 36.0
    if TRIED:
        first, second = machine_files(place)
        shutil.copy(first, second)
    again = read(place)
    assert (again.total(VALUES), again.product(VALUES)) == (11.0, 36.0)
    assert numba_called(again.product) != numba_called(again.total) or not TRIED


def test_numbas_files_of_other_types_are_not_used(place):
    """As two processes leave them that store code for different types at the same moment."""
    write(place, 1)
    functions = read(place)
    assert by_numba(functions.total, VALUES) == by_numba(functions.total, np.tile(VALUES, 2)[::2][[0, 2, 1]]) == 11.0
    assert by_numba(functions.total, np.repeat(VALUES, 2)[::2]) == 11.0
    first, second = sorted(place.rglob("*total*.nbc"))
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    for values in (VALUES, np.repeat(VALUES, 2)[::2]):
        assert by_numba(read(place).total, values) == 11.0


@pytest.mark.parametrize("suffix", ["machine", "nbc", "nbi"])
def test_no_damage_changes_a_result(suffix, place):
    write(place, 1)
    read(place).total(VALUES)
    (file,) = place.rglob(f"*.{suffix}") if suffix != "machine" or TRIED else [None]
    if file is None:
        return
    content = file.read_bytes()
    rng = np.random.default_rng(3)
    damaged = [content[:length] for length in (0, len(content) // 2, len(content) - 1)]
    for position in rng.integers(0, len(content), 6):
        damaged.append(content[:position] + bytes([content[position] ^ 0x41]) + content[position + 1 :])
    for change in damaged:
        file.write_bytes(change)
        functions = read(place)
        if suffix == "machine":
            assert functions.total(VALUES) == 11.0 and numba_called(functions.total)
        else:
            assert by_numba(functions.total, VALUES) == 11.0


def test_code_is_used_but_not_stored_while_another_process_stores(place, monkeypatch):
    from repro.compiling import numba_files

    write(place, 1)
    by_numba(read(place).product, VALUES)
    (folder,) = {file.parent for file in place.rglob("*.nbi")}
    monkeypatch.setattr(numba_files, "_PATIENCE", 0.01)
    with FileLock(folder / numba_files._LOCK):
        assert read(place).total(VALUES) == 11.0
    assert not list(place.rglob("*total*")) and list(place.rglob("*product*"))


def test_functions_run_where_numba_knows_no_folder(place, monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    write(place, 1)
    assert read(place).total(VALUES) == 11.0
    assert not list(place.rglob("*.nbi")) and not machine_files(place)


def test_threads_that_call_a_function_first_at_once(place, monkeypatch):
    """One of them loads its code: LLVM, which two threads load into at once, may end the process."""
    write(place, 1)
    read(place).total(VALUES)
    functions, results, ready = read(place), [], threading.Barrier(8)
    load, loading, most = stored.objects.address_in, [], []

    def slowly(*arguments):
        loading.append(1)
        most.append(len(loading))
        time.sleep(0.02)
        address = load(*arguments)
        loading.pop()
        return address

    monkeypatch.setattr(stored.objects, "address_in", slowly)

    def call():
        ready.wait()
        results.extend(functions.total(VALUES) for _ in range(20))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * TRIED
    assert results == [11.0] * 160 and (not numba_called(functions.total) or not TRIED)


@pytest.mark.skipif(not TRIED, reason="this machine stores no machine code")
@pytest.mark.parametrize("changed", ["numba", "llvmlite", "numpy", "python", "processor", "features"])
def test_each_version_and_the_processor_have_names_of_their_own(changed, monkeypatch):
    def digest():
        return stored.machine.__wrapped__().digest

    before, known = digest(), importlib.metadata.version
    if changed in ("numba", "llvmlite"):
        monkeypatch.setattr(stored, "version", lambda name: known(name) + "1" * (name == changed))
    elif changed == "numpy":
        monkeypatch.setattr(np, "__version__", "0.0")
    elif changed == "python":
        monkeypatch.setattr(sys, "version", sys.version + " built otherwise")
    elif changed == "processor":
        monkeypatch.setattr(binding, "get_host_cpu_name", lambda: "another")
    else:
        features = binding.get_host_cpu_features()
        features["avx512f"] = not features.get("avx512f")
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: features)
    assert digest() != before


@pytest.mark.skipif(not TRIED, reason="this machine stores no machine code")
def test_untried_versions_of_numba_and_its_settings_use_no_machine_code(monkeypatch):
    assert stored.machine.__wrapped__() is not None
    with monkeypatch.context() as patch:
        patch.setattr(stored, "version", lambda name: "0.99.0")
        assert stored.machine.__wrapped__() is None
    for name, value in (("NUMBA_OPT", "0"), ("NUMBA_CPU_NAME", "generic"), (stored.SWITCH, "off")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert stored.machine.__wrapped__() is None


def make(body: str, names: dict | None = None, error_model: str = "python", outer: str = "") -> Kernel:
    """A compiled function of one argument x, with these global names."""
    space = {"compiled": compiled, "np": np, **(names or {})}
    text = f"def outer():\n    {outer or 'pass'}\n    def made(x):\n        return {body}\n    return made\n"
    exec(text, space)
    return Kernel(space["outer"](), error_model, True)


class Pair(NamedTuple):
    first: int
    second: int


class Swapped(NamedTuple):
    second: int
    first: int


def test_an_identity_differs_where_the_code_may():
    large = np.arange(5000)
    other = large.copy()
    other[2500] = 0
    Swapped.__qualname__ = Pair.__qualname__
    different = [
        make("x + 1"),
        make("x + 2"),
        make("x + 1.0"),
        make("x + True"),
        make("x - 1"),
        make("x + 1", error_model="numpy"),
        make("x + 0.0"),
        make("x + -0.0"),
        make("x + C", {"C": 1}),
        make("x + C", {"C": 1.0}),
        make("x + C", {"C": np.float32(1)}),
        make("x + C", {"C": np.float64(1)}),
        make("x + C[0]", {"C": (1, 2)}),
        make("x + C[0]", {"C": (1.0, 2)}),
        make("x + C[0]", {"C": large}),
        make("x + C[0]", {"C": other}),
        make("x + C[0]", {"C": large.astype(np.int32)}),
        make("C(x, 1).first", {"C": Pair}),
        make("C(x, 1).first", {"C": Swapped}),
        make("x + c", outer="c = 1"),
        make("x + c", outer="c = 2"),
        make("f(x)", {"f": make("x + 1")}),
        make("f(x)", {"f": make("x + 2")}),
        make("f(x)", {"f": make("x + 1", error_model="numpy")}),
        make("f(x)", {"f": make("x + 1").function}),
        make("f(x)", {"f": make("g(x)", {"g": make("x + 1")})}),
        make("f(x)", {"f": make("g(x)", {"g": make("x + 2")})}),
        make("sum([y + 1 for y in x])"),
        make("sum([y + 2 for y in x])"),
        make("np.sum(x)"),
        make("np.prod(x)"),
    ]
    identities = [identity_of(kernel) for kernel in different]
    twice = [number for number, identity in enumerate(identities) if identities.count(identity) > 1]
    assert not twice
    again = make("f(x)", {"f": make("g(x)", {"g": make("x + 2")})})
    assert identity_of(again) in identities and again.identity == identity_of(again)


@pytest.mark.parametrize("value", [object(), importlib, importlib.import_module, np.array([object()])])
def test_a_function_that_uses_anything_else_is_not_stored(value):
    with pytest.raises(ValueError, match=r"has no digest|not part"):
        identity_of(make("C", {"C": value}))
    assert make("C", {"C": value}).identity is None


def test_a_function_of_its_own_name_has_an_identity():
    space = {"compiled": compiled, "__name__": "of_tests"}
    exec("@compiled()\ndef factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)\n", space)
    assert space["factorial"].identity


def test_every_compiled_function_of_the_package_has_an_identity():
    kernels = {}
    for path in Path(repro.__file__).parent.rglob("*.py"):
        if "@compiled(" in path.read_text() and path.parent.name != "compiling":
            name = ".".join(path.relative_to(Path(repro.__file__).parents[1]).with_suffix("").parts)
            values = vars(importlib.import_module(name)).values()
            kernels |= {f"{kernel.__module__}.{kernel.__qualname__}": kernel for kernel in values if _is_kernel(kernel)}
    assert len(kernels) > 30
    assert not [name for name, kernel in kernels.items() if kernel.identity is None]
    assert len({kernel.identity for kernel in kernels.values()}) == len(kernels)


def _is_kernel(value: object) -> bool:
    return isinstance(value, Kernel)


def status(uid: int, gid: int, mode: int) -> os.stat_result:
    return os.stat_result((mode, 1, 1, 1, uid, gid, 0, 0, 0, 0))


@pytest.mark.parametrize("bit", [0, stat.S_IWGRP, stat.S_IWOTH])
@pytest.mark.parametrize("owner", ["this", "root", "source", "another"])
@pytest.mark.parametrize("of_source", [0, stat.S_IWGRP, stat.S_IWOTH])
@pytest.mark.parametrize("group", [50, 51])
def test_who_cannot_change_the_source_cannot_have_written_the_code(bit, owner, of_source, group, monkeypatch):
    """Four owners, with a file and a source folder that a group, all or only the owner may write."""

    class Source:
        parent = Path("sources")

    monkeypatch.setattr(Path, "stat", lambda self: status(7, 50, 0o755 | of_source))
    monkeypatch.setattr(os, "geteuid", lambda: 5, raising=False)
    uid = {"this": 5, "root": 0, "source": 7, "another": 9}[owner]
    safe = owner != "another" and (not bit or (bit == of_source and (bit == stat.S_IWOTH or group == 50)))
    try:
        folders._require_trust(status(uid, group, 0o644 | bit), Path("file"), Source)
    except PermissionError:
        assert not safe
    else:
        assert safe


@pytest.mark.skipif(not TRIED, reason="this machine stores no machine code")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_code_that_others_can_write_is_not_used(what, place):
    write(place, 1)
    read(place).total(VALUES)
    (file,) = machine_files(place)
    target = file if what == "file" else file.parent
    target.chmod(target.stat().st_mode | stat.S_IWOTH)
    functions = read(place)
    assert functions.total(VALUES) == 11.0 and numba_called(functions.total)


@pytest.mark.skipif(not TRIED, reason="this machine stores no machine code")
def test_the_folder_of_code_elsewhere_is_of_its_user_alone(place):
    write(place, 1)
    read(place).total(VALUES)
    (file,) = machine_files(place)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [other for other in file.parent.iterdir() if other != file] == []
