#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks spelling and grammar of README and docs/ with harper (docs/decisions/grammar.md).

`python tools/grammar.py` prints a line for each finding. Its dictionary is the glossary,
docs/reference/glossary.md: a word that harper does not know belongs into it.

Exit status: 0 no finding, 1 some.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs/reference/glossary.md"
HARPER = Path(sys.executable).with_name("harper")
GENERATED = "Made by tools/generate.py"
OTHER_STYLE = (
    "UseTitleCase SentenceCapitalization OxfordComma LongSentences OrthographicConsistency Dashes "
    "NumericRangeEnDash UseEllipsisCharacter EllipsisLength Spaces ExpandMemoryShorthands "
    "ExpandTimeShorthands ExpandMinimum ExpandControl ExpandDirectory ExpandAlloc"
)
"""Rules of another style: titles in capitals, tables of whole sentences, units as words."""
WRONG_HERE = (
    "WrongNegative MassNouns CompoundNouns SplitWords MergeWords HelloGreeting Overall MissingTo "
    "MissingPreposition DisjointPrefixes SingleBe CondenseAllThe QuantifierNumeralConflict "
    "PronounInflectionBe GetPassGoPass CapitalizePersonalPronouns ThereToTheir NominalWants "
    "MultipleSequentialPronouns AdjectiveOfA"
)
"""Rules that found nothing but correct sentences: "IMB" for "I am", "halo" for "hello"."""
ALLOWED = {("AnA", "A"), ("AnA", "a")}
"""Findings of useful rules that are wrong: the letter in "A/A test"."""
_WORD = re.compile(r"[A-Za-z][A-Za-z-]+")
_NO_WORD = re.compile(r".{1,2}|.*\d.*|.\..*")
"""Initials, and names with digits: L3, node01."""


def findings(paths: Sequence[Path]) -> list[str]:
    """Returns a line for each finding in these pages. OSError: harper is not installed."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as dictionary:
        dictionary.write("\n".join(sorted(known_words())) + "\n")
        dictionary.flush()
        words = [str(HARPER), "lint", "--quiet", "--format", "json", "--dialect", "gb"]
        words += ["--user-dict-path", dictionary.name]
        words += ["--ignore", ",".join([*OTHER_STYLE.split(), *WRONG_HERE.split()])]
        done = subprocess.run(
            [*words, *map(str, paths)], capture_output=True, text=True, cwd=ROOT, check=False
        )
        words_here, places = known_words(), dict[str, str]()
    for path in paths:
        places[path.name] = " or ".join([*filter(None, [places.get(path.name)]), str(path)])
    pages: list[dict[str, Any]] = json.loads(done.stdout)
    return [
        f"{places.get(page['file'], page['file'])}:{lint['line']}: {lint['rule']}: "
        f"{lint['message']} ({lint['matched_text']})"
        for page in pages
        for lint in page["lints"]
        if not _is_allowed(lint["rule"], lint["matched_text"], words_here)
    ]


def known_words() -> set[str]:
    """The words of the glossary, also as possessives."""
    words = set(_WORD.findall(GLOSSARY.read_text(encoding="utf-8")))
    return words | {f"{word}'s" for word in words}


def _is_allowed(rule: str, text: str, words: set[str]) -> bool:
    """True for words of the glossary as they are written there; harper ignores their capitals."""
    is_word = rule == "SpellCheck" and (text in words or bool(_NO_WORD.fullmatch(text)))
    return is_word or (rule, text) in ALLOWED


def pages() -> Iterator[Path]:
    """README and the pages of docs/ without the generated ones."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if GENERATED not in path.read_text(encoding="utf-8")[:200]:
            yield path.relative_to(ROOT)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="pages (README and docs/)")
    found_lines = findings(parser.parse_args(arguments).paths or list(pages()))
    print("\n".join(found_lines) or "no finding")
    return 1 if found_lines else 0


if __name__ == "__main__":
    sys.exit(main())
