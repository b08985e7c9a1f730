# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words that start a job, launcher by launcher."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.cli.main import run as main
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.model.registry import Here
from mpigauge.site import launch
from mpigauge.site.launch import Job, OnHost, registry
from tests import mpi_fakes

MPICH = Mpi(
    name="mpich",
    version="5.0.2",
    standard="5.0",
    library=Path("/m/lib/libmpi.so.12"),
    library_string="MPICH Version: 5.0.2",
    abi="mpich",
    launcher="hydra",
    mpiexec=Path("/m/bin/mpiexec"),
    prefix=Path("/m"),
    include=Path("/m/include"),
    env={"LD_LIBRARY_PATH": "/m/lib"},
    found="at /m",
)
INTEL = replace(MPICH, name="intel", version="2021.18.1", env={"I_MPI_ROOT": "/m"})
OPENMPI5 = replace(MPICH, name="openmpi", version="5.0.11", abi="ompi", launcher="openmpi", env={})
OPENMPI4 = replace(OPENMPI5, version="4.1.8")
SPECTRUM = replace(OPENMPI5, name="spectrum", version="10.4.0")
IN_SLURM = Here("slurm", lambda program: f"/usr/bin/{program}")
PROGRAM = ("./a program", "--out", "x y")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def words(job: Job) -> str:
    """The words with a bar between them: no word may be split or joined."""
    return "|".join(launch.command(job).words)


def test_mpich() -> None:
    job = Job(MPICH, 2, PROGRAM, env={"A": "b c"}, settings={"MPIR_CVAR_NOLOCAL": "1"})
    assert words(job) == (
        "/m/bin/mpiexec|-genv|A|b c|-genv|LD_LIBRARY_PATH|/m/lib"
        "|-genv|MPIR_CVAR_NOLOCAL|1|-n|2|./a program|--out|x y"
    )
    assert launch.command(job).env == {
        "A": "b c",
        "LD_LIBRARY_PATH": "/m/lib",
        "MPIR_CVAR_NOLOCAL": "1",
    }


def test_intel_starts_unbound() -> None:
    assert words(Job(INTEL, 4, ("p",))) == (
        "/m/bin/mpiexec|-genv|I_MPI_PIN|0|-genv|I_MPI_ROOT|/m|-n|4|p"
    )


def test_a_setting_of_the_user_wins() -> None:
    job = Job(INTEL, 4, ("p",), settings={"I_MPI_PIN": "1"})
    assert launch.command(job).env["I_MPI_PIN"] == "1"


# On hosts: as many ranks each, other numbers of ranks, other words for each host.
EVEN = (OnHost("a", 2), OnHost("b", 2))
UNEVEN = (OnHost("a", 2), OnHost("b", 1))
BOUND = (OnHost("a", 1, ("--bind", "0")), OnHost("b", 1, ("--bind", "4")))
SSH = ("/usr/bin/ssh", "-p", "50000")


@pytest.mark.parametrize(
    ("mpi", "hosts", "expected"),
    [
        (MPICH, EVEN, "mpiexec|-hosts|a:2,b:2|-n|4|p"),
        (MPICH, UNEVEN, "mpiexec|-hosts|a:2,b:1|-n|3|p"),
        (MPICH, BOUND, "mpiexec|-hosts|a:1,b:1|-n|1|p|--bind|0|:|-n|1|p|--bind|4"),
        (INTEL, EVEN, "mpiexec|-genv|I_MPI_PIN|0|-n|4|-hosts|a,b|-ppn|2|p"),
        (INTEL, UNEVEN, "mpiexec|-genv|I_MPI_PIN|0|-n|2|-host|a|p|:|-n|1|-host|b|p"),
        (
            INTEL,
            BOUND,
            "mpiexec|-genv|I_MPI_PIN|0|-n|1|-host|a|p|--bind|0|:|-n|1|-host|b|p|--bind|4",
        ),
        (OPENMPI5, EVEN, "mpiexec|--bind-to|none|--map-by|slot|-n|4|--host|a:2,b:2|p"),
        (OPENMPI5, UNEVEN, "mpiexec|--bind-to|none|--map-by|slot|-n|3|--host|a:2,b:1|p"),
        (
            OPENMPI5,
            BOUND,
            (
                "mpiexec|--bind-to|none|--map-by|slot"
                "|-n|1|--host|a:1|p|--bind|0|:|-n|1|--host|b:1|p|--bind|4"
            ),
        ),
        (OPENMPI4, EVEN, "mpiexec|--bind-to|none|--map-by|slot|-n|4|--host|a:2,b:2|p"),
    ],
    ids=lambda value: value.label if isinstance(value, Mpi) else None,
)
def test_on_hosts(mpi: Mpi, hosts: tuple[OnHost, ...], expected: str) -> None:
    job = Job(replace(mpi, env={}), sum(host.ranks for host in hosts), ("p",), hosts=hosts)
    assert words(job).removeprefix("/m/bin/") == expected


