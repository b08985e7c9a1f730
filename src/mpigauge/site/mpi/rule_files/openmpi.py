# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files of rules of Open MPI 4.1 and 5.0: the classic one of coll_tuned, and coll_han's.

Numbers with spaces between: how many collectives; for each its number and how many communicator
sizes; for each its size and how many lines; and lines `from_bytes algorithm fan segment`. Algorithm
0 is the default. A size of communicator holds for all larger ones too, and the last line for all
longer messages; so what has no rule is always said. A file with an error is passed over in silence.

Among ranks of several hosts coll_han of Open MPI 5.0 carries out most collectives, and coll_tuned
sees only its parts, among the ranks of a host and among hosts. A file of its own says from which
message size on a collective is left to coll_tuned as a whole: how many collectives; for each its
name, one for "one level", `global_communicator`, how many communicator sizes; for each its size,
how many lines, and lines `from_bytes component`. The first size has to be 1. Sizes are those of the
call: nothing is counted together.
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
"""Of collectives in the file."""
EVERY_COLLECTIVE = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier"),
    *("bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block"),
    *("scan", "scatter", "scatterv", "neighbor_allgather", "neighbor_allgatherv"),
    *("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
"""All that have a number in the file, in their order."""
MOST_NUMBER = len(EVERY_COLLECTIVE) - 1
OF_ALL_RANKS = (
    "Allgather",
    "Alltoall",
    "Gather",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scatter",
)
"""The file counts the messages of all ranks together for them."""
OF_HAN = ("Allgather", "Allreduce", "Bcast", "Gather", "Reduce", "Scatter")
"""What coll_han carries out."""
HAN_SETTING = "coll_han_{}_dynamic_global_communicator_module"
NUMBER_OF_TUNED = "3"
"""Of coll_tuned among the components that coll_han may hand a collective to."""
DEFAULT = "0"
_VERSIONS = re.compile(r"(4\.1|5\.0)\.\d+")
Line = tuple[int, str]
"""From how many bytes on, and the algorithm or the component."""


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
        """The effect is the algorithm and, for a collective that the file of coll_han names, the
        component that carries it out among several hosts."""
        del mpi, several_threads
        known = read_rules(texts[FILE])
        of_han = read_han_rules(texts[HAN_FILE]) if HAN_FILE in texts else {}

        def look_up(collective: str, ranks: int, message_bytes: int) -> Effect:
            own = known.get(NUMBERS[collective], {})
            algorithm = _found(own, ranks, bytes_in_file(collective, ranks, message_bytes), DEFAULT)
            if collective.lower() not in of_han:
                return (algorithm,)
            return (algorithm, _found(of_han[collective.lower()], ranks, message_bytes, HAN))

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
        """That coll_han leaves it to coll_tuned; older versions do not know the setting, and do not
        need it."""
        if hosts == 1 or collective not in OF_HAN:
            return {}
        return {HAN_SETTING.format(collective.lower()): NUMBER_OF_TUNED}

    def settings(self, folder: Path) -> Mapping[str, str]:
        file = str((folder / FILE).absolute())
        found = {**self.measured_with, "coll_tuned_dynamic_rules_filename": file}
        if (folder / HAN_FILE).is_file():
            found["coll_han_use_dynamic_file_rules"] = "true"
            found["coll_han_dynamic_rules_filename"] = str((folder / HAN_FILE).absolute())
        return found

    def has_read(self, folder: Path, said: str) -> bool:
        """It never tells."""
        del folder, said
        return False


RULE_FORMATS.add("openmpi", OpenMpiRules())


def bytes_in_file(collective: str, ranks: int, message_bytes: int) -> int:
    if collective in OF_ALL_RANKS:
        return message_bytes * ranks
    return message_bytes


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


class _Words:
    """What stands in a file, word by word, without comments."""

    def __init__(self, text: str) -> None:
        lines = [line.partition("#")[0] for line in text.splitlines()]
        self._left = iter(" ".join(lines).split())

    def next(self) -> str:
        """Empty: there is no more."""
        return next(self._left, "")

    def number(self) -> int:
        """ValueError: it is none."""
        word = self.next()
        if not word.isdigit():
            raise ValueError(f"'{word}' stands where a number should")
        return int(word)

    def one_of(self, known: Sequence[str]) -> str:
        """ValueError: it is another word."""
        word = self.next()
        if word not in known:
            raise ValueError(f"'{word}' stands where one of {', '.join(known)} should")
        return word

    def check_end(self) -> None:
        """ValueError: there is more."""
        if self.next():
            raise ValueError("it goes on after the last rule")


def read_rules(text: str) -> dict[int, dict[int, list[Line]]]:
    """The lines of each collective's number and each communicator size. ValueError: Open MPI would
    pass over this file in silence, or over a part of it."""
    words = _Words(text)
    found = _collectives(words)
    for own in found.values():
        for ranks, lines in own.items():
            _check_ascending(ranks, lines)
        if list(own) != sorted(own):
            raise ValueError(f"communicator sizes do not ascend: {list(own)}")
    words.check_end()
    return found


def check_rules(text: str) -> None:
    """ValueError: Open MPI would pass over this whole file in silence. Files of others are in any
    order, and may go on after the last rule."""
    found = _collectives(_Words(text))
    if not any(lines for own in found.values() for lines in own.values()):
        raise ValueError("it holds no rule")
    if unknown := [number for number in found if number > MOST_NUMBER]:
        raise ValueError(f"no collective has the number {unknown[0]}")


def check_han_rules(text: str) -> None:
    """ValueError: this is no file of coll_han, which begins with the number of collectives."""
    words = _Words(text)
    if not words.number():
        raise ValueError("it holds no rule")
    words.one_of(EVERY_COLLECTIVE)


def _collectives(words: _Words) -> dict[int, dict[int, list[Line]]]:
    found: dict[int, dict[int, list[Line]]] = {}
    for _ in range(words.number()):
        own = found.setdefault(words.number(), {})
        for _ in range(words.number()):
            ranks = words.number()
            own[ranks] = [_line(words) for _ in range(words.number())]
    return found


def _among_hosts(rules: Sequence[Rule]) -> list[Rule]:
    """Those that coll_han would not let have an effect."""
    return [rule for rule in rules if rule.hosts > 1 and rule.collective in OF_HAN]


def _text_for_han(rules: Sequence[Rule]) -> str:
    """Each collective is left to coll_tuned where it has a rule; everywhere else coll_han stays."""
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
    """Ascending, from 0 on; rules that follow each other at once are one line."""
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
    """The lines of each collective, by its name in small letters, and each communicator size.
    ValueError: coll_han would pass over this file, or over a part of it."""
    words = _Words(text)
    found: dict[str, dict[int, list[Line]]] = {}
    for _ in range(words.number()):
        own = found.setdefault(words.one_of([name.lower() for name in OF_HAN]), {})
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
    return found


def _check_ascending(ranks: int, lines: Sequence[Line]) -> None:
    """ValueError: an MPI would not find some of these lines."""
    starts = [first for first, _ in lines]
    if starts[:1] != [0] or sorted(set(starts)) != starts:
        raise ValueError(f"sizes for {ranks} ranks do not ascend from 0: {starts}")


def _line(words: _Words) -> Line:
    first, algorithm, _fan, _segment = (words.number() for _ in range(4))
    return first, str(algorithm)


def _found(
    sizes: Mapping[int, Sequence[Line]], ranks: int, bytes_as_written: int, usual: str
) -> str:
    """As both components look: the last communicator size that is not larger, in it the last
    line; `usual` where there is none."""
    lines: Sequence[Line] = ()
    for size, own in sizes.items():
        if size <= ranks:
            lines = own
    taken = usual
    for first, word in lines:
        if first <= bytes_as_written:
            taken = word
    return taken
