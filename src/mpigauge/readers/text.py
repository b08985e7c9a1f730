# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The text of a job as its program wrote it, without what launchers and logs put before lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
"""As programs print numbers that are not negative."""
PREFIX = re.compile(
    rb"^(?:"
    rb"\[\d+\] |"  # Hydra -l
    rb"\[\d+,\d+\]<std(?:out|err)>: ?|"  # Open MPI --output tag
    rb"\d+: ?(?=[ #\n])|"  # srun -l
    rb"\[?\d\d\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z]*\]? |"  # a time stamp with its day
    rb"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? {1,2}"  # and without
    rb")+",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Text:
    raw: bytes
    benchmark: str = ""
    """What tables without a heading are of, where the user says so."""
    ranks: int = 0
    """How many ranks there were, for programs that do not print it; 0: the user does not say."""

    @cached_property
    def data(self) -> bytes:
        """Lines end with \\n alone, the last one too, and begin with what the program wrote."""
        data = self.raw.replace(b"\r\n", b"\n") if b"\r" in self.raw else self.raw
        if any(PREFIX.search(part) for part in _samples(data)):
            data = PREFIX.sub(b"", data)
        return data if data.endswith(b"\n") else data + b"\n"

    @cached_property
    def lines(self) -> list[str]:
        return self.data.decode("utf-8", "replace").split("\n")[:-1]

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Lines with their numbers, from 1."""
        return enumerate(self.lines, 1)


def _samples(data: bytes) -> Iterator[bytes]:
    """Parts of a text that has prefixes everywhere or nowhere: all of a short one."""
    step = max(len(data) // _SAMPLES, _SAMPLE_BYTES)
    return (data[start : start + _SAMPLE_BYTES] for start in range(0, len(data), step))


_SAMPLES, _SAMPLE_BYTES = 32, 1 << 15
