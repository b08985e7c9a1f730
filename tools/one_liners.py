# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The lines that install mpigauge, as README and docs/howto/install.md show them.

UPLOADED is the one place that says whether a package index has it. `python tools/one_liners.py`
writes the lines into the pages, `--check` only compares. A test runs them on a wheel.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

UPLOADED = False
"""True after the first upload; before it people are shown the file of the release."""
NAME = "mpigauge"
FILE = "./mpigauge-*-manylinux_2_17_x86_64.whl"
ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/howto/install.md")
_BLOCK = re.compile(r"(?P<mark><!-- not run: [^>]*tools/one_liners\.py -->\n```\n)[^`]*(?=```)")


def lines(source: str) -> list[str]:
    """Returns a line for each installer; `source` is the package to install."""
    run = "uvx mpigauge" if source == NAME else f"uvx --from {source} mpigauge"
    return [f"pipx install {source}", f"uv tool install {source}", f"{run} quick"]


def written(page: str) -> str:
    """The page with these lines in its block."""
    text = "".join(f"{line}\n" for line in lines(NAME if UPLOADED else FILE))
    new, blocks = _BLOCK.subn(lambda match: match["mark"] + text, page)
    if blocks != 1:
        raise ValueError(f"{blocks} blocks for the lines of tools/one_liners.py, not one")
    return new


def main(arguments: list[str]) -> int:
    old = [ROOT / page for page in PAGES if written(text_of(page)) != text_of(page)]
    for path in old:
        if "--check" not in arguments:
            path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{path.relative_to(ROOT)} shows other lines than tools/one_liners.py")
    return 1 if old and "--check" in arguments else 0


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
