# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What asks for an extra where it is not installed, and what does without."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.extras import EXTRAS, Extra, is_installed, require
from mpigauge.model.toml import read_toml
from mpigauge.result.library import large
from mpigauge.site.mpi.blas import find_blas, usual_blas
from tests import runs
from tests.extras import hide


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def two() -> Path:
    root = Path("mpigauge-runs")
    runs.write(root / "a")
    more = {"mpi": {"name": "openmpi", "version": "5.0.11"}, "created": "2026-11-20T05:00:00Z"}
    runs.write(root / "b", status=None, header=more)
    return root


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_the_package_that_is_missed(extra: Extra, repository: Path) -> None:
    known = read_toml(repository / "pyproject.toml").data["project"]
    package = EXTRAS[extra].module.replace("_", "-")
    (brought,) = known["optional-dependencies"][extra]
    assert brought.startswith(package)
    assert not any(line.startswith(package) for line in known["dependencies"])
    assert is_installed(extra)
    require(extra, "a test")


@pytest.mark.parametrize(
    ("words", "what", "extra"),
    [
        (("sql", "SELECT 1"), "`mpigauge sql`", "sql"),
        (("export", "csv"), "`mpigauge export`", "sql"),
        (("browse",), "`mpigauge browse`", "sql"),
        (("runs", "--where", "cells > 0"), "`mpigauge runs --where`", "sql"),
        (("plot", "last", "latency", "-o", "x.png"), "-o x.png", "pictures"),
        (("plot", "last", "latency", "-o", "x.pdf"), "-o x.pdf", "pictures"),
        (("topo", "-o", "x.png"), "-o x.png", "pictures"),
        (("map", "--draw", "x.pdf"), "--draw x.pdf", "pictures"),
    ],
)
@pytest.mark.usefixtures("two")
def test_what_needs_an_extra_names_it(
    words: tuple[str, ...],
    what: str,
    extra: Extra,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hide(monkeypatch)
    assert run([*words]) == 2
    name = EXTRAS[extra].name
    said = f"{what} needs {name}, which is not here; `pip install 'mpigauge[{extra}]'` brings it"
    assert capsys.readouterr().err == f"mpigauge: {said}\n"
    assert [path.name for path in Path().iterdir()] == ["mpigauge-runs"]


def test_a_very_large_run_needs_duckdb(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    hide(monkeypatch)
    monkeypatch.setattr(large, "LARGE_BYTES", 1)
    assert run(["report", str(two / "a"), "-o", "x.html"]) == 2
    with pytest.raises(UserError, match=r"as large as a needs DuckDB.*mpigauge\[sql\]"):
        large.load_large(two / "a")


def test_openblas_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch)
    monkeypatch.setattr("ctypes.util.find_library", lambda _name: None)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert usual_blas() is None
    with pytest.raises(UserError, match=r"there is none here; `pip install 'mpigauge\[blas\]'`"):
        find_blas("openblas")
