# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What README and docs/ tell people to type works as it is written, and prints what they show.

Each page has a folder of its own with one stored run. Measurements get one second and two launches.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from mpigauge.cli.main import group, run
from mpigauge.site.mpi import find
from tests import patience
from tests.guide import ROOT, Block, Page, pages

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.mpi, pytest.mark.heavy]
PAGES = pages()
SHORT = {"--time": "1s", "--launches": "2", "--precision": "50%"}
"""What measurements get in addition; the launches, where the page does not say how many. The time
is the most that they take."""
SOME_TIME = {"map": "3s"}
"""What is nothing without its pairs, also beside busy neighbours; mostly it needs no second."""
STORED = (
    "run", "PingPong", "PingPing", "Uniband", "Allreduce", "Bcast", "--launches", "2",
    "--sizes", "0,1,8,1Ki,64Ki", "--mpi", "mpich", "--time", "3s",
)  # fmt: skip
"""What the stored run measures."""
ONLY_READ = (
    "benchmarks", "best", "check", "compare", "explain", "export", "import", "list", "ls", "model",
    "plan", "plot", "ref", "report", "runs", "share", "show", "sql",
)  # fmt: skip
"""Commands that start nothing, so they need no process of their own."""
BUILT_AS = ROOT / "tests/machines/epyc-rome-2s-nps4.xml"
"""How hosts are built that are not there."""
PROGRAM = "--"
"""Before the words of a program that is not ours."""
EXACTLY = "word for word"
"""Of output that is the same everywhere."""
_NUMBER = re.compile(r"(?!95 %)(?<!9)\d|9(?!5 %)")
done: Counter[str] = Counter()
"""What became of the commands so far."""
took: dict[str, float] = {}
"""Seconds of each that was run."""


# --- running a page -------------------------------------------------------------------------
@pytest.fixture(scope="module")
def programs() -> str:
    """PATH as after `. .venv/bin/activate` and `module load mpich`."""
    return f"{Path(sys.executable).parent}:{find('mpich').mpiexec.parent}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def stored(programs: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", programs)
        status, said = started(["mpigauge", *STORED], folder)
    assert status == 0, said
    return folder