@pytest.mark.parametrize(
    ("mpi", "expected"),
    [
        (MPICH, "mpiexec|-hosts|a,b|-ppn|1|-n|3|p"),
        (INTEL, "mpiexec|-genv|I_MPI_PIN|0|-n|3|-hosts|a,b|-ppn|1|p"),
        (OPENMPI5, "mpiexec|--bind-to|none|--map-by|node|-n|3|--host|a:2,b:1|p"),
        (OPENMPI4, "mpiexec|--bind-to|none|--map-by|node|-n|3|--host|a:2,b:1|p"),
    ],
    ids=lambda value: value.label if isinstance(value, Mpi) else None,
)
def test_on_hosts_in_turn(mpi: Mpi, expected: str) -> None:
    job = Job(replace(mpi, env={}), 3, ("p",), hosts=UNEVEN, in_turn=True)
    assert words(job).removeprefix("/m/bin/") == expected


@pytest.mark.parametrize(
    ("mpi", "said", "variable"),
    [
        (MPICH, "-launcher|ssh|-launcher-exec|/usr/bin/ssh", "HYDRA_LAUNCHER_EXTRA_ARGS"),
        (
            INTEL,
            "-launcher|ssh|-launcher-exec|/usr/bin/ssh",
            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
        ),
        (OPENMPI5, "--prtemca|plm_ssh_agent|/usr/bin/ssh -p 50000", ""),
        (OPENMPI4, "--mca|plm_rsh_agent|/usr/bin/ssh -p 50000", ""),
    ],
    ids=lambda value: value.label if isinstance(value, Mpi) else "",
)
def test_another_launch_agent(mpi: Mpi, said: str, variable: str) -> None:
    job = Job(mpi, 4, ("p",), hosts=EVEN, agent=SSH)
    assert f"|{said}|" in words(job)
    assert launch.command(job).env.get(variable) == ("-p 50000" if variable else None)


@pytest.mark.parametrize("mpi", [MPICH, INTEL], ids=lambda mpi: mpi.label)
def test_an_agent_that_is_not_ssh_gets_no_option_of_ssh(mpi: Mpi) -> None:
    """It would stand before its own words: `docker -x exec …`."""
    agent = ("/usr/bin/docker", "exec", "-i")
    made = launch.command(Job(mpi, 4, ("p",), hosts=EVEN, agent=agent))
    assert "-launcher|rsh|-launcher-exec|/usr/bin/docker|" in "|".join(made.words)
    assert "exec -i" in made.env.values()


def test_open_mpi_5() -> None:
    job = Job(
        OPENMPI5,
        3,
        PROGRAM,
        env={"A": "b c"},
        settings={"btl": "self,sm", "UCX_TLS": "shm"},
        oversubscribe=True,
    )
    assert words(job) == (
        "/m/bin/mpiexec|--bind-to|none|--map-by|:OVERSUBSCRIBE|--mca|btl|self,sm"
        "|-x|A=b c|-x|UCX_TLS=shm|-n|3|./a program|--out|x y"
    )
    assert launch.command(job).env == {**AS_ROOT, "A": "b c", "UCX_TLS": "shm"}


