# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The kinds of memory that hold the data of a message: the one vocabulary of the column `memory`.

Other programs have words of their own. Readers translate them, and runs that were imported before
the vocabulary existed are translated when they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.column_facts import OF_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMN = "memory"
HOST, PINNED, DEVICE, MANAGED = KINDS = OF_NAME[COLUMN].values
"""host: ordinary memory; pinned: host memory that the GPU's driver has locked; device: memory of a
GPU; managed: memory whose pages move between both."""
OF_IMB_GPU: Mapping[str, str] = {
    "device": DEVICE, "host": PINNED, "shared": MANAGED, "cpu": HOST
}  # fmt: skip
"""Kinds of memory by the words of IMB's `-mem_alloc_type`."""
_BETWEEN = ">"
_OF_OLD_IMPORTS: Mapping[str, str] = {
    "cpu": HOST, "shared": MANAGED, "managed-device": MANAGED, "managed-host": MANAGED,
}  # fmt: skip
"""Kinds by words that are stored in older imports; all other words are interfaces to GPUs."""


def of_sides(first: str, second: str) -> str:
    """The memory of two sides; A>B if they differ."""
    return first if first == second else f"{first}{_BETWEEN}{second}"


def as_stored(text: str) -> str:
    """A kind as users write it: A:B is A>B, which shells would take for a redirection."""
    first, colon, second = text.partition(":")
    return of_sides(first, second) if colon else text


def is_kind(memory: str) -> bool:
    """True for a kind, and for two kinds as A>B."""
    words = memory.split(_BETWEEN)
    return len(words) <= 2 and set(words) <= set(KINDS)


def sides(memory: str) -> tuple[str, str]:
    """The memory of rank 0 and of rank 1, or of the sender and the receiver."""
    first, _, second = memory.partition(_BETWEEN)
    return first, second or first


def is_on_gpu(memory: str) -> bool:
    """True if a GPU holds the data of at least one side."""
    return DEVICE in sides(memory) or MANAGED in sides(memory)


def translated(memory: str) -> str:
    """The word of the vocabulary for one that an older import stored."""
    first, second = sides(memory)
    return of_sides(_translated_side(first), _translated_side(second))


def _translated_side(word: str) -> str:
    return word if word in KINDS else _OF_OLD_IMPORTS.get(word, DEVICE)
