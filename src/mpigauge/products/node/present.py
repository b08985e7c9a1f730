# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The page of a node, or of several hosts side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.cli.output import screen, write
from mpigauge.cli.output.showing import show
from mpigauge.model.errors import UserError
from mpigauge.model.width import as_blocks
from mpigauge.products.node.cluster import show as of_cluster
from mpigauge.products.node.cluster.result import by_ranks, cluster
from mpigauge.products.node.show import page
from mpigauge.products.node.show_limits import sections
from mpigauge.result.document import document
from mpigauge.result.node.detours import cores
from mpigauge.result.node.limits import memory_levels
from mpigauge.result.node.node import node
from mpigauge.result.node.products import counter_hz
from mpigauge.show.comparisons.compilers import compiler_lines
from mpigauge.site.topology.stored import stored as as_it_was

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.store import Run


def present(stored: Run, as_json: bool) -> None:
    """Prints the page of a node, or the JSON that `mpigauge show` prints of any run. UserError: the
    run is about no node."""
    lines = page_of(stored)
    if as_json:
        show(stored, "json")
    else:
        write(as_blocks([lines]))


def page_of(stored: Run) -> Sequence[str]:
    """The output of `mpigauge node` for one machine, or for several hosts side by side. UserError:
    the run is about no node."""
    shown = document(stored)
    if hosts := cluster(shown.rows, by_ranks(stored.ranks)):
        return list(of_cluster.page(shown, hosts, screen().coloured))
    seen = node(shown.rows, counter_hz(stored))
    if seen is None:
        raise UserError(
            f"{stored.path} holds no benchmark of the suite NODE; `mpigauge node` measures them"
        )
    seen = replace(seen, cache_bytes=largest_cache(stored))
    more = list(sections(memory_levels(shown.rows), cores(stored.noise, stored.ranks)))
    if shown.compilers:
        more.insert(0, compiler_lines(shown.compilers, shown.accounts))
    if missing := left_out(stored):
        more.append([f"Left out for want of time (--time): {', '.join(missing)}"])
    return list(page(shown, seen, screen().coloured, more))


def largest_cache(stored: Run) -> int:
    """The largest cache of the machine in the passport, in bytes; 0: not known."""
    try:
        machine = as_it_was(stored.passport.get("machine") or {})
    except (KeyError, TypeError):
        return 0
    return max((cache.bytes for cache in machine.caches), default=0)


def left_out(stored: Run) -> list[str]:
    """Benchmarks of a plan that keeps to its time, for which none was left."""
    if not stored.plan.get("strict"):
        return []
    measured = {cell.benchmark for cell in stored.cells}
    measured |= {str(skip.key.get("benchmark", "")) for skip in stored.skips}
    planned = [name for part in stored.plan.get("parts") or () for name in part["benchmarks"]]
    bare = dict.fromkeys(str(name).rpartition(":")[2] for name in planned)
    return [name for name in bare if name not in measured]
