# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""socket, sockets and hosts have one meaning in runs, references, imports and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.cli import output
from mpigauge.model.placement_words import SEVERAL_MEANINGS, meanings, of_mapping, of_stored
from mpigauge.model.record import Figure
from mpigauge.products.check.limits import parse_limits
from mpigauge.result.document import document
from mpigauge.runs.readers.references import names
from mpigauge.runs.store import load
from mpigauge.runs.store.imported import load_reference
from mpigauge.site.placement import words
from mpigauge.site.placement.registry import POLICIES
from mpigauge.site.topology.levels import DISTANCES, MEANING
from tests import runs

if TYPE_CHECKING:
    from pathlib import Path


def test_distances_are_policies_with_one_meaning_each() -> None:
    assert set(DISTANCES) - {"pu"} <= set(POLICIES)
    assert set(DISTANCES) == set(MEANING)
    assert "node" not in POLICIES


@pytest.mark.parametrize("name", names())
def test_references_use_the_words_of_place(name: str) -> None:
    reference = load_reference(name)
    placements = [cell.placement for cell in reference.cells]
    for placement in [*placements, *(figure.placement for figure in reference.of(Figure))]:
        assert placement.split(":")[0] not in {"node", "core", "socket", "map-by"}
        if placement and " " not in placement:
            assert words(placement) == (placement,)


@pytest.mark.parametrize(
    ("stored", "ranks", "source", "ours"),
    [
        ("node", 2, "", "sockets"),
        ("package", 2, "", "socket"),
        ("socket", 2, "", "socket"),
        ("ppr:2:package", 4, "", "ppr:2:socket"),
        ("ppr:36:node", 144, "", "ppr:36:node"),
        ("cores:0,4", 2, "", "cores:0,4"),
        ("map-by:node", 2, "IMB 2018", "hosts"),
        ("map-by:node bind-to:core", 8, "IMB 2018", "hosts"),
        ("map-by:socket", 2, "IMB 2018", "sockets"),
        ("map-by:socket", 4, "IMB 2018", "map-by:socket"),
        ("map-by:numa", 2, "IMB 2018", "map-by:numa"),
        ("map-by:core bind-to:none", 2, "IMB 2018", "compact bind-to:none"),
        ("map-by:ppr:1:node", 2, "IMB 2018", "hosts"),
        ("map-by:ppr:36:node", 144, "IMB 2018", "ppr:36:node"),
        ("ppn:36", 144, "IMB 2018", "ppr:36:node"),
        ("ppn:1", 2, "IMB 2018", "hosts"),
        ("bind-to:core", 2, "IMB 2018", "bind-to:core"),
        ("map:2x2", 4, "IMB 2018", "map:2x2"),
        ("node", 2, "IMB 2018", "label:node"),
        ("l3", 2, "IMB 2018", "l3"),
    ],
)
def test_stored_words_are_read_in_ours(stored: str, ranks: int, source: str, ours: str) -> None:
    assert of_stored(stored, ranks, source) == ours
    assert of_stored(ours, ranks, source) == ours


@pytest.mark.parametrize("word", SEVERAL_MEANINGS)
def test_labels_with_several_meanings_have_a_remark(word: str, tmp_path: Path) -> None:
    cell = runs.cell(placement=word, source="IMB 2018", origin="imported")
    run = load(runs.write(tmp_path / "run", [runs.launch(), cell]))
    (row,) = document(run).rows
    assert meanings(row.cell.placement)
    sentences = [line for line in document(run).sentences if f"'{word}'" in line]
    assert len(sentences) == 1
    assert meanings(row.cell.placement) in sentences[0]


def test_runs_of_older_versions_are_shown_in_our_words(tmp_path: Path) -> None:
    part = {"benchmarks": ["PingPong"], "sizes": [8], "placement": "node"}
    shared = {"benchmarks": ["PingPong"], "sizes": [8], "places": {"0,1": "l3", "0,2": "node"}}
    plan = {"benchmarks": ["PingPong"], "parts": [part, shared]}
    lines = [runs.launch(), runs.cell(placement="node")]
    lines.append(runs.figure(placement="node"))
    run = load(runs.write(tmp_path / "run", lines, header={"plan": plan}))
    assert [cell.placement for cell in run.cells] == ["sockets"]
    assert [figure.placement for figure in run.of(Figure)] == ["sockets"]
    first, second = run.plan["parts"]
    assert first["placement"] == "sockets"
    assert second["places"] == {"0,1": "l3", "0,2": "sockets"}


@pytest.mark.parametrize(
    ("target", "ranks", "policy"),
    [
        ("socket", 2, "sockets"),
        ("package", 2, "sockets"),
        ("socket", 4, ""),
        ("socket", None, ""),
        ("node", None, "hosts"),
        ("core", 16, "compact"),
        ("ppr:1:node", 2, "hosts"),
        ("ppr:1:socket", 2, "sockets"),
        ("ppr:2:socket", None, "ppr:2:socket"),
        ("l3cache", 2, ""),
    ],
)
def test_mapping_by_objects(target: str, ranks: int | None, policy: str) -> None:
    assert of_mapping(target, ranks) == policy


@pytest.mark.parametrize(
    ("word", "ours", "noted"),
    [("node", "sockets", True), ("package", "socket", False), ("hosts", "hosts", False)],
)
def test_limits_are_read_in_our_words(
    word: str, ours: str, noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    monkeypatch.setattr(output, "_notes", notes)
    text = f'[[limit]]\nbenchmark = "PingPong"\nplacement = "{word}"\ntime = "2 us"\n'
    (limit,) = parse_limits(text, "limits.toml", ["PingPong"])
    assert limit.where == {"placement": ours}
    assert bool(notes) == noted
    assert all("limits.toml" in note and ours in note and "two hosts" in note for note in notes)
