# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Words of launchers and of IMB, completion, pages for man, and JSON wherever there is a table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from mpigauge.cli import completing, overview
from mpigauge.cli.habits import HabitualCommand, Options, all_habits, in_our_words
from mpigauge.cli.main import group
from mpigauge.cli.main import run as cli
from mpigauge.cli.manual import pages
from mpigauge.cli.output import tell_notes
from mpigauge.cli.registry import COMMANDS
from mpigauge.model.errors import UserError
from mpigauge.model.sizes import parse_sizes
from tests import runs

MACHINE = Path(__file__).parents[2] / "machines/epyc-rome-2s-nps4.xml"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def command_of(*names: str) -> click.Command:
    """A command by its words, such as "tune", "make"."""
    command: click.Command = group
    for name in names:
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        command = inner
    return command


RUN = Options.of(command_of("run"))


# --- words of others ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("-np 4", "--np 4"),
        ("-n 4", "--np 4"),
        ("-ppn 2", "--ppn 2"),
        ("--map-by core", "--place compact"),
        ("-map-by node", "--place hosts"),
        ("--map-by=ppr:2:socket", "--place ppr:2:socket"),
        ("-np 2 --map-by socket", "--np 2 --place sockets"),
        ("--map-by package --np=2", "--place sockets --np=2"),
        ("-n 2 --map-by ppr:1:node", "--np 2 --place hosts"),
        ("--cpu-list 0,4", "--bind 0,4"),
        ("--bind-to core", ""),
        ("-bind-to none", "--bind none"),
        ("-msglog 3:28", "--sizes 0,8..268435456"),
        ("-msglog 4", "--sizes 0,1..16"),
        ("--sizes 8 -- a.out -np 4", "--sizes 8 -- a.out -np 4"),
        ("-x A=b", "--env A=b"),
        ("-genv A b", "--env A=b"),
        ("-genv A=b --np 2", "--env A=b --np 2"),
        ("-env A b", "--env A=b"),
        ("--host a,b", "--hosts a,b"),
        ("-host a,b", "--hosts a,b"),
        ("-H a,b", "--hosts a,b"),
        ("-hosts a,b", "--hosts a,b"),
        ("-hostfile F", "--hostfile F"),
        ("-machinefile F", "--hostfile F"),
        ("-f F", "--hostfile F"),
        ("--rankfile F", "--place rankfile:F"),
        ("-rf F", "--place rankfile:F"),
        ("--mca pml ucx", "--transport ucx"),
        ("-mca btl self,tcp", "--set btl=self,tcp"),
        ("--mca pml=ob1", "--set pml=ob1"),
        ("-npmin 2", "--npmin 2"),
        ("-mem 0.5", "--memory-limit 536870912"),
        ("-mem_alloc_type device", "--memory device"),
        ("-mem_alloc_type host", "--memory pinned"),
        ("-mem_alloc_type cpu", "--memory host"),
        ("-msglen F", "--sizes-file F"),
        ("-map 2x2", "--rank-grid 2x2"),
        ("--size 8", "--sizes 8"),
        ("-o DIR", "--output DIR"),
        ("--output -x", "--output -x"),
        ("x H f time", "x H f time"),
    ],
)
def test_what_means_one_thing_is_understood(said: str, meant: str) -> None:
    assert in_our_words(["PingPong", *said.split()], RUN)[0] == ["PingPong", *meant.split()]


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("-N 2", "--ppn 2"),
        ("--map-by socket", "sockets"),
        ("--map-by l3cache", "--place"),
        ("--bind-to socket", "--bind none"),
        ("-iter 100", "--precision"),
        ("-msglog 28:3", "--sizes"),
        ("-msglog x", "--sizes"),
        ("-np", "a value is missing"),
        ("-genv A", "a value is missing"),
        ("-input F", "name the benchmarks"),
        ("-time 10", "--time 10s is that of the whole run"),
        ("-mem 2G", "--memory-limit 512Mi"),
        ("-mem_alloc_type gpu", "--memory has host, pinned"),
        ("--report-bindings", "--dry-run"),
        ("-report-bindings", "--dry-run"),
        ("-p 50000", '--rsh "ssh -p 50000"'),
        ("-v", "mpigauge show last --all"),
        ("--list", "mpigauge benchmarks"),
    ],
)
def test_of_others_the_message_says_our_word(said: str, ours: str) -> None:
    with pytest.raises(UserError, match=ours):
        in_our_words(["PingPong", *said.split()], RUN)


def test_sizes_are_those_of_imb() -> None:
    (_, sizes), _ = in_our_words(["-msglog", "3:6"], RUN)
    assert tuple(parse_sizes(sizes)) == (0, 8, 16, 32, 64)


def test_it_is_said_what_was_understood() -> None:
    assert in_our_words(["-msglog", "3:4", "-np", "2"], RUN)[1] == [
        "-msglog 3:4 is --sizes 0,8..16 here"
    ]


