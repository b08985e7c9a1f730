# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words for placements: `socket`, `sockets` and `hosts` have one meaning in all output.

They are the words of `--place`. Older versions called two sockets of a host `node`, which is a host
for launchers; other programs have words of their own. Stored words are translated when they are
read, so that files keep what was written.
"""

from __future__ import annotations

from collections.abc import Mapping

SOCKET, SOCKETS, HOST, HOSTS = "socket", "sockets", "host", "hosts"
"""Both ranks on one socket; on two sockets of a host; on one host, the cores unknown; on two
hosts."""
POLICIES: Mapping[str, str] = {"package": SOCKET, "node": SOCKETS}
"""Synonyms of policies. `node` is the word of older versions."""
OBJECTS: Mapping[str, str] = {"package": SOCKET, SOCKETS: SOCKET, HOST: "node", HOSTS: "node"}
"""Synonyms of the objects behind `ppr:N:`, where node is a whole host, as in Open MPI."""
LABEL = "label:"
"""The prefix of a word of an imported text that has several meanings."""
SEVERAL_MEANINGS: Mapping[str, str] = {
    "core": "two hardware threads of a core, or two cores",
    "numa": "one NUMA node, or two",
    SOCKET: "one socket, or two",
    "node": "two sockets of a host, or two hosts",
}
"""The meanings of words that launchers and tables use in several ways."""
_PER_OBJECT = "ppr"
_MAPPED: Mapping[str, str] = {"core": "compact", "slot": "compact", "node": HOSTS}
_MAPPED_PAIR: Mapping[str, str] = {SOCKET: SOCKETS, "package": SOCKETS, "node": HOSTS}
"""Objects of which two ranks on different ones have a policy of their own."""
_PAIR = 2


def of_policy(text: str) -> str:
    """Returns the placement with our words for its policy and its object."""
    first, *others = text.split(":")
    name = first.strip().lower()
    if name == _PER_OBJECT and others:
        *counts, last = others
        return ":".join([first, *counts, OBJECTS.get(last.strip().lower(), last)])
    if name in POLICIES:
        return ":".join([POLICIES[name], *others])
    return text


def of_stored(text: str, ranks: int, source: str) -> str:
    """Returns the placement of a stored record in our words. `source`: the program that measured
    it; empty: we did."""
    if not text:
        return text
    if not source:
        return of_policy(text)
    if text in SEVERAL_MEANINGS:
        return f"{LABEL}{text}"
    return _of_command(text, ranks)


def meanings(placement: str) -> str:
    """Returns the possible meanings of an imported label; empty: it has one meaning."""
    if placement.startswith(LABEL):
        return SEVERAL_MEANINGS.get(placement.removeprefix(LABEL), "")
    return ""


def of_mapping(target: str, ranks: int | None) -> str:
    """Returns our policy for `--map-by TARGET` of so many ranks; empty: it has no counterpart."""
    name = target.lower()
    if name.startswith(f"{_PER_OBJECT}:"):
        return _of_pair_per_object(name, ranks) or of_policy(name)
    if ranks == _PAIR and name in _MAPPED_PAIR:
        return _MAPPED_PAIR[name]
    return _MAPPED.get(name, "")


def _of_pair_per_object(name: str, ranks: int | None) -> str:
    """One rank on each of two objects is a pair on different ones."""
    if ranks != _PAIR or not name.startswith(f"{_PER_OBJECT}:1:"):
        return ""
    return _MAPPED_PAIR.get(name.rpartition(":")[2], "")


def _of_command(text: str, ranks: int) -> str:
    """Translates the words of a launcher's command: one policy, and what it leaves open."""
    policies: list[str] = []
    others: list[str] = []
    for word in text.split():
        option, _, value = word.partition(":")
        if option == "map-by":
            policies.append(of_mapping(value, ranks))
        elif option == "ppn":
            policies.append(_of_pair_per_object(f"ppr:{value}:node", ranks) or f"ppr:{value}:node")
        elif word != "bind-to:core":
            others.append(word)
    if len(policies) != 1 or not policies[0]:
        return text
    return " ".join([*policies, *others])
