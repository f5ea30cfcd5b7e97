"""The layout of Python values as machine code of Numba takes them, and of its results.

Numba passes an array as seven kinds of values: its owner and the object that it belongs to (nothing here: the caller
keeps the array alive), the numbers of elements and of bytes of an element, the address of the first one, its shape and
its strides. Tuples are passed as their elements one by one. :func:`described` compares this with what Numba says.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

# None; the type of a number; the type and the number of dimensions of an array; or a tuple of such values.
Layout: TypeAlias = str | list[Any] | None

_NUMBERS = {
    "|b1": ctypes.c_uint8,
    "|i1": ctypes.c_int8,
    "|u1": ctypes.c_uint8,
    "<i2": ctypes.c_int16,
    "<u2": ctypes.c_uint16,
    "<i4": ctypes.c_int32,
    "<u4": ctypes.c_uint32,
    "<i8": ctypes.c_int64,
    "<u8": ctypes.c_uint64,
    "<f4": ctypes.c_float,
    "<f8": ctypes.c_double,
}
_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_ssize_t


def described(numba_type: Any, returned: bool = False) -> Layout:
    """The layout of a type of Numba; a ValueError if it is not one of those here, or cannot be returned."""
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    if isinstance(numba_type, types.NoneType):
        return None
    if isinstance(numba_type, types.Array):
        if returned and numba_type.layout != "C":
            raise ValueError(f"{numba_type} need not be contiguous")
        return ["array", _number(as_dtype(numba_type.dtype)), numba_type.ndim]
    if isinstance(numba_type, types.BaseTuple):
        members: Any = numba_type  # which only the classes of tuples have, not what they inherit from
        if returned and isinstance(numba_type, types.BaseNamedTuple):
            raise ValueError(f"{numba_type} has a class")
        return ["tuple", *(described(member, returned) for member in members.types)]
    if isinstance(numba_type, types.Boolean | types.Integer | types.Float):
        return _number(as_dtype(numba_type))
    raise ValueError(f"{numba_type} has no layout here")


def _number(dtype: np.dtype[Any]) -> str:
    if dtype.str not in _NUMBERS:
        raise ValueError(f"{dtype} has no layout here")
    return dtype.str


def passed_types(layouts: Iterable[Layout]) -> list[Any]:
    """The types of the values that are passed, for ctypes."""
    passed: list[Any] = []
    for layout in layouts:
        match layout:
            case str():
                passed.append(_NUMBERS[layout])
            case ["array", _, dimensions]:
                passed += [_POINTER, _POINTER, _SIZE, _SIZE, _POINTER, *[_SIZE] * 2 * dimensions]
            case ["tuple", *parts]:
                passed += passed_types(parts)
            case _:
                raise ValueError(f"{layout} cannot be passed")
    return passed


def passed_values(values: Iterable[Any]) -> list[Any]:
    """The values that are passed in place of arrays, tuples and numbers."""
    passed: list[Any] = []
    for value in values:
        if isinstance(value, np.ndarray):
            address = value.__array_interface__["data"][0]
            passed += [0, 0, value.size, value.itemsize, address, *value.shape, *value.strides]
        elif isinstance(value, tuple):
            passed += passed_values(value)
        else:
            passed.append(value.item() if isinstance(value, np.generic) else value)
    return passed


def returned_type(layout: Layout) -> Any:
    """The type of the place for the result, for ctypes."""
    match layout:
        case None:
            return _POINTER
        case str():
            return _NUMBERS[layout]
        case ["array", _, dimensions]:
            return _structure([_POINTER, _POINTER, _SIZE, _SIZE, _POINTER, _SIZE * dimensions, _SIZE * dimensions])
        case ["tuple", *parts]:
            return _structure(list(map(returned_type, parts)))
    raise ValueError(f"{layout} cannot be returned")


def _structure(fields: Sequence[Any]) -> type[ctypes.Structure]:
    names = [(f"field{number}", field) for number, field in enumerate(fields)]
    return type("Returned", (ctypes.Structure,), {"_fields_": names})


def returned_value(layout: Layout, place: Any) -> tuple[Any, list[int]]:
    """The result, with copies of its arrays, and the owners of the arrays to release."""
    match layout:
        case None:
            return None, []
        case "|b1":
            return bool(place.value if hasattr(place, "value") else place), []
        case str():
            return place.value if hasattr(place, "value") else place, []
        case ["array", dtype, _]:
            owner, _, count, size, address, shape, _ = (getattr(place, name) for name, _ in place._fields_)
            array = np.empty(tuple(shape), dtype)
            ctypes.memmove(array.ctypes.data, address, count * size)
            return array, [owner] if owner else []
        case ["tuple", *parts]:
            both = [
                returned_value(part, getattr(place, name))
                for part, (name, _) in zip(parts, place._fields_, strict=True)
            ]
            return tuple(value for value, _ in both), [owner for _, owners in both for owner in owners]
    raise ValueError(f"{layout} cannot be returned")


def letters(llvm_type: Any) -> str:
    """The numbers and pointers of a type of LLVM, one after another, such as "p p i64 f64"."""
    from llvmlite import ir

    match llvm_type:
        case ir.PointerType():
            return "p"
        case ir.IntType():
            return f"i{llvm_type.width}"
        case ir.FloatType():
            return "f32"
        case ir.DoubleType():
            return "f64"
        case ir.ArrayType():
            return " ".join([letters(llvm_type.element)] * llvm_type.count)
        case ir.LiteralStructType():
            return " ".join(map(letters, llvm_type.elements))
    raise ValueError(f"{llvm_type} has no layout here")


def letters_of(layout: Layout, returned: bool = False) -> str:
    """The same of a layout, as this module takes it to be."""
    match layout:
        case None:
            return "p"
        case str():
            return f"{'f' if layout[1] == 'f' else 'i'}{8 * int(layout[2:])}"
        case ["array", _, dimensions]:
            return " ".join(["p p i64 i64 p", *["i64"] * 2 * dimensions])
        case ["tuple", *parts]:
            return " ".join(letters_of(part, returned) for part in parts)
    raise ValueError(f"{layout} has no layout here")
