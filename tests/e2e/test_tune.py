# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tuning with real MPIs: wrong candidates are found, files are taken, and say what was chosen."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.model.rules import MOST_BYTES, Rule
from mpigauge.products.tune import plan
from mpigauge.products.tune.faults import proof_of
from mpigauge.products.tune.making import read_task
from mpigauge.products.tune.measure import right as right_module
from mpigauge.products.tune.measure import task as task_module
from mpigauge.products.tune.measure.confirming import confirm, write_and_read_back, wrong_with
from mpigauge.products.tune.measure.right import right_candidates
from mpigauge.products.tune.plan import ODD_RANKS, RIGHT
from mpigauge.runs.store import load
from mpigauge.runs.store.tuned_rules import Evidence, Fault, TunedRule
from mpigauge.runs.store.tunings import FILE, load_tuning, save, write_files
from mpigauge.site.mpi import find
from mpigauge.site.mpi.rule_files import openmpi
from mpigauge.site.mpi.rule_files.candidates import Candidate, candidates_of, collectives_of
from mpigauge.site.mpi.rule_files.registry import RULE_FORMATS, refusal_of
from tests import patience, tunings
from tests.conftest import MPIS
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi
SHORT = ("--launches", "3", "--time", "6s", "--sizes", "8,8Ki", "--ranks", "2")
WRONG = {"ring", "segmented_ring"}
"""Allreduces of Open MPI 5.0 that reduce in another order than an operation needs."""
DEBIANS_OPEN_MPI = "/usr/bin/mpirun.openmpi"
"""Version 4.1 in Debian 12."""
FIRST_OF = {
    each.collective: each.name for each in candidates_of("openmpi") if each.algorithm == "1"
}
"""The candidate that is algorithm 1 of each collective."""
ENDS = Rule("Reduce_scatter", 2, 8, 500_000, "pairwise")
"""Of MPICH 5.0.2: with this rule MPI_Reduce_scatter ends the program (typerep_yaksa_pack.c:327)."""


