"""Compiled functions: declared like those of Numba, and called in a new process without importing Numba.

``kernel.py`` has the compiled functions, ``stored.py`` the machine code that they leave on disk, ``layout.py`` how
values of Python are passed to it, and ``objects.py`` what an object file needs.
"""

from repro.compiling.kernel import Kernel, compiled, inlined, threads

__all__ = ["Kernel", "compiled", "inlined", "threads"]
