# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws the pictures of README and of the documentation's first page, of a run that is stored.

`python tools/pictures.py` draws them, `python tools/pictures.py --check` only compares. What they
show is what the program prints and draws today.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from itertools import takewhile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "_static"
RUN = "tests/data/quick.mpigauge"
"""Of `mpigauge quick` on a virtual machine of two cores, without its samples."""
COLUMNS = 80
PRESENT = """
from mpigauge.cli.run_names import open_run
from mpigauge.features.quick.command import present
present(open_run({run!r}))
"""
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>What mpigauge quick prints</title>
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect fill="#272822" width="100%" height="100%" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main(words: list[str]) -> int:
    drawn = {"quick.svg": terminal(), "latency.svg": plot()}
    if words == ["--check"]:
        stale = [name for name, text in drawn.items() if (FOLDER / name).read_text() != text]
        for name in stale:
            print(f"{name} is not what is printed today; run: python tools/pictures.py")
        return 1 if stale else 0
    for name, text in drawn.items():
        (FOLDER / name).write_text(text)
    return 0


def terminal() -> str:
    """What `mpigauge quick` prints up to its remarks, with its colours, as SVG."""
    lines = ["$ mpigauge quick", *takewhile(lambda line: not line.startswith("- "), printed())]
    console = Console(width=COLUMNS, record=True, file=StringIO(), color_system="standard")
    console.print(Text.from_ansi("\n".join(lines).rstrip()), highlight=False)
    svg = console.export_svg(theme=MONOKAI, code_format=FRAME, unique_id="terminal")
    return _without_blank_ends(svg)


def printed() -> Iterator[str]:
    """The lines of a terminal of 80 columns."""
    words = [sys.executable, "-c", PRESENT.format(run=RUN)]
    yield from _output_of(words, FORCE_COLOR="1", COLUMNS="80", TERM="xterm").splitlines()


def plot() -> str:
    """Times over message size, as `mpigauge plot` draws them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "latency.svg"
        program = "from mpigauge.cli.main import main; main()"
        _output_of([sys.executable, "-c", program, "plot", RUN, "latency", "-o", str(file)])
        return _without_blank_ends(file.read_text())


def _output_of(words: list[str], **more: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "src"),
        "LC_ALL": "C.UTF-8",
        **more,
    }
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def _without_blank_ends(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
