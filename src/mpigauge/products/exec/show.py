# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Words on a program on an MPI: the way in which it runs there, and the placement of its ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import many

if TYPE_CHECKING:
    from mpigauge.session.program import ProgramLaunch
    from mpigauge.site.launch import Command
    from mpigauge.site.mpi.programs.witness import SeenRank

SHOWN = 16
"""Ranks of a host whose cores are said one by one."""


def before(launch: ProgramLaunch) -> Iterator[str]:
    """The MPI that runs the program, and the reason."""
    yield launch.way.summary
    yield from launch.way.notes
    placed = f", placed {launch.part.placement}" if launch.part.placement else ""
    where = f" on {','.join(launch.hosts)}" if launch.hosts else ""
    yield f"{many(launch.part.world_ranks, 'rank')}{where}{placed}"


def whole_command(command: Command) -> Iterator[str]:
    """A command as it would be typed, with the files that it names."""
    for name, text in command.files.items():
        yield f"{name}:"
        yield from (f"  {line}" for line in text.splitlines())
    yield str(command)


def all_seen(ranks: Sequence[SeenRank], mpi: str) -> str:
    """All ranks are on the MPI that was asked for, and in one job."""
    places = "; ".join(_on_host(host, list(own)) for host, own in _by_host(ranks))
    return f"{many(len(ranks), 'rank')} on {mpi}, which see each other; {places}"


def some_seen(ranks: Sequence[SeenRank], expected: int) -> str:
    """The program has ended, and not all ranks were heard of."""
    if not ranks:
        return "no rank was seen to come out of MPI_Init"
    return (
        f"{len(ranks)} of {many(expected, 'rank')} were seen to come out of MPI_Init; what others "
        "note on hosts without this folder is not seen"
    )


def some_gone(gone: Sequence[int], ranks: int) -> str:
    """The sentence on ranks that ended before MPI started in them; `ranks`: the size of the job."""
    if len(gone) == ranks:
        return "all ranks have ended, but their launcher has not; it is ended"
    which = f"rank {gone[0]} has" if len(gone) == 1 else f"ranks {as_list(gone)} have"
    return f"{which} ended without MPI_Init, where others wait; the job is ended"


def _by_host(ranks: Sequence[SeenRank]) -> Iterator[tuple[str, Iterator[SeenRank]]]:
    return groupby(sorted(ranks, key=lambda each: (each.host, each.rank)), lambda each: each.host)


def _on_host(host: str, ranks: list[SeenRank]) -> str:
    """vm: ranks 0, 1 on cores 0, 1; all alike: vm: cores 0-3."""
    cores = [each.cores for each in ranks]
    if len(set(cores)) == 1:
        shared = "each " if len(ranks) > 1 else ""
        return f"{host}: {shared}on cores {cores[0]}"
    more = " …" if len(cores) > SHOWN else ""
    return f"{host}: on cores {' | '.join(cores[:SHOWN])}{more}"
