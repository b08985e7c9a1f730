# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of formats: a file of `ABOUT` and `render(document, screen)` for each.

A format that shows only pairs of ranks (`mpigauge map` measures them) says so with `PAIRS = True`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from mpigauge.model.registry import Registry
from mpigauge.model.screen import PLAIN

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document


@dataclass(frozen=True)
class Format:
    name: str
    about: str
    only_pairs: bool
    """True if it shows only pairs of ranks."""
    render: Callable[[Document, Screen], str]
    """The document as text, with a newline at its end."""


def _format(name: str, module: ModuleType) -> Format:
    return Format(name, module.ABOUT, getattr(module, "PAIRS", False), module.render)


FORMATS = Registry[Format]("format", __name__, make_entry=_format)


def for_any_run() -> list[str]:
    """The names of formats that do not need pairs of ranks."""
    return [name for name, each in FORMATS.items() if not each.only_pairs]


def render(name: str, document: Document, screen: Screen = PLAIN) -> str:
    """The document as text of this format. UserError: there is no such format."""
    return FORMATS.find(name).render(document, screen)
