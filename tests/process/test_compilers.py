# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--compiler: which program and flags, what is planned and refused, and the table."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.measuring.plan import LookedUp, Plan, read_request
from mpigauge.measuring.plan.resolve import resolve
from mpigauge.model.errors import UserError
from mpigauge.model.libraries import Compiler
from mpigauge.products.node.compilers.plan import SIZES, loops_plan
from mpigauge.result.compare.compilers import accounts, compilers
from mpigauge.result.node.node import node
from mpigauge.result.stats.launches import rows
from mpigauge.show.comparisons.compilers import compiler_lines
from mpigauge.site.mpi.make.compilers import build_loops, find_compiler
from tests import mpi_fakes as fake
from tests.unit.measuring.plan.test_plan import MPICH
from tests.unit.products.node.test_node import X86, of_node, resources
from tests.unit.products.node.test_node_cluster import resources_of_hosts

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Resources
    from mpigauge.model.columns import Cell

LOOPS = ("Copy", "Triad")
CARDS = replace(
    X86,
    benchmarks=tuple(
        replace(card, options=("compiler", "threads")) if card.name in LOOPS else card
        for card in X86.benchmarks
    ),
)
ONE = Compiler("g++", "/usr/bin/g++", ("-O3",), "g++ 12", "/c/one.so")
TWO = Compiler("g++ -O2 -march=x86-64", "/usr/bin/g++", ("-O2",), "g++ 12", "/c/two.so")


# --- the program ----------------------------------------------------------------------------
@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_flags_take_the_place_of_ours(cache: Path) -> None:
    plain, told = find_compiler("g++"), find_compiler("g++  -O2 -march=x86-64-v2,x")
    assert plain.flags[0] == "-O3"
    assert plain.flags[1].endswith("=native")
    assert told.flags == ("-fno-builtin", "-O2", "-march=x86-64-v2,x")
    assert told.name == "g++_-O2_-march:x86-64-v2;x"
    assert plain.word == f"g++={plain.file}"
    assert plain.file != told.file
    assert Path(plain.file).parent == cache / "loops"
    assert "g++" in plain.version


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no-such++ -O2", r"there is no program no-such\+\+ here; there are .*\bg\+\+"),
        ("g++ '-O2", r"'g\+\+ '-O2' is not a program with flags: No closing quotation"),
        ("false", r"false --version names no compiler; there are "),
    ],
)
def test_what_is_no_compiler_is_said_with_those_that_are(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=f"^--compiler: {sentence}"):
        find_compiler(text)


def test_one_that_is_not_there_ends_it_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli(["node", "--compiler", "g++", "--compiler", "no-such++"]) == 2
    said = capsys.readouterr().err
    assert "--compiler: there is no program no-such++ here; there are " in said
    assert said.count("\n") == 1


def test_without_any_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"no program g\+\+ here; there is no C\+\+ compiler here"):
        find_compiler("g++")


