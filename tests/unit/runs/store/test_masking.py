# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Values of variables whose names look secret: not stored, and on no command line."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.cli.main import run as main
from mpigauge.measuring.campaign.resume import plan_of
from mpigauge.measuring.plan import Plan
from mpigauge.measuring.plan.arms.foreign import Foreign
from mpigauge.measuring.plan.plan import PlanPart
from mpigauge.model.errors import UserError
from mpigauge.model.secrets import (
    MASK,
    as_typed,
    looks_secret,
    masked,
    masked_words,
    revealed,
)
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.products.submit import submitting
from mpigauge.products.submit.queue import Queue
from mpigauge.runs.store import RunWriter, load
from mpigauge.runs.store.pack import pack, unpack
from mpigauge.site.batch import SYSTEMS, Wish, script
from mpigauge.site.launch import LAUNCHERS, Job, OnHost, command
from tests import cells, profiles
from tests.unit.site.launch.test_launch import INTEL, MPICH, OPENMPI4, OPENMPI5, PROGRAM, SPECTRUM

VALUE = "hunter2 or so"
ENV = {
    "API_TOKEN": VALUE,
    "aws_secret_access": VALUE,
    "KEYS": VALUE,
    "DB_PASSWORD": VALUE,
    "A": "1",
}


# --- what looks secret ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "secret"),
    [("API_TOKEN", True), ("aws_secret", True), ("SSH_KEY", True), ("MYPASSWORD", True),
     ("SLURM_JWT", True), ("HOME", False), ("UCX_TLS", False),
     ("MPIR_CVAR_CH4_OFI_ENABLE_MR_PROV_KEY", False)],
)  # fmt: skip
def test_names_that_look_secret(name: str, secret: bool) -> None:
    assert looks_secret(name) == secret
    assert masked({name: "v", "EMPTY_KEY": ""}) == {name: MASK if secret else "v", "EMPTY_KEY": ""}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--env", f"TOKEN={VALUE}"], ["--env", f"TOKEN={MASK}"]),
        ([f"--env=TOKEN={VALUE}", "--np", "2"], [f"--env=TOKEN={MASK}", "--np", "2"]),
        (["mpirun", "-x", f"TOKEN={VALUE}", "./a"], ["mpirun", "-x", f"TOKEN={MASK}", "./a"]),
        (["mpiexec", "-genv", "TOKEN", VALUE, "./a"], ["mpiexec", "-genv", "TOKEN", MASK, "./a"]),
        (["srun", f"--export=ALL,TOKEN={VALUE}"], ["srun", f"--export=ALL,TOKEN={MASK}"]),
        (["./a", f"--api-key={VALUE}"], ["./a", f"--api-key={MASK}"]),
        (["-genv", "A", "TOKEN", "keys/x=1"], ["-genv", "A", "TOKEN", "keys/x=1"]),
    ],
)
def test_words_lose_what_looks_secret(words: list[str], expected: list[str]) -> None:
    assert masked_words(words) == expected
    assert revealed(expected, {"TOKEN": VALUE, "key": VALUE}) == words


def test_a_shell_takes_the_value_from_the_environment() -> None:
    assert list(as_typed({"TOKEN": VALUE, "A": "b c"})) == ["A='b c'", 'TOKEN="$TOKEN"']


# --- launchers ------------------------------------------------------------------------------
@pytest.mark.parametrize("name", LAUNCHERS)
@pytest.mark.parametrize("mpi", [MPICH, INTEL, OPENMPI5, OPENMPI4, SPECTRUM], ids=lambda m: m.label)
@pytest.mark.parametrize("hosts", [(), (OnHost("a", 2), OnHost("b", 1))], ids=["here", "hosts"])
def test_launchers_hand_secrets_on_by_name(name: str, mpi: Any, hosts: tuple[OnHost, ...]) -> None:
    job = Job(
        replace(mpi, launcher=name), sum(h.ranks for h in hosts) or 2, PROGRAM, ENV, hosts=hosts
    )
    made = LAUNCHERS[name].command(job)
    assert not [word for word in made.words if VALUE in word]
    assert not [text for text in made.files.values() if VALUE in text]
    assert {key: made.env[key] for key in ENV} == ENV
    assert VALUE not in str(made)


def test_open_mpi_is_told_the_name_alone() -> None:
    words = command(Job(OPENMPI5, 2, PROGRAM, {"TOKEN": VALUE, "A": "1"})).words
    assert "|-x|A=1|-x|TOKEN|" in "|".join(words)


# --- what is stored -------------------------------------------------------------------------
def plan() -> Plan:
    own = Foreign("app", ("mpirun", "-x", f"TOKEN={VALUE}", "./app"), ())
    part = PlanPart(("app",), 2, env=ENV, settings={"MY_KEY": VALUE}, foreign=own)
    return Plan((part,), "mpich", 1, env=ENV, settings={"MY_KEY": VALUE, "UCX_TLS": "tcp"})


def stored(folder: Path) -> Path:
    head = {"version": "0.1", "command": masked_words(["mpigauge", "run", "--env", f"KEY={VALUE}"])}
    with RunWriter.create(
        {**head, "plan": plan().to_json()}, cells.cards_text(), output=folder
    ) as w:
        w.write_command(0, ["mpirun", "-x", f"TOKEN={VALUE}", "./a"], ENV, {})
    return folder


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_run_folder_holds_no_secret(tmp_path: Path, umask: int) -> None:
    """run.json follows the umask; a command is for its owner."""
    before = os.umask(umask)
    try:
        folder = stored(tmp_path / "run")
    finally:
        os.umask(before)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if VALUE in path.read_text()]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
    assert modes["run.json"] == 0o666 & ~umask
    assert modes["launch-000.command"] == 0o600


