# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The NUMA nodes for memory, checked against those of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.names import LOCAL, MEMORY_ON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.topology import Topology

ALL = "all"
REMOTE = "remote"
INTERLEAVED = "interleaved"


def with_memory(machine: Topology) -> tuple[int, ...]:
    """The nodes whose memory may be used."""
    allowed = machine.allowed_numa
    nodes = []
    for node in machine.numa:
        if node.bytes != 0 and (not allowed or node.number in allowed):
            nodes.append(node.number)
    return tuple(nodes)


def with_nodes(options: Mapping[str, str], resources: Resources) -> dict[str, str]:
    """The options with all nodes for `all`. UserError: a host has no memory on one of them."""
    if MEMORY_ON not in options:
        return dict(options)
    for host in resources.all_hosts:
        check(options[MEMORY_ON], host.topology)
    words = expanded(options[MEMORY_ON], resources.all_hosts[0].topology)
    return {**options, MEMORY_ON: ",".join(words)}


def expanded(text: str, machine: Topology) -> tuple[str, ...]:
    words: list[str] = []
    for word in text.split(","):
        nodes = with_memory(machine)
        each = [*map(str, nodes), *([INTERLEAVED] if len(nodes) > 1 else [])]
        words += each if word == ALL else [word]
    return tuple(dict.fromkeys(words))


def seen_from(own: int, text: str, machine: Topology) -> tuple[str, ...]:
    """The nodes as numbers, as seen from one of them: remote ones each."""
    nodes = with_memory(machine)
    words: list[str] = []
    for word in expanded(text, machine):
        if word == LOCAL:
            words += [str(own)] if own in nodes else []
        elif word == REMOTE:
            words += [str(node) for node in nodes if node != own]
        else:
            words.append(word)
    return tuple(dict.fromkeys(words))


def check(text: str, machine: Topology) -> None:
    nodes = with_memory(machine)
    for word in text.split(","):
        if word == REMOTE and len(nodes) < 2:
            raise UserError(f"--memory-on remote: {_there(machine)}, so there is no remote memory")
        for number in word.split("+") if word[0].isdecimal() else ():
            if int(number) not in nodes:
                raise UserError(f"--memory-on {word}: {_why_not(int(number), machine)}")


def _why_not(number: int, machine: Topology) -> str:
    node = next((each for each in machine.numa if each.number == number), None)
    if node is None:
        return f"there is no NUMA node {number} on {machine.hostname}; {_there(machine)}"
    what = "has no memory" if node.bytes == 0 else "may not be used here (cpuset)"
    return f"NUMA node {number} of {machine.hostname} {what}; {_there(machine)}"


def _there(machine: Topology) -> str:
    nodes = with_memory(machine)
    if not nodes:
        return "this machine reports no NUMA node"
    if len(nodes) == 1:
        return f"only NUMA node {nodes[0]} has memory"
    return f"there is memory on {', '.join(map(str, nodes[:-1]))} and {nodes[-1]}"
