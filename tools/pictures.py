# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws the pictures of README and of the documentation: of a run that is stored, and of what
others have measured.

`python tools/pictures.py` draws them, `python tools/pictures.py --check` only compares. What they
show is what the program prints and draws today.
"""

from __future__ import annotations

import os
import re
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
"""The run of `mpigauge quick` on a virtual machine of two cores, without its samples."""
COLUMNS = 80
PROGRAM = [sys.executable, "-c", "from mpigauge.cli.main import main; main()"]
DRAW = """
from mpigauge.session.run_names import open_run
from mpigauge.draw.chart import svg
from mpigauge.result.run_result import RunResult
from mpigauge.show.kinds import PLOTS, picture_of
print(svg(picture_of(PLOTS[{kind!r}], [RunResult.of("", open_run({run!r}))]).plot), end="")
"""
PRESENT = """
from mpigauge.session.run_names import open_run
from mpigauge.products.quick.present import present
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


PRINTED = "tests/golden/printed"
OF_OTHERS = {
    "epyc-placements.svg": ("latency", {
        "core": "orfeo-map-by-core", "cores-0-4": "orfeo-cpulist-0-4-partial",
        "socket": "orfeo-map-by-socket-partial", "node": "orfeo-map-by-node-ucx-ib",
        "rankfile": "orfeo-rankfile-msglog28",
    }),
    "uv-distances.svg": ("latency", {
        "cores-12-13": "ember-pingpong-fit-12-13", "cores-96-97": "ember-pingpong-fit-96-97",
        "cores-96-180": "ember-pingpong-fit-96-180",
        "cores-12-348": "ember-pingpong-fit-12-348-memnode",
        "cores-12-348-max": "ember-pingpong-fit-12-348-buffermax",
    }),
    "uv-stream.svg": ("figures", {
        "local": "ember-stream-local", "remote": "ember-stream-remote",
    }),
    "ulysses-dgemm.svg": ("figures", {
        "gcc": "ulysses-nodeperf-gcc", "icc": "ulysses-nodeperf-intel",
    }),
    "oci-pingpong.svg": ("best", {
        "openmpi": "oci-openmpi-pingpong-2node", "intel": "oci-impi-pingpong-2node",
    }),
    "oci-allreduce.svg": ("collectives", {
        "openmpi": "oci-openmpi-allreduce-144", "intel": "oci-impi-allreduce-144",
    }),
    "juno-boards.svg": ("latency", {
        "a53": "juno-a53-intranode", "a72": "juno-a72-intranode",
        "a53-to-a72": "juno-intersocket", "boards": "juno-internode",
        "boards-rdma": "juno-internode-rdmasock",
    }),
}  # fmt: skip
"""The pictures of imported results, by file name: the kind of plot, and the imported files by their
names in docs/howto/side-by-side.md."""


HEADLINE = ("latency, ", "peak bandwidth ", "message rate ")
PAGES = ("README.md", "docs/start.md", "docs/howto/install.md")
"""The pages that quote the headline of the run in quick.svg."""
_QUOTED = re.compile(
    r"(?P<mark><!-- shown: [^>]*written by tools/pictures\.py -->\n```text\n)[^`]*(?=```)"
)


def main(words: list[str]) -> int:
    lines = list(printed())
    drawn = {FOLDER / "quick.svg": terminal(lines), FOLDER / "latency.svg": plot()}
    drawn |= {FOLDER / name: of_others(kind, files) for name, (kind, files) in OF_OTHERS.items()}
    drawn |= {ROOT / name: quoted(_read(ROOT / name), lines) for name in PAGES}
    if words == ["--check"]:
        stale = [path.name for path, text in drawn.items() if _read(path) != text]
        for name in stale:
            print(f"{name} is not what is printed today; run: python tools/pictures.py")
        return 1 if stale else 0
    for path, text in drawn.items():
        path.write_text(text)
    return 0


def quoted(page: str, lines: list[str]) -> str:
    """Returns the page with the headline of these lines in its block. ValueError: it has none."""
    plain = [Text.from_ansi(line).plain.rstrip() for line in lines]
    headline = "".join(f"{line}\n" for line in plain if line.startswith(HEADLINE))
    text, blocks = _QUOTED.subn(lambda match: match["mark"] + headline, page)
    if blocks != 1 or not headline:
        raise ValueError(f"{blocks} blocks for a headline of {len(headline)} characters")
    return text


def terminal(printed_lines: list[str]) -> str:
    """Returns the output of `mpigauge quick` up to its remarks, in colour, as SVG."""
    shown = takewhile(lambda line: not line.startswith("- "), printed_lines)
    console = Console(width=COLUMNS, record=True, file=StringIO(), color_system="standard")
    screen = "\n".join(["$ mpigauge quick", *shown]).rstrip()
    console.print(Text.from_ansi(screen), highlight=False)
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
        _output_of([*PROGRAM, "plot", RUN, "latency", "-o", str(file)])
        return _without_blank_ends(file.read_text())


def of_others(kind: str, files: dict[str, str]) -> str:
    """Returns the plot of these files after `import --apart`, as SVG without the day of import."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        for name, printed_as in files.items():
            text = (ROOT / PRINTED / f"{printed_as}.txt").read_bytes()
            (there / f"{name}.txt").write_bytes(text)
        named = [str(there / f"{name}.txt") for name in files]
        run = str(there / "run")
        _output_of([*PROGRAM, "import", *named, "--apart", "--output", run])
        return _without_blank_ends(_output_of([*PROGRAM[:2], DRAW.format(run=run, kind=kind)]))


def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


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
