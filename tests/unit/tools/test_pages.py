# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pages for users begin with a command and its output, and README with what a newcomer needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.model.toml import parse_toml
from tests.guide import COMMENT, ROOT, Page, page, pages

LISTS = ("glossary.md", "columns.md", "options.md", "records.md")
"""Pages of docs/reference/ that no command of ours prints: they begin with their list."""
SEARCHED = (
    "least squares", "rankfile", "mpitune", "STREAM", "acceptance", "PerfBoost", "login node",
    "LD_LIBRARY_PATH", "MPI_BUFFER_MAX", "plain TCP", "1.6.5", "lstopo", "hostfile", "DGEMM",
)  # fmt: skip
"""Words that users search for, each of which a guide has."""
COLUMNS, LINES = 80, 50
MOST_LINES = 120
PLACEHOLDER = "https://ADDRESS/"


def begins_with_commands(one: Page) -> bool:
    return one.name.startswith("docs/") and Path(one.name).name not in LISTS


_BEGINNING = re.compile(
    r"# .*\n\s*?\n?(?:```(?:sh)?\n(?:(?!```).*\n)+```\n|(?: {4}.*\n|\n)+)\n*(?:```text\n|!\[)"
)
"""A title, a block of commands, and a block or picture of what they print; no comments."""


def rows_on_screen(line: str) -> int:
    return max(1, -(-len(line) // COLUMNS))


def first_screen(text: str) -> str:
    """The part of a page that a terminal shows, with long lines broken."""
    shown, used = [], 0
    for line in COMMENT.sub("", text).splitlines():
        used += rows_on_screen(line)
        if used > LINES:
            break
        shown.append(line)
    return "\n".join(shown)


# --- all pages ------------------------------------------------------------------------------
@pytest.mark.parametrize("one", [*filter(begins_with_commands, pages())], ids=lambda one: one.name)
def test_a_page_begins_with_a_command_and_its_output(one: Page) -> None:
    assert one.blocks[0].commands
    beginning = COMMENT.sub("", one.text)
    assert _BEGINNING.match(beginning), f"{one.name} begins with {beginning[:200]}"


@pytest.mark.parametrize("word", SEARCHED)
def test_a_guide_has_the_word_that_users_search_for(word: str) -> None:
    guides = [one for one in pages() if "/howto/" in one.name or "/users/" in one.name]
    assert [one.name for one in guides if word in COMMENT.sub("", one.text)], word


# --- README ---------------------------------------------------------------------------------
def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_the_first_screen_of_readme_has_all_that_a_newcomer_needs() -> None:
    screen = first_screen((ROOT / "README.md").read_text(encoding="utf-8"))
    needed = ("git clone", "pipx install", "make run", "mpigauge quick", "latency, 0 B", "peak b",
              "message rate", "| you know | you type |", "mpirun -np 2 IMB-MPI1 PingPong",
              "mpigauge check", "## Why not just IMB?")  # fmt: skip
    assert [word for word in needed if word not in screen] == []


def test_lines_of_the_first_screen_are_not_broken() -> None:
    screen, *_ = first_screen((ROOT / "README.md").read_text(encoding="utf-8")).split("![")
    assert [line for line in screen.splitlines() if rows_on_screen(line) > 1] == []


def test_addresses_are_placeholders_until_there_is_a_repository() -> None:
    path = ROOT / "pyproject.toml"
    project = parse_toml(path.read_text(encoding="utf-8"), path.name)["project"]
    urls = project.get("urls", {})
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (PLACEHOLDER in text) == ("Source" not in urls)


def test_picture_and_text_of_readme_are_of_one_run() -> None:
    (shown,) = (
        block for block in page(ROOT / "README.md").blocks if "pictures.py" in block.mark("shown")
    )
    picture = (ROOT / "docs/_static/quick.svg").read_text(encoding="utf-8")
    printed = re.sub(r"<[^>]*>|\s", "", picture.replace("&#160;", ""))
    assert len(shown.text.splitlines()) == 3
    assert [ln for ln in shown.text.splitlines() if re.sub(r"\s", "", ln) not in printed] == []
