# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""README and docs/ as tests see them: pages of blocks, with what is said to tests about a block.

A block without a language, or indented, holds commands, a line each. A block of `text` shows what
they print. What readers need not see stands before a block as a comment:

    <!-- given: tests/golden/printed/osu.txt as osu.txt -->  a copy; also of `the stored run`
    <!-- file: limits.toml -->            the block becomes this file, before the first command
    <!-- ends with: 0 or 1 -->            the exit status of its commands, else 0
    <!-- needs: four hosts -->            the words are only checked, as far as can be without that
    <!-- not run: WHY -->                 nothing of it is run
    <!-- shown: WHY -->                   output that is not looked for in what was printed;
    <!-- shown: word for word -->         all of it is, not only its lines without a number
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARKS = ("given", "file", "ends with", "needs", "not run", "shown")
_MARK = re.compile(r"<!-- ([\w ]+): (.*?) -->")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_FENCE = re.compile(r"^( *)```(\{?\w*\}?)$")
_COMMANDS = ("", "sh")


@dataclass(frozen=True)
class Block:
    line: int
    language: str
    text: str
    marks: dict[str, list[str]] = field(default_factory=dict)

    def mark(self, name: str) -> str:
        """What is said of it; empty: nothing."""
        return " ".join(self.marks.get(name, ()))

    @property
    def commands(self) -> list[str]:
        if self.language not in _COMMANDS or "file" in self.marks:
            return []
        return [line for line in self.text.replace("\\\n", "").splitlines() if line.strip()]

    @property
    def is_shown(self) -> bool:
        return self.language == "text"


@dataclass(frozen=True)
class Page:
    name: str
    text: str
    blocks: tuple[Block, ...]

    @property
    def commands(self) -> list[str]:
        return [line for block in self.blocks for line in block.commands]

    @property
    def spoken(self) -> list[str]:
        """Commands within sentences."""
        prose = re.sub(r"^```.*?^```", "", self.text, flags=re.MULTILINE | re.DOTALL)
        return re.findall(r"`(mpigauge [^`]+)`", prose)


def pages() -> list[Page]:
    """All that people read who use mpigauge."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page(path) for path in paths if "decisions" not in path.parts]


def page(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    return Page(str(path.relative_to(ROOT)), text, tuple(blocks(text)))


def blocks(text: str) -> Iterator[Block]:
    """In their order, each with the marks before it. ValueError: a mark that means nothing."""
    lines, marks, at = text.splitlines(), dict[str, list[str]](), 0
    while at < len(lines):
        if found := _MARK.fullmatch(lines[at].strip()):
            _mark(marks, found)
            at += 1
        elif fence := _FENCE.match(lines[at]):
            end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == "```")
            yield Block(at + 1, fence[2], _joined(lines[at + 1 : end]), marks)
            marks, at = {}, end + 1
        elif lines[at].startswith("    ") and not _within(lines, at):
            end = next((n for n in range(at, len(lines)) if not _indented(lines[n])), len(lines))
            yield Block(at + 1, "", _joined(line[4:] for line in lines[at:end]), marks)
            marks, at = {}, end
        else:
            at += 1


def _mark(marks: dict[str, list[str]], found: re.Match[str]) -> None:
    if found[1] not in (*MARKS, "generated"):
        raise ValueError(f"'{found[0]}' says nothing to tests; there are {', '.join(MARKS)}")
    marks.setdefault(found[1], []).append(found[2])


def _within(lines: list[str], at: int) -> bool:
    """Whether it goes on with a paragraph or an item of a list."""
    before = next((line for line in reversed(lines[:at]) if not _MARK.fullmatch(line)), "")
    return bool(before.strip())


def _indented(line: str) -> bool:
    return line.startswith("    ") or not line.strip()


def _joined(lines: Iterator[str] | list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"
