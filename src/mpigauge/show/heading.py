# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The lines around the tables of a run: what was measured where, limits, remarks and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.flags import legend
from mpigauge.model.hostlist import compress
from mpigauge.model.units import (
    dotted,
    duration,
    listed,
    many,
    memory,
    number,
    percent,
)
from mpigauge.model.width import (
    WIDTH,
    broken,
    shortened,
    wrap,
)
from mpigauge.show.ending import YELLOW, bold, painted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.document import Document
    from mpigauge.result.facts import Facts


def heading(facts: Facts) -> list[str]:
    """The heading of a run: machine, MPI and run, then the time of MPI_Init, memory, and
    detours."""
    more = [_gpus(facts), _start(facts), _memory(facts), _detours(facts)]
    return [*which_run(facts), *filter(None, more)]


def brief_heading(facts: Facts, width: int = WIDTH) -> list[str]:
    """The first two lines of it, and the GPUs; where they have no room, without our version, then
    without their middle."""
    lines = which_run(facts)
    if facts.mpi and len(lines[0]) > width:
        lines = which_run(facts, with_version=False)
    if facts.gpus:
        lines.append(_gpus(facts, is_brief=True))
    return [shortened([line], width)[0] for line in lines]


def _gpus(facts: Facts, is_brief: bool = False) -> str:
    if not facts.gpus:
        return ""
    from mpigauge.show.topology.used_gpus import used_gpus

    return used_gpus(facts, is_brief)


def which_run(facts: Facts, with_version: bool = True) -> list[str]:
    """Two lines: version, MPI, date and status of the run; then hosts, CPU and ranks."""
    what = [_by(facts)] if with_version else []
    what.append(facts.mpi)
    if facts.transport:
        what.append(f"over {facts.transport}")
    what.append(facts.created)
    if facts.status != "done":
        what.append(facts.status)
    where = [_hosts(facts), facts.cpu]
    if facts.imported_ranks:
        where.append(many(listed(map(str, facts.imported_ranks)), "rank"))
    elif facts.world_ranks:
        where.append(many(facts.world_ranks, "rank"))
    if facts.tuned:
        where.append(f"rules of {facts.tuned}")
    if facts.own_settings:
        where.append(f"{' '.join(facts.own_settings)} added for a quick start")
    lines = (dotted(*what), dotted(*where))
    return [line for line in lines if line]


def _by(facts: Facts) -> str:
    """The program that measured these numbers."""
    if facts.imported:
        return f"imported from {facts.imported}"
    return f"mpigauge {facts.version}"


def _hosts(facts: Facts) -> str:
    if len(facts.hosts) < 2:
        return "".join(facts.hosts) or facts.host
    return f"{len(facts.hosts)} hosts: {compress(facts.hosts)}"


def place_word(facts: Facts) -> str:
    """The machine of a run in a title: its hosts, else its CPU, else its MPI."""
    return _hosts(facts) or facts.cpu or facts.mpi


def _start(facts: Facts) -> str:
    """The time of MPI_Init: the median over the launches, and their range."""
    if not facts.init_s:
        return ""
    least, most = min(facts.init_s), max(facts.init_s)
    spread = "one launch"
    if least < most:
        spread = f"{duration(least)} to {duration(most)} in {len(facts.init_s)} launches"
    return f"MPI_Init {duration(facts.usual_init_s)} on the slowest rank ({spread})"


def _memory(facts: Facts) -> str:
    """The memory that the ranks used."""
    sizes = facts.memory
    if "peak RSS" not in sizes:
        return ""
    words = [f"memory {memory(sizes['peak RSS'])} on the largest rank"]
    if sizes.get("shared memory"):
        words.append(f"{memory(sizes['shared memory'])} of it shared")
    if "memory left" in sizes:
        words.append(f"{memory(sizes['memory left'])} left to the control group")
    return ", ".join(words)


def _detours(facts: Facts) -> str:
    """The time that the cores lost to OS noise before the launches, as the median over them."""
    detours = facts.detours
    if detours is None:
        return ""
    often = f"{number(detours.per_s)}/s of {duration(detours.length_s)}"
    batch, calm = duration(detours.batch_s), duration(detours.calm_s)
    return (
        f"detours {often} on a core ({percent(detours.lost_ratio)} of its time): "
        f"short calls are sampled for {batch} at a time (at most {calm})"
    )


def data_lines(document: Document) -> list[str]:
    """The comparisons of fresh data with static, of kinds of memory, and of several compilers."""
    lines: list[str] = []
    if document.fresh:
        from mpigauge.show.comparisons.fresh import fresh_lines

        lines = fresh_lines(document.fresh, document.cards)
    if document.memories:
        from mpigauge.show.comparisons.memories import memory_lines

        lines += [""] * bool(lines) + memory_lines(document.memories, document.cards)
    if document.compilers:
        from mpigauge.show.comparisons.compilers import compiler_lines

        lines += [""] * bool(lines) + compiler_lines(document.compilers, document.accounts)
    return lines


def limits_lines(document: Document, colour: bool = False) -> list[str]:
    """The limits of the node, and how far the headline is from them."""
    if document.limits is None:
        return []
    from mpigauge.show import limits

    head, *rest = limits.lines(document.limits)
    if not rest:
        return []
    lines = [bold(part, colour) for part in broken([head])]
    return lines + broken(rest, indent=" " * 4)


def remark_lines(document: Document, colour: bool = False) -> list[str]:
    """The legend of flags, and every sentence, broken at the width of the screen."""
    return _sentence_lines(document, document.sentences, colour)


def note_lines(document: Document, colour: bool = False) -> list[str]:
    """The legend of flags, and what every output says of numbers that are missing."""
    return _sentence_lines(document, document.notes, colour)


def _sentence_lines(document: Document, sentences: Sequence[str], colour: bool) -> list[str]:
    flags = legend(document.flagged)
    lines = wrap(f"Flags: {', '.join(flags)}", WIDTH) if flags else []
    if sentences and not flags:
        lines = ["To note:"]
    for sentence in sentences:
        lines += wrap(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ")
    return [painted(line, YELLOW, colour) for line in lines]
