# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Messages that arrive different from what was sent: nothing else counts then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.needs import FACT
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY, CALLING, nature_of
from mpigauge.result.stats.remarks import name_cells, wrong_data

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "wrong-data", "messages that arrive with other data than the sender's", of=ANY, sure_from=FACT
)
def look(view: RunView) -> Iterator[Finding]:
    wrong = [row for row in view.rows if row.wrong_count]
    by_mpi = any(nature_of(row).does in CALLING for row in wrong)
    if wrong:
        yield Finding(
            what=f"{name_cells(wrong)}: {wrong_data(sum(row.wrong_count for row in wrong))}",
            likely=(
                "a fault of the MPI, of what carries its messages, or of the memory"
                if by_mpi
                else "a fault of the memory or of the processor"
            )
            + "; no time of these operations means anything",
            evidence=("every element was compared with the sender's, in an untimed call",),
            attempts=(
                (
                    "measure again with another transport (`mpigauge mpi transports`, "
                    "--transport) and with another MPI (--mpi), to see which of them is wrong"
                )
                if by_mpi
                else "measure again on other cores and on another machine",
            ),
            void=True,
        )
