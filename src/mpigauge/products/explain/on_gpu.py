# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Facts about GPUs for causes: rows beside the same in other memory, ranks with their GPUs, and the
speed of a PCIe link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.data_memory import is_on_gpu
from mpigauge.model.grouping import grouped
from mpigauge.result.models.breaks import reasons

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.model.row import Row
    from mpigauge.products.explain.falls import Fall
    from mpigauge.result.run_view import RunView

LARGE = 1 << 20
"""The size from which a message takes the time of its bytes, and hardly that of a call."""
SMALL = 1 << 10
"""The size up to which a message takes the time of a call, and hardly that of its bytes."""
_LINK = re.compile(r"([\d.]+) GT/s x(\d+)")
_OLD_CODE, _NEW_CODE = 8 / 10, 128 / 130
"""The share of the bits on a link that are data, up to 5 GT/s and from 8 GT/s on."""
_LAST_OLD = 5.0


class Twin(NamedTuple):
    """A row, and the one that differs from it in the memory of the data only."""

    row: Row
    other: Row

    @property
    def ratio(self) -> float:
        """The time of the row divided by that of the other one."""
        return self.row.latency.value / self.other.latency.value

    @property
    def is_slower(self) -> bool:
        """True if the row is slower beyond both errors; unknown errors do not stand against it."""
        return not self.row.latency.low <= self.other.latency.high and self.ratio > 1


_alike = attrgetter(*(name for name in KEY_COLUMNS if name not in ("memory", "sharing")))


def twins(view: RunView, partners: Callable[[str], Sequence[str]]) -> Iterator[Twin]:
    """Each row with the first partner that was measured. `partners`: for the memory of a row, the
    kinds beside which it is looked at."""
    rows = {(row.cell.memory, _alike(row.cell)): row for row in view.rows}
    for row in view.rows:
        for memory in partners(row.cell.memory):
            if other := rows.get((memory, _alike(row.cell))):
                yield Twin(row, other)
                break


def ranks_with_gpus(view: RunView) -> list[Rank]:
    """The ranks whose data are on a GPU; launches in which a rank had another place count again."""
    if not any(is_on_gpu(row.cell.memory) for row in view.rows):
        return []
    using = [rank for rank in view.run.ranks if rank.gpu.index >= 0]
    places = grouped(using, lambda rank: (rank.host, rank.rank, rank.gpu.bus, rank.numa))
    return [of[0] for of in places.values()]


def link_speed(link: str) -> float:
    """The bytes per second of a link such as 32.0 GT/s x16, one way; 0: it is not known."""
    match = _LINK.fullmatch(link.strip())
    if not match:
        return 0.0
    transfers, lanes = float(match[1]), int(match[2])
    code = _OLD_CODE if transfers <= _LAST_OLD else _NEW_CODE
    return transfers * 1e9 * lanes * code / 8


def knobs_at(view: RunView, fall: Fall) -> list[str]:
    """The settings of the MPI that move a break of this kind."""
    of_break = reasons(view, fall.curve, fall.as_break)
    return list(dict.fromkeys(knob for reason in of_break for knob in reason.knobs))
