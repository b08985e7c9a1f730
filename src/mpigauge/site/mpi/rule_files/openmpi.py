# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The classic file of rules of Open MPI 4.1 and 5.0, which coll_tuned reads.

Numbers with spaces between: how many collectives; for each its number and how many communicator
sizes; for each its size and how many lines; and lines `from_bytes algorithm fan segment`. Algorithm
0 is the default. A size of communicator holds for all larger ones too, and the last line for all
longer messages; so what has no rule is always said. A file with an error is passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import Rule, candidate_at, of_collective
from mpigauge.site.mpi.rule_files.candidates import candidates_of, find_candidate
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, Effect, LookUp, Texts

FILE = "tuned.conf"
NUMBERS = {
    "Allgather": 0, "Allreduce": 2, "Alltoall": 3, "Bcast": 7, "Gather": 9, "Reduce": 11,
    "Reduce_scatter": 12, "Reduce_scatter_block": 13, "Scatter": 15,
}  # fmt: skip
"""Of collectives in the file."""
OF_ALL_RANKS = (
    "Allgather",
    "Alltoall",
    "Gather",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scatter",
)
"""The file counts the messages of all ranks together for them."""
DEFAULT = "0"
_VERSIONS = re.compile(r"(4\.1|5\.0)\.\d+")
Line = tuple[int, str]
"""From how many bytes on, and the algorithm."""


class OpenMpiRules:
    measured_with: Mapping[str, str] = {"coll_tuned_use_dynamic_rules": "true"}
    told_with: Mapping[str, str] = {}
    tells_threads = False
    names_default = True

    def refusal(self, mpi: Mpi) -> str:
        if _VERSIONS.match(mpi.version):
            return ""
        return f"the file of rules is known for Open MPI 4.1 and 5.0, and this is {mpi.label}"

    def write(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> Texts:
        del several_threads
        collectives = sorted({rule.collective for rule in rules}, key=NUMBERS.__getitem__)
        lines = [f"{len(collectives)} # collectives"]
        for name in collectives:
            lines += _collective(mpi, name, of_collective(rules, name))
        return {FILE: "\n".join(lines) + "\n"}

    def read(self, mpi: Mpi, texts: Texts, several_threads: bool = False) -> LookUp:
        del mpi, several_threads
        known = read_rules(texts[FILE])

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            return (_found(known.get(NUMBERS[collective], {}), collective, ranks, message_bytes),)

        return look_up

    def expected(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> LookUp:
        del several_threads
        every = candidates_of(mpi.name)

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            name = candidate_at(rules, collective, ranks, message_bytes)
            return (find_candidate(every, collective, name).algorithm if name else DEFAULT,)

        return look_up

    def settings(self, folder: Path) -> Mapping[str, str]:
        file = str((folder / FILE).absolute())
        return {**self.measured_with, "coll_tuned_dynamic_rules_filename": file}

    def has_read(self, folder: Path, said: str) -> bool:
        """It never tells."""
        del folder, said
        return False


RULE_FORMATS.add("openmpi", OpenMpiRules())


def bytes_in_file(collective: str, ranks: int, message_bytes: int) -> int:
    return message_bytes * ranks if collective in OF_ALL_RANKS else message_bytes


def _collective(mpi: Mpi, name: str, rules: Sequence[Rule]) -> Iterator[str]:
    sizes: dict[int, list[Line]] = {0: [(0, DEFAULT)]}
    for ranks in sorted({rule.ranks for rule in rules}):
        sizes[ranks] = list(_lines(mpi, [rule for rule in rules if rule.ranks == ranks]))
        sizes[ranks + 1] = [(0, DEFAULT)]
    yield f"{NUMBERS[name]} # {name}"
    yield f"{len(sizes)} # communicator sizes"
    for ranks, lines in sorted(sizes.items()):
        yield f"{ranks} # ranks"
        yield f"{len(lines)} # message sizes"
        for first, algorithm in lines:
            yield f"{first} {algorithm} 0 0"


def _lines(mpi: Mpi, rules: Sequence[Rule]) -> Iterator[Line]:
    """Ascending, from 0 on; after each rule the default, unless the next one follows at once."""
    every = candidates_of(mpi.name)
    at = 0
    for rule in rules:
        first = bytes_in_file(rule.collective, rule.ranks, rule.first_bytes)
        if first > at:
            yield at, DEFAULT
        yield first, find_candidate(every, rule.collective, rule.candidate).algorithm
        at = bytes_in_file(rule.collective, rule.ranks, rule.last_bytes) + 1
        if rule.collective in OF_ALL_RANKS:
            at = bytes_in_file(rule.collective, rule.ranks, rule.last_bytes + 1)
    yield at, DEFAULT


def read_rules(text: str) -> dict[int, dict[int, list[Line]]]:
    """Of each collective's number and each communicator size its lines. ValueError: Open MPI would
    pass over this file in silence, or over a part of it."""
    words = iter([word for line in text.splitlines() for word in line.partition("#")[0].split()])

    def number() -> int:
        word = next(words, "")
        if not word.isdigit():
            raise ValueError(f"'{word}' stands where a number should")
        return int(word)

    found: dict[int, dict[int, list[Line]]] = {}
    for _ in range(number()):
        own = found.setdefault(number(), {})
        for _ in range(number()):
            ranks = number()
            own[ranks] = [_line(number) for _ in range(number())]
            starts = [first for first, _ in own[ranks]]
            if starts[:1] != [0] or sorted(set(starts)) != starts:
                raise ValueError(f"sizes for {ranks} ranks do not ascend from 0: {starts}")
        if list(own) != sorted(own):
            raise ValueError(f"communicator sizes do not ascend: {list(own)}")
    if next(words, None) is not None:
        raise ValueError("it goes on after the last rule")
    return found


def _line(number: Callable[[], int]) -> Line:
    first, algorithm, _fan, _segment = (number() for _ in range(4))
    return first, str(algorithm)


def _found(
    sizes: Mapping[int, Sequence[Line]], collective: str, ranks: int, message_bytes: int
) -> str:
    """As coll_tuned looks: the last communicator size that is not larger, in it the last line."""
    lines: Sequence[Line] = ()
    for size, own in sizes.items():
        if size <= ranks:
            lines = own
    taken = DEFAULT
    for first, algorithm in lines:
        if first <= bytes_in_file(collective, ranks, message_bytes):
            taken = algorithm
    return taken
