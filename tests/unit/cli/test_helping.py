# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Help: the common options on one screen, all of them on request, former names silently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mpigauge.cli import helping
from mpigauge.cli.helping import HELP_ALL, MOST_IN_FULL, Option
from mpigauge.cli.main import group
from mpigauge.cli.main import run as cli
from mpigauge.cli.registry import FORMER_NAMES
from mpigauge.model.option_table import OFFERED
from mpigauge.model.stored_cards import all_cards

LINES, COLUMNS = 24, 80


def commands_of(
    of: click.Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and group with its words."""
    yield words, of
    if isinstance(of, click.Group):
        context = click.Context(of)
        for name in of.list_commands(context):
            part = of.get_command(context, name)
            assert part is not None
            yield from commands_of(part, (*words, name))


EVERY = dict(commands_of(group))
LONG = [
    words
    for words, command in EVERY.items()
    if len([each for each in command.params if isinstance(each, Option) and not each.hidden])
    >= MOST_IN_FULL
]
RENAMED = [
    (words, option)
    for words, command in EVERY.items()
    for option in command.params
    if isinstance(option, Option) and option.former
]


def printed(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli(list(words)) == 0
    return capsys.readouterr().out


def visible(words: tuple[str, ...]) -> list[click.Option]:
    params = EVERY[words].params
    return [each for each in params if isinstance(each, click.Option) and not each.hidden]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_command_has_both_helps(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """--help-all shows all options; --help of a command with few shows the same."""
    whole = printed((*words, "--help-all"), capsys)
    brief = printed((*words, "--help"), capsys)
    if words:
        assert all(each.opts[-1] in whole for each in visible(words))
        assert (words in LONG) == (brief != whole)


@pytest.mark.parametrize("words", LONG, ids=" ".join)
def test_the_common_options_fit_on_a_screen(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed((*words, "--help"), capsys).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) < COLUMNS
    common = [each for each in visible(words) if isinstance(each, Option) and each.brief]
    rows = [line for line in lines if line.startswith("  -")]
    assert len(rows) == len(common) + 1, "a line each, and --help-all"
    assert HELP_ALL.opts[0] in rows[-1]


@pytest.mark.parametrize("words", [("run",), ("quick",)])
def test_of_run_and_quick_even_with_the_prompt(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(printed((*words, "--help"), capsys).splitlines()) < LINES


def test_many_commands_have_many_options() -> None:
    assert {("run",), ("sweep",), ("quick",), ("map",), ("node",)} <= set(LONG)


@pytest.mark.parametrize("words", [words for words in EVERY if words], ids=" ".join)
def test_options_are_in_groups_that_have_a_place(words: tuple[str, ...]) -> None:
    headings = {each.heading for each in visible(words) if isinstance(each, Option)}
    assert headings <= set(helping._ORDER)


def test_groups_are_coloured_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[" not in printed(("run", "--help"), capsys)
    monkeypatch.setenv("FORCE_COLOR", "1")
    context = click.Context(EVERY["run",], info_name="run")
    assert "\x1b[1mMessages:\x1b[0m" in context.get_help()


# --- former names ---------------------------------------------------------------------------------
def test_there_are_renamed_options() -> None:
    former = {name for _, option in RENAMED for name in option.former}
    assert former == {"--in", "--placement", "--map", "--topo", "--profile"}


@pytest.mark.parametrize(
    ("words", "option"), RENAMED, ids=lambda each: each[0] if isinstance(each, tuple) else each.name
)
def test_a_former_name_means_the_same_and_is_not_shown(
    words: tuple[str, ...], option: Option, capsys: pytest.CaptureFixture[str]
) -> None:
    command = EVERY[words]
    value = option.type.choices[0] if isinstance(option.type, click.Choice) else "2x1"
    parser = command.make_parser(click.Context(command))
    read = [parser.parse_args([name, value, "x"])[0] for name in option.understood]
    assert all(each == read[0] for each in read)
    assert read[0][option.name] == value
    shown = printed((*words, "--help-all"), capsys)
    assert option.opts[-1] in shown
    assert not any(f"{name} " in shown for name in option.former)


def test_both_names_of_an_option_are_two_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["run", "PingPong", "--in", "5s", "--time", "6s"]) == 2
    assert "--time is given 2 times" in capsys.readouterr().err


def test_a_former_name_is_a_key_of_a_plan_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text('benchmarks = ["PingPong"]\nin = "soon"\n')
    assert cli(["sweep", "plan.toml", "--vary", "env:X=1,2", "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert "--time: 'soon' is not a time" in error
    assert "plan.toml, line 2" in error


@pytest.mark.parametrize("name", FORMER_NAMES)
def test_a_former_command_has_its_help_and_is_not_listed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed((name, "--help"), capsys).startswith(f"Usage: mpigauge {name} ")
    assert name not in group.list_commands(click.Context(group))
    words = tuple(word for word in FORMER_NAMES[name].split() if not word.startswith("-"))
    assert words in EVERY
    for option in FORMER_NAMES[name].split()[len(words) :]:
        assert any(option in each.opts for each in EVERY[words].params)


# --- options of some benchmarks -------------------------------------------------------------------
def test_options_of_some_benchmarks_are_offered_by_run_and_used_by_a_card() -> None:
    offered = {name for each in visible(("run",)) for name in helping.names_of(each)}
    used = {name for card in all_cards() for name in card.options}
    assert {row.flag for row in OFFERED} <= offered
    assert {f"--{name}" for name in used} <= offered


# --- texts ----------------------------------------------------------------------------------------
def test_no_text_names_what_older_versions_had(repository: Path) -> None:
    """Messages, help and pages use the names of today; `plan` and `watch` name themselves."""
    commands = "|".join(set(FORMER_NAMES) - {"plan", "watch"})
    former = re.compile(rf"mpigauge ({commands})\b|(?<![-\w])--(in|placement)(?![-\w])")
    files = [*(repository / "docs").rglob("*.md"), *(repository / "src").rglob("*.py")]
    files += [repository / "README.md"]
    lines = (
        f"{file.name}: {line.strip()}"
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if former.search(line) and "former=" not in line
    )
    assert list(lines) == []
