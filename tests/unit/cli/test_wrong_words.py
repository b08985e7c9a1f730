# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Wrong command lines, made out of every option of every command: one line, exit status 2, and
nothing is launched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from mpigauge.cli import strict
from mpigauge.cli.main import group, run
from tests.wrong_words import COMMANDS, command_of, kind_of

if TYPE_CHECKING:
    from pathlib import Path


PARAMETERS = [
    (words, param)
    for words in COMMANDS
    for param in command_of(words).params
    if isinstance(param, click.Option) and not param.is_flag and not param.count
]


def name_of(value: object) -> str:
    return " ".join(value) if isinstance(value, tuple) else getattr(value, "opts", [""])[-1]


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of it."""
    assert run(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_value_has_a_kind() -> None:
    """tests/wrong_words.py has wrong values of each metavar, so that new options are tried."""
    for words in COMMANDS:
        for param in command_of(words).params:
            if not getattr(param, "is_flag", False):
                kind_of(words, param)  # KeyError: it has none


def test_the_name_of_an_argument_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert "RUN: the value is empty" in refusal(["show", ""], capsys)
    assert "PROGRAM …: the value is empty" in refusal(["exec", ""], capsys)
    assert "DIR|RUN: the value is empty" in refusal(["export", "csv", ""], capsys)


def test_a_value_of_thousands_of_characters_is_shortened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(refusal(["show", "x" * 5000], capsys)) < 500


def test_there_are_many() -> None:
    assert len(COMMANDS) > 30
    assert len(PARAMETERS) > 200


@pytest.mark.parametrize(("words", "param"), PARAMETERS, ids=name_of)
def test_an_empty_value_is_refused(
    words: tuple[str, ...], param: click.Option, capsys: pytest.CaptureFixture[str]
) -> None:
    name = param.opts[-1]
    for empty in ("", "  "):
        line = refusal([*words, *[name, *[empty] * param.nargs]], capsys)
        assert f"{name}: the value is empty" in line


@pytest.mark.parametrize(("words", "param"), PARAMETERS, ids=name_of)
def test_an_option_that_takes_one_value_is_refused_twice(
    words: tuple[str, ...], param: click.Option, capsys: pytest.CaptureFixture[str]
) -> None:
    if param.multiple:
        context = click.Context(command_of(words[:-1]))
        strict.check(command_of(words), [param.opts[-1], "a", param.opts[-1], "b"], context)
        return
    name = param.opts[-1]
    again = [name, *["1"] * param.nargs] * 2
    assert f"{name} is given 2 times; it takes one value" in refusal([*words, *again], capsys)


@pytest.mark.parametrize("words", COMMANDS, ids=name_of)
def test_an_empty_argument_is_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    if any(isinstance(param, click.Argument) for param in command_of(words).params):
        assert "the value is empty" in refusal([*words, ""], capsys)


@pytest.mark.parametrize("words", COMMANDS, ids=name_of)
def test_an_option_that_is_not_there_is_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--nonsense" in refusal([*words, "--nonsense", "1"], capsys)


def test_what_stands_in_a_plan_file_may_stand_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.toml").write_text('benchmarks = ["PingPong"]\nsizes = "8"\n')
    strict.check(command_of(("run",)), ["plan.toml", "--sizes", "16"], click.Context(group))
    assert "--sizes is given 2 times" in refusal(
        ["run", "plan.toml", "--sizes", "8", "--sizes", "16"], capsys
    )
