# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is known of the files of rules of each MPI."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mpigauge.model.mpi import Mpi, kind_of
from mpigauge.model.registry import Registry
from mpigauge.model.rules import Rule

Texts = Mapping[str, str]
"""The files by their names."""
Effect = tuple[str, ...]
"""What a call of a collective is carried out by: names of algorithms, as the MPI has them."""
LookUp = Callable[[str, int, int], Effect]
"""The effect for a collective, a number of ranks, and the bytes of a message."""


class RuleFormat(Protocol):
    """How the rules of an MPI are written, read back and given to it."""

    measured_with: Mapping[str, str]
    """Settings under which the candidates and the default are measured."""
    told_with: Mapping[str, str]
    """Settings that make the MPI say which files it has read; none: it cannot be made to."""
    tells_threads: bool
    """Whether rules say if they are for programs that call MPI from several threads, and all others
    keep the default."""
    names_default: bool
    """Whether rules may leave sizes to the default, and communicators of other sizes. Else each
    size needs a candidate, and rules hold for all communicators."""

    def refusal(self, mpi: Mpi) -> str:
        """Why no file is written for this library; empty: it is."""

    def write(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> Texts:
        """The files for these rules. `several_threads`: whether they are for programs that may call
        MPI from several threads at once."""

    def read(self, mpi: Mpi, texts: Texts, several_threads: bool = False) -> LookUp:
        """What the MPI will do with these files in such a program. ValueError: they are not what it
        reads."""

    def expected(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> LookUp:
        """What it should do there, by the rules and by what it does of itself."""

    def measured_among(self, collective: str, hosts: int) -> Mapping[str, str]:
        """What a candidate for this collective is measured with besides, where its ranks are on so
        many hosts, so that the MPI uses it there at all."""

    def settings(self, folder: Path) -> Mapping[str, str]:
        """That make it read the files in this folder."""

    def has_read(self, folder: Path, said: str) -> bool:
        """Whether it has told, in all that a job printed, that it took the files."""


RULE_FORMATS = Registry[RuleFormat]("format of rules", __name__.rpartition(".")[0])


def has_rule_format(mpi: str) -> bool:
    """Whether anything is known of rules of the MPI of this name, or of that it was made from."""
    return kind_of(mpi) in RULE_FORMATS


def rule_format_of(mpi: str) -> RuleFormat:
    """The format of rules by the name of an MPI, or of one that was made from it. UserError: none
    is known."""
    return RULE_FORMATS[kind_of(mpi)]


def refusal_of(mpi: Mpi) -> str:
    """Why no rules can be written for this MPI; empty: they can."""
    if mpi.name not in RULE_FORMATS:
        known = " and ".join(sorted(RULE_FORMATS))
        return f"rules are written for {known}, and no file of rules of {mpi.label} is known"
    return RULE_FORMATS[mpi.name].refusal(mpi)
