# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Every option of `mpigauge run` with every benchmark: it changes something, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click import Option

from mpigauge.cli.main import run
from mpigauge.cli.run_options import RUN_OPTIONS
from mpigauge.commands.run import command
from mpigauge.measuring.plan import LookedUp, Request, Resources, read_request
from mpigauge.measuring.plan.resolve import check_effect
from mpigauge.model.cards import NODE_SUITE, Card
from mpigauge.model.errors import UserError
from mpigauge.model.option_table import GENERAL, OFFERED, OptionRow
from mpigauge.model.stored_cards import all_cards
from mpigauge.products.profile import command as profile
from mpigauge.session import setup
from mpigauge.session.program import usual_ranks
from mpigauge.session.setup import check_messages, prepare
from mpigauge.session.targets import CommandOptions, Target
from mpigauge.session.view import SILENT
from mpigauge.site import topology
from mpigauge.site.placement import HostResources

MACHINES = Path(__file__).resolve().parents[3] / "machines"
CARDS = all_cards()
Has = Callable[[Card], bool]
BENCHMARKS: dict[str, tuple[Any, Has]] = {
    "datatype": ("int", lambda card: card.typed),
    "sizes": ("8", lambda card: card.unit != "none" and not card.only_bytes),
    "op": ("max", lambda card: card.unit == "reduction"),
    "root_shift": (True, lambda card: card.rooted),
    "inflight": (4, lambda card: card.windowed),
    "cache": ("cold", lambda card: card.buffers),
    "memory": ("host", lambda card: card.buffers),
    "memory_limit": ("1Gi", lambda card: card.buffers),
    "data": ("fresh", lambda card: not card.why_static),
    "sync": ("barrier", lambda card: card.sync == "each"),
    "npmin": ("4", lambda card: card.ranks not in ("one", "pair")),
    "map": ("2x2", lambda card: card.ranks != "one"),
}
"""Options that change some benchmarks, with a value, and which these are."""
ALWAYS = {
    *("ranks", "np", "precision", "seconds", "launches", "bind", "place", "bound_by", "mpi_specs"),
    *("settings", "env", "classic", "multi", "hosts", "hostfile", "ppn", "launcher", "rsh"),
    *("oversubscribe", "dry_run", "topology", "seed", "timeout_s", "output"),
    *("history", "no_history"),
}
"""Options of every launch."""
ELSEWHERE = {
    "sizes_file": "sizes",
    "blas": "",
    "compilers": "",
    "transport": "",
    "tuned": "",
    "gpu": "",
    "cuda": "",
    "nccl": "",
}
"""Options that name what has to be here first; each has a test of its own."""


def test_every_option_is_tried() -> None:
    params = {param.name for param in command.params if isinstance(param, Option)}
    known = {*BENCHMARKS, *ALWAYS, *ELSEWHERE, *(row.key for row in OFFERED), "form", "json"}
    assert len(params) >= len(RUN_OPTIONS)
    assert params - known == set()


def option_of(name: str) -> str:
    """The option as it is typed, by the name that the command is given."""
    return next(param.opts[0] for param in command.params if param.name == name)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_an_option_without_effect_is_refused(name: str) -> None:
    value, has_effect = BENCHMARKS[name]
    for card in CARDS:
        request = read_request({"benchmarks": (card.word,), name: value})
        if has_effect(card):
            check_effect(request, [card], CARDS)
        else:
            with pytest.raises(UserError, match=rf"^{option_of(name)} has no effect on "):
                check_effect(request, [card], CARDS)


VALUES = {
    "int": "2",
    "counts": "1",
    "orders": "compact",
    "nodes": "local",
    "folders": "/tmp",
    "sides": "2x2",
    "microseconds": "2",
    "arrivals": "late:1:5us",
    "run": "run",
    "places": "1,0",
    "percent": "50%",
}
"""A value of each form that has no choices."""


@pytest.mark.parametrize("row", OFFERED, ids=lambda row: row.name)
def test_an_option_of_some_benchmarks_is_refused_for_all_others(row: Any) -> None:
    found = LookedUp(folders="/tmp")
    request = read_request({row.key: VALUES.get(row.form) or row.choices[0]}, found)
    for card in CARDS:
        if row.name in card.options:
            check_effect(request, [card], CARDS)
        else:
            with pytest.raises(UserError, match=rf"^{row.flag} has no effect on "):
                check_effect(request, [card], CARDS)