@pytest.mark.parametrize("mpi", [OPENMPI4, SPECTRUM], ids=lambda mpi: mpi.name)
def test_open_mpi_4_and_its_kin(mpi: Mpi) -> None:
    assert words(Job(mpi, 2, ("p",), oversubscribe=True)) == (
        "/m/bin/mpiexec|--bind-to|none|--oversubscribe|-n|2|p"
    )


@pytest.mark.parametrize(
    ("job", "expected", "env"),
    [
        (
            Job(MPICH, 4, ("p",), hosts=EVEN, launcher="srun"),
            "srun|--mpi=pmi2|--ntasks=4|--nodes=2|--distribution=arbitrary|--nodelist=a,a,b,b|FIXED|p",
            {},
        ),
        (
            Job(INTEL, 3, ("p",), hosts=UNEVEN, in_turn=True, launcher="srun:pmix"),
            "srun|--mpi=pmix|--ntasks=3|--nodes=2|--distribution=arbitrary|--nodelist=a,b,a|FIXED|p",
            {"I_MPI_PIN": "0", "I_MPI_PMI": "pmix", "I_MPI_ROOT": "/m"},
        ),
        (
            Job(OPENMPI5, 2, ("p", "x y"), hosts=BOUND, launcher="srun", oversubscribe=True,
                settings={"btl": "tcp,self", "UCX_TLS": "tcp"}, env={"A": "1"}),
            (
                "srun|--mpi=pmix|--ntasks=2|--nodes=2|--distribution=arbitrary|--nodelist=a,b|FIXED"
                '|--overcommit|sh|-c|case "$SLURMD_NODENAME" in a) set -- "$@" --bind 0;; '
                'b) set -- "$@" --bind 4;; esac; exec "$@"|sh|p|x y'
            ),
            {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp", "A": "1"},
        ),
    ],
    ids=["mpich", "intel", "openmpi"],
)  # fmt: skip
def test_srun(job: Job, expected: str, env: dict[str, str]) -> None:
    fixed = "--cpu-bind=none|--overlap|--kill-on-bad-exit=1|--input=none"
    made = launch.command(
        replace(job, mpi=replace(job.mpi, env=INTEL.env if "I_MPI_PMI" in env else {}))
    )
    assert "|".join(made.words) == expected.replace("FIXED", fixed)
    assert made.env == env


# --- the launcher binds ------------------------------------------------------------------------
SINGLE = ((1,), (0,))
SEVERAL = ((1,), (4, 5, 64))
PHYSICAL = "--mca|rmaps_rank_file_physical|1|--use-hwthread-cpus"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (Job(MPICH, 2, ("p",), bind=SEVERAL), "mpiexec|-bind-to|user:1,4+5+64|-n|2|p"),
        (
            Job(MPICH, 3, ("p",), bind=SINGLE, hosts=UNEVEN),
            "mpiexec|-bind-to|user:1,0|-hosts|a:2,b:1|-n|3|p",
        ),
        (
            Job(INTEL, 2, ("p",), bind=SEVERAL),
            ("mpiexec|-genv|I_MPI_PIN|1|-genv|I_MPI_PIN_DOMAIN|[0x2,0x10000000000000030]|-n|2|p"),
        ),
        (
            Job(INTEL, 4, ("p",), bind=SINGLE, hosts=EVEN),
            ("mpiexec|-genv|I_MPI_PIN|1|-genv|I_MPI_PIN_DOMAIN|[0x2,0x1]|-n|4|-hosts|a,b|-ppn|2|p"),
        ),
        (
            Job(OPENMPI5, 2, ("p",), bind=SINGLE),
            "mpiexec|--bind-to|hwthread|--map-by|pe-list=1,0:ordered:HWTCPUS|-n|2|p",
        ),
        (
            Job(OPENMPI5, 3, ("p",), bind=SINGLE, hosts=UNEVEN, oversubscribe=True),
            (
                "mpiexec|--bind-to|hwthread|--map-by|pe-list=1,0:ordered:HWTCPUS:OVERSUBSCRIBE"
                "|-n|3|--host|a:2,b:1|p"
            ),
        ),
        (
            Job(OPENMPI4, 2, ("p",), bind=SEVERAL, stem="/run/launch-000"),
            f"mpiexec|--rankfile|/run/launch-000.rankfile|{PHYSICAL}|-n|2|p",
        ),
        (
            Job(SPECTRUM, 3, ("p",), bind=SINGLE, hosts=UNEVEN, stem="f", oversubscribe=True),
            f"mpiexec|--rankfile|f.rankfile|{PHYSICAL}|--oversubscribe|-n|3|--host|a:2,b:1|p",
        ),
        (
            Job(INTEL, 2, ("p",), bind=SEVERAL, launcher="srun"),
            (
                "srun|--mpi=pmi2|--ntasks=2|--nodes=1|--cpu-bind=mask_cpu:0x2,0x10000000000000030"
                "|--overlap|--kill-on-bad-exit=1|--input=none|p"
            ),
        ),
    ],
    ids=[
        "mpich", "mpich-hosts", "intel", "intel-hosts", "openmpi", "openmpi-hosts", "old",
        "spectrum", "srun",
    ],
)  # fmt: skip
def test_the_launcher_binds(job: Job, expected: str) -> None:
    made = replace(job, mpi=replace(job.mpi, env={}))
    assert words(made).removeprefix("/m/bin/") == expected


