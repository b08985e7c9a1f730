# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints the contents of a new bundle, and what to do with it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import memory

if TYPE_CHECKING:
    from mpigauge.products.bundle.making import Bundle


def lines(bundle: Bundle) -> Iterator[str]:
    """The parts with their sizes, what a node must have, and three lines for a shell there."""
    yield f"{bundle.file}, {memory(bundle.file.stat().st_size)}, holds"
    for part in bundle.parts:
        size = f"{memory(part.bytes):>10}  "
        yield textwrap.fill(part.about, 90, initial_indent=size, subsequent_indent=" " * len(size))
    yield f"It needs {bundle.needs.words}; the programs like IMB's need no Python,"
    yield f"and glibc {bundle.glibc} or later. On another machine:"
    yield ""
    yield f"  scp {bundle.file} NODE: && ssh NODE"
    yield f"  tar -xf {bundle.file.name}"
    for line in bundle.how_to_run:
        yield f"  {line}"
