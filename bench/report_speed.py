#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long does a report of very many rows take to make, how large is it, and is it smooth?

The runs are made up: ten benchmarks of 24 sizes under as many settings as are needed, each cell a
record of 1.2 KB. Making the page is timed from the start of the command to its end. Where there is
Chromium (Debian's package) and Playwright, the page is opened in it, and the first paint and every
kind of interaction up to its next frame are timed; --pages FOLDER keeps the pages, --open PAGE
times one that is there. Exit status: 0 all promises are kept, 1 some are not, 2 could not be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PROMISE = "a million cells in 10 s; first paint below 2 s, each interaction below 0.1 s"
CHROMIUM = Path("/usr/bin/chromium")
NAMES = ("PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Bcast", "Alltoall", "Reduce",
         "Allgather", "Gather")  # fmt: skip
SIZES = (0, *(1 << i for i in range(23)))
CELLS = (1_000, 10_000, 100_000, 1_000_000)
MOST_MAKING_S = 10.0
MOST_PAINT_S = 2.0
MOST_INTERACTION_S = 0.1
_NEXT_FRAME = "await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));"
INTERACTIONS = {
    "find by words": (
        "const i = document.querySelector('.find input'); i.value = 'bcast x=1'; "
        "i.dispatchEvent(new Event('input'));"
    ),
    "show a curve": (
        "const s = document.querySelector('.find select'); s.selectedIndex = 3; "
        "s.dispatchEvent(new Event('change'));"
    ),
    "switch a curve off": "document.querySelector('.switches input').click();",
    "point at a plot": (
        "const p = document.querySelector('#curves .plot').getBoundingClientRect(); "
        "document.querySelector('#curves .plot').dispatchEvent(new PointerEvent('pointermove', "
        "{clientX: p.x + 300, clientY: p.y + 200, bubbles: true}));"
    ),
    "unfold a table": "document.querySelector('#numbers summary').click();",
    "scroll to the end": "scrollTo(0, document.body.scrollHeight);",
}
"""The interactions of a reader, as JavaScript."""


class Made(NamedTuple):
    cells: int
    seconds: float
    cpu_s: float
    memory_bytes: int
    page: Path


def write_run(folder: Path, cells: int, launches: int = 1) -> None:
    """Writes a run with about this number of cells."""
    from tests import cells as made_up
    from tests import planted, runs

    arms = max(1, round(cells / launches / len(NAMES) / len(SIZES)))
    first = [runs.launch(0), *(runs.rank(number) for number in range(2))]
    runs.write(folder, first)
    (folder / "passport.json").write_text(json.dumps({"machine": planted.LAPTOP}))
    with (folder / "records.jsonl").open("a", encoding="utf-8") as file:
        for number in range(launches):
            for line in _lines(number, arms):
                file.write(line + "\n")
            file.write(made_up.end(number) + "\n")


def _lines(launch: int, arms: int) -> Iterator[str]:
    from tests import cells as made_up

    for arm in range(arms):
        for name in NAMES:
            fields = made_up.fields(name, launch=launch, arm=f"X={arm}" if arm else "")
            times = [c for c in fields if c.startswith("time_") and c.endswith("_s") and fields[c]]
            for size in SIZES:
                time_s = (1e-6 + 1e-10 * size) * (1 + (arm * 37 + size) % 101 / 500)
                fields |= dict.fromkeys(times, time_s * (2 if size > 8192 else 1))
                fields |= {"message_bytes": size, "moved_bytes": float(size)}
                fields |= {"ci_low_s": time_s * 0.99, "ci_high_s": time_s * 1.01}
                yield json.dumps({"record": "cell"} | fields, separators=(",", ":"))


def make_page(run: Path, page: Path, cells: int) -> Made:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [common.MPIGAUGE, "report", str(run), "-o", str(page)], check=True, capture_output=True
    )
    took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Made(cells, took, cpu, after.ru_maxrss * 1024, page)


def opened(page: Path, rounds: int) -> dict[str, float]:
    """Seconds to the first paint and of each interaction, medians over rounds. ImportError: there
    is no Playwright."""
    from playwright.sync_api import sync_playwright

    samples: dict[str, list[float]] = {}
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for _ in range(rounds):
            view = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
            view.goto(page.resolve().as_uri())
            paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            samples.setdefault("first paint", []).append(view.evaluate(paint) / 1e3)
            if view.query_selector(".find"):
                view.focus(".find input")
                view.wait_for_selector(".find option", state="attached")
            for name, act in INTERACTIONS.items():
                timed = (
                    f"async () => {{ const from = performance.now(); {act} {_NEXT_FRAME} "
                    "return performance.now() - from; }"
                )
                if name.split()[0] not in ("find", "show") or view.query_selector(".find"):
                    samples.setdefault(name, []).append(view.evaluate(timed) / 1e3)
            view.close()
    return {name: median(times) for name, times in samples.items()}


def is_smooth(seconds: dict[str, float]) -> bool:
    others = {name: took for name, took in seconds.items() if name != "first paint"}
    return seconds["first paint"] < MOST_PAINT_S and max(others.values()) < MOST_INTERACTION_S


def table(seconds: dict[str, float]) -> Iterator[str]:
    for name, took in seconds.items():
        yield f"  {name:<20} {took * 1e3:8.1f} ms"


def run(sizes: tuple[int, ...], launches: int, rounds: int, keep: Path | None) -> int:
    good, figures = True, ""
    print(common.machine())
    print(f"{'cells':>9} {'made in s':>10} {'CPU s':>7} {'memory MB':>10} {'page kB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for cells in sizes:
            common.say_progress(f"making a run of {cells} cells")
            path = Path(folder) / f"run-{cells}"
            write_run(path, cells, launches)
            common.end_progress()
            made = make_page(path, (keep or Path(folder)) / f"report-{cells}.html", cells)
            good = good and made.seconds < MOST_MAKING_S
            figures = f"{cells} cells in {made.seconds:.1f} s"
            kilobytes = made.page.stat().st_size / 1e3
            print(
                f"{cells:>9} {made.seconds:>10.2f} {made.cpu_s:>7.2f} "
                f"{made.memory_bytes / 1e6:>10.0f} {kilobytes:>8.0f}"
            )
            if CHROMIUM.exists():
                seen = opened(made.page, rounds)
                print("\n".join(table(seen)))
                good = good and is_smooth(seen)
                figures += f", first paint {seen.pop('first paint'):.2f} s"
                figures += f", interactions at most {max(seen.values()):.3f} s"
    if not CHROMIUM.exists():
        print(f"there is no {CHROMIUM}: how smooth the pages are was not tried")
    return common.conclude(good, figures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, nargs="+", default=CELLS)
    parser.add_argument("--launches", type=int, default=1, help="that these are shared out to")
    parser.add_argument("--rounds", type=int, default=5, help="of opening each page")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="keep the pages here")
    parser.add_argument("--open", type=Path, metavar="PAGE", help="only time this page")
    parser.add_argument("--quick", action="store_true", help="only try whether it works")
    given = parser.parse_args()
    try:
        if given.open:
            if not CHROMIUM.exists():
                print(f"there is no {CHROMIUM}")
                return 2
            seconds = opened(given.open, given.rounds)
            print("\n".join(table(seconds)))
            return 0 if is_smooth(seconds) else 1
        sizes = (500,) if given.quick else tuple(given.cells)
        return run(sizes, given.launches, 1 if given.quick else given.rounds, given.pages)
    except ImportError as error:
        print(f"cannot be tried: {error}")
        return 2


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
