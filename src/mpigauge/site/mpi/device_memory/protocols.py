# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The protocols that UCX used for messages, as it reports them at the end of a launch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

ASK = {"UCX_PROTO_INFO": "used"}
"""The variable that makes UCX report them; for launches that are not timed."""
_CELL = re.compile(r"\s*\|\s*")
_STARTS = ("tagged message by ", "active message by ", "remote memory ")
"""Beginnings of headings about whole messages; others are about their steps."""


def used_protocols(lines: Iterable[str]) -> tuple[str, ...]:
    """Returns a line for each kind of message and range of sizes that was sent, each once:
    "from cuda/GPU0, 4875 B and more: rendezvous zero-copy read from remote, by cuda_ipc/cuda"."""
    return tuple(dict.fromkeys(_protocols(lines)))


def _protocols(lines: Iterable[str]) -> Iterator[str]:
    origin = ""
    for line in lines:
        _, bar, row = line.partition("|")
        cells = _CELL.split(row.strip().removesuffix("|").strip())
        if not bar or len(cells) not in (1, 4):
            continue
        if len(cells) == 1 and not cells[0].startswith("ucp_context"):
            is_message = cells[0].startswith(_STARTS)
            origin = cells[0].rpartition(" from ")[2] if is_message else ""
        elif len(cells) == 4 and origin and cells[0].isdecimal() and int(cells[0]):
            sizes, protocol, transport = cells[1], cells[2].removeprefix("(?) "), cells[3]
            yield f"from {origin}, {_sizes(sizes)}: {protocol}, by {transport}"


def _sizes(words: str) -> str:
    first, _, last = words.partition("..")
    if last == "inf":
        return f"{first} B and more"
    return f"{first} to {last} B" if last else f"{first} B"
