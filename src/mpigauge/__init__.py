# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge measures how MPI ranks talk on a machine, with an error for every number."""

from __future__ import annotations

_METADATA = "mpigauge-*.dist-info/METADATA"
_LOOKED_UP = {
    "measure": ("mpigauge.interface", "measure"),
    "open": ("mpigauge.interface", "open_stored"),
    "compare": ("mpigauge.interface", "compare_runs"),
    "OpenedRun": ("mpigauge.interface", "OpenedRun"),
    "OpenedRuns": ("mpigauge.interface", "OpenedRuns"),
    "RunOptions": ("mpigauge.interface", "RunOptions"),
    "UserError": ("mpigauge.model.errors", "UserError"),
    "RunError": ("mpigauge.model.errors", "RunError"),
}
"""Public names, and the modules that define them: a command only imports what it uses."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    if name in _LOOKED_UP:
        from importlib import import_module

        module, attribute = _LOOKED_UP[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'mpigauge' has no attribute {name!r}")


def _version() -> str:
    return _written() or _looked_up()


def _written() -> str:
    """The version in this package's metadata, first on the path; empty: unknown. This is much
    faster than importlib.metadata, which takes a tenth of the time to start MPI."""
    import sys
    from pathlib import Path

    files = (each for folder in sys.path for each in Path(folder or ".").glob(_METADATA))
    first = next(files, None)
    lines = first.read_text(encoding="utf-8").splitlines() if first else []
    return next((line[9:] for line in lines if line.startswith("Version: ")), "")


def _looked_up() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mpigauge")
    except PackageNotFoundError:
        return "0.1.0.dev0"
