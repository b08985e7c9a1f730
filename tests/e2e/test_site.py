# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The documentation as a site: it is built without a warning, whole, and needs no network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.debian import needs_root
from tools.reference import PARTS, all_commands

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.debian import Installed

LOOKED_AT = ("index.html", "howto/programs-of-others.html", "reference/row-columns.html")


@pytest.fixture(scope="module")
def site(repository: Path) -> Path:
    """Built where CONTRIBUTING.md says."""
    folder = repository / "build/site"
    words = ["sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
    done = subprocess.run(
        [sys.executable, "-m", *words, str(repository / "docs"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_contents(site: Path, repository: Path) -> None:
    pages = {
        str(path.relative_to(repository / "docs").with_suffix(".html"))
        for path in (repository / "docs").rglob("*.md")
    } - {"decisions/README.html"}
    contents = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'class="reference internal" href="([^"#]+)"', contents))
    assert pages - {"index.html"} <= linked
    assert all((site / page).exists() for page in pages)


def test_what_is_generated_has_a_place(repository: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (repository / "docs").rglob("*.md")]
    marks = [mark for text in texts for mark in re.findall(r"<!-- generated: (\w+) -->", text)]
    assert sorted(marks) == sorted(PARTS)


def test_every_command_has_its_section(site: Path) -> None:
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    sections = set(re.findall(r'<section id="([^"]+)"', page))
    assert {"-".join(words) for words, _ in all_commands()} <= sections


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]+)"', path.read_text()
        )
        assert loaded == [], path


@pytest.fixture(scope="module")
def seen(site: Path, repository: Path, chromium: Installed) -> dict[str, Any]:
    done = chromium.python("-m", "tests.e2e.site_in_browser", str(site), *LOOKED_AT, cwd=repository)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.heavy
@needs_root
@pytest.mark.parametrize("view", ["light", "dark", "phone"])
def test_pages_are_quiet_and_can_be_read(seen: dict[str, Any], view: str) -> None:
    for page, said in seen[view].items():
        assert said["heard"] == [], page
        assert said["violations"] == [], page
        assert said["passes"] > 10
        assert said["fits"], page
        assert len(said["text"]) > 300
    paper = said["paper"] if view != "phone" else seen["light"][page]["paper"]
    assert (seen["dark"][page]["paper"] == paper) == (view == "dark")


@pytest.mark.parametrize("words", ["least squares", "rankfile", "mpitune", "stream", "acceptance"])
def test_the_search_of_the_site_finds_a_guide(site: Path, words: str) -> None:
    """As its script does: each word leads to pages by its stem, and a guide is in all of them."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    stem = import_module("snowballstemmer").stemmer("english").stemWord
    guides = {n for n, name in enumerate(index["docnames"]) if name.startswith("howto/")}
    for word in words.split():
        found_in = [index[kind].get(stem(word), []) for kind in ("terms", "titleterms")]
        guides &= {n for at in found_in for n in (at if isinstance(at, list) else [at])}
    assert guides, words
