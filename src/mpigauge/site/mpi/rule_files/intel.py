# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Intel MPI's variables I_MPI_ADJUST_*, which give a preset to each range of message sizes.

`I_MPI_ADJUST_BCAST=1:0-1023;8:1024-2147483647`: ranges ascend without a gap from 0 to the end.
There is no word for the default, the last range holds for all longer messages, and a range of sizes
cannot be limited to one communicator size (an entry for some ranks replaces all others). So a
variable names a preset for every size, and holds for all communicators. A value with an error is
ignored with a message, or silently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import MOST_BYTES, Rule, of_collective
from mpigauge.site.mpi.rule_files.candidates import candidates_of, find_candidate
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, Effect, LookUp, Texts

FILE = "adjust.env"
PREFIX = "I_MPI_ADJUST_"
OF_ALL_RANKS = ("Reduce_scatter",)
"""Collectives whose variables count the messages of all ranks together."""
DEFAULT = ""
_VERSIONS = re.compile(r"2021\.18(\.\d+)?")
_RANGE = re.compile(r"(\d+):(\d+)-(\d+)")
_IGNORED = "will be ignored"
Range = tuple[int, int, str]
"""The first and the last size in bytes, both included, and the preset."""


class IntelRules:
    measured_with: Mapping[str, str] = {}
    told_with: Mapping[str, str] = {"I_MPI_DEBUG": "6"}
    tells_threads = False
    names_default = False

    def refusal(self, mpi: Mpi) -> str:
        if _VERSIONS.fullmatch(mpi.version):
            return ""
        return f"ranges of {PREFIX}* are known for Intel MPI 2021.18, and this is {mpi.label}"

    def write(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> Texts:
        del several_threads
        collectives = sorted({rule.collective for rule in rules})
        lines = [
            f"{variable_of(name)}={_value(mpi, of_collective(rules, name))}" for name in collectives
        ]
        return {FILE: "".join(f"{line}\n" for line in lines)}

    def read(self, mpi: Mpi, texts: Texts, several_threads: bool = False) -> LookUp:
        del mpi, several_threads
        by_variable = {
            name: read_ranges(value) for name, value in read_variables(texts[FILE]).items()
        }

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            asked = bytes_in_variable(collective, ranks, message_bytes)
            return (_preset_for(by_variable.get(variable_of(collective), ()), asked),)

        return look_up

    def expected(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> LookUp:
        del several_threads
        every = candidates_of(mpi.name)

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            asked = bytes_in_variable(collective, ranks, message_bytes)
            for rule in of_collective(rules, collective):
                first, last = _ends(rule)
                if first <= asked and (asked <= last or last == MOST_BYTES):
                    return (find_candidate(every, collective, rule.candidate).algorithm,)
            return (DEFAULT,)

        return look_up

    def measured_among(self, collective: str, hosts: int) -> Mapping[str, str]:
        """Returns nothing: the rules hold for any number of hosts."""
        del collective, hosts
        return {}

    def settings(self, folder: Path) -> Mapping[str, str]:
        return read_variables((folder / FILE).read_text(encoding="utf-8"))

    def has_read(self, folder: Path, output: str) -> bool:
        """True if the output has each variable with its value, and none that was ignored."""
        has_all = all(f"{name}={value}" in output for name, value in self.settings(folder).items())
        return has_all and _IGNORED not in output


RULE_FORMATS.add("intel", IntelRules())


def variable_of(collective: str) -> str:
    return f"{PREFIX}{collective.upper()}"


def bytes_in_variable(collective: str, ranks: int, message_bytes: int) -> int:
    if collective in OF_ALL_RANKS:
        return message_bytes * ranks
    return message_bytes


def read_variables(text: str) -> dict[str, str]:
    """Parses variables. ValueError: a line is not a variable."""
    variables = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not equals or not name.startswith(PREFIX):
            raise ValueError(f"'{line}' sets no {PREFIX}*")
        variables[name] = value
    return variables


def read_ranges(value: str) -> tuple[Range, ...]:
    """Parses ranges. ValueError: Intel MPI would ignore the value, or read it differently."""
    ranges: list[Range] = []
    for word in value.split(";"):
        match = _RANGE.fullmatch(word)
        if match is None:
            raise ValueError(f"'{word}' is not a preset with a range of sizes")
        first, last = int(match[2]), int(match[3])
        expected = ranges[-1][1] + 1 if ranges else 0
        if first != expected or last < first:
            raise ValueError(f"'{word}' does not go on from {expected}: {value}")
        ranges.append((first, last, match[1]))
    if ranges[-1][1] != MOST_BYTES:
        raise ValueError(f"the last range ends before {MOST_BYTES}, and would not end: {value}")
    return tuple(ranges)


def _value(mpi: Mpi, rules: Sequence[Rule]) -> str:
    every = candidates_of(mpi.name)
    words = []
    for rule in rules:
        preset = find_candidate(every, rule.collective, rule.candidate).algorithm
        first, last = _ends(rule)
        words.append(f"{preset}:{first}-{last}")
    return ";".join(words)


def _ends(rule: Rule) -> tuple[int, int]:
    """Returns the first and the last size of a rule, in the unit of the variable."""
    first = bytes_in_variable(rule.collective, rule.ranks, rule.first_bytes)
    if rule.last_bytes == MOST_BYTES:
        return first, MOST_BYTES
    return first, bytes_in_variable(rule.collective, rule.ranks, rule.last_bytes + 1) - 1


def _preset_for(ranges: Sequence[Range], message_bytes: int) -> str:
    for first, last, preset in ranges:
        if first <= message_bytes <= last:
            return preset
    if ranges:
        return ranges[-1][2]
    return DEFAULT