def test_options_of_a_command_stay_its_own() -> None:
    words = ["-n", "4", "--size", "8"]
    assert in_our_words(words, Options({"-n": 1, "--size": 1, "--np": 1, "--sizes": 1})) == (
        words,
        [],
    )


def test_habits_for_options_that_a_command_lacks_are_left_to_it() -> None:
    assert in_our_words(["-msglen", "F"], Options({"--np": 1})) == (["-msglen", "F"], [])


def test_words_of_a_program_are_its_own() -> None:
    """Also without --, where a command takes a program."""
    options = Options.of(command_of("exec"))
    words = "-np 2 --env A=1 -x B=2 ./a.out -np 4 -x C"
    ours = "--np 2 --env A=1 --env B=2 ./a.out -np 4 -x C"
    assert in_our_words(words.split(), options)[0] == ours.split()


def test_a_variable_without_a_value_is_named_alone() -> None:
    """--env NAME takes the value of the shell; a note with the value could show a password."""
    words, notes = in_our_words(["-x", "API_TOKEN"], RUN)
    assert words == ["--env", "API_TOKEN"]
    assert notes == ["-x API_TOKEN is --env API_TOKEN here"]


def test_answers_about_runs_are_for_commands_that_measure() -> None:
    options = Options.of(command_of("exec"))
    for words in (["--report-bindings"], ["-v"], ["-iter", "3"], ["--list"]):
        assert in_our_words(words, options) == (words, [])


@pytest.mark.parametrize("name", ["run", "sweep", "map", "exec", "profile", "tune make"])
def test_commands_that_start_ranks_understand_them(name: str) -> None:
    command = command_of(*name.split())
    assert isinstance(command, HabitualCommand)
    own = {option for param in command.params for option in param.opts}
    assert not own & set(all_habits()), "none of them is an option of ours"


def test_a_habit_on_a_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["run", "PingPong", "-np", "2", "--np", "4"]) == 2
    assert "--np is given 2 times" in capsys.readouterr().err
    assert cli(["run", "PingPong", "-N", "2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("run PingPong --transport shm --transport tcp", "sweep --vary transport=shm,tcp"),
        ("run PingPong --bind 0,1 --bind 1,0", "--place cores:0,3 --place cores:1,2"),
        ("run PingPong --sizes 3:28", "powers of two from 8 to 268435456 are 8..268435456"),
        ("run PingPong --sizes 0-8", "are 1..256"),
        ("run PingPong --mpi mpich,openmpi", "--mpi mpich --mpi openmpi"),
        ("run PingPong --rsh ssh -p 50000", '--rsh "ssh -p 50000"'),
        ("run STREAM", "`mpigauge node` does that"),
        ("run osu_latency", "`mpigauge run PingPong` does that"),
        ("run osu_allreduce", "`mpigauge run Allreduce` does that"),
        ("run IMB-MPI1", "`mpigauge run MPI1` does that"),
        ("PingPong", "`mpigauge run PingPong`"),
        ("osu_bw", "`mpigauge run Uniband` does that"),
        ("IMB-PingPong", "`mpigauge run PingPong` does that"),
        ("imb-rma", "`mpigauge run RMA` does that"),
        ("osu_", "`mpigauge --help` lists the commands"),
        ("STREAM", "`mpigauge node` does that"),
        ("install openmpi", "`mpigauge mpi install mpich` does that"),
        ("mpirun", "`mpigauge exec --np 2 -- PROGRAM` does that"),
        ("nosuch", "`mpigauge --help` lists the commands"),
        ("help nosuch", "`mpigauge --help` lists the commands"),
        ("help run more", "mpigauge run has no commands of its own"),
    ],
)
def test_the_answer_has_the_words_to_type(
    words: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(words.split()) == 2
    error = capsys.readouterr().err
    assert answer in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["impi", "intelmpi", "IMPI", "ompi", "open-mpi"])
def test_an_mpi_has_the_names_that_people_type(name: str) -> None:
    from mpigauge.site.mpi.find import _split

    ours = "intel" if "i" in name.lower()[:2] else "openmpi"
    assert _split(name) == (ours, False)
    assert _split(f"{name}==1.2@std") == (f"{ours}==1.2", True)