def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Compiler:
    """A program called fast++ that says that it is one."""
    text = f'#!/bin/sh\n[ "$1" = --version ] && echo "fast++ 1.0" && exit\n{script}\n'
    fake.program(tmp_path / "bin" / "fast++", text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return find_compiler("fast++")


def test_one_that_fails_is_quoted(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = compiler(tmp_path, monkeypatch, "echo start; echo 'fatal error: no luck'; exit 1")
    with pytest.raises(UserError, match=r"'fast\+\+' does not build the loops \(fatal error: no l"):
        build_loops([bad])
    (log,) = (cache / "loops").glob("*.log")
    assert log.read_text() == "start\nfatal error: no luck\n"
    assert not Path(bad.file).exists()


def test_loops_that_the_processor_cannot_do_are_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler whose code ends with an illegal instruction."""
    source = tmp_path / "trap.c"
    source.write_text("void mpigauge_try(void) { __builtin_trap(); }\n")
    real = f'[ "$1" = -shared ] && exec g++ -x c -shared -fPIC {source} -o "$4"'
    bad = compiler(tmp_path, monkeypatch, f"{real}; exit 0")
    with pytest.raises(UserError, match=r"'fast\+\+': its loops end with .*change its flags"):
        build_loops([bad])
    assert Path(bad.file).is_relative_to(cache)


def test_loops_are_built_once(cache: Path) -> None:
    """And call nothing of the C library."""
    found = find_compiler("g++ -O1")
    build_loops([found])
    made = Path(found.file)
    before = made.stat().st_mtime_ns
    build_loops([found])
    assert made.stat().st_mtime_ns == before
    assert made.is_relative_to(cache)
    assert b"memcpy" not in made.read_bytes()


# --- plan -----------------------------------------------------------------------------------
def planned(*names: str, of: Resources | None = None, **asked: Any) -> Plan:
    request = replace(read_request({"benchmarks": names, "np": 4}), **asked)
    return loops_plan(request, CARDS, of or resources(), MPICH)


def test_all_compilers_take_turns_in_each_launch() -> None:
    plan = planned(compilers=(ONE, TWO))
    (part,) = plan.parts
    assert part.benchmarks == ("NODE:Copy", "NODE:Triad")
    assert (part.ranks, part.sizes) == ((1, 4), SIZES)
    assert part.suite_options == {"compiler": "g++=/c/one.so,g++_-O2_-march:x86-64=/c/two.so"}
    assert (plan.launches, plan.seconds) == (6, 60)
    assert Plan.from_json(plan.to_json()).parts[0].suite_options == part.suite_options


def test_one_compiler_stands_beside_the_loops_of_the_kernels() -> None:
    (part,) = planned("triad".title(), compilers=(ONE,)).parts
    assert part.benchmarks == ("NODE:Triad",)
    assert part.suite_options == {"compiler": "ours,g++=/c/one.so"}


@pytest.mark.parametrize(
    ("names", "asked", "sentence"),
    [
        (("Traid",), {}, "there is no simple loop 'Traid'; did you mean 'Triad'"),
        (("DGEMM",), {}, "no simple loop 'DGEMM'; there are Copy, Triad"),
        (
            (),
            {"suite_options": {"threads": "2"}},
            "--threads: with --compiler, node measures the simple",
        ),
    ],
)
def test_what_has_no_place_there_is_refused(
    names: tuple[str, ...], asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        planned(*names, compilers=(ONE, TWO), **asked)


def test_compilers_are_compared_on_one_host() -> None:
    with pytest.raises(UserError, match="--compiler: node compares compilers on one host"):
        planned(of=resources_of_hosts(), compilers=(ONE, TWO))


def test_a_run_of_loops_has_them_and_others_have_none() -> None:
    request = replace(read_request({"benchmarks": ("NODE:Triad",)}), compilers=(ONE, TWO))
    (part,) = resolve(request, CARDS, resources(), MPICH).parts
    assert part.suite_options["compiler"].count("=/c/") == 2
    with pytest.raises(UserError, match="--compiler has no effect on PingPong; it is for"):
        resolve(replace(request, benchmarks=("PingPong",)), CARDS, resources(), MPICH)


def test_the_same_compiler_twice_is_refused() -> None:
    said = replace(ONE, said="g++ -O2")
    with pytest.raises(UserError, match=r"--compiler: g\+\+ -O2 is named twice"):
        read_request({}, LookedUp(compilers=(said, replace(said, file="/c/other.so"))))


def test_several_runs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["node", "Triad", "Copy"]) == 2
    assert "node shows one run, not 2 (Triad, Copy); loops are" in capsys.readouterr().err


# --- what is shown --------------------------------------------------------------------------
SAID = {ONE.name: ONE.said, TWO.name: TWO.said}


def loop(name: str, by: str, seconds: float, launch: int, more: str = "") -> Cell:
    told = " ".join(filter(None, (more, f"compiler={by}" if by else "")))
    time = seconds * (1 + 0.001 * launch)
    return of_node(
        name, launch=launch, message_bytes=8192, moved_bytes=24576.0, time_p50_s=time,
        ci_low_s=time * 0.999, ci_high_s=time * 1.001, settings=told,
        variant=f"GCC 12, of {by}; memory on node 0" if by else "avx2",
    )  # fmt: skip


def measured(second: float, more: str = "") -> list[Cell]:
    return [
        loop("Triad", each.name, seconds, launch, more)
        for launch in range(6)
        for each, seconds in ((ONE, 1e-6), (TWO, second))
    ]


STARTS = {launch: f"2026-11-22T03:0{launch}" for launch in range(6)}


def test_the_table_has_a_verdict_for_each_loop() -> None:
    known = rows(measured(1.5e-6))
    found = compilers(known, STARTS, SAID)
    assert found is not None
    head, heads, first, second, *rest = compiler_lines(found, accounts(known, SAID))
    assert head == "Simple loops by compilers"
    assert heads.split()[:2] == ["GB/s", "µs"]
    assert first.split()[:4] == ["Triad", "8", "KiB", "g++"]
    assert second.split()[-1] == "SLOWER"
    assert "1.50" in second
    assert "  g++: GCC 12, of g++" in rest
    assert "6" not in head
    assert any("paired" in line for line in rest)


def test_what_else_was_set_tells_lines_apart() -> None:
    known = rows([*measured(1e-6), *measured(1e-6, "memory-on=1")])
    found = compilers(known, STARTS, SAID)
    assert found is not None
    assert len(found.tables) == 2
    lines = compiler_lines(found, {})
    assert any("Triad 8 KiB, memory-on=1" in line for line in lines)
    assert sum("SAME" in line.split() for line in lines) == 2


def test_ours_stand_first_beside_one_compiler() -> None:
    cells = [loop("Triad", by, 1e-6, n) for n in range(6) for by in ("", TWO.name)]
    found = compilers(rows(cells), STARTS, {TWO.name: TWO.said})
    assert found is not None
    assert found.names == ("ours", TWO.said)


def test_other_rows_are_no_comparison_and_no_row_of_the_page() -> None:
    ours = [loop("Triad", "", 1e-6, 0)]
    assert compilers(rows(ours), STARTS, {}) is None
    assert compilers(rows(measured(1e-6)), STARTS, {ONE.name: ONE.said}) is None
    seen = node(rows(measured(1e-6)))
    assert seen is not None
    assert not seen.streams
    assert not seen.sweeps