def test_srun_alone_binds_the_ranks_of_intel() -> None:
    assert launch.command(Job(INTEL, 2, ("p",), bind=SINGLE, launcher="srun")).env == {
        "I_MPI_PIN": "0",
        "I_MPI_PMI": "pmi2",
        "I_MPI_ROOT": "/m",
    }


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (Job(OPENMPI5, 2, ("p",), bind=SEVERAL), "it takes one core for each rank"),
        (Job(OPENMPI5, 2, ("p",), bind=((1,), (1,))), "it gives a core to one rank only"),
        (
            Job(OPENMPI5, 4, ("p",), bind=SINGLE, hosts=EVEN, in_turn=True),
            "it fills host after host, and ranks are to go from host to host in turn",
        ),
        (Job(INTEL, 3, ("p",), bind=SINGLE, hosts=UNEVEN), "does not support the cores of b"),
    ],
    ids=["several", "twice", "in-turn", "uneven"],
)
def test_what_a_launcher_cannot_bind(job: Job, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as error:
        launch.command(job)
    assert str(error.value).startswith("--bind-by launcher: ")
    assert str(error.value).endswith("--bind-by kernel")


@pytest.mark.parametrize(
    ("hosts", "in_turn", "lines"),
    [
        ((), False, ("0=localhost slot=1", "1=localhost slot=4,5,64")),
        (EVEN, False, ("0=a slot=1", "1=a slot=4,5,64", "2=b slot=1", "3=b slot=4,5,64")),
        (UNEVEN, True, ("0=a slot=1", "1=b slot=1", "2=a slot=4,5,64")),
    ],
    ids=["here", "host-by-host", "in-turn"],
)
def test_the_rankfile_of_open_mpi_4(
    hosts: tuple[OnHost, ...], in_turn: bool, lines: tuple[str, ...]
) -> None:
    job = Job(OPENMPI4, len(lines), ("p",), hosts=hosts, in_turn=in_turn, bind=SEVERAL, stem="f")
    text = "".join(f"rank {line}\n" for line in lines)
    assert launch.command(job).files == {"f.rankfile": text}
    assert launch.command(replace(job, bind=())).files == {}


def test_every_launcher_is_a_short_file_with_golden_words(repository: Path) -> None:
    """What stands in CONTRIBUTING.md: a file of under 80 lines, and a list of words for it here."""
    folder = repository / "src" / "mpigauge" / "site" / "launch"
    files = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    mine = Path(__file__).read_text(encoding="utf-8")
    for name in launch.LAUNCHERS:
        assert re.search(rf'@launcher\(\s*"{name}"', files[name])
        assert len(files[name].splitlines()) < 80
        assert f'launcher="{name}"' in mine
    shared = ("job", "leftovers", "registry")
    assert all(len(text.splitlines()) < 80 for name, text in files.items() if name not in shared)


def test_contributing_shows_a_launcher_as_it_is(repository: Path) -> None:
    shown = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    file = repository / "src" / "mpigauge" / "site" / "launch" / "srun.py"
    assert f"```python\n{file.read_text(encoding='utf-8')}```\n" in shown


def test_words_of_each_host_in_a_shell(tmp_path: Path) -> None:
    """What srun is given for hosts that are told different words does what it should."""
    say = tmp_path / "say"
    say.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    say.chmod(0o755)
    words = launch.command(Job(MPICH, 2, (str(say), "x y"), hosts=BOUND, launcher="srun")).words
    program = words[words.index("sh") :]
    for name, bind in (("a", "0"), ("b", "4")):
        done = subprocess.run(
            program, env={**os.environ, "SLURMD_NODENAME": name}, stdout=subprocess.PIPE,
            text=True, check=True,
        )  # fmt: skip
        assert done.stdout == f"x y|--bind|{bind}|"


def test_intel_is_told_how_a_batch_system_reaches_hosts() -> None:
    """With hosts on its command line it would take ssh; MPICH and Open MPI look for themselves."""
    job = Job(INTEL, 4, ("p",), hosts=EVEN, system="slurm")
    assert launch.command(job).env["I_MPI_HYDRA_BOOTSTRAP"] == "slurm"
    for other in (replace(job, agent=SSH), replace(job, system="pbs"), replace(job, mpi=MPICH)):
        assert "I_MPI_HYDRA_BOOTSTRAP" not in launch.command(other).env


def test_a_command_can_be_shown_to_people() -> None:
    command = launch.command(Job(replace(MPICH, env={"X": "1 2"}), 1, ("p", "a b")))
    assert str(command) == "X='1 2' /m/bin/mpiexec -genv X '1 2' -n 1 p 'a b'"


def test_two_launchers_of_one_name_are_refused() -> None:
    assert launch.LAUNCHERS
    with pytest.raises(RuntimeError, match="two launchers are named 'hydra'"):
        registry.launcher("hydra")(lambda job: launch.Command(job.program, {}))


def test_an_unknown_launcher_is_answered_with_those_that_can_be_named() -> None:
    for word in ("sru", "sru:pmix"):
        with pytest.raises(UserError, match="there is no launcher 'sru'; did you mean 'srun'"):
            launch.check_launcher(word, IN_SLURM)
        with pytest.raises(UserError, match="there is no launcher 'sru'; did you mean 'srun'"):
            launch.check_launcher(word)
    launch.check_launcher("srun")
    names = ", ".join(each.name for each in launch.nameable())
    with pytest.raises(UserError, match=rf"no launcher 'hydra'; there are {names}$"):
        launch.check_launcher("hydra", IN_SLURM)


def test_a_launcher_that_is_not_here_is_refused_in_its_own_words() -> None:
    launch.check_launcher("srun:pmix", IN_SLURM)
    with pytest.raises(UserError, match=r"^--launcher srun starts ranks in a job of"):
        launch.check_launcher("srun", replace(IN_SLURM, batch_system="pbs"))
    with pytest.raises(UserError, match=r"^--launcher srun needs the program srun, "):
        launch.check_launcher("srun:pmix", replace(IN_SLURM, find_program=lambda _: None))


def test_every_launcher_that_can_be_named_says_what_has_to_be_here_for_it() -> None:
    bare = Here(find_program=lambda _: None)
    assert launch.nameable()
    assert all(launcher.missing(bare) for launcher in launch.nameable())


def test_the_help_names_the_launchers_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help-all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    named = shown.partition("--launcher NAME Launcher of the ranks: ")[2].partition(". [")[0]
    words = [word for each in launch.nameable() for word in each.words]
    assert re.split(r", | or ", named) == words
    assert {"srun", "srun:pmi2", "srun:pmix", "srun:cray_shasta"} <= set(words)


def test_a_launcher_that_is_not_here_is_refused_before_a_folder_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mpi = str(mpi_fakes.mpich(tmp_path / "mpi"))
    words = ["run", "PingPong", "--sizes", "8", "--mpi", mpi, "--output", str(tmp_path / "r")]
    assert main([*words, "--launcher", "srun"]) == 2
    assert "--launcher srun starts ranks in a job of Slurm" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()