@pytest.mark.parametrize("name", [*BENCHMARKS, "transport"])
def test_an_option_without_effect_is_refused_before_kernels_are_built(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup, "prepare", lambda *_: pytest.fail("it is prepared"))
    value, has_effect = BENCHMARKS.get(name, ("tcp", lambda card: card.suite != NODE_SUITE))
    option = option_of(name)
    words = [option] if value is True else [option, str(value)]
    without = next((card for card in CARDS if not has_effect(card)), None)
    if without is not None:
        assert run(["run", without.word, *words]) == 2
        assert f"{option} has no effect on {without.name}" in capsys.readouterr().err


def test_every_kind_is_among_the_benchmarks() -> None:
    """Each option changes some benchmarks, and some not."""
    for value, has_effect in BENCHMARKS.values():
        assert value
        if has_effect is not BENCHMARKS["map"][1]:
            assert {has_effect(card) for card in CARDS} == {True, False}
    node = [card for card in CARDS if card.suite == NODE_SUITE]
    assert node
    assert not any(card.typed for card in node)


def test_groups_and_their_least_size_contradict() -> None:
    with pytest.raises(UserError, match="--ranks and --npmin contradict"):
        read_request({"ranks": "2,4", "npmin": "2"})


@pytest.mark.parametrize(
    "row", [row for row in GENERAL if row.form == "int"], ids=lambda row: row.name
)
def test_numbers_have_the_limits_of_the_schema(row: OptionRow) -> None:
    for right in (row.least, row.most):
        assert getattr(read_request({row.key: right}), row.key) == right
    for wrong in (row.least - 1, row.most + 1):
        with pytest.raises(UserError, match=f"--{row.name}: {wrong} is out of range"):
            read_request({row.key: wrong})


# --- options that other commands have, too ---------------------------------------------------
@pytest.mark.parametrize(
    ("option", "options"),
    [
        ("transport", CommandOptions(transport="tcp")),
        ("tuned", CommandOptions(tuned=Path("rules"))),
    ],
)
def test_what_sends_no_messages_has_no_transport_and_no_rules(
    option: str, options: CommandOptions
) -> None:
    for card in CARDS:
        if card.suite == NODE_SUITE:
            with pytest.raises(UserError, match=rf"^--{option} has no effect on {card.name}"):
                check_messages([card], options)
        else:
            check_messages([card], options)


def test_an_agent_is_for_hosts() -> None:
    with pytest.raises(UserError, match=r"^--rsh is for hosts; name them"):
        prepare(None, Target(rsh=("ssh",)), Request(), SILENT)


@pytest.mark.parametrize(
    ("words", "ranks"),
    [
        ({}, 12),
        ({"ppn": "2"}, 4),
        ({"np": "3"}, 3),
        ({"np": "3", "ppn": "2"}, 3),
    ],
)
def test_a_program_has_the_ranks_of_its_hosts(words: dict[str, str], ranks: int) -> None:
    """As other commands have: --np, else --ppn on each host, else its slots or cores."""
    request = read_request({"hosts": "a:4,b:8", **words})
    machine = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
    hosts = tuple(HostResources(h.name, machine, h.slots) for h in request.hosts)
    resources = Resources(machine, hosts, request.ppn)
    assert usual_ranks(request, resources) == ranks
    where = resources.one_placement(request, ranks, "a program has")
    assert where.ranks == ranks


@pytest.mark.parametrize("command", ["exec", "profile"])
def test_a_program_without_a_number_of_ranks_is_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "--mpi", "mpich", "true"]) == 2
    error = capsys.readouterr().err
    assert "give the number of ranks of true with --np N, or name --hosts" in error
    assert run([command, "--ppn", "2", "true"]) == 2
    assert "--ppn means ranks on each host" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("--np", "2"), ("--frames", "3"), ("--start", "off"), ("--launches", "2"),
              ("--python-lines", "off"),
              ("--output", "x")]
)  # fmt: skip
def test_a_stored_profile_takes_no_options_of_a_program(
    words: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(profile, "_stored_profile", lambda _: tmp_path)
    assert run(["profile", "--measure", *words, "before"]) == 2
    assert f"{words[0]} is for a command; a stored profile" in capsys.readouterr().err