def test_a_resumed_plan_takes_secrets_from_the_environment(tmp_path: Path) -> None:
    run = load(stored(tmp_path / "run"), cards=False)
    here = {**ENV, "TOKEN": VALUE, "MY_KEY": VALUE}
    assert plan_of(run, here) == plan()
    assert plan_of(run).env["API_TOKEN"] == MASK  # to be looked at, not to be carried out


@pytest.mark.parametrize("name", ["API_TOKEN", "KEYS", "TOKEN", "MY_KEY"])
def test_a_secret_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    run = load(stored(tmp_path / "run"), cards=False)
    here = {**ENV, "TOKEN": VALUE, "MY_KEY": VALUE}
    del here[name]
    with pytest.raises(
        UserError, match=rf"the value of {name} resembles a secret and was not stored"
    ):
        plan_of(run, here)


def test_nothing_secret_is_varied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The arms of a sweep are called after their values, in each row."""
    file = tmp_path / "plan.toml"
    file.write_text('benchmarks = ["PingPong"]\n[[vary]]\nlist = [{ "env:API_TOKEN" = "a" }]\n')
    for words in (["PingPong", "--vary", "env:API_TOKEN=a,b"], [str(file)]):
        assert main(["sweep", *words, "--dry-run"]) == 2
        assert "the values of API_TOKEN look secret" in capsys.readouterr().err


# --- job scripts ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "words", [("--env", f"TOKEN={VALUE}"), (f"--env=TOKEN={VALUE}",)], ids=["apart", "joined"]
)
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_job_script_names_secrets(words: tuple[str, ...], system: str) -> None:
    ours, variables = submitting.by_name(("run", *words, "--env", "A=1", "--env", "HOME"))
    assert variables == {"TOKEN": VALUE}
    text = script(SYSTEMS[system], Wish("a", "b"), ours, "/", {})
    assert VALUE not in text
    assert "A=1" in text
    assert "TOKEN" in text


@pytest.mark.parametrize(
    ("command", "rest"),
    [("run", ("PingPong",)), ("profile", ("--np", "2", "--", "./a", "--env", "MY_KEY=b"))],
)
def test_a_submitted_command_names_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, rest: tuple[str, ...]
) -> None:
    """Words of the user's program stay as they are."""
    monkeypatch.chdir(tmp_path)
    task = submitting.task((command, "--env", f"TOKEN={VALUE}", *rest))
    assert task.variables == {"TOKEN": VALUE}
    assert not [word for word in task.words if VALUE in word]
    start = task.words.index(rest[0])
    assert task.words[start : start + len(rest)] == rest


def test_the_batch_system_finds_them_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "sbatch"
    program.write_text('#!/bin/sh\necho "Submitted batch job 7"\nprintf %s "$TOKEN" > "$0.seen"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert Queue(SYSTEMS["slurm"]).submit("#!/bin/sh\n", {"TOKEN": VALUE}) == "7"
    assert (tmp_path / "sbatch.seen").read_text() == VALUE


def test_a_job_script_is_for_its_owner(tmp_path: Path) -> None:
    submitting.write(tmp_path / "a.sh", "#!/bin/sh\n")
    assert stat.S_IMODE((tmp_path / "a.sh").stat().st_mode) == 0o700


# --- what is handed on ----------------------------------------------------------------------
@pytest.mark.parametrize("anonymous", [False, True])
def test_a_pack_of_an_older_run_loses_its_secrets(tmp_path: Path, anonymous: bool) -> None:
    folder = stored(tmp_path / "run")
    head = json.loads((folder / "run.json").read_text())
    head["command"] = ["mpigauge", "run", "--env", f"API_TOKEN={VALUE}"]
    head["plan"]["env"]["API_TOKEN"] = VALUE
    (folder / "run.json").write_text(json.dumps(head))
    line = f"API_TOKEN='{VALUE}' \\\n  mpiexec -genv API_TOKEN '{VALUE}' -n 2 ./a\n"
    (folder / "logs" / "launch-000.command").write_text(line)
    pack(folder, tmp_path / "a.mpigauge", anonymous)
    found = unpack(tmp_path / "a.mpigauge", tmp_path / "out")
    texts = {path.name: path.read_text() for path in found.rglob("*") if path.is_file()}
    assert not [name for name, text in texts.items() if VALUE in text]
    assert "-n 2 ./a" in texts["launch-000.command"]
    kept = json.loads(texts["run.json"])["plan"]["env"]["API_TOKEN"]
    assert kept.startswith("value") if anonymous else kept == MASK


def test_a_profile_keeps_no_secret_of_its_program(tmp_path: Path) -> None:
    job = profiles.job()
    files = tuple(
        replace(file, words=("./a", f"--token={VALUE}", "b")) for file in job.profile.files
    )
    secret = replace(job, profile=replace(job.profile, files=files))
    folder = profiles.stored(tmp_path / "profile", secret)
    assert not [p for p in folder.rglob("*") if p.is_file() and VALUE in p.read_text("latin-1")]
    assert load_jobs(folder)[0].ranks[0].words == ("./a", f"--token={MASK}", "b")
