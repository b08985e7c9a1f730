# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Libraries that the kernels open besides MPI: a BLAS, and the simple loops as a compiler builds
them."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Blas:
    """A library for products of matrices."""

    name: str
    """The name that the user gave, which rows show."""
    file: str
    """The argument for the dynamic loader: a path, or a name that the loader searches for."""

    @property
    def word(self) -> str:
        """Name and file in one word, for the kernels."""
        return f"{self.name}={self.file}"

    @classmethod
    def from_word(cls, word: str) -> Blas:
        name, _, file = word.partition("=")
        return cls(name, file)


@dataclass(frozen=True)
class Compiler:
    """A compiler with its flags, and the library of simple loops that it builds."""

    said: str
    """The command that the user gave: g++ -O2."""
    program: str
    flags: tuple[str, ...]
    version: str
    """The first line of its version output."""
    file: str
    """The library of its loops, once they are built."""

    @property
    def name(self) -> str:
        """The compiler as rows name it, in one word."""
        return re.sub(r"\s+", "_", self.said).translate({ord("="): ":", ord(","): ";"})

    @property
    def word(self) -> str:
        """Name and file in one word, for the kernels."""
        return f"{self.name}={self.file}"
