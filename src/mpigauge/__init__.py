# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge measures how MPI ranks talk on a machine, with an error for every number."""

from __future__ import annotations


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'mpigauge' has no attribute {name!r}")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mpigauge")
    except PackageNotFoundError:
        return "0.1.0.dev0"
