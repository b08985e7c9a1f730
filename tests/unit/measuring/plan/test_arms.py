# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a sweep varies: blocks, conditions, arms, programs that are not ours, plan files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run
from mpigauge.measuring.plan.arms.arms import (
    Arm,
    Places,
    VaryBlock,
    arms,
    grid_of,
    options_of,
    read_block,
)
from mpigauge.measuring.plan.arms.condition import holds, names_in
from mpigauge.measuring.plan.arms.foreign import Foreign, Merit, read_command
from mpigauge.model.errors import UserError
from mpigauge.model.toml import read_toml
from mpigauge.products.sweep.command import command as sweep
from mpigauge.products.sweep.plan_file import arguments_of

HERE = Places("plan.toml, line 1", {"grid": "plan.toml, line 2, column 1"})


def names(*blocks: VaryBlock, mpi: str = "mpich", control: bool = False) -> list[str]:
    return [arm.name for arm in arms(blocks, mpi, mpi, control)]


# --- arms -----------------------------------------------------------------------------------------
def test_a_grid_is_every_combination_beside_the_default() -> None:
    block = read_block({"grid": {"A": [1, 2], "B": ["x", "y"]}}, HERE)
    assert names(block) == ["", "A=1 B=x", "A=1 B=y", "A=2 B=x", "A=2 B=y"]


def test_zip_takes_the_first_of_each_then_the_second() -> None:
    assert names(read_block({"zip": {"A": [1, 2], "B": [3, 4]}}, HERE)) == [
        "",
        "A=1 B=3",
        "A=2 B=4",
    ]


def test_a_list_has_arms_one_by_one() -> None:
    block = read_block({"list": [{"A": 1}, {"B": True, "C": "x"}]}, HERE)
    assert names(block) == ["", "A=1", "B=1 C=x"]


def test_parts_of_a_block_are_combined_and_conditions_choose() -> None:
    block = read_block(
        {"grid": {"A": [1, 2]}, "zip": {"B": [1, 2]}, "when": "A != B or A == 2"}, HERE
    )
    assert names(block) == ["", "A=1 B=2", "A=2 B=1", "A=2 B=2"]


def test_blocks_stand_one_after_the_other_and_the_same_arm_is_measured_once() -> None:
    one, two = ({"grid": {"A": [1, 2]}}, {"list": [{"A": 2}, {"A": 3}]})
    assert names(read_block(one, HERE), read_block(two, HERE)) == ["", "A=1", "A=2", "A=3"]


def test_a_block_is_for_the_mpis_that_it_names() -> None:
    ours = read_block({"mpi": "mpich", "grid": {"A": [1]}}, HERE)
    theirs = read_block({"mpi": ["openmpi", "intel"], "grid": {"B": [1]}}, HERE)
    assert names(ours, theirs) == ["", "A=1"]
    assert names(ours, theirs, mpi="intel") == ["", "B=1"]
    with pytest.raises(UserError, match="nothing is varied for mpich"):
        names(theirs)


def test_the_control_is_the_default_once_more() -> None:
    found = arms([VaryBlock({"A": ("1",)})], "mpich", "mpich", control=True)
    assert [(arm.name, dict(arm.settings)) for arm in found] == [
        ("", {}), ("A=1", {"A": "1"}), ("control", {}),
    ]  # fmt: skip


def test_transport_stands_among_the_settings_and_is_none() -> None:
    arm = Arm({"transport": "tcp", "A": "1"})
    assert (arm.transport, arm.settings, arm.name) == ("tcp", {"A": "1"}, "transport=tcp A=1")


def test_variables_of_the_environment_are_no_settings() -> None:
    arm = Arm({"env:OMP_NUM_THREADS": "4", "A": "1"})
    assert (arm.env, arm.settings) == ({"OMP_NUM_THREADS": "4"}, {"A": "1"})
    assert arm.name == "env:OMP_NUM_THREADS=4 A=1"


