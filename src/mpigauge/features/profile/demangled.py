# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names of C++ functions as they are in the sources, by the C++ runtime of the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

_RUNTIMES = ("libstdc++.so.6", "libc++abi.so.1")
_BEGIN = "_Z"
"""How all names begin that the Itanium C++ ABI makes, which the compilers of Linux follow."""


def demangled(name: str) -> str:
    """The name of a function as C++ has it; unchanged where it is not a name of C++ or there is no
    runtime of C++."""
    runtime = _runtime() if name.startswith(_BEGIN) else None
    if runtime is None:
        return name
    status = ctypes.c_int()
    made = runtime.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not made:
        return name
    try:
        return ctypes.string_at(made).decode("utf-8", "replace")
    finally:
        _free(made)


@cache
def _runtime() -> Any:
    for library in _RUNTIMES:
        try:
            found = ctypes.CDLL(library)
        except OSError:
            continue
        found.__cxa_demangle.restype = ctypes.c_void_p
        found.__cxa_demangle.argtypes = [
            ctypes.c_char_p,
            *(ctypes.c_char_p, ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_int),
        ]
        return found
    return None


def _free(made: int) -> None:
    """The text is memory of malloc."""
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(made)
