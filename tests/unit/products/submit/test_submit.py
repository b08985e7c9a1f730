# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Jobs that are submitted: what is refused before, how a job is followed, how its end is told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import RunError, UserError
from mpigauge.products.submit import submitting
from mpigauge.products.submit.queue import ASK_EVERY_S, Queue, follow
from mpigauge.site import batch
from mpigauge.site.batch import BatchState
from tests import profiles
from tests.unit.cli.test_cli import stored


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fake(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder before all others in PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


# --- following --------------------------------------------------------------------------------
class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.asked_s: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def followed(
    *states: BatchState, done_at_s: float = float("inf")
) -> tuple[BatchState, Clock, list[str]]:
    clock, told = Clock(), list[str]()
    answers: Iterator[BatchState] = iter(states)

    def ask() -> BatchState:
        clock.asked_s.append(clock.now_s - 100.0)
        return next(answers)

    end = follow(
        ask, lambda: clock.now_s - 100 >= done_at_s, told.append, clock.sleep, lambda: clock.now_s
    )
    return end, clock, told


WAITS, RUNS, GONE = BatchState("waiting", "Resources"), BatchState("running"), BatchState("unknown")


def test_a_job_is_asked_for_no_more_than_every_ten_seconds() -> None:
    end, clock, told = followed(WAITS, WAITS, RUNS, RUNS, BatchState("ended", "was cancelled"))
    assert end == BatchState("ended", "was cancelled")
    assert clock.asked_s == [0, 10, 20, 30, 40]
    assert ASK_EVERY_S == 10
    assert told == ["is waiting (Resources)", "is running"]


def test_a_run_that_is_done_ends_the_wait_at_once() -> None:
    end, clock, _ = followed(RUNS, RUNS, done_at_s=11.0)
    assert (end, clock.now_s) == (BatchState("ended"), 111.0)


def test_a_job_that_nobody_knows_any_more() -> None:
    """A system that does not answer once is no reason to go."""
    end, clock, told = followed(RUNS, GONE, RUNS, GONE, GONE, GONE)
    assert (end, told) == (GONE, ["is running"])
    assert clock.asked_s[-1] == 50


# --- a batch system's programs ------------------------------------------------------------------
def test_a_job_is_submitted_on_standard_input(programs: Path) -> None:
    fake(programs, "bsub", f'cat > {programs}/got; echo "Job <5> is submitted to queue <q>."')
    assert Queue(batch.SYSTEMS["lsf"]).submit("#!/bin/sh\n") == "5"
    assert (programs / "got").read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("echo 'qsub: no such queue' >&2; exit 1", "qsub refused the job: qsub: no such queue"),
        ("exit 3", "qsub refused the job: exit status 3"),
    ],
)
def test_a_job_that_is_refused(programs: Path, text: str, sentence: str) -> None:
    fake(programs, "qsub", text)
    with pytest.raises(UserError, match=sentence):
        Queue(batch.SYSTEMS["pbs"]).submit("")


def test_no_such_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="there is no program bsub here"):
        Queue(batch.SYSTEMS["lsf"]).submit("")
    with pytest.raises(RunError, match="cannot ask for job 5: there is no program bjobs"):
        Queue(batch.SYSTEMS["lsf"]).ask("5")
    with pytest.raises(UserError, match=r"there is none of .*sbatch.* here; name the batch system"):
        submitting.choose(None)


