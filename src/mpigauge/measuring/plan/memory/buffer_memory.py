# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words of --memory: the kinds of memory for buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.sizes import parse_bytes
from mpigauge.model.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HOST, PINNED, DEVICE, MANAGED = KINDS = ("host", "pinned", "device", "managed")
ON_GPU = frozenset({DEVICE, MANAGED})
"""Kinds that the CPU of an MPI without GPU support must not touch, or moves when it does."""
_SIDES = ":"
_MEANT: Mapping[str, str] = {
    "gpu": DEVICE, "cuda": DEVICE, "hbm": DEVICE, "d": DEVICE, "vram": DEVICE,
    "h": HOST, "cpu": HOST, "system": HOST, "pageable": HOST, "malloc": HOST, "ram": HOST,
    "m": MANAGED, "md": MANAGED, "mh": MANAGED, "shared": MANAGED, "unified": MANAGED,
    "um": MANAGED, "locked": PINNED, "page-locked": PINNED, "pin": PINNED,
}  # fmt: skip
"""Kinds by the words of other programs."""


def read_memory(texts: Iterable[str]) -> tuple[str, ...]:
    """The kinds in the words of --memory, each once; two that are alike are one. UserError: a word
    is no kind."""
    kinds = [_kind(word.strip(), text) for text in texts for word in text.split(",")]
    return tuple(dict.fromkeys(kinds))


def split_sizes(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that name kinds, and those that are sizes: --memory 2G is the old form of
    --memory-limit 2G."""
    kinds: list[str] = []
    sizes: list[str] = []
    for text in texts:
        words = text.split(",")
        limits = [word for word in words if word.strip()[:1].isdigit()]
        sizes += limits
        if len(limits) < len(words):
            kinds.append(",".join(word for word in words if word not in limits))
    return tuple(kinds), tuple(sizes)


def memory_options(texts: Sequence[str], limit: str) -> dict[str, object]:
    """The kinds and the limit of --memory and --memory-limit. UserError: a word is invalid, or the
    limit is named twice."""
    kinds, sizes = split_sizes(texts)
    options: dict[str, object] = {}
    if kinds:
        options["memory"] = read_memory(kinds)
    if len({*sizes, limit} - {""}) > 1:
        both = listed([*(f"--memory {size}" for size in sizes), *([limit] if limit else [])])
        raise UserError(f"--memory-limit: {both} limit the same; name one size")
    if text := limit or (sizes[0] if sizes else ""):
        option = "--memory-limit" if limit else "--memory"
        options["memory_limit"] = parse_bytes(text, f"{option}: '{text}'")
    return options


def sides(kind: str) -> tuple[str, str]:
    """The kinds of rank 0 and of rank 1 of a pair."""
    first, _, second = kind.partition(_SIDES)
    return first, second or first


def has_two_sides(kind: str) -> bool:
    return _SIDES in kind


def is_on_gpu(kind: str) -> bool:
    """True if a GPU holds the buffers of at least one side."""
    return not ON_GPU.isdisjoint(sides(kind))


def needs_driver(kind: str) -> bool:
    """True if the driver of a GPU allocates the buffers of at least one side."""
    return set(sides(kind)) != {HOST}


def _kind(word: str, text: str) -> str:
    names = [name.strip().lower() for name in word.split(_SIDES)]
    if len(names) > 2:
        raise UserError(
            f"--memory: '{word}' has {len(names)} sides, and a pair has two: {names[0]}:{names[1]}"
        )
    if len(names) == 2 and not all(names):
        raise UserError(
            f"--memory: '{word}' lacks a side; write both, such as device:host, or one word for "
            "all ranks"
        )
    if not names[0]:
        raise UserError(f"--memory: a word of '{text}' is empty; write {_all_kinds()}")
    for name in names:
        if name not in KINDS:
            raise UserError(f"--memory: there is no memory '{name}'{_hint(name)}")
    if len(names) == 1 or names[0] == names[1]:
        return names[0]
    return _SIDES.join(names)


def _hint(name: str) -> str:
    if meant := _MEANT.get(name):
        return f"; did you mean '{meant}'?"
    return did_you_mean(name, KINDS) or (
        f"; write {_all_kinds()} (a size belongs to --memory-limit)"
    )


def _all_kinds() -> str:
    return f"{listed(KINDS, 'or')}, or two of them as device:host"
