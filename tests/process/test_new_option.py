# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A new option of all benchmarks is an entry in the schema: help, checks and words follow.

A copy of the program gets two: one for the kernels, and one that mpigauge alone reads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = """
[[option]]
name = "far-hops"
type = "int"
least = 1
most = 8
default = 3
metavar = "N"
about = "Hops of a message."
[[option]]
name = "paint"
kernels = false
type = "word"
default = "red"
about = "The colour of the cable."
planned = true
[option.words]
red = "as a fire engine"
blue = "as the sky"
"""
PLAN = """
from mpigauge.measuring.plan import LaunchPlan, Plan, kernel_words, read_request
from mpigauge.measuring.plan.plan import PlanPart
from mpigauge.measuring.plan.resolve import given_options

def words(**options):
    part = PlanPart(("PingPong",), 2)
    plan = Plan(parts=(part,), mpi="mpich", seed=1, **given_options(read_request(options)))
    plan = Plan.from_json(plan.to_json())
    line = kernel_words(plan, LaunchPlan(0, part, 1))
    return line[line.index("--far-hops") + 1], plan.paint, "--paint" in line

print(words())
print(words(far_hops=5, paint="blue"))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with both options, everything generated anew."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("schema", "tools", "src", "profiler"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    schema = copy / "schema/options.toml"
    text = schema.read_text(encoding="utf-8")
    (first,) = re.findall(r"messages = \[\n", text)
    text = text.replace(first, f'{first}  "far-hops", "paint",\n')
    schema.write_text(text + ENTRIES, encoding="utf-8")
    subprocess.run([sys.executable, copy / "tools/generate.py"], check=True, capture_output=True)
    return copy


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own, which sees the program of this tree."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def mpigauge(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(tree, "-c", "from mpigauge.cli.main import main; main()", *words)


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_commands_offer_it(tree: Path, command: str) -> None:
    text = " ".join(mpigauge(tree, command, "--help-all").stdout.split())
    assert "--far-hops N Hops of a message. [default: 3]" in text
    assert "--paint [red|blue] The colour of the cable. [default: red]" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--far-hops", "9"), "--far-hops: 9 is out of range; write a number from 1 to 8"),
        (("--far-hops", "many"), "'many' is not a valid integer"),
        (("--paint", "green"), "'green' is not one of 'red', 'blue'"),
    ],
)
def test_wrong_values_are_refused(tree: Path, words: tuple[str, ...], message: str) -> None:
    result = mpigauge(tree, "run", "PingPong", *words)
    assert message in result.stderr
    assert result.returncode == 2


def test_the_plan_keeps_it_and_the_kernels_get_theirs(tree: Path) -> None:
    result = run(tree, "-c", PLAN)
    assert result.stdout == "('3', 'red', False)\n('5', 'blue', False)\n", result.stderr


def test_the_kernels_read_it(tree: Path) -> None:
    table = (tree / "kernels/driver/option_table.cpp").read_text(encoding="utf-8")
    assert '"far-hops"' in table
    assert "into(&O::far_hops, Range<int>{1, 8})" in table
    assert "paint" not in table


def test_notebooks_have_it(tree: Path) -> None:
    program = "import mpigauge; mpigauge.measure('PingPong', far_hops=0, paint='blue')"
    result = run(tree, "-c", program)
    assert "UserError: --far-hops: 0 is out of range" in result.stderr
