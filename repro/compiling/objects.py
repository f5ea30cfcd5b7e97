"""The symbols that an object file needs, and the addresses of those that Numba's libraries have.

Compiled functions call a few C functions of Numba, which allocate arrays and raise errors. They are in two extension
modules, which are loaded here by themselves: the package around them takes half a second to import.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

# The extension modules with the prefix of their symbols.
_LIBRARIES = {"numba._helperlib": "numba_", "numba.core.runtime._nrt_python": "NRT_"}


def needed_symbols(code: bytes) -> list[str]:
    """The names that an ELF object file for 64 bits needs from elsewhere; a ValueError for other files."""
    if code[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the machine code is no ELF object for 64 bits")
    (sections,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", code, sections + size * n) for n in range(count)]
    names = []
    for _, kind, _, _, offset, length, link, *_ in headers:
        if kind != 2:  # no table of symbols
            continue
        texts = headers[link][4]
        for at in range(offset, offset + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", code, at)
            if name and section == 0:  # defined in no section
                names.append(code[texts + name : code.index(b"\0", texts + name)].decode())
    return sorted(names)


def require(symbols: Iterable[str]) -> None:
    """Tell LLVM the addresses of these symbols; a ValueError where one of them is not known."""
    from llvmlite import binding

    _engines()
    helpers = _helpers()
    for symbol in symbols:
        if symbol in helpers:
            binding.add_symbol(symbol, helpers[symbol])
        elif not binding.address_of_symbol(symbol):
            raise ValueError(f"the machine code needs {symbol}, which is not here")


def address_in(code: bytes, function: str, needed: Iterable[str]) -> int:
    """The address of a function of an object file, which is loaded; a ValueError where it needs what is not here."""
    from llvmlite import binding

    require(needed)
    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines().append(engine)
    return int(engine.get_function_address(function))


@cache
def _engines() -> list[Any]:
    """The engines of LLVM that hold machine code; they live as long as the process."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return [_engine()]  # the first one lets LLVM find the symbols of the process


def _engine() -> Any:
    from llvmlite import binding

    target = binding.Target.from_default_triple().create_target_machine(jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), target)


def address(symbol: str) -> int:
    """The address of a function of Numba's libraries."""
    return _helpers()[symbol]


@cache
def _helpers() -> dict[str, int]:
    """The addresses of the C functions of Numba, as Numba tells them to LLVM."""
    addresses: dict[str, int] = {}
    for module, prefix in _LIBRARIES.items():
        for name, place in _extension(module).c_helpers.items():
            addresses[prefix + name] = addresses[name] = place
    return addresses


def _extension(name: str) -> Any:
    """An extension module of Numba, without the package around it."""
    if name in sys.modules:
        return sys.modules[name]
    package, *parts = name.split(".")
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    for suffix in EXTENSION_SUFFIXES:
        path = Path(spec.origin).parent.joinpath(*parts[:-1], parts[-1] + suffix)
        if path.exists():
            found = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
            assert found is not None and found.loader is not None
            module = module_from_spec(found)
            found.loader.exec_module(module)
            return module
    raise ImportError(f"Numba has no extension module {name}")
