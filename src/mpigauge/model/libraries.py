# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Libraries that the kernels open beside MPI: a BLAS, and the simple loops as a compiler makes
them."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Blas:
    """A library for products of matrices."""

    name: str
    """As it was asked for, which is how rows name it."""
    file: str
    """What the loader is told: a path, or a name that it looks for itself."""

    @property
    def word(self) -> str:
        """The library in a word, for the kernels."""
        return f"{self.name}={self.file}"

    @classmethod
    def from_word(cls, word: str) -> Blas:
        name, _, file = word.partition("=")
        return cls(name, file)


@dataclass(frozen=True)
class Compiler:
    """A compiler with its flags, and the library of simple loops that it makes."""

    said: str
    """As it was asked for: g++ -O2."""
    program: str
    flags: tuple[str, ...]
    version: str
    """The first line that it prints of itself."""
    file: str
    """Its loops, once they are built."""

    @property
    def name(self) -> str:
        """The compiler as rows have it, in one word."""
        return re.sub(r"\s+", "_", self.said).translate({ord("="): ":", ord(","): ";"})

    @property
    def word(self) -> str:
        """The compiler in a word, for the kernels."""
        return f"{self.name}={self.file}"
