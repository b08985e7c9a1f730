# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Networks of several runs beside that of the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.output import write
from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.comparing import heading_of, print_comparison, share_of, sides_of
from mpigauge.model.errors import UserError
from mpigauge.model.width import as_blocks
from mpigauge.products.fabric.show_compared import blocks
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.match.only import only, read_only
from mpigauge.session.run_names import open_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.cli.runs.kinds import CompareOptions
    from mpigauge.result.compare.comparison import ComparedNumber, Overall


def compare_networks(
    words: Sequence[str], how: CompareOptions
) -> Sequence[ComparedNumber | Overall]:
    """Prints the shares, impacts and hosts of networks beside those of the first, and returns the
    verdicts. UserError: they have no number in common."""
    stored = open_runs(words, TERMINAL)
    sides = only(sides_of(stored), read_only(how.only))
    comparison = compare(sides, share_of(how.tolerance))
    if not comparison.tables:
        raise UserError(comparison.refusal)
    if how.form == "table":
        write(as_blocks([heading_of(stored, comparison.names), *blocks(comparison)]))
    else:
        print_comparison(comparison, how.form, stored)
    return list(comparison.verdicts)
