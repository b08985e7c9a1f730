# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Host files as launchers and batch systems write them. Every word has its launcher's meaning, or
is refused with its line.

    node1                        a host; a line for each rank in the files of PBS, LSF and Slurm
    node1:4                      MPICH, Intel MPI, MVAPICH
    node1 slots=4 max_slots=8    Open MPI, which also takes count=4 and cpu=4, and blanks around =
    ^node1                       Open MPI: no ranks on this host
    rank 0=node1 slot=0          a rank file of Open MPI: a slot for each of its lines
    node1 4 all.q@node1 UNDEFINED    the PE_HOSTFILE of Grid Engine

A list such as node[01-04] stands for its hosts. `#` and `//` begin a comment, `/* */` enclose one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.hostlist import NAME, added_up, check_number, parse_hosts
from mpigauge.model.hosts import NamedHost
from mpigauge.model.inputs import read_text

SLOTS = ("slots", "count", "cpu")
MOST = tuple(
    word for name in SLOTS for sign in "_-" for word in (f"max{sign}{name}", f"{name}{sign}max")
)
"""The most ranks that a host may have when ranks share cores."""
AS_USER = "ranks start as one user on all hosts; give this host its User in ~/.ssh/config"
_REFUSED = {
    **dict.fromkeys(("user", "username", "user_name", "user-name"), AS_USER),
    "port": "the agent has one port for all hosts; name it with --rsh 'ssh -p 2222', or give this "
    "host its Port in ~/.ssh/config",
    "binding": "ranks are bound with --place; remove it here",
    "ifname": "the interface is a setting of the MPI; remove it here, and give it with --set",
    **dict.fromkeys(("cpu_set", "cpu-set"), "ranks are bound with --place cores:0,4; remove it"),
}
"""Words of launchers without a meaning here, and what replaces each."""
RIGHT = "a line is a host, 'a:2', or 'a slots=2'"
_MOST_DIGITS = 9
MOST_ENTRIES = 5_000_000
"""More ranks than any job has."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_REST = re.compile(r"#.*|(?:^|(?<=\s))//.*")
_WORD = re.compile(r"([^\s=]+)(?:\s*=\s*([^\s=]+))?|(=)")
_RANK = re.compile(r"rank\s+\d+\s*=\s*([^\s=]+)(?:\s+slots?\s*=\s*[^\s=]+)?\s*")
_GRID_ENGINE = re.compile(r"(\S+)\s+(\d{1,9})\s+(\S+)\s+(\S+)")
_NO_CORES = ("UNDEFINED", "<NULL>", "NULL", "NONE")
"""Grid Engine's processors of a host that nobody is bound to."""


@dataclass
class _HostFile:
    """The hosts that the lines so far name."""

    source: str
    hosts: list[NamedHost] = field(default_factory=list)
    """An entry for each time that a host is named."""
    names: set[str] = field(default_factory=set)
    excluded: list[str] = field(default_factory=list)

    def add(self, hosts: Iterable[NamedHost], place: str) -> None:
        """Adds hosts. UserError: there are more hosts or ranks than any machine has."""
        for host in hosts:
            self.hosts.append(host)
            self.names.add(host.name)
        check_number(len(self.names), place)
        if len(self.hosts) > MOST_ENTRIES:
            raise UserError(f"{place}: there are more than {MOST_ENTRIES} ranks up to here")


def read_hostfile(path: Path) -> tuple[NamedHost, ...]:
    return parse_hostfile(read_text(path, "--hostfile: "), str(path))


def parse_hostfile(text: str, source: str) -> tuple[NamedHost, ...]:
    """The hosts of a file, each once; `source` is what errors call the file. The slots of a host
    add up over its lines."""
    file = _HostFile(source)
    for number, line in enumerate(without_comments(text), 1):
        place, words = f"{source}, line {number}", line.strip()
        if NAME.fullmatch(words):
            file.add((NamedHost(words, None, place),), place)
        elif words:
            _Line(file, place, line).read()
    kept = [host for host in file.hosts if not _is_in(host.name, file.excluded)]
    if not file.hosts and not file.excluded:
        raise UserError(f"{source} names no host; write one a line, such as 'a:2' or 'a slots=2'")
    hosts = tuple(host for host in added_up(_as_slots(kept)) if host.slots != 0)
    if not hosts:
        raise UserError(f"{source} leaves no host: each is excluded by ^ or has slots=0")
    return hosts


def without_comments(text: str) -> Iterator[str]:
    """The lines of a host file or rank file, in which comments are blank."""
    text = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return (_REST.sub("", line) for line in text.split("\n"))


def _as_slots(hosts: list[NamedHost]) -> Iterable[NamedHost]:
    """The hosts with slots: a file that repeats a bare name has a line for each rank, including
    those of hosts that are named once."""
    bare = [host.name for host in hosts if host.slots is None]
    if len(set(bare)) == len(bare):
        return hosts
    return (replace(host, slots=1) if host.slots is None else host for host in hosts)


