# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cards of the benchmarks that other programs print, and the traffic for their bandwidth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.stored_cards import all_cards

if TYPE_CHECKING:
    from mpigauge.model.cards import Card, Cards

SUITES_OF_OTHERS = ("MPI1", "EXT", "IO", "NBC", "RMA", "MPI4", "MT", "P2P", "HALO", "NCCL")
PROGRAMS_OF_OTHERS = ("mpi_latency", "ping_pong", "Message_rate")


@cache
def known_cards() -> Cards:
    """The cards of the benchmarks that other programs also print."""
    cards = all_cards()
    theirs = []
    for card in cards:
        if card.suite in SUITES_OF_OTHERS or card.name in PROGRAMS_OF_OTHERS:
            theirs.append(card)
    return replace(cards, benchmarks=tuple(theirs))


@cache
def card_of(suite: str, name: str) -> Card | None:
    """The card of this benchmark, ignoring case, or None."""
    return known_cards().get(f"{suite}:{name}")


class Traffic(NamedTuple):
    """The traffic in one printed time: bytes per byte of message, and messages."""

    bytes_per_message: float
    messages: float


def traffic(
    card: Card, ranks: int, inflight: int = 1, threads: int = 1, dimensions: int = 1
) -> Traffic:
    """The traffic of a benchmark, as the cards of the kernels define it (`moved` and `messages` in
    kernels/suites)."""
    pairs = ranks // 2
    if card.suite == "P2P":
        return _same(pairs if card.name == "PingPong" else _P2P.get(card.name, 1) * ranks)
    if card.suite == "MT":
        under_way = inflight * pairs if card.columns == "timed_band" else 1
        return _same(_MT.get(card.name, 0) * threads * under_way)
    if card.suite == "HALO":
        return _same(4 * dimensions * threads)
    if card.suite == "IO":
        return Traffic(float(card.columns in ("single", "parallel")), 0)
    if card.name in _BANDS:
        return _same(_BANDS[card.name] * pairs * inflight)
    if card.name in _TO_ALL:
        return _same(ranks - 1)
    return _same(_FACTOR.get(card.name, float(card.columns in _ONE_MESSAGE)))


def _same(count: float) -> Traffic:
    return Traffic(float(count), float(count))


_ONE_MESSAGE = ("single", "passive", "band", "timed_band", "rate")
"""Kinds of tables whose benchmarks send one message by default."""
_FACTOR = {"Sendrecv": 2.0, "Exchange": 4.0}
_BANDS = {"Uniband": 1, "Biband": 2}
_TO_ALL = ("One_put_all", "One_get_all", "Put_all_local", "Get_all_local")
_P2P = {"Birandom": 2, "Stencil2D": 4, "Stencil3D": 6}
_MT = {
    "PingPongMT": 1, "PingPingMT": 1, "SendRecvMT": 2, "ExchangeMT": 4, "UniBandMT": 1,
    "BiBandMT": 2,
}  # fmt: skip
