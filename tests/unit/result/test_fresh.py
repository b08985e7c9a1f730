# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--data: what is planned and refused, and how fresh data are shown beside static ones."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as cli
from mpigauge.measuring.plan import LaunchPlan, Plan, Resources, kernel_words, read_request, resolve
from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.result.document import Document, document
from mpigauge.result.run_result import RunResult
from mpigauge.runs.store import RunWriter, load
from mpigauge.show import formats
from mpigauge.site import topology
from tests import cells
from tests.pages import report_of
from tests.unit.measuring.plan.test_plan import CARDS, MPICH

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (8, 1024, 16384, 65536)
FACTORS = {8: 1.0, 1024: 1.0, 16384: 2.0, 65536: 3.0}
STILL = replace(
    CARDS,
    benchmarks=tuple(
        replace(card, why_static="it has no send buffer" if card.name == "Barrier" else "")
        for card in CARDS.benchmarks
    ),
)


# --- planning -----------------------------------------------------------------------------------
def plan(repository: Path, *benchmarks: str, cards: Cards = STILL, **raw: Any) -> Plan:
    machine = topology.read(repository / "tests" / "machines" / "vm-epyc-2-cores.txt")
    request = read_request({"benchmarks": benchmarks} | raw)
    return resolve(request, cards, Resources(machine), MPICH)


def words(plan: Plan) -> dict[str, str]:
    line = kernel_words(plan, LaunchPlan(number=0, part=plan.parts[0], seed=1))
    return dict(zip(line[::2], line[1::2], strict=True))


@pytest.mark.parametrize("data", ["static", "fresh", "both"])
def test_kernels_are_told_which_data(repository: Path, data: str) -> None:
    assert words(plan(repository, "PingPong", data=data))["--data"] == data


def test_data_are_static_unless_others_are_asked_for(repository: Path) -> None:
    told = words(plan(repository, "PingPong", "Barrier"))
    assert (told["--data"], "--insist" in told) == ("static", False)


def test_only_what_was_named_is_insisted_on(repository: Path) -> None:
    named = plan(repository, "PingPong,barrier", data="fresh")
    assert words(named)["--insist"] == "Barrier"
    assert "--insist" not in words(plan(repository, "MPI1", data="fresh"))


def test_a_plan_can_be_read_again(repository: Path) -> None:
    planned = plan(repository, "PingPong", "Barrier", data="both")
    assert Plan.from_json(json.loads(json.dumps(planned.to_json()))) == planned


def test_what_has_no_effect_is_refused(repository: Path) -> None:
    with pytest.raises(UserError, match=r"--data has no effect on Barrier; .* send data"):
        plan(repository, "Barrier", data="fresh")


@pytest.mark.parametrize("data", ["fresh", "both"])
def test_the_schedule_of_imb_is_static(repository: Path, data: str) -> None:
    assert plan(repository, "PingPong", data="static", classic=True).data == "static"
    with pytest.raises(UserError, match=f"--classic and --data {data} contradict"):
        plan(repository, "PingPong", data=data, classic=True)


def test_a_wrong_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["run", "PingPong", "--data", "frehs"]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("--data", "'frehs'", "static", "fresh", "both"))


# --- what is shown ------------------------------------------------------------------------------
def store(folder: Path, data: tuple[str, ...] = ("static", "fresh"), launches: int = 6) -> Path:
    """PingPong whose fresh data take longer from 16 KiB on, and a Barrier, which is static."""
    random = Random(1)
    with RunWriter.create({"plan": {}}, cells.cards_text(), output=folder) as writer:
        for launch in range(launches):
            writer.append(cells.line("launch", **cells.LAUNCH | {"launch": launch}))
            writer.append(cells.line("cell", **cells.fields("Barrier", launch=launch)))
            for kind in reversed(data):
                for size in SIZES:
                    factor = FACTORS[size] if kind == "fresh" else 1.0
                    time = 2e-6 * factor * (1 + size / 8e3) * random.gauss(1, 0.003)
                    wrote = 5e-6 if kind == "fresh" else math.nan
                    line = cells.fields(
                        launch=launch, message_bytes=size, moved_bytes=size, data=kind,
                        time_p50_s=time, time_write_s=wrote,
                    )  # fmt: skip
                    writer.append(cells.line("cell", **line))
            writer.append(cells.end(launch))
        writer.finish("done")
    return folder


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(tmp_path_factory.mktemp("fresh") / "both")


def shown(folder: Path) -> Document:
    return document(load(folder))


def test_the_table_shows_where_they_differ(both: Path) -> None:
    text = formats.render("table", shown(both))
    _, heading, rest = text.partition("Fresh data against static · PingPong")
    lines = rest.splitlines()
    assert heading
    assert lines[1].split() == ["bytes", "static", "µs", "±", "fresh", "µs", "±", "write", "µs",
                                "ratio", "95", "%"]  # fmt: skip
    sizes = [line.split()[:2] for line in lines[2:4]]
    assert sizes == [["16", "KiB"], ["64", "KiB"]]
    assert all(line.endswith("SLOWER") and " 5.0" in line for line in lines[2:4])
    said = " ".join(" ".join(lines[4:8]).split())
    assert "fresh takes 2 to 3 times as long from 16 KiB to 64 KiB" in said
    assert "is the same within 5 % from 8 B to 1 KiB" in said
    assert "Barrier" not in rest


def test_tables_of_both_stand_apart_static_first(both: Path) -> None:
    titles = [line for line in formats.render("table", shown(both)).splitlines()
              if line.startswith("PingPong ·")]  # fmt: skip
    assert ["fresh data" in title for title in titles] == [False, True]


def test_programs_get_every_ratio_with_its_interval(both: Path) -> None:
    found = json.loads(formats.render("json", shown(both)))["fresh_against_static"]
    assert [(each["message_bytes"], each["first"], each["second"]) for each in found] == [
        (size, "static", "fresh") for size in SIZES
    ]
    assert [each["verdict"] for each in found] == ["SAME", "SAME", "SLOWER", "SLOWER"]
    assert all(each["ratio_low"] <= each["ratio"] <= each["ratio_high"] for each in found)


def test_the_page_shows_them(both: Path) -> None:
    page = report_of(RunResult.of("both", load(both)))
    assert '<section id="fresh"' in page
    assert "fresh takes 2 to 3 times as long from 16 KiB to 64 KiB" in page


@pytest.mark.parametrize("data", [("static",), ("fresh",)])
def test_one_of_them_alone_is_not_compared(data: tuple[str, ...], tmp_path: Path) -> None:
    found = shown(store(tmp_path / "one", data))
    assert found.fresh is None
    assert "against static" not in formats.render("table", found)
    assert json.loads(formats.render("json", found))["fresh_against_static"] == []


def test_few_launches_decide_nothing(tmp_path: Path) -> None:
    text = formats.render("table", shown(store(tmp_path / "few", launches=2)))
    assert "fresh is undecided (2 launches, at least 6 of each are needed)." in text
    assert "SLOWER" not in text
