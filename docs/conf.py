# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How Sphinx makes the site out of these pages: `python -m sphinx -W docs build/site`.

Pages are plain Markdown. `<!-- generated: NAME -->` in a page becomes what tools/reference.py makes
of the program's own registries, so it cannot be out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.reference import PARTS

project = "mpigauge"
author = "the mpigauge authors"
copyright = author  # noqa: A001
release = mpigauge.__version__
language = "en"

extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
exclude_patterns = ["decisions/README.md"]
highlight_language = "none"
nitpicky = True
smartquotes = False

html_theme = "furo"
html_title = "mpigauge"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_js_files = ["site.js"]

_MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def _fill(_: Sphinx, __: str, text: list[str]) -> None:
    text[0] = _MARK.sub(lambda mark: PARTS[mark[1]](), text[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
