# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Maps the titles of OSU's tests to benchmarks."""

from __future__ import annotations

import re
from functools import lru_cache

from mpigauge.model.cards import FIRST_SUITE, Card
from mpigauge.runs.readers.known import card_of
from mpigauge.runs.readers.nccl_cards import name_of_call, nccl_card

SUITE = "OSU"
"""The suite of tests that mpigauge does not have in the same form."""
_PAIRS = {
    "Latency": "PingPong",
    "Bandwidth": "Uniband",
    "Bi-Directional Bandwidth": "Biband",
    "Multiple Bandwidth / Message Rate": "Uniband",
}
_CALLS = {
    "All-to-All": "Alltoall", "All-to-All Personalized Exchange": "Alltoall",
    "All-to-Allv": "Alltoallv", "All-to-Allv Personalized Exchange": "Alltoallv",
    "All-to-All Personalized Exchange v": "Alltoallv", "Broadcast": "Bcast",
}  # fmt: skip
_COLLECTIVE = re.compile(r"(?P<pure>Non-[Bb]locking )?(?P<call>.+) Latency")
_OF_TWO_RANKS = re.compile(
    r"Put|Get|Acc|Fetch|Compare|Partitioned|Multi-(?:threaded|process) "
    r"|(?:Latency|Bandwidth|Bi-Directional Bandwidth) Persistent"
)
"""Tests between two ranks: one-sided ones, and variants of latency and bandwidth."""
FAMILIES = (("Overall", "overlap"), ("Messages/s", "band"), ("MB/s", "band"), ("Size", "single"))


@lru_cache(maxsize=256)
def nccl_card_of_title(title: str) -> Card:
    """The card of a test of NCCL, or of RCCL, which has the same calls."""
    if title in _PAIRS:
        pair = card_of(FIRST_SUITE, _PAIRS[title])
        assert pair
        return nccl_card(pair.name, pair.time, pair.columns)
    match = _COLLECTIVE.fullmatch(title)
    call = match["call"] if match else title
    return nccl_card(name_of_call(_CALLS.get(call, call)))


@lru_cache(maxsize=1024)
def card_of_title(title: str, heads: tuple[str, ...]) -> Card:
    """The card of a test. `title` is the text between MPI and Test: Latency, Non-blocking Allreduce
    Latency."""
    if title in _PAIRS:
        card = card_of(FIRST_SUITE, _PAIRS[title])
    elif match := _COLLECTIVE.fullmatch(title):
        call = _CALLS.get(match["call"], match["call"])
        suite, name = ("NBC", f"I{call.lower()}") if match["pure"] else (FIRST_SUITE, call)
        card = card_of(suite, name)
    else:
        card = None
    return card or _other(title, heads)


def _other(title: str, heads: tuple[str, ...]) -> Card:
    joined = " ".join(heads)
    return Card(
        suite=SUITE,
        name=re.sub(r"\W+", "_", title).strip("_"),
        about=f"OSU's {title} Test",
        ranks="pair" if _OF_TWO_RANKS.match(title) else "any",
        time="call",
        unit="transfer" if "Size" in heads else "none",
        sync="none",
        rooted=False,
        by_default=False,
        columns=next((family for word, family in FAMILIES if word in joined), "barrier"),
    )