# --- the first screen -----------------------------------------------------------------------------
@pytest.mark.parametrize("words", ["", "--help", "-h", "help"])
def test_the_first_screen_fits_and_is_no_error(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(words.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) < 80


def test_the_first_screen_names_commands_that_exist() -> None:
    grouped = [name for names in overview.GROUPS.values() for name in names]
    assert set(grouped) < set(COMMANDS)
    assert len(grouped) == len(set(grouped))


@pytest.mark.parametrize("words", ["run", "mpi install", "tune show"])
def test_help_of_a_command_is_its_help(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["help", *words.split()]) == 0
    helped = capsys.readouterr().out
    assert cli([*words.split(), "--help"]) == 0
    assert capsys.readouterr().out == helped


@pytest.mark.parametrize("name", ["mpi", "ref", "kernels", "imb", "history"])
def test_a_command_of_commands_alone_prints_its_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli([name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Usage: mpigauge {name}")
    assert len(lines) <= 24


def test_version_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["version"]) == 0
    printed = capsys.readouterr().out
    assert cli(["--version"]) == 0
    assert capsys.readouterr().out == printed


def test_two_sockets_by_both_words(capsys: pytest.CaptureFixture[str]) -> None:
    """`node` is read as in older versions, with a note."""
    from mpigauge.site.placement.registry import words

    assert words("sockets") == words("node") == ("sockets",)
    command = group.get_command(click.Context(group), "run")
    assert command is not None
    command.make_context("run", ["PingPong", "--place", "l3,node"])
    tell_notes()
    assert "--place node is --place sockets here" in capsys.readouterr().err
    command.make_context("run", ["PingPong", "--place", "sockets"])
    assert capsys.readouterr().err == ""


# --- completion -----------------------------------------------------------------------------------
def completed(line: str, folder: Path) -> list[str]:
    """What bash is told for this line, whose last word is begun."""
    words = line.split(" ")
    asked = {
        "_MPIGAUGE_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    program = "from mpigauge.cli.main import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | asked, cwd=folder, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    return [each.partition(",")[2] for each in found.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("mpigauge com", {"compare", "completion"}),
        ("mpigauge run Allr", {"Allreduce"}),
        ("mpigauge run PingPong --place l3,so", {"l3,socket", "l3,sockets"}),
        ("mpigauge run PingPong --transport sh", {"shm"}),
        ("mpigauge sweep PingPong --mpi mpi", {"mpich"}),
        ("mpigauge run PingPong --set MPIR_CVAR_POLLS", {"MPIR_CVAR_POLLS_BEFORE_YIELD="}),
        ("mpigauge show l", {"last"}),
        ("mpigauge compare a-r", {"a-run"}),
        ("mpigauge show last --pivot pl", {"placement"}),
    ],
)
def test_completion(line: str, some: set[str], tmp_path: Path) -> None:
    runs.write(tmp_path / "mpigauge-runs/a-run")
    assert some <= set(completed(line, tmp_path))


def test_nothing_that_is_not_begun_so() -> None:
    context, param = click.Context(group), click.Argument(["run"])
    assert completing.benchmarks(context, param, "nosuch") == []
    assert completing.runs(context, param, "nosuch") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_for_shells(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["completion", shell]) == 0
    assert f"_MPIGAUGE_COMPLETE={shell}_complete" in capsys.readouterr().out


# --- man ------------------------------------------------------------------------------------------
def test_pages_say_what_help_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["man", "run"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(".TH MPIGAUGE-RUN 1")
    command = group.get_command(click.Context(group), "run")
    assert command is not None
    for param in command.params:
        if isinstance(param, click.Option) and not param.hidden:
            assert param.opts[-1].replace("-", "\\-") in page
    assert cli(["man", "rnu"]) == 2
    assert "did you mean 'run'" in capsys.readouterr().err


def test_there_is_a_page_for_each_command(tmp_path: Path) -> None:
    assert cli(["man", "--output", "pages"]) == 0
    names = {path.name for path in (tmp_path / "pages/man1").iterdir()}
    commands = group.list_commands(click.Context(group))
    assert {f"mpigauge-{name}.1" for name in commands} | {"mpigauge.1"} <= names
    assert {"mpigauge-mpi-list.1", "mpigauge-ref-show.1"} <= names
    for _, text in pages(group, "mpigauge", "0.1"):
        orders = (line for line in text.splitlines() if line.startswith("."))
        assert {line.split()[0] for line in orders} <= {".TH", ".SH", ".B", ".TP", ".PP"}


# --- JSON -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("words", [["--format", "json"], ["--json"]])
@pytest.mark.parametrize(
    "command", ["ls", "ref list", "history list", "show a-run", "explain a-run", "compare"]
)
def test_json(
    command: str,
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MPIGAUGE_HISTORY", str(tmp_path / "history"))
    runs.write(tmp_path / "mpigauge-runs/a-run")
    of = ["compare", "a-run", "a-run"] if command == "compare" else command.split()
    assert cli([*of, *words]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), (list, dict))


def test_ls_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["ls", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    runs.write(tmp_path / "mpigauge-runs/a-run")
    assert cli(["ls", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"run": "a-run", "status": "done", "mpi": "mpich 5.0.2", "command": "mpigauge run PingPong"}
    ]


def test_json_and_another_format_contradict(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["show", "a", "--json", "--format", "csv"]) == 2
    assert "csv contradicts --json" in capsys.readouterr().err