def test_wrong_algorithms_of_open_mpi_are_found_and_never_written(tmp_path: Path) -> None:
    done = cli.mpigauge(
        "tune", "Allreduce", "--mpi", "openmpi", *SHORT, "--output", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    for name in WRONG:
        assert f"Allreduce: {name} is out: " in done.stderr
    assert "mpigauge run SELFTEST:Allreduce_right --mpi openmpi" in done.stderr
    runs = tmp_path / "out" / "runs"
    names = [name for name in ("screen", "grid") if (runs / name).exists()]
    measured = {cell.arm for name in names for cell in load(runs / name).cells}
    assert {"", "control", "recursive_doubling"} <= measured
    assert not WRONG & measured
    assert not WRONG & {each.rule.candidate for each in load_tuning(tmp_path / "out").rules}


def test_the_command_of_a_fault_reproduces_it(tmp_path: Path) -> None:
    mpi = find("openmpi")
    ring = Fault("Allreduce", ODD_RANKS, "ring", "wrong elements")
    default = replace(ring, candidate="")
    for fault, status in ((ring, 1), (default, 0)):
        program, *words = shlex.split(proof_of(fault, candidates_of("openmpi"), mpi))
        assert program == "mpigauge"
        done = cli.mpigauge(*words, cwd=tmp_path)
        assert done.returncode == status, done.stderr
        assert ("wrong" in done.stdout + done.stderr) == (fault is ring)


def test_a_tuning_of_mpich_from_its_first_launch_to_a_program(tmp_path: Path) -> None:
    done = cli.mpigauge(
        "tune", "Alltoall", "--mpi", "mpich", *SHORT, "--output", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert " is out: " not in done.stderr
    shown = cli.mpigauge("tune", "show", "out", cwd=tmp_path)
    assert shown.stdout.startswith(done.stdout)
    assert "Alltoall, 2 ranks" in shown.stdout
    launches: dict[str, set[int]] = {}
    for cell in load(tmp_path / "out/runs/beyond").cells:
        launches.setdefault(f"{cell.suite}:{cell.benchmark}", set()).add(cell.launch)
    assert {"MPI1:Alltoall", "ALG:Alltoall/pairwise", "ALG:Alltoall/bruck"} <= launches.keys()
    assert all(each == launches["MPI1:Alltoall"] for each in launches.values())
    assert load_tuning(tmp_path / "out").beyond is not None
    assert "algorithm of suite ALG" in done.stdout or "could be faster" in done.stdout
    again = cli.mpigauge("tune", "Alltoall", "--mpi", "mpich", "--output", "out", cwd=tmp_path)
    assert again.returncode == 2
    assert "holds a tuning already" in again.stderr
    mpich = find("mpich")
    words = ["apply", "out", "--", str(mpich.mpiexec), "-n", "2", "true"]
    started = cli.mpigauge("tune", *words, cwd=tmp_path)
    assert started.returncode == 0, started.stderr


def test_what_cannot_be_tuned_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    for words, why in (
        *(
            [(("--mpi", "intel", "--ranks", "1,2"), "hold for communicators of all sizes at once")]
            if "intel" in MPIS
            else []
        ),
        (("Alltoal", "--mpi", "mpich"), "did you mean 'Alltoall'?"),
        (("Bcast", "Gathr", "--mpi", "mpich"), "there is no collective that can be tuned 'Gathr'"),
        (("Allreduce", "--keep-order", "--mpi", "mpich"), "nothing else is to be tuned"),
        (("--launches", "2", "--mpi", "mpich"), "--launches"),
    ):
        refused = cli.mpigauge("tune", *words, cwd=tmp_path)
        assert refused.returncode == 2, refused.stderr
        assert why in refused.stderr
        assert not list(tmp_path.iterdir())


def test_what_is_measured_already_is_not_measured_again(tmp_path: Path) -> None:
    words = ("tune", "Allgather", "--mpi", "mpich", *SHORT, "--seed", "1", "--output", "out")
    assert cli.mpigauge(*words, cwd=tmp_path).returncode == 0
    (tmp_path / "out" / FILE).unlink()
    before = (tmp_path / "out/runs/grid/records.jsonl").read_bytes()
    assert cli.mpigauge(*words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "out/runs/grid/records.jsonl").read_bytes() == before
    (tmp_path / "out" / FILE).unlink()
    other = cli.mpigauge(*words, "--data", "static", cwd=tmp_path)
    assert other.returncode == 2
    assert "was measured with other options" in other.stderr


@pytest.mark.parametrize("name", ["ring", "reduce_scatter_allgather"])
def test_rules_of_mpich_without_their_guards_are_found(name: str, tmp_path: Path) -> None:
    """With them the calls that an algorithm cannot do keep the default."""
    mpich = find("mpich")
    form = RULE_FORMATS["mpich"]
    texts = form.write(mpich, [Rule("Allreduce", ODD_RANKS, 0, MOST_BYTES, name)])
    for guarded in (True, False):
        folder = tmp_path / f"guarded-{guarded}"
        folder.mkdir()
        for file, text in texts.items():
            tree = json.loads(text)
            own = tree["collective=allreduce"]
            tree["collective=allreduce"] = own if guarded else unguarded(own)
            (folder / file).write_text(json.dumps(tree))
        settings = [f"--set={key}={value}" for key, value in form.settings(folder).items()]
        run = ("run", RIGHT.format("Allreduce"), "--mpi", "mpich", "--ranks", str(ODD_RANKS))
        words = ("--oversubscribe", "--launches", "1", "--output", str(folder / "run"))
        cli.mpigauge(*run, *words, *settings, cwd=tmp_path)
        stored = load(folder / "run")
        right = [cell for cell in stored.cells if not cell.wrong_count]
        assert bool(right) == guarded, (stored.failures, stored.cells)


def unguarded(tree: dict[str, Any]) -> dict[str, Any]:
    """What stands in the branches for calls that an algorithm can do, for all calls."""
    guards = {"is_commutative=no", "is_op_built_in=no", "count<pow2"}
    kept = tree
    while len(kept) == 2 and guards & set(kept):
        (kept,) = [below for key, below in kept.items() if key not in guards]
    return {key: unguarded(below) for key, below in kept.items()}


def test_an_interrupted_tuning_goes_on_where_it_was(tmp_path: Path) -> None:
    words = ("tune", "Alltoall", "--mpi", "mpich", "--ranks", "2", "--sizes", "8,8Ki,64Ki",
             "--launches", "3", "--time", "30s")  # fmt: skip
    process = cli.started(*words, "--output", "out", cwd=tmp_path)
    grid = tmp_path / "out" / "runs" / "grid"
    cli.wait_for_measuring(process, grid, launch=1)
    cli.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 1, errors
    assert "what was measured is kept; the same command with --output out goes on" in errors
    assert not (tmp_path / "out" / FILE).exists()
    before = cli.values(load(grid))
    assert before
    done = cli.mpigauge(*words, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "how long candidates take: goes on in" in done.stderr
    assert before < cli.values(load(grid))
    assert load_tuning(tmp_path / "out").sizes == (8, 8192, 65536)


def test_a_rule_that_no_longer_helps_is_found(tmp_path: Path) -> None:
    """It names what takes more than twice as long as the default at these sizes."""
    mpich, name = find("mpich"), "brucks"
    rule = Rule("Alltoall", 2, 65536, 131072, name)
    files = write_files(tmp_path / "out", RULE_FORMATS["mpich"].write(mpich, [rule]))
    made = replace(tunings.make(tmp_path / "other", mpich), sizes=(65536, 131072), files=files)
    known = Evidence(0.5, 0.4, 0.6, 6)
    save(tmp_path / "out", replace(made, rules=(TunedRule(rule, known, known),)))
    done = cli.mpigauge("tune", "verify", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert f"not significantly faster now: Alltoall {name}; results are right" in done.stderr


def test_a_rule_that_ends_programs_is_found_before_it_is_written(tmp_path: Path) -> None:
    said = {
        "ranks": "2", "sizes": "8,8Ki", "data": "static", "output": tmp_path / "out",
        "mpi_spec": "mpich", "keep_order": False,
    }  # fmt: skip
    task, refusal = read_task(["Reduce_scatter"], said, mix=None, with_messages=False)
    assert refusal == ""
    kept, left = confirm(task, [TunedRule(ENDS, Evidence(0.5, 0.4, 0.6, 6))])
    assert kept == []
    (why,) = left
    assert "the program ends with the rules: " in why.why


@pytest.mark.skipif("intel" not in MPIS, reason="Intel MPI is for x86-64")
@pytest.mark.acceptance("tuning")
def test_a_tuning_of_intel_from_its_first_launch_to_the_last(tmp_path: Path) -> None:
    done = cli.mpigauge("tune", "Alltoall", "--mpi", "intel", *SHORT, "--output", "out",
                        cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "reads these settings when it starts: each has its own launches" in done.stderr
    made = load_tuning(tmp_path / "out")
    measured = {cell.arm for cell in load(tmp_path / "out" / "runs" / "grid").cells}
    assert {"", "control", "preset_1"} <= measured
    assert bool(made.files) == bool(made.rules)
    assert cli.mpigauge("tune", "show", "out", cwd=tmp_path).stdout.startswith(done.stdout)


@pytest.mark.acceptance("tuning")
def test_ranks_that_share_cores_are_refused_or_rescued(tmp_path: Path) -> None:
    """Of itself MPICH has ranks wait in shared memory for others that have no core."""
    cores = len(os.sched_getaffinity(0))
    words = ("tune", "Allreduce", "--mpi", "mpich", "--ranks", str(2 * cores), "--output", "out")
    refused = cli.mpigauge(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "ranks that share a core measure the scheduler" in refused.stderr
    call = cli.command((*words, "--oversubscribe"))
    done = patience.run(call, cwd=tmp_path, seconds=900)  # two runs of two minutes, and results
    assert done.returncode == 0, done.stderr
    assert "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0 rescues it" in done.stdout


@pytest.mark.parametrize(
    ("does", "why"), [("for (;;) pause();", "silent"), ("abort();", "signal"), ("_exit(3);", "3")]
)
def test_a_candidate_that_hangs_or_dies_is_out(
    does: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes nothing with it: the default and another candidate are right."""
    (tmp_path / "bad.c").write_text(
        f"#include <stdlib.h>\n#include <unistd.h>\nint MPI_Bcast(void) {{ {does} return 0; }}\n"
    )
    build = ["gcc", "-shared", "-fPIC", "bad.c", "-o", "bad.so"]
    subprocess.run(build, cwd=tmp_path, check=True)
    bad = Candidate("mpich", "Bcast", "bad", {"LD_PRELOAD": str(tmp_path / "bad.so")}, "bad")
    good = Candidate("mpich", "Bcast", "good", {}, "good")
    monkeypatch.setattr(task_module, "candidates_of", lambda _: (bad, good))
    monkeypatch.setattr(right_module, "ODD_RANKS", 2)
    monkeypatch.setattr(plan, "SILENT_S", 10.0)
    said = {
        "ranks": "2", "output": tmp_path / "out", "mpi_spec": "mpich", "keep_order": False,
    }  # fmt: skip
    task, _ = read_task(["Bcast"], said, mix=None, with_messages=False)
    right, (fault,) = right_candidates(task)
    assert [each.name for each in right["Bcast", 2]] == ["good"]
    assert (fault.candidate, fault.ranks) == ("bad", 2)
    assert why in fault.why


@pytest.mark.parametrize(
    ("seconds", "calls"),
    [("3", r"\d+ calls of 3\d{3} ms"), ("n > 1 ? 6 : 0", "calls of one shape")],
)
def test_a_candidate_that_is_too_slow_to_test_is_left_out(
    seconds: str,
    calls: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It has no fault, also if only its calls of more elements are slow."""
    (tmp_path / "slow.c").write_text(
        "#include <mpi.h>\n#include <unistd.h>\n"
        "int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm) {\n"
        f"  if (type == MPI_UNSIGNED) sleep({seconds});\n"
        "  return PMPI_Bcast(data, n, type, root, comm);\n}\n"
    )
    include = f"-I{find('mpich').include}"
    build = ["gcc", "-shared", "-fPIC", include, "slow.c", "-o", "slow.so"]
    subprocess.run(build, cwd=tmp_path, check=True)
    slow = Candidate("mpich", "Bcast", "slow", {"LD_PRELOAD": str(tmp_path / "slow.so")}, "slow")
    good = Candidate("mpich", "Bcast", "good", {}, "good")
    monkeypatch.setattr(task_module, "candidates_of", lambda _: (slow, good))
    monkeypatch.setattr(right_module, "ODD_RANKS", 2)
    said = {
        "ranks": "2", "output": tmp_path / "out", "mpi_spec": "mpich", "keep_order": False,
    }  # fmt: skip
    task, _ = read_task(["Bcast"], said, mix=None, with_messages=False)
    right, faults = right_candidates(task)
    assert [each.name for each in right["Bcast", 2]] == ["good"]
    assert not faults
    printed = capsys.readouterr().err
    assert re.search(
        f"Bcast on 2 ranks, not tested: slow: the test takes too long: {calls}", printed
    )


@pytest.mark.skipif("intel" not in MPIS, reason="Intel MPI is for x86-64")
def test_intel_takes_the_rules_and_is_right_with_them(tmp_path: Path) -> None:
    said = {
        "ranks": "2", "sizes": "8,8Ki", "data": "static", "output": tmp_path / "out",
        "mpi_spec": "intel", "keep_order": False,
    }  # fmt: skip
    task, refusal = read_task(["Bcast"], said, mix=None, with_messages=False)
    assert refusal == ""
    gained = Evidence(0.5, 0.4, 0.6, 6)
    rules = [
        TunedRule(Rule("Bcast", 2, 0, 1023, "preset_1"), gained, stands_in=True),
        TunedRule(Rule("Bcast", 2, 1024, MOST_BYTES, "preset_3"), gained),
    ]
    write_and_read_back(task, tmp_path / "files", rules)
    assert wrong_with(task, rules, tmp_path / "files") == {}


def rules_for(mpi: str) -> list[Rule]:
    """One for each collective among two ranks, from 1000 to 5000 bytes, none of them known to be
    wrong."""
    rng = random.Random(17)
    return [
        Rule(name, 2, 1000, 5000, rng.choice(fitting).name)
        for name in collectives_of(mpi)
        if (fitting := [each for each in fitting_candidates(mpi) if each.collective == name])
    ]


def fitting_candidates(mpi: str) -> list[Candidate]:
    """Those for two ranks of which nothing bad is known."""
    bad = {("Allreduce", name) for name in WRONG} if mpi == "openmpi" else set()
    bad.add((ENDS.collective, ENDS.candidate))
    return [c for c in candidates_of(mpi) if c.fits(2) and (c.collective, c.name) not in bad]


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_files_say_what_was_chosen_also_over_the_trees_of_a_real_library(name: str) -> None:
    mpi = find(name)
    assert refusal_of(mpi) == ""
    rules, form, rng = rules_for(name), RULE_FORMATS[name], random.Random(3)
    written, wanted = form.read(mpi, form.write(mpi, rules)), form.expected(mpi, rules)
    for _ in range(10_000):
        size = rng.choice((999, 1000, 5000, 5001, int(2 ** rng.uniform(0, 22))))
        call = (rng.choice(collectives_of(name)), rng.randint(1, 70), size)
        assert written(*call) == wanted(*call), call


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_collectives_are_right_with_rules_for_each(name: str, tmp_path: Path) -> None:
    """With and without a rule, among two ranks and among three."""
    mpi: Mpi = find(name)
    form = RULE_FORMATS[name]
    for file, text in form.write(mpi, rules_for(name)).items():
        (tmp_path / file).write_text(text)
    told = {**form.settings(tmp_path), **form.told_with}
    settings = [f"--set={key}={value}" for key, value in told.items()]
    names = [f"SELFTEST:{collective}_right" for collective in collectives_of(name)]
    for ranks in ("2", "3"):
        words = ("--ranks", ranks, "--launches", "1", "--precision", "99%", "--oversubscribe")
        out = f"out-{ranks}"
        done = cli.mpigauge(
            *("run", *names, "--mpi", name, *words, *settings, "--output", out), cwd=tmp_path
        )
        assert done.returncode == 0, shlex.join(settings) + done.stderr
        run = load(tmp_path / out)
        assert {cell.benchmark for cell in run.cells} == {
            f"{c}_right" for c in collectives_of(name)
        }
        assert not any(cell.wrong_count for cell in run.cells)
        said = "".join(log.read_text() for log in (tmp_path / out / "logs").glob("*.std*"))
        assert form.has_read(tmp_path, said) == bool(form.told_with)


@pytest.mark.parametrize("spec", ["openmpi", DEBIANS_OPEN_MPI])
def test_open_mpi_changes_the_algorithm_exactly_at_the_ends_of_a_rule(
    spec: str, tmp_path: Path
) -> None:
    """An algorithm that does not exist shows which calls a rule is for: they fail. The rules are
    for sizes of which the kernels have no calls of their own."""
    if spec == DEBIANS_OPEN_MPI and not Path(spec).exists():
        pytest.skip(f"{spec} is not installed")
    rules = [Rule(name, 2, 100_000, 100_400, first) for name, first in FIRST_OF.items()]
    text = RULE_FORMATS["openmpi"].write(find(spec), rules)[openmpi.FILE]
    lines = [f"{line.split()[0]} 99 0 0" if line.endswith(" 1 0 0") else line
             for line in text.splitlines()]  # fmt: skip
    assert len([line for line in lines if " 99 " in line]) == len(rules)
    (tmp_path / openmpi.FILE).write_text("\n".join(lines) + "\n")
    told = RULE_FORMATS["openmpi"].settings(tmp_path)
    settings = [f"--set={key}={value}" for key, value in told.items()]

    def measured(collectives: list[str], sizes: str, ranks: str) -> set[str]:
        out = f"out-{'-'.join(collectives)}-{sizes}-{ranks}"
        words = ("--sizes", sizes, "--ranks", ranks, "--launches", "1", *cli.ROUGH)
        cli.mpigauge(
            *("run", *collectives, "--mpi", spec, *words, *settings),
            *("--oversubscribe", "--output", out),
            cwd=tmp_path,
        )
        return {cell.benchmark for cell in load(tmp_path / out).cells}

    names = list(collectives_of("openmpi"))
    assert measured(names, "99996,100404", "2") == set(names)
    assert measured(names, "100000", "3") == set(names)
    for name in names:
        assert measured([name], "100000", "2") == set()
        assert measured([name], "100400", "2") == set()


def test_an_edited_file_is_not_used(tmp_path: Path) -> None:
    done = cli.mpigauge("tune", "Bcast", "--mpi", "mpich", *SHORT, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "out" / FILE).read_text())
    (tmp_path / "out" / "general.json").write_text("{}")
    data["files"] = {"general.json": "0" * 64}
    (tmp_path / "out" / FILE).write_text(json.dumps(data))
    for words in (["env", "out"], ["verify", "out"], ["apply", "out", "--", "true"]):
        refused = cli.mpigauge("tune", *words, cwd=tmp_path)
        assert refused.returncode == 2
        assert "somebody has changed it" in refused.stderr
