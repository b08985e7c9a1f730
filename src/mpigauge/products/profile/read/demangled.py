# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Demangles names of C++ functions with the C++ runtime of the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

_RUNTIMES = ("libstdc++.so.6", "libc++abi.so.1")
_BEGIN = "_Z"
"""The prefix of names mangled by the Itanium C++ ABI, which compilers on Linux follow."""


def demangled(name: str) -> str:
    """Returns the demangled name of a function; unchanged if it is not a C++ name or there is no
    C++ runtime."""
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
            runtime = ctypes.CDLL(library)
        except OSError:
            continue
        runtime.__cxa_demangle.restype = ctypes.c_void_p
        runtime.__cxa_demangle.argtypes = [
            ctypes.c_char_p,
            *(ctypes.c_char_p, ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_int),
        ]
        return runtime
    return None


def _free(made: int) -> None:
    """Frees text that the runtime allocated with malloc."""
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(made)
