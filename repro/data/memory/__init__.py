"""Tables in memory: data frames, Arrow, dictionaries, lists, arrays and matrices."""

from repro.data.memory.read import read_memory
from repro.data.memory.tables import Input, Matrix, MemoryTable

__all__ = ["Input", "Matrix", "MemoryTable", "read_memory"]