@pytest.mark.parametrize("page", [p for p in PAGES if p.commands], ids=lambda p: p.name)
def test_page(
    page: Page,
    programs: str,
    stored: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", programs)
    printed = ""
    for block in page.blocks:
        prepare(block, tmp_path, stored)
        for line in block.commands:
            start = time.monotonic()
            status, said = follow(line, block, capsys)
            took[f"{page.name}: {line}"] = time.monotonic() - start
            where = f"{page.name}:{block.line}: {line}"
            assert status in endings(block), f"{where}: {status}\n{said[-2000:]}"
            assert said.strip() or "-o" in line, f"{where} says nothing"
            printed += said
        if is_checked(block):
            told = is_there if block.mark("shown") else is_printed
            lost = [line for line in sayings(block) if not told(line, printed)]
            assert not lost, f"{page.name}:{block.line} shows what is not printed: {lost}"


def endings(block: Block) -> list[int]:
    return [int(word) for word in (block.mark("ends with") or "0").split(" or ")]


def write_files(page: Page, folder: Path) -> None:
    """Writes the files that the page shows: a page begins with the command that uses them."""
    for block in page.blocks:
        if name := block.mark("file"):
            (folder / name).write_text(block.text, encoding="utf-8")


def prepare(block: Block, folder: Path, stored: Path) -> None:
    for given in block.marks.get("given", ()):
        source, _, target = given.partition(" as ")
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        if source == "the stored run":
            shutil.copytree(next((stored / "mpigauge-runs").iterdir()), folder / target)
        else:
            shutil.copy(ROOT / source, folder / target)


def follow(line: str, block: Block, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit status, and all that was said."""
    words = shlex.split(line, comments=True)
    if "not run" in block.marks:
        done[f"not run: {block.mark('not run')}"] += 1
        return endings(block)[0], "nothing"
    if words[0] != "mpigauge":
        done["run"] += 1
        return started(["sh", "-c", line], Path.cwd())
    if "needs" in block.marks:
        done[f"checked without {block.mark('needs')}"] += 1
        return planned(words[1:], capsys)
    done["run"] += 1
    words = [found for word in words for found in matching(word)]
    if words[1] in ONLY_READ and "--again" not in words:
        return inside(words[1:], capsys)
    return started(shortened(words), Path.cwd())


def shortened(words: list[str]) -> list[str]:
    """The same command for a short time, whatever time the page gives it; a program of others takes
    the time that it takes."""
    if PROGRAM in words:
        return words
    known = options_of(words[1:]) - ({"--launches"} & set(words))
    known -= {"--time", "--precision"} if "--classic" in words else set()  # it has IMB's schedule
    known -= {"--time"} if words[1] == "calibrate" and "--measure" not in words else set()
    short = {**SHORT, "--time": SOME_TIME.get(words[1], SHORT["--time"])}
    said = list(words)
    for option in ("--time", "--in", "--precision"):
        if option in said:
            place = said.index(option)
            del said[place : place + 2]
    for option in sorted(known & set(short)):
        said += [option, short[option]]
    return said


def matching(word: str) -> list[str]:
    """As a shell has it: a star stands for the files that there are."""
    return sorted(map(str, Path().glob(word))) if "*" in word and " " not in word else [word]


def started(words: Sequence[str], folder: Path) -> tuple[int, str]:
    ended = patience.run(words, cwd=folder, errors=subprocess.STDOUT)
    return ended.returncode, ended.stdout


def inside(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = run(list(words))
    said = capsys.readouterr()
    return status, said.out + said.err


def planned(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """A --dry-run where there is one, else no more than that the words can be read."""
    known = options_of(words)
    if "--hosts" in words and "--dry-run" in known and "--transport" not in words:
        return inside([*words, "--dry-run", "--topology", str(BUILT_AS)], capsys)
    if words[0] == "submit":
        return inside([words[0], "--dry-run", *words[1:]], capsys)
    found, left = command_of(words)
    found.make_context("mpigauge", list(left))
    return 0, "read"


def command_of(words: Sequence[str]) -> tuple[click.Command, Sequence[str]]:
    """The command that these words call, and the words that are left for it."""
    found: click.Command = group
    while isinstance(found, click.Group) and words:
        below = found.get_command(click.Context(found), words[0])
        if below is None:
            raise AssertionError(f"there is no command {words[0]}")
        found, words = below, words[1:]
    return found, words


def options_of(words: Sequence[str]) -> set[str]:
    return {name for param in command_of(words)[0].params for name in param.opts}


# --- what is shown --------------------------------------------------------------------------
def is_checked(block: Block) -> bool:
    return block.is_shown and block.mark("shown") in ("", EXACTLY)


def sayings(block: Block) -> list[list[str]]:
    """The words of each line that has to be printed: those without a number, or all."""
    lines = [line for line in block.text.splitlines() if re.search(r"[^\W\d_]", line)]
    kept = [line for line in lines if block.mark("shown") or not _NUMBER.search(line)]
    return [line.split() for line in kept if "…" not in line]


def is_there(saying: Sequence[str], printed: str) -> bool:
    """Word for word."""
    return list(saying) in [line.split() for line in printed.splitlines()]


def is_printed(saying: Sequence[str], printed: str) -> bool:
    """True where a printed line has these words. A table leaves out columns that are empty: two at
    most."""
    least = max(len(saying) - 2, min(3, len(saying)))
    return any(
        len(words) >= least and is_within(words, saying)
        for words in map(str.split, printed.splitlines())
    )


def is_within(words: Sequence[str], others: Sequence[str]) -> bool:
    """True where the words are among the others, in the same order."""
    left = iter(others)
    return all(word in left for word in words)


def test_every_shown_output_is_checked_or_says_why_not() -> None:
    for page in PAGES:
        for block in filter(is_checked, page.blocks):
            assert sayings(block), f"{page.name}:{block.line}: nothing in it can be checked"


# --- all of them ----------------------------------------------------------------------------
def test_commands_within_sentences_are_right() -> None:
    for page in PAGES:
        for spoken in page.spoken:
            words = spoken.partition(f" {PROGRAM} ")[0].split()[1:]
            if not re.fullmatch(r"[a-z]+", words[0]):
                continue
            known = options_of([word for word in words if re.fullmatch("[a-z]+", word)])
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert options <= known | {"--help"}, f"{page.name}: {spoken}"


def test_none_is_left_out_silently(capsys: pytest.CaptureFixture[str]) -> None:
    everything = sum(len(page.commands) for page in PAGES)
    with capsys.disabled():
        print(f"\ncommands in README and docs: {everything}")
        for what, many in done.most_common():
            print(f"  {many:>3} {what}")
        print(f"slowest of {sum(took.values()):.0f} s:")
        for line in sorted(took, key=took.__getitem__, reverse=True)[:5]:
            print(f"{took[line]:>5.1f} s  {line}")
    if sum(done.values()) != everything:
        pytest.skip("not all pages were run")
    assert done["run"] > 0.6 * everything
