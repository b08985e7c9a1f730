# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The memory that queries may take. DuckDB holds its own limit for tables and not for single
values, such as a text of gigabytes; the system holds it for all."""

from __future__ import annotations

import re
import resource
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection

TOO_MUCH = "the query needs more memory than it may take"
_BESIDE = 1 << 30
"""Addresses that are reserved and never used."""
_LIMITS = {resource.RLIMIT_DATA: ("VmData", 0), resource.RLIMIT_AS: ("VmSize", _BESIDE)}
"""Limits and the system's name for each. Kernels before 4.7 count little as data."""
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@contextmanager
def limited_memory(con: DuckDBPyConnection, more_bytes: int | None = None) -> Iterator[None]:
    """Limits this process to so much more memory; None: DuckDB's own limit on this machine. Beyond
    it a query fails, but nothing else on this machine."""
    if more_bytes is None:
        more_bytes = _own_limit(con)
    else:
        con.execute(f"SET memory_limit = '{more_bytes // 2} bytes'")
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    with ExitStack() as stack:
        for limit, (name, beside) in _LIMITS.items():
            match = re.search(rf"{name}:\s+(\d+) kB", status)
            if match and more_bytes:
                stack.callback(resource.setrlimit, limit, resource.getrlimit(limit))
                _lower(limit, int(match[1]) * 1024 + more_bytes + beside)
        yield


def _own_limit(con: DuckDBPyConnection) -> int:
    """Returns DuckDB's memory limit in bytes; 0: unknown."""
    ((text,),) = con.execute("SELECT current_setting('memory_limit')").fetchall()
    number, _, unit = str(text).partition(" ")
    return int(float(number) * _UNITS.get(unit, 0))


def _lower(limit: int, most: int) -> None:
    soft, hard = resource.getrlimit(limit)
    if soft == resource.RLIM_INFINITY or soft > most:
        resource.setrlimit(limit, (most, hard))
