# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What users of mpirun, srun, IMB and OSU's benchmarks type: each line is understood, with the
equivalent printed once, or it is answered with the words to type."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from mpigauge.cli.habits import Options, all_habits, in_our_words, translated
from mpigauge.cli.habits import benchmarks as benchmark_habits
from mpigauge.cli.habits import launchers as launcher_habits
from mpigauge.cli.habits.other_lines import line_here
from mpigauge.cli.main import group
from mpigauge.cli.main import run as cli
from mpigauge.model.errors import UserError
from tests import runs

MACHINE = str(Path(__file__).parents[2] / "machines/vm-epyc-2-cores.xml")
"""One of two cores."""
UNDERSTOOD = {
    # defects that users reported
    "run PingPong -x A=b": "--env A=b",
    "run PingPong -genv A=b": "--env A=b",
    "run PingPong -genv A b": "--env A=b",
    "run PingPong -env A b": "--env A=b",
    "run PingPong -hostfile F": "--hostfile F",
    "run PingPong -f F": "--hostfile F",
    "run PingPong --host a,b": "--hosts a,b",
    "run PingPong -H a,b": "--hosts a,b",
    "run PingPong --mca pml ucx": "--transport ucx",
    "run PingPong --mca btl self,tcp": "--set btl=self,tcp",
    "run PingPong -npmin 2": "--npmin 2",
    "run PingPong -mem 0.5": "--memory-limit 536870912",
    "run PingPong -msglen F": "--sizes-file F",
    "run PingPong --rankfile F": "--place rankfile:F",
    "run PingPong -np 2 --map-by ppr:1:node": "--place hosts",
    "run PingPong -np 2 --map-by socket": "--place sockets",
    "run PingPong --map-by core": "--place compact",
    "run PingPong --map-by node": "--place hosts",
    "run PingPong --cpu-list 0,4": "--bind 0,4",
    "run PingPong --bind-to core": "the default",
    "run PingPong --bind-to none": "--bind none",
    "run PingPong -msglog 28": "--sizes 0,1..268435456",
    "run PingPong -msglog 3:28": "--sizes 0,8..268435456",
    "run PingPong --size 8": "--sizes 8",
    "run PingPong -o DIR": "--output DIR",
    "exec -np 2 -x A=b ./a.out": "--env A=b",
    "profile -np 2 -H a,b ./a.out": "--hosts a,b",
    "sweep PingPong --vary env:X=1,2 -genv A b": "--env A=b",
    "map -hostfile F": "--hostfile F",
    "tune make Bcast --size 8": "--sizes 8",
    # the documentation of Open MPI's mpirun
    "run PingPong --npernode 1": "--ppn 1",
    "run PingPong -pernode": "--ppn 1",
    "run PingPong -npersocket 1": "--place ppr:1:socket",
    "run PingPong -bynode": "--place hosts",
    "run PingPong -np 2 --bysocket": "--place sockets",
    "run PingPong --byslot": "--place compact",
    "run PingPong --bycore": "--place compact",
    "run PingPong -rf F": "--place rankfile:F",
    "run PingPong --timestamp-output": "the default",
    "run PingPong -bind-to-core": "the default",
    "run PingPong -bind-to-none": "--bind none",
    "run PingPong --map-by core:OVERSUBSCRIBE": "--place compact --oversubscribe",
    "run PingPong -oversubscribe": "--oversubscribe",
    "run PingPong --default-hostfile F": "--hostfile F",
    "run PingPong --cpu-set 0,4": "--bind 0,4",
    "run PingPong --gmca btl tcp,self": "--set btl=tcp,self",
    "run PingPong --mca btl_tcp_if_include eth0": "--set btl_tcp_if_include=eth0",
    "run PingPong -mca plm_rsh_agent 'ssh -p 50000'": "--rsh ssh -p 50000",
    "run PingPong --mca plm_rsh_args '-p 50000'": "--rsh ssh -p 50000",
    "run PingPong --prefix /opt/openmpi": "--mpi /opt/openmpi",
    "run PingPong --allow-run-as-root": "the default",
    "run PingPong --tag-output": "the default",
    # of Hydra and Intel MPI
    "run PingPong -perhost 1": "--ppn 1",
    "run PingPong -rr": "--place hosts",
    "run PingPong -genvlist A,B": "--env A --env B",
    "run PingPong -genvall": "the default",
    "run PingPong -envall": "the default",
    "run PingPong -envlist A": "--env A",
    "run PingPong -grr 1": "--ppn 1",
    "run PingPong -machinefile F": "--hostfile F",
    "run PingPong -prepend-rank": "the default",
    # of srun
    "run PingPong -n2 --overcommit": "--oversubscribe",
    "run PingPong --ntasks=2 --distribution=block:cyclic": "--place sockets",
    "run PingPong --ntasks-per-node=1": "--ppn 1",
    "run PingPong --tasks-per-node 1": "--ppn 1",
    "run PingPong --ntasks-per-socket 1": "--place ppr:1:socket",
    "run PingPong -O": "--oversubscribe",
    "run PingPong --label": "the default",
    "run PingPong --kill-on-bad-exit": "the default",
    "run PingPong -w a,b": "--hosts a,b",
    "run PingPong --nodelist=a,b": "--hosts a,b",
    "run PingPong --cpu-bind=verbose,map_cpu:0,4": "--bind 0,4",
    "run PingPong --cpu-bind=none": "--bind none",
    "run PingPong --cpu-bind=cores": "the default",
    "run PingPong -m cyclic": "--place hosts",
    "run PingPong --export=ALL,A=b": "--env A=b",
    "run PingPong --exclusive": "the default",
    "run PingPong -l": "the default",
    # of IMB
    "run PingPong -multi 0": "--multi 0",
    "run PingPong -map 2x4": "--rank-grid 2x4",
    "run PingPong -off_cache -1": "--cache cold",
    "run Bcast -root_shift on": "--root-shift",
    "run Bcast -root_shift off": "the default",
    "run Bcast -imb_barrier on": "--sync dissemination",
    "run Uniband -window_size 64": "--inflight 64",
    "run Allreduce -red_data_type double": "--datatype double",
    "run MT:PingPongMT -thread_level multiple": "--thread-level multiple",
    "run PingPong -msgsize 8,64": "--sizes 8,64",
    "run PingPong -zero_size off": "--sizes 1..4Mi",
    "run PingPong -mem_alloc_type device": "--memory device",
    "run PingPong -warm_up on": "the default",
    "run PingPong -check": "the default",
    "run Bcast -sync on": "the default",
    "run PingPong -msgsz 8": "--sizes 8",
    "run PingPong -data_type int": "--datatype int",
    "run MT:PingPongMT -stride 2": "--stride 2",
    "run IO:S_Write_Indv -dir /tmp": "--dir /tmp",
    # of OSU
    "run PingPong -m 1:4096": "--sizes 1..4096",
    "run PingPong -m 4096": "--sizes 1..4096",
    "run PingPong --message-size 8:64": "--sizes 8..64",
    "run Uniband -W 64": "--inflight 64",
    "run Uniband --window-size=64": "--inflight 64",
    "run PingPong -d cuda": "--memory device",
    "run PingPong --accelerator managed": "--memory managed",
    "run Allreduce -T mpi_float": "--datatype float",
    "run PingPong -M 536870912": "--memory-limit 536870912",
    "run PingPong --mem-limit 1Mi": "--memory-limit 1Mi",
    "run Allreduce --type int": "--datatype int",
    "run PingPong --validation": "the default",
    "run PingPong --full": "the default",
}
"""Lines with the equivalent that is printed."""