def test_conditions_name_variables_without_their_mark() -> None:
    block = read_block({"grid": {"env:N": [1, 2, 4], "A": [1, 2]}, "when": "N > A"}, HERE)
    assert names(block) == ["", "env:N=2 A=1", "env:N=4 A=1", "env:N=4 A=2"]


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"A": "1", "B": "x"}, "--set A=1 --set B=x"),
        ({"env:N": "2", "transport": "tcp:eth0"}, "--env N=2 --transport tcp:eth0"),
        ({"A": "x y", "B": "1"}, "--set 'A=x y' --set B=1"),
    ],
)
def test_an_arm_as_options_of_a_run(values: dict[str, str], options: str) -> None:
    assert options_of(Arm(values).name) == options


def test_too_many_arms_are_refused() -> None:
    many = tuple(map(str, range(70)))
    with pytest.raises(UserError, match="more than 4096 arms"):
        names(VaryBlock({"A": many, "B": many}))


def test_a_grid_on_the_command_line() -> None:
    found = grid_of(["A=1,2", "UCX_TLS=self,sm|self,tcp"])
    assert found == VaryBlock({"A": ("1", "2"), "UCX_TLS": ("self,sm", "self,tcp")})
    assert grid_of(["env:N=1,2"]) == VaryBlock({"env:N": ("1", "2")})
    assert grid_of([]) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["A"], "'A' is not of the form NAME=VALUE,VALUE"),
        (["=1"], "is not of the form"),
        (["A=1,,2"], "is not of the form"),
        (["A=1", "A=2"], "A is there twice; write all its values once"),
        (["A=1,1"], "has the value 1 twice"),
        (["env:=1"], "'env:' names no variable; write env:NAME"),
        (["thread_level=single,multiple"], "--thread-level with several values measures each"),
    ],
)
def test_a_grid_that_cannot_be_meant(words: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        grid_of(words)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"gird": {}}, "line 1: there is no key 'gird' in .*; did you mean 'grid'"),
        ({}, "nothing is varied; give it a grid, a zip or a list"),
        ({"grid": [1]}, "line 2, column 1: grid is not a table"),
        ({"grid": {"A": 1}}, "A is not a list; write A = "),
        ({"grid": {"A": []}}, "A has no values"),
        ({"grid": {"A": [1, 1]}}, "A has the value 1 twice"),
        ({"grid": {"A": [[1]]}}, "A has a value that is neither text nor a number"),
        ({"zip": {"A": [1, 2], "B": [1]}}, "the lists of zip have different lengths: 1 and 2"),
        ({"grid": {"A": [1]}, "list": [{"A": 2}]}, "A is varied twice"),
        ({"grid": {"A": [1], "env:A": [2]}}, "A is varied twice"),
        ({"grid": {"env:1 A": [1]}}, "'env:1 A' names no variable"),
        ({"list": [1]}, "each of list is a table of settings"),
        ({"grid": {"A": [1]}, "when": 3}, "when is not text in quotes"),
        ({"grid": {"A": [1]}, "when": "AA > 1"}, "names AA, which is not varied; did you mean 'A'"),
        ({"grid": {"A": [1]}, "mpi": [3]}, "mpi is not text in quotes"),
    ],
)
def test_blocks_that_are_wrong(block: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_block(block, HERE)


# --- conditions -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("condition", "true"),
    [
        ("A < 4096", True),
        ("A < 4096 and B == 'x'", True),
        ("not A < 4096 or B != 'x'", False),
        ("1 < A <= 1024", True),
        ("(A == 1024) and not (B == 'y')", True),
        ("A == 1024.0", True),
        ("A < 1024", False),
        ("A <= 1024", True),
        ("A > 1024", False),
        ("A >= 1024", True),
        ("A != 1024", False),
        ("A == 'x'", False),
        ("B != 1024", True),
        ("B > 'w'", True),
        ("2000 < A < 4096", False),
        ("1 < A < 1000", False),
        ("A == 1 and B == 'x'", False),
        ("A == 1 or B == 'x'", True),
        ("not (A == 1 or B == 'x')", False),
        ("not A == 1", True),
    ],
)
def test_conditions(condition: str, true: bool) -> None:
    assert holds(condition, {"A": "1024", "B": "x"}) is true
    assert names_in(condition) == {name for name in ("A", "B") if name in condition}


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("A <", "is not a condition"),
        ("-" * 900 + "1 < A", "holds more than names"),
        ("(" * 400 + "A < 1" + ")" * 400, "is not a condition"),
        ("-" * 5000 + "1 < A", "at most 1000 are read"),
        ("A", "compares nothing"),
        ("A in B", "compares with In"),
        ("A < B", "compares a number with a word: 1024.0 and x"),
        ("C == 1", "names C, which is not varied"),
        ("B < 5", "compares a number with a word: x and 5.0"),
        ("5 < B", "compares a number with a word: 5.0 and x"),
        ("f(A) == 1", "holds more than names, numbers and words"),
        ("A == __import__('os').name", "holds more than names"),
    ],
)
def test_conditions_that_are_none(condition: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        holds(condition, {"A": "1024", "B": "x"})


# --- programs that are not ours -------------------------------------------------------------------
HPL = """
WR11C2R4       29184   192     2     2             123.45             1.3412e+02
WR11C2R4       29184   192     2     2             120.00             1.3800e+02
{"results": [{"gflops": 141.5}]}
"""


@pytest.mark.parametrize(
    ("more", "value"),
    [
        ({"regex": r"^WR.*\s(\S+)$"}, 138.0),
        ({"regex": r"^WR.*\s(\S+)$", "take": "first"}, 134.12),
        ({"regex": r"^WR.*\s(\S+)$", "take": "min"}, 134.12),
        ({"regex": r"^WR.*\s(\S+)$", "take": "max"}, 138.0),
        ({"json": "results.0.gflops"}, 141.5),
    ],
)
def test_a_figure_is_found(more: dict[str, str], value: float) -> None:
    assert Merit("rate", "higher", **more).read(HPL) == value


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"regex": "no (such)"}, "nothing in its output fits the expression for rate"),
        ({"regex": "(WR)"}, "could not convert"),
        ({"regex": "(nan|inf)"}, "rate is nan, which is not a number"),
        ({"json": "results.1.gflops"}, "its output has no JSON with results.1.gflops for rate"),
    ],
)
def test_a_figure_that_is_not_there(more: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Merit("rate", "higher", **more).read(HPL + " nan ")


def test_a_command_as_a_plan_file_has_it() -> None:
    data = {
        "name": "HPL",
        "run": "./xhpl -p 'a b'",
        "ranks": 4,
        "launcher": False,
        "figure": [
            {"figure": "rate", "better": "higher", "unit": "GFLOP/s", "json": "x"},
            {"figure": "time", "better": "lower", "unit": "s", "regex": "t=(.*)"},
        ],
    }
    found = read_command(data, HERE)
    assert found.words == ("./xhpl", "-p", "a b")
    assert (found.ranks, found.launcher) == (4, False)
    assert [merit.name for merit in found.merits] == ["rate", "time"]
    from dataclasses import asdict

    assert Foreign.from_json(asdict(found)) == found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"figures": 1}, "there is no key 'figures' in .*; did you mean 'figure'"),
        ({"run": ""}, "needs 'run'"),
        ({"ranks": 0}, "ranks is a number from 1 on, not 0"),
        ({"ranks": True}, "ranks is a number from 1 on"),
        ({"launcher": "no"}, "launcher is true or false, not no"),
        ({"better": "more"}, "better is higher or lower, not 'more'"),
        ({"take": "mean"}, "take is last or first or max or min, not 'mean'"),
        ({"regex": "(a"}, "is not an expression"),
        ({"regex": "(a)(b)"}, "has 2 groups; it needs one"),
        ({"json": "x"}, "give one of them"),
        ({"regex": ""}, "give one of them"),
        ({"reader": "osu"}, "give a reader or figures, not both"),
    ],
)
def test_commands_that_are_wrong(change: dict[str, Any], said: str) -> None:
    good = {"name": "a", "run": "a", "figure": "rate", "better": "higher", "regex": "(a)"}
    with pytest.raises(UserError, match=said):
        read_command(good | change, HERE)


