# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The numbers of a run as files inside of its page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.units import memory
from mpigauge.show.formats import render

if TYPE_CHECKING:
    from mpigauge.result.run_result import RunResult

MOST_BYTES = 1_000_000
MOST_ROWS = 5_000
_FORMS = (
    ("csv", "text/csv", " as CSV"),
    ("json", "application/json", ", with names and units, as JSON"),
)


class Download(NamedTuple):
    title: str
    file: str
    href: str
    """Empty: it is too large for a page."""
    why: str = ""


def downloads(shown: RunResult) -> Iterator[Download]:
    of = "The rows of this part" if shown.run.part else "All rows"
    for form, kind, more in _FORMS:
        file, title = f"{shown.name}.{form}", f"{of}{more}"
        if len(shown.document.rows) > MOST_ROWS:
            yield Download(title, file, "", _too_large(f"{len(shown.document.rows)} rows", form))
            continue
        text = render(form, shown.document).encode(errors="backslashreplace")
        if len(text) > MOST_BYTES:
            yield Download(title, file, "", _too_large(memory(len(text)), form))
            continue
        data = base64.b64encode(text).decode()
        words = f"{title} ({memory(len(text))})"
        yield Download(words, file, f"data:{kind};charset=utf-8;base64,{data}")


def _too_large(what: str, form: str) -> str:
    return f"{what} are too much for a page; `mpigauge export {form} RUN -o FILE` writes them."