ANSWERED = {
    # defects that users reported
    "run PingPong -input F": "name the benchmarks on the command line",
    "run PingPong --report-bindings": "--dry-run prints them",
    "run PingPong --map-by socket": "--place sockets",
    "run PingPong --map-by numa": "--place socket here",
    "run PingPong --map-by ppr:1:node --dry-run": "name hosts, --hosts a,b",
    "run PingPong --map-by node --dry-run": "needs two hosts",
    "run PingPong --np 4 --dry-run --topology MACHINE": "--oversubscribe",
    "run PingPong --place sockets --dry-run --topology MACHINE": "this machine has",
    "run PingPong --transport fake --dry-run": "mpigauge mpi transports",
    "run PingPong --bind 0,1 --bind 1,0": "--place cores:0,3 --place cores:1,2",
    "run PingPong --transport shm --transport tcp": "`mpigauge sweep --vary transport=shm,tcp`",
    "run PingPong --sizes 3:28": "8..268435456",
    "run PingPong --sizes 0-8": "1..256",
    "run PingPong --sizes 4096:1048576": "4096..1048576",
    "run PingPong --rsh ssh -p 50000": '--rsh "ssh -p 50000"',
    "run PingPong -v": "`mpigauge show last --all`",
    "run PingPong --list": "`mpigauge benchmarks`",
    "run PingPong --mpi mpich,openmpi": "--mpi mpich --mpi openmpi",
    "run PingPong --mpi mpihc": "did you mean 'mpich'?",
    "run PingPong -N 2": "--ppn 2 here",
    "run PingPong -iter 100": "--precision 5%",
    "run PingPong --precision 0": "--precision",
    "run PingPong --hostfile missing": "missing",
    "run PingPong --place rankfile:missing": "missing",
    "run pingpng": "PingPong",
    "mpirun -np 2 ./a.out": "`mpigauge exec --np 2 -- ./a.out`",
    "mpirun -np 2 IMB-MPI1 PingPong": "`mpigauge run PingPong`",
    "IMB-MPI1 PingPong": "`mpigauge run PingPong`",
    "IMB-MPI1 Allreduce -npmin 4": "`mpigauge run Allreduce --npmin 4`",
    "run IMB-MPI1 PingPong": "`mpigauge run PingPong`",
    "run STREAM": "`mpigauge node`",
    "run osu_latency": "`mpigauge run PingPong`",
    "run latency": "`mpigauge run PingPong`",
    "run bandwidth": "`mpigauge run PingPong`",
    "run osu_bw": "`mpigauge run Uniband`",
    "PingPong": "`mpigauge run PingPong`",
    "bench": "`mpigauge run PingPong`",
    "install openmpi": "`mpigauge mpi install",
    "plot latency last": "`mpigauge plot last latency`",
    "plot last": "`mpigauge plot last latency`",
    "show nosuch": "nosuch",
    "compare a-run a-run --only message_bytes=0,4194304": "--only message_bytes=0 --only",
    # the documentation of Open MPI's mpirun
    "run PingPong -c 2": "--np 2 here",
    "run PingPong --map-by slot:PE=4": "--bind 0-3,4-7",
    "run PingPong --map-by hwthread": "--place core",
    "run PingPong --map-by l3cache": "--place ppr:1:l3",
    "run PingPong --bind-to socket": "--bind 0-3+4",
    "run PingPong -bind-to-socket": "--bind 0-3+4",
    "run PingPong --rank-by slot": "--bind 4,0",
    "run PingPong -cpus-per-proc 4": "--threads N",
    "run PingPong --cpus-per-rank 4": "--threads N",
    "run PingPong --display-map": "--dry-run",
    "run PingPong --am F": "--set NAME=VALUE",
    "run PingPong --display map": "--dry-run",
    "run PingPong -display-allocation": "--dry-run",
    "run PingPong -nolocal": "--hosts",
    "run PingPong --wdir /tmp": "`cd /tmp`",
    "run PingPong --tune F": "--set NAME=VALUE",
    "run PingPong --output-filename F": "--output",
    # of Hydra and Intel MPI
    "run PingPong -print-rank-map": "--dry-run",
    "run PingPong -bootstrap ssh": "--rsh",
    "run PingPong -launcher ssh": "--rsh",
    "run PingPong -binding domain": "--place",
    "run PingPong -wd /tmp": "`cd /tmp`",
    # of srun
    "run PingPong --nodes 2": "`mpigauge submit --nodes 2 run …`",
    "run PingPong -N2": "--hosts",
    "run PingPong -p debug": "`mpigauge submit --queue debug run …`",
    "run PingPong --partition=debug": "`mpigauge submit --queue debug run …`",
    "run PingPong -A project": "`mpigauge submit --account project run …`",
    "run PingPong --account=project": "`mpigauge submit --account project run …`",
    "run PingPong --chdir=/tmp": "`cd /tmp`",
    "run PingPong -t 10": "--time 10m",
    "run PingPong -c4": "--bind 0-3,4-7",
    "run PingPong --cpus-per-task=4": "--bind 0-3,4-7",
    "run PingPong --cpu-bind=mask_cpu:0x3": "--bind 0,4",
    "run PingPong --distribution=plane=4": "--place compact",
    "run PingPong --mpi=pmix": "--launcher srun:pmix",
    "srun -n 2 osu_latency": "`mpigauge run PingPong --launcher srun`",
    "srun -n4 ./a.out": "`mpigauge exec --launcher srun --np 4 -- ./a.out`",
    "sbatch job.sh": "`mpigauge submit run PingPong`",
    # of IMB
    "run PingPong -iter_policy off": "--precision 5%",
    "run PingPong -time 10": "--time 10s",
    "run MT:PingPongMT -repeat 10": "--precision 5%",
    "run MT:PingPongMT -warmup 10": "--precision 5%",
    "run PingPong -help": "--help",
    "run Bcast -sync off": "--sync",
    "run PingPong -warm_up off": "never timed",
    "run PingPong -include PingPing": "`mpigauge run PingPing`",
    "run PingPong -exclude PingPing": "without PingPing",
    "run PingPong -list": "`mpigauge benchmarks`",
    "run Bcast -root_shift maybe": "-root_shift on or -root_shift off",
    "IMB-RMA": "`mpigauge run RMA`",
    "IMB-MPI1-GPU PingPong": "`mpigauge run PingPong --memory device`",
    "mpiexec -n 2 -ppn 1 -hosts a,b IMB-MPI1 PingPong -msglog 3:10":
        "`mpigauge run PingPong --ppn 1 --hosts a,b --sizes 0,8..1024`",
    # of OSU
    "run PingPong -i 1000": "--precision 5%",
    "run PingPong --iterations 1000": "--precision 5%",
    "run PingPong --warmup 200": "never timed",
    "run PingPong -x 200": "never timed",
    "run PingPong -d metal": "cuda, rocm, openacc or managed",
    "osu_latency -m 1:4096": "`mpigauge run PingPong --sizes 1..4096`",
    "osu_bw -W 64 D D": "`mpigauge run Uniband --inflight 64 --memory device`",
    "osu_latency D H": "`mpigauge run PingPong --memory device:host`",
    "mpirun -np 4 osu_allreduce -m 8:8": "`mpigauge run Allreduce --np 4 --sizes 8..8`",
    "osu_multi_bogus": "`mpigauge --help` lists the commands",
}  # fmt: skip
"""Lines with the words that the error has to contain."""


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Returns the command of a line, and the words behind its name."""
    command: click.Command = group
    rest = list(words)
    while isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), rest.pop(0))
        assert inner is not None
        command = inner
    return command, rest


@pytest.mark.parametrize("line", UNDERSTOOD)
def test_a_line_is_understood(line: str) -> None:
    command, words = command_of(shlex.split(line))
    ours, notes = in_our_words(words, Options.of(command))
    assert [each for each in notes if each.endswith(f" is {UNDERSTOOD[line]} here")], notes
    options = Options.of(command)
    for word in translated(words, options).ours:
        name = word.partition("=")[0]
        assert not name.startswith("--") or name in options.values
    assert in_our_words(ours, options) == (ours, []), "the equivalent is in our words alone"


@pytest.mark.parametrize("line", ANSWERED)
def test_a_line_is_answered(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runs.write(tmp_path / "mpigauge-runs/a-run")
    assert cli([MACHINE if word == "MACHINE" else word for word in shlex.split(line)]) == 2
    printed, error = capsys.readouterr()
    assert not printed
    assert error.count("\n") == 1
    assert ANSWERED[line] in error


def test_every_option_of_others_is_typed_here() -> None:
    """One that no test types may be misspelt."""
    typed = {word.partition("=")[0] for line in (*UNDERSTOOD, *ANSWERED) for word in line.split()}
    joined = {word[:2] for word in typed}
    one_dash = {f"-{word}" for word in typed}
    assert set(all_habits()) - typed - joined - one_dash == set()


def test_no_option_has_two_meanings() -> None:
    assert not launcher_habits.HABITS.keys() & benchmark_habits.HABITS.keys()


def test_what_one_dash_may_stand_for_is_known() -> None:
    assert all_habits().keys() >= launcher_habits.OPEN_MPI


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("mpirun --np=2 ./a.out -n 3", "mpigauge exec --np=2 -- ./a.out -n 3"),
        ("mpirun -np 2 -- ./a.out 'b c'", "mpigauge exec --np 2 -- ./a.out 'b c'"),
        ("mpirun --np=2 /opt/imb/IMB-MPI1 pingpong", "mpigauge run PingPong"),
        ("mpirun -np 2 IMB-MPI1", "mpigauge run MPI1 --np 2"),
        ("mpirun --unknown 2 ./a.out", ""),
        ("mpirun", ""),
        ("IMB-MPI1 --unknown", ""),
        ("STREAM", ""),
    ],
)
def test_a_whole_line_in_our_words(line: str, ours: str) -> None:
    assert line_here(shlex.split(line)) == ours


def test_an_option_of_a_line_without_one_meaning_is_answered() -> None:
    with pytest.raises(UserError, match="--ppn 2 here"):
        line_here(["mpirun", "-N", "2", "./a.out"])
