# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPU of each rank of a host, by the words of `--gpu`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import many
from mpigauge.site.gpu.cheapest import cheapest
from mpigauge.site.gpu.usable import offered_gpus, usable_gpus
from mpigauge.site.topology.levels import Levels
from mpigauge.site.topology.near import distance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.topology import Device, Topology

NEAR = "near"
_ADDRESS = (
    r"(?i)(?:(?P<domain>[0-9a-f]{1,8}):)?(?P<bus>[0-9a-f]{1,2}):(?P<slot>[0-9a-f]{1,2})"
    r"(?:\.(?P<function>[0-7]))?"
)


def assign(
    words: str,
    topology: Topology,
    seats: Sequence[frozenset[int]],
    *,
    host: str = "this host",
    visible: str | None = None,
    offered: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Returns the PCI address (0000:19:00.0) of the GPU of local rank 0, 1, … of a host.

    `words` is the argument of --gpu: `near`, or an index or a PCI address for each rank, with
    commas. Indices count the GPUs in the order of their PCI addresses, or as CUDA_VISIBLE_DEVICES
    lists them. A GPU is shared only if it is named more than once.
    `seats` has the PUs of each local rank; an empty set: the rank is not bound.
    `host` is the name for error messages.
    `visible` is the value of CUDA_VISIBLE_DEVICES on this host; None: it is not set.
    `offered` has the addresses that the driver reported there, in its order; the variable is then
    taken into account already. None: the driver was not asked.
    UserError, in one line: there is no GPU, a word names none, or there are more ranks than GPUs.
    """
    gpus = _gpus(topology, host, visible, offered)
    if words.strip() == NEAR:
        return _nearest(gpus, topology, seats, host)
    named = _all_named(words, gpus, host)
    if len(named) < len(seats):
        raise UserError(
            f"--gpu {words}: it names {many(len(named), 'GPU')} for {many(len(seats), 'rank')} on "
            f"{host}; name one for each rank, and a GPU more than once to share it"
        )
    return tuple(gpu.bus for gpu in named[: len(seats)])


def in_turn(
    words: str,
    topology: Topology,
    *,
    host: str = "this host",
    visible: str | None = None,
    offered: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Returns the addresses of the GPUs that ranks get in turn before they have a core: those that
    --gpu names, else all. The arguments and errors are those of `assign`."""
    gpus = _gpus(topology, host, visible, offered)
    if words.strip() not in ("", NEAR):
        gpus = tuple(_all_named(words, gpus, host))
    return tuple(gpu.bus for gpu in gpus)


def listing(gpus: Sequence[Device]) -> str:
    """Returns the words that name these GPUs: 0 (0000:19:00.0), 1 (0000:3b:00.0)."""
    return ", ".join(f"{index} ({gpu.bus})" for index, gpu in enumerate(gpus))


def _nearest(
    gpus: Sequence[Device], topology: Topology, seats: Sequence[frozenset[int]], host: str
) -> tuple[str, ...]:
    """Returns a GPU of its own for each rank, with the smallest sum of distances. Among equal
    sums, lower ranks get lower addresses."""
    if len(seats) > len(gpus):
        shared = ",".join(str(rank % len(gpus)) for rank in range(min(len(seats), 4)))
        more = ",…" if len(seats) > 4 else ""
        raise UserError(
            f"--gpu near: {host} has {many(len(gpus), 'GPU')} for {many(len(seats), 'rank')}: "
            f"{listing(gpus)}; take fewer ranks, or share GPUs: --gpu {shared}{more}"
        )
    levels = Levels.of(topology)
    costs = [[_mean_distance(levels, gpu, seat) for gpu in gpus] for seat in seats]
    return tuple(gpus[index].bus for index in cheapest(costs))


def _mean_distance(levels: Levels, gpu: Device, seat: frozenset[int]) -> float:
    """Returns the mean distance of a rank's PUs; all are equally far from a GPU without a place."""
    pus = [pu for pu in sorted(seat) if pu in levels.around]
    if not pus or not gpu.pus:
        return 0.0
    return sum(distance(levels, gpu, pu) for pu in pus) / len(pus)


def _gpus(
    topology: Topology, host: str, visible: str | None, offered: Sequence[str] | None
) -> tuple[Device, ...]:
    if offered is None:
        return usable_gpus(topology, host, visible)
    return offered_gpus(topology, host, offered)


def _all_named(words: str, gpus: Sequence[Device], host: str) -> list[Device]:
    return [_named(word.strip(), words, gpus, host) for word in words.split(",")]


def _named(word: str, words: str, gpus: Sequence[Device], host: str) -> Device:
    there = f"{host} has {listing(gpus)}"
    if not word:
        raise UserError(f"--gpu '{words}': a word is empty; {there}")
    if word == NEAR:
        raise UserError(f"--gpu {words}: near stands alone, or each rank's GPU is named; {there}")
    if word.isascii() and word.isdecimal():
        if int(word) < len(gpus):
            return gpus[int(word)]
        raise UserError(f"--gpu {words}: there is no GPU {word}; {there}")
    address = re.fullmatch(_ADDRESS, word)
    if address is None:
        raise UserError(
            f"--gpu {words}: '{word}' is neither near, nor an index, nor a PCI address; {there}"
        )
    matching = [gpu for gpu in gpus if _is_at(gpu, address)]
    if len(matching) > 1:
        raise UserError(f"--gpu {words}: {word} is in several PCI domains; {there}")
    if not matching:
        raise UserError(f"--gpu {words}: there is no GPU at {word}; {there}")
    return matching[0]


def _is_at(gpu: Device, address: re.Match[str]) -> bool:
    """True if a GPU has this address, in which domain and function may be omitted."""
    own = re.fullmatch(_ADDRESS, gpu.bus)
    if own is None:
        return False
    return all(
        int(given, 16) == int(own[part] or "0", 16)
        for part, given in address.groupdict().items()
        if given is not None
    )