def _is_in(name: str, excluded: Iterable[str]) -> bool:
    """True if a name is one of these, with or without its domain."""
    return any(
        each == name or short_name(each) == name or each == short_name(name) for each in excluded
    )


def short_name(name: str) -> str:
    """The name of a host without its domain; an address as it is."""
    return name if name.replace(".", "").isdecimal() else name.partition(".")[0]


@dataclass
class _Line:
    file: _HostFile
    place: str
    text: str

    def read(self) -> None:
        if '"' in self.text or "'" in self.text:
            self._refuse("launchers take no quotes in a host file; write the name without them")
        if match := _RANK.fullmatch(self.text.strip()):
            self._add(match[1], 1)
        elif (match := _GRID_ENGINE.fullmatch(self.text.strip())) and "=" not in self.text:
            self._grid_engine(*match.groups())
        else:
            self._host_and_words()

    def _grid_engine(self, name: str, slots: str, queue: str, cores: str) -> None:
        if "@" not in queue and cores not in _NO_CORES:
            self._refuse(f"'{self.text.strip()}' is no line of a host file; {RIGHT}")
        if cores not in _NO_CORES:
            self._refuse(
                f"{cores} names cores; write them as --place cores:0,4, and {name}:{slots}"
            )
        self._add(name, int(slots))

    def _host_and_words(self) -> None:
        (_, name, value), *others = self._words()
        if value is not None:
            self._refuse(f"'{name}={value}' stands where a host should be; {RIGHT}")
        if name.startswith("^"):
            self._exclude(name[1:], [word for _, word, _ in others])
            return
        slots, most = self._slots(others)
        self._add(name, slots, most)

    def _words(self) -> list[tuple[int, str, str | None]]:
        """Each word with its column and the text after its `=`."""
        words: list[tuple[int, str, str | None]] = []
        for match in _WORD.finditer(self.text):
            if match[3]:
                self._refuse(f"column {match.start() + 1}: this '=' has no word or no value")
            words.append((match.start() + 1, match[1], match[2]))
        return words

    def _exclude(self, name: str, others: list[str]) -> None:
        if others:
            self._refuse(f"^{name} excludes a host; '{others[0]}' has no meaning beside it")
        self.file.excluded += (host.name for host in parse_hosts(name, self.place))

    def _slots(self, words: Iterable[tuple[int, str, str | None]]) -> tuple[int | None, int | None]:
        """Slots, and the most ranks that may share them."""
        slots: int | None = None
        most: int | None = None
        for column, name, value in words:
            if name in SLOTS and value is not None:
                if slots is not None:
                    self._refuse(f"column {column}: the slots are given twice")
                slots = self._number(column, value)
            elif name in MOST and value is not None:
                most = self._number(column, value)
            else:
                self._unknown(column, name, value)
        if most is not None and most < (slots or 0):
            self._refuse(f"max_slots={most} is less than slots={slots}")
        return (most if slots is None else slots), most

    def _number(self, column: int, value: str) -> int:
        if not (value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS):
            self._refuse(f"column {column}: '{value}' is not a number of slots; write slots=2")
        return int(value)

    def _unknown(self, column: int, name: str, value: str | None) -> NoReturn:
        word = name if value is None else f"{name}={value}"
        if (why := _REFUSED.get(name)) and value is not None:
            self._refuse(f"column {column}: '{word}': {why}")
        hint = did_you_mean(name, [*SLOTS, "max_slots"]) or f"; {RIGHT}"
        self._refuse(f"column {column}: '{word}' is not known here{hint}")

    def _add(self, name: str, slots: int | None, most: int | None = None) -> None:
        self.file.add(self._hosts(name, slots, most), self.place)

    def _hosts(self, name: str, slots: int | None, most: int | None) -> Iterator[NamedHost]:
        self._check(name)
        for host in parse_hosts(name, self.place, tuple):
            if slots is not None and host.slots:
                self._refuse(f"{name} has its slots twice, as :{host.slots} and slots=")
            given = host.slots if slots is None else slots
            yield NamedHost(host.name, given, self.place, most)

    def _check(self, name: str) -> None:
        """Refuses launchers' other notations for a host, and those without a meaning here."""
        if name.startswith("+"):
            self._refuse(f"{name} counts the hosts of a batch job; write the name of the host")
        if "@" in name:
            self._refuse(f"'{name}': {AS_USER}")
        _, _, card = name.rpartition(":")
        if ":" in name and re.fullmatch(r"[A-Za-z]\w*", card):
            self._refuse(f"'{card}' is a network card of MVAPICH; remove it, and see --transport")

    def _refuse(self, why: str) -> NoReturn:
        raise UserError(f"{self.place}{',' if why.startswith('column') else ':'} {why}")
