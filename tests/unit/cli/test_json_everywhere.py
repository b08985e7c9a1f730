# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Each command that prints a table has it as JSON: --format json, and --json is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest

from mpigauge.cli import registry
from mpigauge.cli.main import run

WITHOUT_A_TABLE = {
    "browse": "serves pages",
    "bundle": "writes a file",
    "completion": "prints a script",
    "help": "prints the help of a command",
    "exec": "prints what the program prints",
    "export": "writes a file",
    "history clear": "forgets",
    "history rebuild": "remembers",
    "calibrate": "writes a file, which `predict` reads",
    "imb install": "writes programs",
    "kernels build": "builds",
    "man": "prints a page",
    "version": "prints the version",
    "mpi build": "builds",
    "mpi front": "writes programs",
    "mpi install": "installs",
    "plan": "prints a plan in sentences",
    "profile": "stores a run, which `show` prints",
    "report": "writes a page",
    "share": "writes a file",
    "submit": "prints what the command in the job prints",
    "tune apply": "prints what the program prints",
    "tune env": "prints lines to source",
    "tune make": "stores a tuning, which `tune show` prints",
    "tune verify": "prints a verdict in sentences",
    "watch": "follows a run, which `show` prints",
}
LISTS = ("doctor", "explain", "plot")


def leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from leaves(each, f"{name} {each.name}")
    else:
        yield name, command


EVERY = dict(leaf for name, command in registry.COMMANDS.items() for leaf in leaves(command, name))


def options_of(command: click.Command) -> set[str]:
    return {word for option in command.params for word in option.opts}


@pytest.mark.parametrize("name", sorted(set(EVERY) - set(WITHOUT_A_TABLE)))
def test_has_json(name: str) -> None:
    assert {"--format", "--json"} <= options_of(EVERY[name])


def test_those_without_a_table_are_there() -> None:
    assert set(WITHOUT_A_TABLE) <= set(EVERY)


@pytest.mark.parametrize("name", sorted(WITHOUT_A_TABLE))
def test_those_without_a_table_have_no_json(name: str) -> None:
    assert "--json" not in options_of(EVERY[name])


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("words", [["--format", "json"], ["--json"]])
def test_lists_are_json(name: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--list", *words]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert len(entries) > 5
    for entry in entries:
        assert set(entry) == {
            {"doctor": "check", "explain": "cause", "plot": "kind"}[name],
            "about",
        }
        assert all(entry.values())


def test_a_plot_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "last", "latency", "--json"]) == 2
    assert "mpigauge show RUN --format json" in capsys.readouterr().err
