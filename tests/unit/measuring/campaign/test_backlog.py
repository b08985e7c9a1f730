# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bookkeeping waits for the next launch, and stops when that measures."""

from __future__ import annotations

from mpigauge.measuring.campaign.backlog import Backlog


def test_tasks_are_done_in_their_order_and_once() -> None:
    done: list[int] = []
    backlog = Backlog()
    for number in range(3):
        backlog.add(lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == []
    backlog.work()
    backlog.work()
    assert done == [0, 1, 2]


def test_what_is_unfinished_waits() -> None:
    done: list[str] = []
    backlog = Backlog()
    backlog.add(lambda: done.append("first"))
    backlog.add(lambda: done.append("second"))
    backlog.work(lambda: not done)
    assert done == ["first"]
    backlog.work()
    assert done == ["first", "second"]
