# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sentences about hosts, links, groups and routes that are slow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import first_few, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.result.fabric.blame import Accusation
    from mpigauge.result.fabric.fabric import Fabric

_ALIKE = 1.05
_MOST_CONFIDENCE = 0.9999


def sentences(fabric: Fabric) -> Iterator[str]:
    """A sentence for each fault, or one that no host, link or group is slower."""
    account = fabric.account
    if account.why:
        yield f"UNDECIDED who is slow: {account.why}"
        return
    for each in account.accusations:
        yield f"SLOW: {verdict(each)} ({confidence(each)})"
    if not account.accusations:
        yield f"no host, link or group of {many(len(fabric.hosts), 'host')} is slower than others"


def verdict(accusation: Accusation) -> str:
    """The fault with its numbers."""
    return f"{subject(accusation)}, {numbers_of(accusation)}"


def subject(accusation: Accusation) -> str:
    """The host, link, group or route."""
    hosts, groups = accusation.hosts, accusation.groups
    if accusation.kind in ("pair", "stall") and len(hosts) == 2:
        return f"the link of {hosts[0]} and {hosts[1]}"
    if accusation.kind == "collision":
        pairs = (f"{a} – {b}" for a, b in zip(hosts[::2], hosts[1::2], strict=True))
        return f"routes that collide: {first_few(pairs)} in one permutation"
    words = {
        "host": f"host {first_few(hosts)}",
        "stall": f"host {first_few(hosts)}",
        "tail": f"host {first_few(hosts)} now and then",
        "groups": f"the link between {' and '.join(groups)}",
        "uplink": f"the uplink of {' and '.join(groups)}",
        "crossing": "links between groups",
        "switch": f"the switch of {' and '.join(groups)} for {first_few(hosts)}",
    }
    return words[accusation.kind]


def numbers_of(accusation: Accusation) -> str:
    ratio = accusation.ratio
    if accusation.kind == "tail":
        return f"{ratio.value:.3g} times as often in the slow tail as by chance"
    words = f"others have {ratio.value:.3g} times its bandwidth"
    if accusation.kind == "stall":
        words = f"short messages take {ratio.value:.3g} times as long as those of others"
    if math.isfinite(ratio.low):
        words += f" ({ratio.low:.3g} to {ratio.high:.3g})"
    alone = accusation.alone
    if not math.isfinite(alone):
        return words
    if alone < _ALIKE:
        return f"{words}, alone it is as fast as they are"
    return f"{words}, alone {alone:.3g} times"


def confidence(accusation: Accusation) -> str:
    """The confidence in percent, with the rounds."""
    share = min(accusation.confidence, _MOST_CONFIDENCE)
    sign = ">" if accusation.confidence > _MOST_CONFIDENCE else ""
    return f"confidence {sign}{100 * share:.4g} %, {many(accusation.rounds, 'round')}"
