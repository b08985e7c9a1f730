# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lists of hosts in a line of text: `a,b[01-04,7]:2`, as Slurm and most launchers write them.

A word may have several brackets; each holds numbers and ranges, whose zeros in front are kept. A
number after a colon is how many ranks each of its hosts may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from mpigauge.model.errors import UserError
from mpigauge.model.hosts import NamedHost
from mpigauge.model.limits import MOST_HOSTS

_MOST_DIGITS = 15
_WORD = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
RIGHT = "write hosts such as a,b[01-04] or a:2,b:2"
Once = Callable[[Iterable[NamedHost]], tuple[NamedHost, ...]]
"""A function that resolves duplicate hosts."""


def parse_hosts(text: str, source: str, once: Once | None = None) -> tuple[NamedHost, ...]:
    """The hosts of a list, each once; `source` is what errors call the text ("--hosts"). `once`
    resolves duplicate hosts; by default they are refused."""
    hosts: list[NamedHost] = []
    for word, at in _words(text, source):
        hosts += _hosts(word, at)
        check_number(len(hosts), at)
    if not hosts:
        raise UserError(f"{source}: there is no host in it; {RIGHT}")
    return (once or refuse_twice)(hosts)


def check_number(hosts: int, place: str) -> None:
    """UserError: more hosts than any machine has."""
    if hosts > MOST_HOSTS:
        raise UserError(f"{place}: there are more than {MOST_HOSTS} hosts up to here")


def refuse_twice(hosts: Iterable[NamedHost]) -> tuple[NamedHost, ...]:
    """The hosts. UserError: one is named twice, so that its number of ranks is unclear."""
    hosts = tuple(hosts)
    whole = {host.name: host for host in added_up(hosts)}
    seen: dict[str, NamedHost] = {}
    for host in hosts:
        if (first := seen.setdefault(host.name, host)) is not host:
            raise UserError(
                f"host {host.name} is named twice ({first.place}; {host.place}); name it once, "
                f"with all of its ranks: {host.name}:{whole[host.name].slots}"
            )
    return hosts


def added_up(hosts: Iterable[NamedHost]) -> tuple[NamedHost, ...]:
    """Each host once, with the slots of all its entries; one without a number is one slot."""
    seen: dict[str, NamedHost] = {}
    for host in hosts:
        first = seen.get(host.name)
        seen[host.name] = host if first is None else _joined(first, host)
    return tuple(seen.values())


def _joined(first: NamedHost, second: NamedHost) -> NamedHost:
    slots = sum(1 if host.slots is None else host.slots for host in (first, second))
    most = None
    if first.most is not None or second.most is not None:
        most = max(slots, first.most or 0, second.most or 0)
    return NamedHost(first.name, slots, first.place, most)


def expand(word: str, place: str) -> list[str]:
    """The host names that a word such as b[01-04,7]-x expands to."""
    pieces = re.split(r"\[([^\[\]]*)\]", word)
    choices = [[piece] if i % 2 == 0 else _numbers(piece, place) for i, piece in enumerate(pieces)]
    count = 1
    for each in choices:
        count *= len(each)
    if count > MOST_HOSTS:
        many = count if count < 10**_MOST_DIGITS else f"more than 10^{_MOST_DIGITS}"
        raise UserError(f"{place}: '{word}' stands for {many} hosts; the most is {MOST_HOSTS}")
    return ["".join(parts) for parts in product(*choices)]


def compress(names: Sequence[str]) -> str:
    """The shortest usual notation of these names: node[01-04],login."""
    groups: dict[tuple[str, int], list[int]] = {}
    for name in names:
        stem, digits = _stem(name)
        groups.setdefault((stem, len(digits)), []).append(int(digits or -1))
    return ",".join(_group(stem, width, numbers) for (stem, width), numbers in groups.items())


def _words(text: str, source: str) -> Iterator[tuple[str, str]]:
    """The words between commas, each with its place; commas inside brackets do not count."""
    at = 0
    while at <= len(text):
        place = f"{source}, column {at + 1}"
        match = _WORD.match(text, at)
        if not match:
            token = f"'{text[at]}'" if at < len(text) else "nothing"
            raise UserError(f"{place}: there is {token} where a host should be; {RIGHT}")
        yield match[0].strip(), place
        at = match.end()
        if at < len(text) and text[at] != ",":
            raise UserError(f"{source}, column {at + 1}: this '{text[at]}' has no partner; {RIGHT}")
        at += 1


def _hosts(word: str, place: str) -> Iterator[NamedHost]:
    names, colon, slots = word.partition(":")
    if colon and not _is_count(slots):
        raise UserError(f"{place}: '{slots}' is not a number of ranks for {names}; {RIGHT}")
    hostnames = expand(names, place)
    check_name(hostnames[0], place)  # the others differ from it in digits only
    for name in hostnames:
        yield NamedHost(name, int(slots) if slots else None, place)


def _is_count(slots: str) -> bool:
    return slots.isdecimal() and len(slots) <= _MOST_DIGITS and int(slots) > 0


def check_name(name: str, place: str) -> None:
    if not NAME.fullmatch(name):
        raise UserError(f"{place}: '{name}' is not a name of a host; {RIGHT}")


def _numbers(text: str, place: str) -> list[str]:
    numbers: list[str] = []
    for piece in text.split(","):
        match = _RANGE.fullmatch(piece.strip())
        if not match:
            raise UserError(f"{place}: '{piece}' in brackets is not a range; write b[01-04,7]")
        first, last = match[1], match[2] or match[1]
        if max(len(first), len(last)) > _MOST_DIGITS:
            raise UserError(f"{place}: a number in brackets has more than {_MOST_DIGITS} digits")
        if int(last) < int(first):
            raise UserError(f"{place}: the range {piece} runs downwards; write {last}-{first}")
        if int(last) - int(first) >= MOST_HOSTS:
            raise UserError(f"{place}: the range {piece} is longer than {MOST_HOSTS} hosts")
        numbers += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return numbers


def _stem(name: str) -> tuple[str, str]:
    digits = re.search(r"\d*$", name)
    assert digits is not None
    return name[: digits.start()], digits[0]


def _group(stem: str, width: int, numbers: list[int]) -> str:
    if not width:
        return stem
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words: list[str] = []
    for run in runs:
        word = f"{run[0]:0{width}d}"
        if len(run) > 1:
            word += f"-{run[-1]:0{width}d}"
        words.append(word)
    if len(numbers) == 1:
        return f"{stem}{words[0]}"
    return f"{stem}[{','.join(words)}]"
