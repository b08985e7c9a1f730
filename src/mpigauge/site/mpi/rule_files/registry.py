# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of formats of rules, one for each MPI that reads such files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mpigauge.model.mpi import Mpi, kind_of
from mpigauge.model.registry import Registry
from mpigauge.model.rules import Rule

Texts = Mapping[str, str]
"""The contents of files, by name."""
Effect = tuple[str, ...]
"""The names of the algorithms that carry out a call of a collective, in the MPI's terms."""
LookUp = Callable[[str, int, int], Effect]
"""Returns the effect for a collective, a number of ranks, and the bytes of a message."""


class RuleFormat(Protocol):
    """The format of an MPI's rules: how to write them, read them back, and apply them."""

    measured_with: Mapping[str, str]
    """Settings under which the candidates and the default are measured."""
    told_with: Mapping[str, str]
    """Settings with which the MPI reports the files that it has read; none: it cannot."""
    tells_threads: bool
    """True if rules are either for programs that call MPI from several threads or for those that do
    not, and the others keep the default."""
    names_default: bool
    """True if rules may leave sizes to the default, and communicators of other sizes. False if each
    size needs a candidate, and rules hold for all communicators."""

    def refusal(self, mpi: Mpi) -> str:
        """Returns the reason why no file is written for this library; empty: one is."""

    def write(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> Texts:
        """Returns the files for these rules. `several_threads`: True for programs that may call MPI
        from several threads at once."""

    def read(self, mpi: Mpi, texts: Texts, several_threads: bool = False) -> LookUp:
        """Returns the effects of these files in such a program. ValueError: they are not valid."""

    def expected(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> LookUp:
        """Returns the intended effects there, by the rules and by the MPI's defaults."""

    def measured_among(self, collective: str, hosts: int) -> Mapping[str, str]:
        """Returns further settings for measurements of a candidate for this collective, without
        which the MPI would not use it with ranks on this number of hosts."""

    def settings(self, folder: Path) -> Mapping[str, str]:
        """Returns the settings with which the MPI reads the files in this folder."""

    def has_read(self, folder: Path, output: str) -> bool:
        """True if a job's output reports that it read the files."""


RULE_FORMATS = Registry[RuleFormat]("format of rules", __name__.rpartition(".")[0])


def has_rule_format(mpi: str) -> bool:
    """True if rules are supported for the MPI of this name, or for the one that it is based on."""
    return kind_of(mpi) in RULE_FORMATS


def rule_format_of(mpi: str) -> RuleFormat:
    """Returns the format of rules by the name of an MPI, or of a derived one. UserError: none."""
    return RULE_FORMATS[kind_of(mpi)]


def refusal_of(mpi: Mpi) -> str:
    """Returns the reason why no rules can be written for this MPI; empty: they can."""
    if mpi.name not in RULE_FORMATS:
        names = " and ".join(sorted(RULE_FORMATS))
        return f"rules are written for {names}, and no file of rules of {mpi.label} is known"
    return RULE_FORMATS[mpi.name].refusal(mpi)