def test_the_system_whose_program_is_here(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    fake(programs, "qsub", "")
    assert submitting.choose(None).name == "pbs"
    assert submitting.choose("lsf").name == "lsf"
    fake(programs, "bsub", "")
    with pytest.raises(UserError, match="there are several of bsub, qsub here"):
        submitting.choose(None)


# --- the command --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rnu", "PingPong"], "submit: 'rnu' is not a command for a job; did you mean 'run'?"),
        (["topo"], "submit: 'topo' is not a command for a job; there are run, quick, map"),
        (["run", "PingPongg"], "there is no benchmark 'PingPongg'; did you mean 'PingPong'?"),
        (
            ["run", "PingPong", "--launcher", "sru"],
            "there is no launcher 'sru'; did you mean 'srun'",
        ),
        (["sweep", "Bcsat", "--vary", "env:A=1,2"], "there is no benchmark 'Bcsat'; did you mean"),
        (["map", "--benchmark", "NODE:Mailbx"], "there is no benchmark 'NODE:Mailbx'"),
        (["node", "last"], "submit: to show last needs no job; leave 'submit' out"),
        (["run", "PingPong", "--sizes", "4..1"], "runs downwards"),
        (["run", "PingPong", "--sise", "4"], "no such option '--sise'"),
        (["sweep", "PingPong"], "nothing is varied; add --vary"),
        (["run", "PingPong", "--dry-run"], "a --dry-run needs no job"),
        (["resume", "no-such-run"], "there is no run 'no-such-run'"),
        (["--nodes", "0", "run", "PingPong"], "--nodes: '0' is not a number of nodes"),
        (["--time", "soon", "run", "PingPong"], "--time: 'soon' is not a time; write 30s"),
        (["--ppn", "x", "run", "PingPong"], "--ppn: 'x' is not a number of ranks"),
        (["--system", "slrum", "run", "PingPong"], "there is no batch system 'slrum'; did you"),
    ],
)
def test_refused_before_anything_is_submitted(
    words: list[str], sentence: str, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(programs, "sbatch", f"touch {programs}/called")
    system = [] if "--system" in words else ["--system", "slurm"]
    assert run(["submit", *system, *words]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.err.count("\n") == 1
    assert not (programs / "called").exists()
    assert not Path("mpigauge-runs").exists()


def test_dry_run_prints_the_script(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--system", "pbs", "--nodes", "2", "--ppn", "4", "--time", "90m", "--dry-run"]
    assert run(["submit", *words, "run", "PingPong", "--output", "out"]) == 0
    text = capsys.readouterr().out
    assert f"#PBS -o {tmp_path}/out.log\n#PBS -l select=2:ncpus=4:mpiprocs=4\n" in text
    assert "#PBS -l walltime=1:30:00\n" in text
    assert text.endswith("run PingPong --output out\n")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_used_is_refused_before_the_job_waits(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert submitting.task(("run", "PingPong", "--output", "out")).folder == tmp_path / "out"
    (tmp_path / "out" / "run.json").touch()
    with pytest.raises(UserError, match=r"/out is there already; name a new folder with --output"):
        submitting.task(("run", "PingPong", "--output", "out"))


def test_maps_are_shown_as_maps() -> None:
    assert submitting.task(("map", "--sizes", "8")).form == "map"
    assert submitting.task(("quick",)).form == "table"


def test_files_of_one_job_do_not_take_those_of_another(tmp_path: Path) -> None:
    first = submitting.task(("run", "PingPong", "--output", "out"))
    submitting.write(first.script, "")
    second = submitting.task(("run", "PingPong", "--output", "out"))
    assert (first.script.name, second.script.name) == ("out.sh", "out-2.sh")
    assert first.folder == second.folder == tmp_path / "out"
    with pytest.raises(UserError, match=r"cannot write .*/out.sh: File exists"):
        submitting.write(first.script, "")


def test_a_run_without_a_name_gets_one(tmp_path: Path) -> None:
    task = submitting.task(("run", "PingPong", "NBC:Ibcast"))
    assert task.folder.parent == tmp_path / "mpigauge-runs"
    assert task.words[-2:] == ("--output", str(task.folder))


# --- the end ------------------------------------------------------------------------------------
def test_a_good_end(capsys: pytest.CaptureFixture[str]) -> None:
    task = submitting.task(("run", "PingPong", "--output", "mpigauge-runs/x"))
    stored("x")
    submitting.collect("7", "", task)
    captured = capsys.readouterr()
    assert "PingPong" in captured.out
    assert "stored in" in captured.err


def test_nodes_are_shown_as_nodes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command's result as the command itself shows it."""
    task = submitting.task(("node", "--output", "mpigauge-runs/x"))
    assert (task.name, task.folder.name) == ("node", "x")
    folder = stored("x")
    monkeypatch.setattr(
        "mpigauge.products.node.present.page_of", lambda run: [f"page of {run.path}"]
    )
    submitting.collect("7", "", task)
    assert f"page of {folder.absolute()}" in capsys.readouterr().out


def test_a_profile_keeps_the_words_of_its_program_apart(tmp_path: Path) -> None:
    task = submitting.task(("profile", "--frames", "4", "--", "mpirun", "./app", "-x"))
    ours = ("profile", "--output", str(task.folder), "--frames", "4")
    assert task.words[-9:] == (*ours, "--", "mpirun", "./app", "-x")
    assert task.folder.parent == tmp_path / "mpigauge-runs"
    with pytest.raises(UserError, match="mpirun starts ranks itself"):
        submitting.task(("profile", "--np", "2", "--", "mpirun", "./app"))


def test_a_profile_is_shown_and_its_program_may_have_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = submitting.task(("profile", "--output", "mpigauge-runs/x", "--", "srun", "./app"))
    folder = profiles.stored(tmp_path / "mpigauge-runs" / "x", profiles.job())
    submitting.collect("7", "", task)
    captured = capsys.readouterr()
    assert "MPI takes 18 % of the run time" in captured.out
    assert "2 of 2 ranks seen" in captured.err
    (folder / "status.json").write_text('{"status": "failed", "exit_status": 3}')
    with pytest.raises(RunError, match=r"^job 7: the program ended with status 3$"):
        submitting.collect("7", "", task)
    (folder / "status.json").unlink()
    task.log.write_text("mpigauge: slurm says no\n")
    with pytest.raises(RunError, match="job 7 was cancelled: slurm says no; what was seen until"):
        submitting.collect("7", "was cancelled", task)


def test_a_job_that_measured_nothing() -> None:
    task = submitting.task(("run", "PingPong", "--output", "out"))
    task.log.write_text("slurm: hello\nmpigauge: host n2 does not answer: no\nslurm: bye\n")
    with pytest.raises(
        RunError, match=r"^job 7 failed and measured nothing: host n2 does not answer"
    ):
        submitting.collect("7", "failed", task)
    task.log.unlink()
    with pytest.raises(RunError, match=r"measured nothing: there is no output in .*out.log"):
        submitting.collect("7", "", task)


def test_a_job_that_was_killed() -> None:
    """Without a status, as after SIGKILL."""
    task = submitting.task(("run", "PingPong", "--output", "mpigauge-runs/x"))
    (stored("x") / "status.json").unlink()
    with pytest.raises(RunError, match=r"job 7 was cancelled; 1 launch is complete, .* resume "):
        submitting.collect("7", "was cancelled", task)


def test_a_resumed_run_counts_only_when_it_ended_again() -> None:
    folder = stored("x")
    task = submitting.task(("resume", "x"))
    task.log.write_text(
        "mpigauge: launch 1 failed: it was silent; 1 launch is complete, and so on\n"
    )
    said = "job 7 failed: launch 1 failed: it was silent; 1 launch is complete, what was measured"
    with pytest.raises(RunError, match=said):
        submitting.collect("7", "failed", task)
    (folder / "status.json").write_text('{"status": "done", "ended": "later"}')
    submitting.collect("7", "", task)


# --- all together, with stand-ins for the system's programs ---------------------------------------
def test_a_job_is_submitted_and_left_alone(
    programs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fake(programs, "bsub", f'cat > {programs}/got; echo "Job <5> is submitted to queue <q>."')
    fake(programs, "bjobs", f"touch {programs}/asked")
    words = ["--system", "lsf", "--no-wait", "run", "PingPong", "--output", "out"]
    assert run(["submit", *words]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"mpigauge: job 5 is submitted; its script is {tmp_path}/out.sh, "
        f"its output {tmp_path}/out.log\n"
    )
    assert (programs / "got").read_text() == (tmp_path / "out.sh").read_text()
    assert not (programs / "asked").exists()


def test_ctrl_c_leaves_the_job_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = submitting.task(("run", "PingPong", "--output", "out"))
    queue = Queue(batch.SYSTEMS["slurm"])

    def pressed(*_: object) -> BatchState:
        raise KeyboardInterrupt

    monkeypatch.setattr(Queue, "ask", pressed)
    with pytest.raises(RunError) as ended:
        submitting.wait(queue, "5", task)
    assert str(ended.value) == (
        f"job 5 goes on; `scancel 5` ends it, and `mpigauge show {tmp_path}/out` shows what it has "
        "measured"
    )
