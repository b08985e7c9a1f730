# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge topo -o FILE`: the picture of a machine."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mpigauge.cli.main import run
from mpigauge.model.topology import Cache, Topology
from mpigauge.show.topology.machine import card
from mpigauge.show.topology.picture import FILLS, GREY, picture
from mpigauge.site import topology

MACHINES = Path(__file__).resolve().parents[3] / "machines"
ALL = sorted(path for path in MACHINES.iterdir() if path.suffix in (".txt", ".xml"))
PAGE = 1060
"""Units; pages have room for 1080."""
SVG = "{http://www.w3.org/2000/svg}"
Edges = tuple[float, float, float, float]


def drawn(machine: Topology) -> ET.Element:
    return ET.fromstring(picture(machine))


def rects(svg: ET.Element, kind: str) -> list[ET.Element]:
    return [each for each in svg.iter(f"{SVG}rect") if each.get("class") == kind]


def words(svg: ET.Element) -> list[str]:
    return [each.text or "" for each in svg.iter(f"{SVG}text")]


def words_in(svg: ET.Element, kind: str) -> list[str]:
    """The words of the strips of a kind, each of which follows its rectangle."""
    every = [each for each in svg if each.get("class") in (kind, "ink")]
    return [
        text.text or "" for rect, text in pairwise(every)
        if rect.get("class") == kind and text.get("class") == "ink"
    ]  # fmt: skip


def edges(rect: ET.Element) -> Edges:
    x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def apart(a: Edges, b: Edges) -> bool:
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def within(a: Edges, b: Edges) -> bool:
    slack = 0.2  # numbers are written with one decimal
    low = a[0] >= b[0] - slack and a[1] >= b[1] - slack
    return low and a[2] <= b[2] + slack and a[3] <= b[3] + slack


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_all_of_a_machine_is_there_once(path: Path) -> None:
    machine = topology.built(path)
    svg = drawn(machine)
    said = words(svg)
    for number in (pu.number for pu in machine.pus):
        assert said.count(f"PU {number}") == 1
    assert len(rects(svg, "core")) == len({pu.core for pu in machine.pus})
    assert len(rects(svg, "socket")) == machine.packages
    assert len(rects(svg, "numa")) == len(machine.numa)
    shown = [cache for cache in machine.caches if cache.kind != "instruction"]
    assert len(rects(svg, "cache")) == len(shown)
    for device in machine.devices:
        assert sum(line.startswith(card(device)) for line in said) == 1


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_what_may_not_be_used_is_grey(path: Path) -> None:
    machine = topology.built(path)
    svg = drawn(machine)
    numbers = [pu.number for pu in machine.pus]
    assert [r.get("fill") for r in rects(svg, "pu")].count(GREY) == len(
        set(numbers) - machine.allowed
    )


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_boxes_are_inside_of_each_other_or_apart(path: Path) -> None:
    svg = drawn(topology.built(path))
    everything = (0.0, 0.0, float(svg.get("width", "0")), float(svg.get("height", "0")))
    every = [edges(each) for kind in ("box", *FILLS) for each in rects(svg, kind)]
    assert all(within(each, everything) for each in every)
    threads = [edges(each) for each in rects(svg, "pu")]
    assert all(apart(a, b) for a, b in combinations(threads, 2))
    some = [edges(each) for each in rects(svg, "box")][:200]
    assert all(apart(a, b) or within(a, b) or within(b, a) for a, b in combinations(some, 2))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_the_machine_uses_the_width_of_a_page(path: Path) -> None:
    svg = drawn(topology.built(path))
    width = float(svg.get("width", "0"))
    assert width >= PAGE
    left, _, right, _ = edges(rects(svg, "box")[0])
    assert right - left == pytest.approx(width - 2 * left, abs=0.2)
    for rect, words_of in zip(rects(svg, "pu"), words_in(svg, "pu"), strict=True):
        assert float(rect.get("width", "0")) >= 6 * len(words_of)


def test_a_large_machine_is_no_wider_than_a_page() -> None:
    svg = drawn(topology.built(MACHINES / "epyc-rome-2s-nps4.xml"))
    assert float(svg.get("width", "0")) < PAGE + 40


def test_cards_stand_in_the_box_of_their_numa_node() -> None:
    svg = drawn(topology.built(MACHINES / "epyc-rome-2s-nps4.xml"))
    said = words(svg)
    place = said.index("mlx5_0 (ib0, 0000:c1:00.0)")
    before = [line for line in said[:place] if line.startswith("NUMA ")]
    assert before[-1].startswith("NUMA 6 ")


def test_a_group_that_crosses_others_is_named() -> None:
    """Of two groups of one size the one with the lower PUs gets its box."""
    machine = topology.built(MACHINES / "vm-epyc-2-cores.xml")
    pus = tuple(replace(machine.pus[0], number=n, core=n // 2) for n in range(4))
    odd = Cache(level=2, kind="unified", bytes=1 << 20, pus=frozenset({1, 2}))
    whole = replace(machine, pus=pus, caches=(odd,), numa=(), distances=(), devices=())
    svg = drawn(replace(whole, allowed=frozenset(range(4))))
    assert [line for line in words(svg) if "across the boxes" in line] == [
        "L2 1 MiB: PU 1-2, across the boxes"
    ]


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    svg = drawn(topology.read(tmp_path))
    assert "Grey: may not be used" in words(svg)
    assert rects(svg, "pu") == []


def test_names_cannot_break_the_picture() -> None:
    machine = replace(topology.built(MACHINES / "vm-epyc-2-cores.xml"), hostname='<a> & "b"')
    assert any(line.startswith('<a> & "b"') for line in words(drawn(machine)))


def test_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "rome.svg"
    assert run(["topo", "--from", str(ALL[0]), "-o", str(target)]) == 0
    assert target.read_text() == picture(topology.built(ALL[0]))
    assert capsys.readouterr() == ("", f"mpigauge: drawn in {target}\n")


@pytest.mark.parametrize(("end", "begins"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_in_the_form_of_its_name(tmp_path: Path, end: str, begins: bytes) -> None:
    target = tmp_path / f"rome{end}"
    assert run(["topo", "--from", str(ALL[0]), "-o", str(target)]) == 0
    drawn_in = target.read_bytes()
    assert drawn_in.startswith(begins)
    assert len(drawn_in) > 10_000


def test_one_thing_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["topo", "-o", "a.svg", "--json"]) == 2
    assert "-o and --json contradict" in capsys.readouterr().err
    assert run(["topo", "--rsh", "ssh"]) == 2
    assert "--rsh is for hosts; name them with --hosts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.gif", "-o a.gif: cannot draw that; the name of a picture ends with .svg, .png or .pdf"),
        ("no/a.svg", "cannot write no/a.svg: there is no folder"),
    ],
)
def test_a_picture_that_cannot_be_written(
    name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["topo", "--from", str(ALL[0]), "-o", name]) == 2
    assert says in capsys.readouterr().err
