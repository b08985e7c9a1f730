# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds BLAS libraries and checks them. The kernels open them themselves."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.extras import EXTRAS, brings
from mpigauge.model.libraries import Blas
from mpigauge.site.mpi import mkl
from mpigauge.site.mpi.library_trial import read_values, try_library

if TYPE_CHECKING:
    from mpigauge.model.mpi import Kernels, Mpi

DEFAULT = "openblas"


def find_blas(word: str) -> Blas:
    """Returns the library of that name or path. UserError: it does not exist."""
    look = _NAMES.get(word.lower())
    if look is None:
        return Blas(word, str(_file(word).absolute()))
    file = next(look(), None)
    if file is None:
        raise UserError(f"--blas {word}: there is none here; {_HINTS[word.lower()]}")
    return Blas(word.lower(), file)


def usual_blas() -> Blas | None:
    """Returns the library of the extra `blas`; None: that is not installed."""
    file = next(_of_package(), None)
    if file:
        return Blas(DEFAULT, file)
    return None


def check_blas(blas: Blas, mpi: Mpi, kernels: Kernels) -> None:
    """Lets a kernel probe the library in a child process. UserError: it is unusable."""
    try:
        done = try_library("--try-blas", blas.file, mpi, kernels)
    except subprocess.TimeoutExpired:
        raise UserError(f"--blas: {blas.file} did not end in a product of 3 x 3 matrices") from None
    if problem := problem_in(done.stdout, blas.file, done.returncode):
        raise UserError(f"--blas: {problem}")


def problem_in(output: str, file: str, status: int) -> str:
    """Returns the reason why a probed library is unusable, by a kernel's output; empty: none."""
    lines = read_values(output)
    if "problem" in lines:
        return lines["problem"]
    if "product" in lines:
        return ""  # if it ended in the next step, its integers have 64 bits
    doing = "in a product of 3 x 3 matrices" if "trial" in lines else "while it was opened"
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"{file} ended its process {doing}, with {how}; take another"


def _file(word: str) -> Path:
    path = Path(word)
    if set(word) & set("= \t"):
        raise UserError(f"--blas: '{word}' has a blank or =; make a link with another name to it")
    if path.is_file():
        return path
    if "/" not in word and path.suffix == "":
        hint = did_you_mean(word.lower(), list(_NAMES))
        choices = hint or f"; there are {', '.join(_NAMES)}, or the path of a library"
        raise UserError(f"--blas: there is no BLAS called '{word}'{choices}")
    beside = [str(each) for each in path.parent.glob("*.so*")] if path.parent.is_dir() else []
    hint = did_you_mean(word, beside) or "; write openblas, mkl, blis or the path of a library"
    raise UserError(f"--blas: there is no file {word}{hint}")


def _of_package() -> Iterator[str]:
    """Yields the OpenBLAS of its own wheel."""
    spec = importlib.util.find_spec(EXTRAS["blas"].module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from map(str, sorted(Path(folder).glob("lib/lib*openblas*.so*")))


def _openblas() -> Iterator[str]:
    yield from _of_package()
    yield from _of_system("openblas")


def _mkl() -> Iterator[str]:
    yield from mkl.in_folders()
    yield from _of_system("mkl_rt")


def _blis() -> Iterator[str]:
    for name in ("blis", "blis-mt"):  # as AMD calls the one with threads
        yield from _of_system(name)


def _of_system(name: str) -> Iterator[str]:
    """Yields libraries in the loader's order: LD_LIBRARY_PATH (of modules), then its cache."""
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        yield from map(str, sorted(Path(folder).glob(f"lib{name}.so*")))
    from ctypes.util import find_library  # which no other measurement needs

    if library := find_library(name):
        yield library


_NAMES: dict[str, Callable[[], Iterator[str]]] = {
    "openblas": _openblas,
    "mkl": _mkl,
    "blis": _blis,
}
_HINTS = {
    "openblas": f"{brings('blas')}, or give the path of a library",
    "mkl": "`pip install mkl`, oneAPI or its module (MKLROOT) brings it, or give the path of "
    "libmkl_rt.so",
    "blis": "Debian's libblis4-openmp or its module brings it, or give the path of libblis.so",
}
