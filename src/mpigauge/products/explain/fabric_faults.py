# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Faults that hosts show while all communicate at once, for the causes that are about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.result.fabric.blame_words import confidence, numbers_of, subject
from mpigauge.result.fabric.fabric import fabric_of
from mpigauge.result.finding import Finding

if TYPE_CHECKING:
    from mpigauge.result.fabric.blame import Account
    from mpigauge.result.run_view import RunView

_MEMO = "faults of the network"


def faults(
    view: RunView, kinds: tuple[str, ...], likely: str, attempts: tuple[str, ...]
) -> Iterator[Finding]:
    """The faults of these kinds as findings."""
    account = _account(view.whole or view)
    if account is None:
        return
    for each in account.accusations:
        if each.kind in kinds:
            yield Finding(
                what=f"{subject(each)} is slow while all hosts communicate: {numbers_of(each)}",
                likely=likely,
                evidence=(confidence(each),),
                attempts=attempts,
            )


def _account(view: RunView) -> Account | None:
    """The faults of a run; None: it is of no network."""
    if _MEMO not in view.memo:
        fabric = fabric_of(view.run, view.rows)
        view.memo[_MEMO] = fabric.account if fabric and fabric.pairings else None
    account: Account | None = view.memo[_MEMO]
    return account
