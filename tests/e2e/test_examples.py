# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The examples: notebooks; ReFrame's by the real ReFrame; Ramble's without Ramble, by a stand-in
for its directives whose commands are run for real."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests import patience

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With this mpigauge on PATH, and ReFrame's own files in the folder of the test."""
    script = tmp_path / "bin/mpigauge"
    script.parent.mkdir()
    start = "from mpigauge.cli import main; main()"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{start}' \"$@\"\n")
    script.chmod(0o755)
    path = f"{script.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}


# --- notebooks ------------------------------------------------------------------------------------
def test_the_notebook_that_measures_prints_what_it_shows(tmp_path: Path) -> None:
    """Every printed line has the words of the stored output, with other numbers and verdicts."""
    notebook = json.loads((ROOT / "examples/measure.ipynb").read_text(encoding="utf-8"))
    sources, outputs = [], []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            sources.append("".join(cell["source"]))
            outputs += ["".join(each["text"]) for each in cell["outputs"] if "text" in each]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(sources)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert without_numbers(done.stdout) == without_numbers("".join(outputs))


def without_numbers(text: str) -> list[str]:
    return re.sub(r"[\d.]+|nan|inf|UNDECIDED|SAME|FASTER|SLOWER", "", text).split()


# --- ReFrame --------------------------------------------------------------------------------------
def reframe(folder: Path, env: dict[str, str], *settings: str) -> subprocess.CompletedProcess[str]:
    """Runs the example with limits that a busy machine reaches, too."""
    checks = shutil.copytree(ROOT / "examples/reframe", folder / "checks")
    text = (limits := checks / "src/limits.toml").read_text(encoding="utf-8")
    for usual, wide in {'"100 us"': '"1 s"', '"50 MB/s"': '"0.1 MB/s"'}.items():
        assert usual in text
        text = text.replace(usual, wide)
    limits.write_text(text, encoding="utf-8")
    words = ["reframe", f"--prefix={folder}", "-c", str(checks), "-r"]
    words += [word for each in ("mpi=mpich", *settings) for word in ("-S", each)]
    return run(words, folder, env)


def run(words: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return patience.run(words, cwd=folder, env=env)


@pytest.mark.mpi
def test_reframe_passes_by_the_limits(tmp_path: Path, environment: dict[str, str]) -> None:
    done = reframe(tmp_path, environment)
    assert done.returncode == 0, done.stdout
    assert re.search(r"P: PingPong 8 B on 2 ranks time: [0-9.e-]+ s", done.stdout)
    (report,) = tmp_path.glob("output/**/check.xml")
    assert ET.parse(report).getroot().attrib == {"tests": "3", "failures": "0", "skipped": "0"}


def test_reframe_fails_where_nothing_was_checked(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    done = reframe(tmp_path, environment, "benchmarks=PingPnog")
    assert done.returncode == 1
    assert "nothing was checked, see the output" in done.stdout


# --- Ramble ---------------------------------------------------------------------------------------
TAKES = {
    "executable": {"template", "use_mpi", "variables", "redirect", "output_capture"},
    "workload": {"executables", "executable", "input", "inputs", "tags"},
    "workload_variable": {"default", "description", "values", "workload", "workloads",
                          "expandable"},
    "figure_of_merit": {"fom_regex", "group_name", "log_file", "units", "contexts", "fom_type"},
    "success_criteria": {"mode", "match", "file", "fom_name", "fom_context", "formula",
                         "anti_match"},
}  # fmt: skip
"""What Ramble's directives are told beside a name."""


class Directives:
    """What an application says: each directive with its words."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, dict[str, Any]]] = {}

    def directive(self, kind: str) -> Any:
        def say(name: str, *words: Any, **named: Any) -> None:
            assert name not in self.said.setdefault(kind, {}), f"{kind} {name} twice"
            assert set(named) <= TAKES.get(kind, set())
            self.said[kind][name] = {"words": words, **named}

        return say


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, dict[str, Any]]]:
    found, appkit = Directives(), ModuleType("ramble.appkit")
    kinds = ("tags", "executable", "workload", "workload_variable", "figure_of_merit",
             "success_criteria")  # fmt: skip
    for kind in kinds:
        setattr(appkit, kind, found.directive(kind))
    appkit.ExecutableApplication = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ramble", ModuleType("ramble"))
    monkeypatch.setitem(sys.modules, "ramble.appkit", appkit)
    runpy.run_path(str(ROOT / "examples/ramble/applications/mpigauge/application.py"))
    return found.said


def test_ramble_names_only_what_it_has(said: dict[str, dict[str, dict[str, Any]]]) -> None:
    for name, workload in said["workload"].items():
        assert set(workload["executables"]) <= set(said["executable"])
        known = {n for n, each in said["workload_variable"].items() if name in each["workloads"]}
        for command in commands(said, name):
            assert set(re.findall(r"{(\w+)}", command)) <= known | {"experiment_run_dir"}


def commands(said: dict[str, dict[str, dict[str, Any]]], workload: str) -> list[str]:
    names = said["workload"][workload]["executables"]
    return [said["executable"][name]["words"][0] for name in names]


@pytest.mark.mpi
def test_commands_of_ramble_run_and_say_its_figures(
    tmp_path: Path, environment: dict[str, str], said: dict[str, dict[str, dict[str, Any]]]
) -> None:
    (tmp_path / "limits.toml").write_text('[[limit]]\nbenchmark = "PingPong"\ntime = "1 s"\n')
    values = {name: each["default"] for name, each in said["workload_variable"].items()}
    values |= {"experiment_run_dir": str(tmp_path), "options": "--mpi mpich", "sizes": "0,64Ki"}
    text = ""
    for command in commands(said, "accept"):
        done = run(["sh", "-c", command.format(**values)], tmp_path, environment)
        assert done.returncode == 0, done.stderr
        text += done.stdout
    for figure in said["figure_of_merit"].values():
        assert any(re.match(figure["fom_regex"], line) for line in text.splitlines()), figure
        assert f"(?P<{figure['group_name']}>" in figure["fom_regex"]
    criteria = said["success_criteria"]
    assert all(("match" in each) != ("anti_match" in each) for each in criteria.values())
    assert any(re.match(criteria["measured"]["match"], line) for line in text.splitlines())
    bad = criteria["accepted"]["anti_match"]
    assert not any(re.match(bad, line) for line in text.splitlines())
    assert re.match(bad, "FAIL: 1 FAIL, 2 PASS")