# --- plan files -----------------------------------------------------------------------------------
def write(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def test_a_plan_file_is_a_command_line(tmp_path: Path) -> None:
    text = """
benchmarks = ["PingPong", "Allreduce"]
sizes = [8, "64Ki"]
np = 2
mpi = ["mpich", "openmpi"]
root_shift = true
oversubscribe = false
control = false
set = { A = 1, B = "x" }
in = "2m"
"""
    assert arguments_of(read_toml(write(tmp_path, text)), sweep) == [
        "PingPong", "Allreduce", "--sizes", "8,64Ki", "--np", "2", "--mpi", "mpich", "--mpi",
        "openmpi", "--root-shift", "--no-control", "--set", "A=1", "--set", "B=x", "--time", "2m",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("launchs = 3", "line 1, column 1: there is no key 'launchs'; did you mean 'launches'"),
        ("np = 2\nnp = 3", "is not TOML: cannot overwrite a value"),
        ("np = \nranks = 2", "is not TOML: invalid value .at line 1, column 6"),
        ("control = 1", "line 1, column 1: this is true or false, not 1"),
        ("np = true", "line 1, column 1: True is neither text nor a number"),
        ("np = { a = 1 }", "line 1, column 1: this is not a table"),
        ("[vary]\ngrid = 1", r"write \[\[vary\]\], a table for each"),
        ("output = 'x'", "there is no key 'output'"),
    ],
)
def test_plan_files_that_are_wrong(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        arguments_of(read_toml(write(tmp_path, text)), sweep)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("np = 2\nranks = 'two'",
         r"--ranks: 'two' is not a number of ranks.* \(.*line 2, column 1\)"),
        ("bind = '0,1'\n\nplace = 'core'",
         r"--bind and --place contradict.*line 1, column 1; .*line 3, column 1\)"),
        ("cache = 'warm'", r"'warm' is not one of .*line 1, column 1\)"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_value_says_where_it_stands(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = "benchmarks = 'PingPong'\n[[vary]]\ngrid = { A = [1] }\n"
    path = write(tmp_path, f"{text}\n{more}")
    assert run(["sweep", str(path)]) == 2
    error = capsys.readouterr().err
    assert re.search(said, error)
    assert error.count("\n") == 1


def test_where_a_key_stands(tmp_path: Path) -> None:
    text = "a = 1 # b\n[[vary]]\ngrid = { A = [1],  B = [2] }\n[[vary]]\n'A' = 1\n"
    file = read_toml(write(tmp_path, text))
    where = str(file.path)
    assert file.place("a") == f"{where}, line 1, column 1"
    assert file.place("B", "vary", 0) == f"{where}, line 3, column 20"
    assert file.place("A", "vary", 1) == f"{where}, line 5, column 2"
    assert file.place("zzz", "vary", 1) == file.head("vary", 1) == f"{where}, line 4"
    deeper = read_toml(write(tmp_path, "[[vary]]\nmpi = 'a'\n[vary.grid]\nB = [1]\n"))
    assert deeper.place("B", "vary", 0) == f"{where}, line 4, column 1"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*: No such file"):
        read_toml(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="not text in UTF-8"):
        read_toml(tmp_path / "binary.toml")


def test_examples_are_plan_files(repository: Path) -> None:
    found = sorted((repository / "examples").glob("*.toml"))
    assert found
    for path in found:
        said = sweep.make_context("mpigauge sweep", [str(path)]).params
        assert said["benchmarks"]
        assert said["vary_blocks"]


def test_a_sweep_has_4096_arms_and_looks_at_65536_combinations_at_most() -> None:
    def varied(first: int, second: int = 1, when: str = "") -> int:
        grid = {"A": tuple(map(str, range(first))), "B": tuple(map(str, range(second)))}
        return len(arms([VaryBlock(grid, when=when)], "mpich", "mpich", control=True))

    assert varied(4096) == varied(64, 64) == 4098
    with pytest.raises(UserError, match="there are more than 4096 arms"):
        varied(4097)
    assert varied(256, 256, "A == 3 and B == 4") == 3
    with pytest.raises(UserError, match=r"has 6\.579e\+04 combinations, of which `when` may leave"):
        varied(257, 256, "A == 3")
