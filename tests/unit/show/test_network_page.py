# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The page of a network: who is slow, the shares, and the plots."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.result.run_result import RunResult
from mpigauge.runs.store import load
from tests import fabrics, pages

if TYPE_CHECKING:
    from pathlib import Path


def words(page: str) -> str:
    """The text of a page without its drawings."""
    main = page[page.index("<main>") :]
    bare = re.sub(r"<svg.*?</svg>", " ", main, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", bare)).split())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pages.report_of(pages.network(tmp_path_factory.mktemp("network")))


def test_the_slow_host_is_the_answer(page: str) -> None:
    text = words(page)
    assert text.startswith(f"The answer SLOW: host {pages.EVIL}3, others have ")
    assert re.search(
        r"Random pairs at once \d+ % ±[\d.]+ % of what they have alone · 40 rounds", text
    )
    assert re.search(r"Largest impact 1\.98 × ±[\d.]+ % time of Ring 1 MiB beside \w+", text)


def test_all_plots_of_a_network_are_on_the_page(page: str) -> None:
    section = page[page.index('<section id="fabric"') :]
    section = section[: section.index("</section>")]
    assert section.count("<svg") >= 4
    for title in (
        "Pairs of hosts, all at once",
        "Hosts beside their peers",
        "All at once, round by round",
        "Victims beside aggressors",
    ):
        assert title in section
    assert "The whole network" in page[: page.index("<main>")]


def test_names_of_hosts_are_no_markup(page: str) -> None:
    assert "<img" not in page


def test_a_control_that_is_off_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabrics, "CONTROL", "")
    stored = load(fabrics.run(tmp_path / "run"))
    text = words(pages.report_of(RunResult.of("run", stored)))
    assert "Ring 1 MiB takes 1.98 × as long beside aggressors that sleep" in text


def test_two_networks_begin_with_the_count_of_verdicts(tmp_path: Path) -> None:
    slow = lambda pair: 0.5 if 3 in pair else 1.0  # noqa: E731
    before, after = fabrics.run(tmp_path / "a"), fabrics.run(tmp_path / "b", slow, slow)
    target = tmp_path / "page.html"
    assert mpigauge(["report", str(before), str(after), "-o", str(target)]) == 0
    text = words(target.read_text(encoding="utf-8"))
    assert re.search(r"^The answer b against a: 2 WORSE, \d+ UNDECIDED, \d+ SAME", text)
    assert text.count("The whole network, against a") == 1
    assert re.search(r"FABRIC:hosts n3: b is (2|2\.\d+|1\.99) times as low", text)
