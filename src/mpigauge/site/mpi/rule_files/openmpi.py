# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files of rules of Open MPI 4.1 and 5.0: the classic one of coll_tuned, and coll_han's.

A file has numbers with spaces between: the number of collectives; for each its number and the
number of communicator sizes; for each its size and the number of lines; and lines `from_bytes
algorithm fan segment`. Algorithm 0 is the default. A communicator size also holds for all larger
ones, and the last line for all longer messages, so defaults are always explicit. A file with an
error is silently ignored.

Among ranks of several hosts coll_han of Open MPI 5.0 carries out most collectives, and coll_tuned
gets only its parts, among the ranks of a host and among hosts. A file of its own gives the message
size from which a collective is left to coll_tuned as a whole: the number of collectives; for each
its name, one for "one level", `global_communicator`, the number of communicator sizes; for each its
size, the number of lines, and lines `from_bytes component`. The first size has to be 1. Sizes are
those of the call, not sums over ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import Rule, candidate_at, of_collective
from mpigauge.site.mpi.rule_files.candidates import candidates_of, find_candidate
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, Effect, LookUp, Texts

FILE = "tuned.conf"
HAN_FILE = "han.conf"
HAN, TUNED = "han", "tuned"
NUMBERS = {
    "Allgather": 0, "Allreduce": 2, "Alltoall": 3, "Bcast": 7, "Gather": 9, "Reduce": 11,
    "Reduce_scatter": 12, "Reduce_scatter_block": 13, "Scatter": 15,
}  # fmt: skip
"""The numbers of collectives in the file."""
EVERY_COLLECTIVE = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier"),
    *("bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block"),
    *("scan", "scatter", "scatterv", "neighbor_allgather", "neighbor_allgatherv"),
    *("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
"""All collectives that have a number in the file, in their order."""
MOST_NUMBER = len(EVERY_COLLECTIVE) - 1
OF_ALL_RANKS = (
    "Allgather",
    "Alltoall",
    "Gather",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scatter",
)
"""Collectives for which the file counts the messages of all ranks together."""
OF_HAN = ("Allgather", "Allreduce", "Bcast", "Gather", "Reduce", "Scatter")
"""The collectives of coll_han."""
HAN_SETTING = "coll_han_{}_dynamic_global_communicator_module"
NUMBER_OF_TUNED = "3"
"""The number of coll_tuned among the components to which coll_han may pass a collective."""
DEFAULT = "0"
_VERSIONS = re.compile(r"(4\.1|5\.0)\.\d+")
Line = tuple[int, str]
"""The first size in bytes, and the algorithm or the component."""


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
        texts = {FILE: "\n".join(lines) + "\n"}
        if among_hosts := _among_hosts(rules):
            texts[HAN_FILE] = _text_for_han(among_hosts)
        return texts

    def read(self, mpi: Mpi, texts: Texts, several_threads: bool = False) -> LookUp:
        """Returns the effects: the algorithm and, for a collective in coll_han's file, the
        component that carries it out among several hosts."""
        del mpi, several_threads
        by_number = read_rules(texts[FILE])
        of_han = read_han_rules(texts[HAN_FILE]) if HAN_FILE in texts else {}

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            own = by_number.get(NUMBERS[collective], {})
            algorithm = _last_match(
                own, ranks, bytes_in_file(collective, ranks, message_bytes), DEFAULT
            )
            if collective.lower() not in of_han:
                return (algorithm,)
            return (algorithm, _last_match(of_han[collective.lower()], ranks, message_bytes, HAN))

        return look_up

    def expected(self, mpi: Mpi, rules: Sequence[Rule], several_threads: bool = False) -> LookUp:
        del several_threads
        every = candidates_of(mpi.name)
        among_hosts = _among_hosts(rules)
        of_han = {rule.collective for rule in among_hosts}

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            name = candidate_at(rules, collective, ranks, message_bytes)
            algorithm = find_candidate(every, collective, name).algorithm if name else DEFAULT
            if collective not in of_han:
                return (algorithm,)
            is_left = bool(candidate_at(among_hosts, collective, ranks, message_bytes))
            return (algorithm, TUNED if is_left else HAN)

        return look_up

    def measured_among(self, collective: str, hosts: int) -> Mapping[str, str]:
        """Returns the setting with which coll_han leaves the collective to coll_tuned; older
        versions do not have the setting, and do not need it."""
        if hosts == 1 or collective not in OF_HAN:
            return {}
        return {HAN_SETTING.format(collective.lower()): NUMBER_OF_TUNED}

    def settings(self, folder: Path) -> Mapping[str, str]:
        file = str((folder / FILE).absolute())
        parameters = {**self.measured_with, "coll_tuned_dynamic_rules_filename": file}
        if (folder / HAN_FILE).is_file():
            parameters["coll_han_use_dynamic_file_rules"] = "true"
            parameters["coll_han_dynamic_rules_filename"] = str((folder / HAN_FILE).absolute())
        return parameters

    def has_read(self, folder: Path, output: str) -> bool:
        """Returns False: Open MPI does not report this."""
        del folder, output
        return False


RULE_FORMATS.add("openmpi", OpenMpiRules())


def bytes_in_file(collective: str, ranks: int, message_bytes: int) -> int:
    if collective in OF_ALL_RANKS:
        return message_bytes * ranks
    return message_bytes


def _collective(mpi: Mpi, name: str, rules: Sequence[Rule]) -> Iterator[str]:
    """Yields the lines of one collective.

    A communicator size holds for all larger ones, so the default follows at the next size: rules
    for 4 ranks give the sizes 0 (default), 4 (rules) and 5 (default).
    """
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
    """Yields ascending lines from 0, with the default after a rule unless the next is adjacent."""
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


class _Words:
    """The words of a file, one by one, without comments."""

    def __init__(self, text: str) -> None:
        lines = [line.partition("#")[0] for line in text.splitlines()]
        self._left = iter(" ".join(lines).split())

    def next(self) -> str:
        """Returns the next word; empty: it does not exist."""
        return next(self._left, "")

    def number(self) -> int:
        """Returns the next word as a number. ValueError: it is not a number."""
        word = self.next()
        if not word.isdigit():
            raise ValueError(f"'{word}' stands where a number should")
        return int(word)

    def one_of(self, choices: Sequence[str]) -> str:
        """Returns the next word. ValueError: it is none of these."""
        word = self.next()
        if word not in choices:
            raise ValueError(f"'{word}' stands where one of {', '.join(choices)} should")
        return word

    def check_end(self) -> None:
        """Raises a ValueError if there are further words."""
        if self.next():
            raise ValueError("it goes on after the last rule")


def read_rules(text: str) -> dict[int, dict[int, list[Line]]]:
    """Returns the lines of each collective's number and each communicator size. ValueError: Open
    MPI would silently ignore this file, or a part of it."""
    words = _Words(text)
    by_number = _collectives(words)
    for own in by_number.values():
        for ranks, lines in own.items():
            _check_ascending(ranks, lines)
        if list(own) != sorted(own):
            raise ValueError(f"communicator sizes do not ascend: {list(own)}")
    words.check_end()
    return by_number


def check_rules(text: str) -> None:
    """Raises a ValueError if Open MPI would silently ignore this whole file. Files of others are in
    any order, and may continue after the last rule."""
    by_number = _collectives(_Words(text))
    if not any(lines for own in by_number.values() for lines in own.values()):
        raise ValueError("it holds no rule")
    if unknown := [number for number in by_number if number > MOST_NUMBER]:
        raise ValueError(f"no collective has the number {unknown[0]}")


def check_han_rules(text: str) -> None:
    """Raises a ValueError if this does not begin like a file of coll_han."""
    words = _Words(text)
    if not words.number():
        raise ValueError("it holds no rule")
    words.one_of(EVERY_COLLECTIVE)


def _collectives(words: _Words) -> dict[int, dict[int, list[Line]]]:
    by_number: dict[int, dict[int, list[Line]]] = {}
    for _ in range(words.number()):
        own = by_number.setdefault(words.number(), {})
        for _ in range(words.number()):
            ranks = words.number()
            own[ranks] = [_line(words) for _ in range(words.number())]
    return by_number


def _among_hosts(rules: Sequence[Rule]) -> list[Rule]:
    """Returns the rules to which coll_han would give no effect."""
    return [rule for rule in rules if rule.hosts > 1 and rule.collective in OF_HAN]


def _text_for_han(rules: Sequence[Rule]) -> str:
    """Returns the file that leaves collectives to coll_tuned where they have a rule."""
    collectives = sorted({rule.collective for rule in rules})
    lines = [f"{len(collectives)} # collectives"]
    for name in collectives:
        sizes: dict[int, list[Line]] = {1: [(0, HAN)]}
        own = of_collective(rules, name)
        for ranks in sorted({rule.ranks for rule in own}):
            sizes[ranks] = list(_lines_for_han([rule for rule in own if rule.ranks == ranks]))
            sizes[ranks + 1] = [(0, HAN)]
        lines += [name.lower(), "1 # level", "global_communicator", f"{len(sizes)} # sizes"]
        for ranks, components in sorted(sizes.items()):
            lines += [f"{ranks} # ranks", f"{len(components)} # message sizes"]
            lines += [f"{first} {component}" for first, component in components]
    return "\n".join(lines) + "\n"


def _lines_for_han(rules: Sequence[Rule]) -> Iterator[Line]:
    """Yields lines in ascending order from 0; adjacent rules are one line."""
    at, component = 0, HAN
    if rules[0].first_bytes > 0:
        yield 0, HAN
    for rule in rules:
        if rule.first_bytes > at and component == TUNED:
            yield at, HAN
            component = HAN
        if component == HAN:
            yield rule.first_bytes, TUNED
        at, component = rule.last_bytes + 1, TUNED
    yield at, HAN


def read_han_rules(text: str) -> dict[str, dict[int, list[Line]]]:
    """Returns the lines of each collective, by its name in lower case, and each communicator size.
    ValueError: coll_han would ignore this file, or a part of it."""
    words = _Words(text)
    by_name: dict[str, dict[int, list[Line]]] = {}
    for _ in range(words.number()):
        own = by_name.setdefault(words.one_of([name.lower() for name in OF_HAN]), {})
        if words.number() != 1:
            raise ValueError("there is more than one level")
        words.one_of(["global_communicator"])
        for _ in range(words.number()):
            ranks = words.number()
            own[ranks] = [
                (words.number(), words.one_of([HAN, TUNED])) for _ in range(words.number())
            ]
            _check_ascending(ranks, own[ranks])
        if list(own) != sorted(own) or list(own)[:1] != [1]:
            raise ValueError(f"communicator sizes do not ascend from 1: {list(own)}")
    words.check_end()
    return by_name


def _check_ascending(ranks: int, lines: Sequence[Line]) -> None:
    """Raises a ValueError if an MPI would not find some of these lines."""
    starts = [first for first, _ in lines]
    if starts[:1] != [0] or sorted(set(starts)) != starts:
        raise ValueError(f"sizes for {ranks} ranks do not ascend from 0: {starts}")


def _line(words: _Words) -> Line:
    first, algorithm, _fan, _segment = (words.number() for _ in range(4))
    return first, str(algorithm)


def _last_match(
    sizes: Mapping[int, Sequence[Line]], ranks: int, bytes_as_written: int, usual: str
) -> str:
    """Returns the word in effect, by the rules of both components: the last line that applies, in
    the last communicator size that is not larger; `usual` if there is none."""
    lines: Sequence[Line] = ()
    for size, own in sizes.items():
        if size <= ranks:
            lines = own
    taken = usual
    for first, word in lines:
        if first <= bytes_as_written:
            taken = word
    return taken
