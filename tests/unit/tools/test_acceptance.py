# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`make acceptance`: parts by name, and results that are kept."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tools import acceptance
from tools.acceptance import PARTS, Part
from tools.bench_page import BENCH, programs

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three parts that take no time, and where their results are kept."""
    monkeypatch.setattr(acceptance, "KEPT", tmp_path / "build" / "acceptance")
    script = "import os, sys; print('said', os.environ.get('WORD')); sys.exit({})"
    ends = {"good": 0, "bad": 3, "last": 0}
    parts = {
        name: Part(
            f"about {name}", "a little", (sys.executable, "-c", script.format(end)), {"WORD": name}
        )
        for name, end in ends.items()
    }
    monkeypatch.setattr(acceptance, "PARTS", parts)
    return tmp_path / "build" / "acceptance"


def test_all_parts_run_and_each_result_is_kept(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert acceptance.main([]) == 1
    summary = capsys.readouterr().out.partition("--- summary\n")[2].splitlines()
    assert [line.split()[:2] for line in summary] == [
        ["good", "passed"], ["bad", "failed"], ["last", "passed"]
    ]  # fmt: skip
    bad = acceptance.last_outcome("bad")
    assert bad is not None
    assert bad.verdict == "failed (3)"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bad.date)
    assert bad.commit
    assert (kept.parents[1] / bad.log).read_text() == "said bad\n"
    assert acceptance.main(["bad"]) == 1
    assert len((kept / "bad.jsonl").read_text().splitlines()) == 2


def test_parts_by_name(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert acceptance.main(["last", "good"]) == 0
    assert sorted(path.name for path in kept.glob("*.jsonl")) == ["good.jsonl", "last.jsonl"]
    assert acceptance.main(["lst"]) == 2
    assert "there is no 'lst'; did you mean 'last'?" in capsys.readouterr().err
    assert acceptance.main(["--list"]) == 0
    good, *_, bad, _, _, never, _, _, _, _ = capsys.readouterr().out.splitlines()
    assert (good, bad, never) == ("good", "bad", "    not run here yet")


def test_each_part_has_something_to_run() -> None:
    """A program that is there, or tests with its mark; and no test has the mark of no part."""
    marks = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r'mark\.acceptance\("([\w-]+)"\)', path.read_text())
    }
    assert marks <= set(PARTS)
    benches = {each.name for each in programs(BENCH)}
    for name, part in PARTS.items():
        files = [word for word in part.words if word.endswith(".py") or word.startswith("tests/")]
        assert name in marks or files
        assert all((ROOT / file).exists() for file in files)
        if "bench/record.py" in files:
            assert part.words[2] in benches
