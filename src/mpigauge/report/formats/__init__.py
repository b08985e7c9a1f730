# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One file for each word of --format: `ABOUT` and `render(document, screen) -> str`.

A format that shows only pairs of ranks (`mpigauge map` measures them) says so with `PAIRS = True`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.screen import PLAIN

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.report.document import Document


def names() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__))


def for_any_run() -> list[str]:
    """Those that do not need pairs of ranks."""
    return [name for name in names() if not getattr(_module(name), "PAIRS", False)]


def about(name: str) -> str:
    return str(_module(name).ABOUT)


def render(name: str, document: Document, screen: Screen = PLAIN) -> str:
    """The document as text of this format, with a newline at its end."""
    if name not in names():
        hint = did_you_mean(name, names()) or f"; there are {', '.join(names())}"
        raise UserError(f"there is no format '{name}'{hint}")
    text: str = _module(name).render(document, screen)
    return text


def _module(name: str) -> ModuleType:
    return import_module(f"{__name__}.{name}")
