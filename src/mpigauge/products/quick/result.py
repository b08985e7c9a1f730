# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The errors of a machine's numbers at other times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpigauge.result.stats.order import median

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.row import Row


class MachineErrors(NamedTuple):
    """The variation of numbers on their machine at other times, as shares of them."""

    middle: float
    most: float


def machine_errors(rows: Iterable[Row]) -> MachineErrors | None:
    """The errors of these rows; None: the machine has no history."""
    errors = [row.machine_error for row in rows if row.scatter]
    if not errors:
        return None
    return MachineErrors(median(errors), max(errors))
