# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Packages that only some commands need, and that are installed as extras of mpigauge."""

from __future__ import annotations

import importlib.util
from typing import Literal, NamedTuple

from mpigauge.model.errors import UserError

Extra = Literal["sql", "pictures", "blas", "trials"]


class ExtraPackage(NamedTuple):
    module: str
    name: str
    """The name by which people know the package."""


EXTRAS: dict[Extra, ExtraPackage] = {
    "sql": ExtraPackage("duckdb", "DuckDB"),
    "pictures": ExtraPackage("vl_convert", "vl-convert"),
    "blas": ExtraPackage("scipy_openblas64", "the wheel of OpenBLAS"),
    "trials": ExtraPackage("optuna", "Optuna"),
}


def is_installed(extra: Extra) -> bool:
    return importlib.util.find_spec(EXTRAS[extra].module) is not None


def brings(extra: Extra) -> str:
    """The end of a sentence about a missing extra."""
    return f"`pip install 'mpigauge[{extra}]'` brings it"


def require(extra: Extra, what: str) -> None:
    """Called before any work for `what`, in words. UserError: the extra is not installed."""
    if not is_installed(extra):
        raise UserError(f"{what} needs {EXTRAS[extra].name}, which is not here; {brings(extra)}")
