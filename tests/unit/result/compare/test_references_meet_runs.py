# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs beside the references that they are made for: each placement and rank count is paired."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.cli.runs.comparing import sides_of
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.match.only import only, read_only
from mpigauge.result.document import document
from mpigauge.result.run_result import RunResult
from mpigauge.runs.readers.references import names
from mpigauge.runs.store import load
from mpigauge.runs.store.imported import load_reference
from mpigauge.show.ending import headline_lines
from mpigauge.show.web.answer import opening
from mpigauge.site.topology.built import as_json, built
from tests import runs

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.runs.store import Run

ROME = built(Path(__file__).resolve().parents[3] / "machines/epyc-rome-2s-nps4.xml")
PAIRS = {"l3": "0,1", "numa": "0,2", "sockets": "0,3", "hosts": "0,4"}
"""The ranks of a job that placements share."""


def shared_job(folder: Path, *placements: str, sizes: tuple[int, ...] = (0, 8, 32)) -> Run:
    """A run of PingPong whose placements share each launch."""
    lines = [runs.launch()]
    for size in sizes:
        for placement in placements:
            where: dict[str, Any] = {
                "placement": placement,
                "members": PAIRS[placement],
                "group": 0,
            }
            lines.append(runs.cell(message_bytes=size, **where))
    return load(runs.write(folder, lines))


def paired(first: Run, second: Run, *chosen: str) -> Comparison:
    return compare(only(sides_of([first, second]), read_only(chosen)))


def pairs_of(comparison: Comparison) -> set[tuple[str, str]]:
    """The placements of each pair of numbers."""
    found = set()
    for table in comparison.tables:
        for line in table.lines:
            ours, theirs = (dict(each.item.columns) if each.item else {} for each in line)
            found.add((ours.get("placement", "-"), theirs.get("placement", "-")))
    return found


def test_each_placement_meets_its_counterpart(tmp_path: Path) -> None:
    run = shared_job(tmp_path / "run", "l3", "numa", "sockets", "hosts")
    reference = load_reference("orfeo-epyc-rome")
    comparison = paired(run, reference)
    assert pairs_of(comparison) == {("l3", "l3"), ("sockets", "sockets")}
    (left,) = comparison.left_out
    assert "numa" in left.text
    assert "hosts" in left.text
    assert "group" not in left.text
    assert "members" not in left.text


def test_the_option_that_is_named_pairs_the_rest(tmp_path: Path) -> None:
    run = shared_job(tmp_path / "run", "l3", "numa", "sockets", "hosts")
    reference = load_reference("orfeo-epyc-rome")
    (left,) = paired(run, reference).left_out
    option = "--only arm=rankfile=96-111"
    assert option in left.text
    words = shlex.split(option)[1:]
    assert ("hosts", "hosts") in pairs_of(paired(run, reference, *words))


def test_two_placements_are_paired_if_both_are_chosen(tmp_path: Path) -> None:
    run = shared_job(tmp_path / "run", "l3", "numa", sizes=(0, 1))
    reference = load_reference("orfeo-epyc-rome")
    assert pairs_of(paired(run, reference)) == {("l3", "l3")}
    chosen = ("placement=numa", "placement=cores:0,4")
    assert pairs_of(paired(run, reference, *chosen)) == {("numa", "cores:0,4")}


def test_the_last_sizes_of_a_reference_are_not_of_another_placement(tmp_path: Path) -> None:
    """Sockets end at 32 B in this reference; hosts go on."""
    run = shared_job(tmp_path / "run", "sockets", sizes=(0, 8, 32, 64, 1 << 23))
    assert pairs_of(paired(run, load_reference("orfeo-epyc-rome"))) == {("sockets", "sockets")}


def test_a_default_run_meets_the_placement_at_its_distance(tmp_path: Path) -> None:
    machine = as_json(ROME)
    reference = load_reference("xeon-e5-2697-ib")
    for cpu, expected in (("1", "l3"), ("4", "numa"), ("64", "sockets")):
        ranks = [
            runs.rank(number, ROME.hostname, cpuset=each, wanted_cpuset=each)
            for number, each in enumerate(("0", cpu))
        ]
        lines = [runs.launch(), *ranks, runs.cell(message_bytes=0)]
        run = replace(load(runs.write(tmp_path / cpu, lines)), passport={"machine": machine})
        pairs = {("", expected)} if expected != "numa" else set()
        assert pairs_of(paired(run, reference)) == pairs


def test_rank_counts_meet_and_others_do_not(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"benchmark": "Allreduce", "datatype": "float", "op": "sum"}
    cells = [runs.cell(message_bytes=8, ranks=n, **columns) for n in (2, 144)]
    run = load(runs.write(tmp_path / "run", [runs.launch(), *cells]))
    comparison = paired(run, load_reference("oci-optimized3-36-intel"))
    (table,) = [table for table in comparison.tables if table.first.benchmark == "Allreduce"]
    assert {
        dict(each.item.columns)["ranks"] for line in table.lines for each in line if each.item
    } == {144}


def test_a_refusal_names_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared_job(tmp_path / "run", "hosts")
    assert cli(["compare", str(tmp_path / "run"), "ref:orfeo-epyc-rome"]) == 2
    error = capsys.readouterr().err
    assert "--only arm=rankfile=96-111" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", names())
def test_show_takes_every_reference(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["show", f"ref:{name}"]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("reference", "mpi", "other"),
    [("oci-optimized3-36-intel", "intel", "openmpi"), ("orfeo-epyc-rome", "openmpi", "intel")],
)
def test_the_run_with_the_mpi_of_a_reference_is_taken(
    reference: str, mpi: str, other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("intel", "openmpi", "mpich"):
        lines = [runs.launch(), runs.cell(message_bytes=0, placement="hosts")]
        lines.append(runs.cell(message_bytes=0, placement="l3"))
        runs.write(tmp_path / name, lines, header={"mpi": {"name": name, "version": "9"}})
    words = [str(tmp_path), f"ref:{reference}"]
    assert cli(["compare", *words]) == 0
    printed = capsys.readouterr()
    assert f"{mpi} 9" in printed.out
    assert f"{other} 9" not in printed.out
    assert f"{tmp_path / other} is left out" in printed.err


# --- what is quoted of several placements ---------------------------------------------------------
def test_the_highest_bandwidth_is_of_all_placements() -> None:
    document_of = document(load_reference("juno"))
    head = document_of.headline
    assert head is not None
    default = [row for row in document_of.rows if not row.cell.arm]
    highest = max(default, key=lambda row: row.bandwidth.value if row.bandwidth else 0.0)
    assert head.peak is highest
    assert highest.cell.placement == "cores:1,2"
    latency, peak, _, placement, *_ = headline_lines(document_of)
    assert "cores:0,3" in latency
    assert "cores:1,2" in peak
    assert placement.split() == ["of", "placement", "cores:0,3"]


def test_the_sentence_about_settings_names_what_it_compares() -> None:
    lines = opening([RunResult.of("juno", load_reference("juno"))], None)
    undecided = [line for line in lines if "shortest times" in line]
    assert undecided
    assert all("whether " in line and " is best" in line for line in undecided)
    mixed = [line for line in undecided if "network=ethernet" in line and "btl=self,sm" in line]
    assert all(line.startswith("PingPong: ") for line in mixed)
