# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options of mpirun (Open MPI), of mpiexec (Hydra, Intel MPI) and of srun, in our words."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.cli.habits.habit import NAME_AND_VALUE, Habit, answered, flag, of_runs, same_as, usual
from mpigauge.model.errors import UserError
from mpigauge.model.placement_words import HOSTS, SOCKETS, of_mapping

OPEN_MPI = frozenset({
    "--map-by", "--bind-to", "--cpu-list", "--cpu-set", "--rankfile", "--report-bindings", "--host",
    "--machinefile", "--default-hostfile", "--mca", "--gmca", "--npernode", "--npersocket",
    "--pernode", "--bynode", "--byslot", "--bycore", "--bysocket", "--bind-to-core",
    "--bind-to-socket", "--bind-to-none", "--rank-by", "--nolocal",
    "--display-map", "--display-allocation", "--tag-output", "--timestamp-output", "--wdir",
    "--prefix", "--cpus-per-proc", "--cpus-per-rank", "--allow-run-as-root", "--tune", "--am",
    "--output-filename",
})  # fmt: skip
"""Options of launchers that may have one dash."""
_SPREAD = "--place scatter spreads all ranks over the machine"
_MAPPED_IN_TURN = {
    "numa": "two ranks on two NUMA nodes of a socket are --place socket here, on two sockets "
    f"--place sockets; {_SPREAD}",
    "l3cache": "two ranks on two L3 caches of a NUMA node are --place numa here; "
    "--place ppr:1:l3 takes one core of each L3 cache",
    "l2cache": "--place ppr:1:l2 takes one core of each L2 cache",
    "hwthread": "two ranks on the hardware threads of a core are --place core here",
    "board": "--place hosts takes one host after the other",
    "seq": "--hosts a,b names the hosts in this order",
    "dist": "--place nic-near takes the cores near the network card",
    "rankfile": "--place rankfile:FILE reads the file",
}
_IN_TURN = (
    "two ranks in turn over the sockets are --place sockets here; --place numa or socket keeps "
    f"them within one, {_SPREAD}"
)
_SHOWN = (
    "every run verifies and stores the cores of its ranks; --dry-run prints them without a launch"
)
_SEVERAL_CORES = "--bind 0-3,4-7 gives each rank several cores, --threads N starts threads on them"
_FOLDER = "ranks start in the folder of the command: `cd {}` first"
_OUTPUT = "the output of each launch is kept in the folder logs of the run, which --output names"
_AGENTS = ("plm_rsh_agent", "orte_rsh_agent", "plm_ssh_agent")
_AGENT_OPTIONS = ("plm_rsh_args", "plm_ssh_args")
_PMI = ("pmix", "pmi2", "cray_shasta")


# --- places ---------------------------------------------------------------------------------------
def _hosts_or_ranks(value: str) -> Sequence[str]:
    raise UserError(
        f"-N {value}: for mpirun these are ranks on each host, --ppn {value} here; for srun they "
        "are hosts, which --hosts names"
    )


def _mapped(value: str, ranks: int | None) -> Sequence[str]:
    """Translates --map-by, with its modifiers: core:OVERSUBSCRIBE, ppr:2:socket:PE=2."""
    words = value.split(":")
    count = 3 if words[0].lower() == "ppr" else 1
    target = ":".join(words[:count])
    more = _modified(value, words[count:])
    policy = of_mapping(target, ranks)
    if policy:
        return ["--place", policy, *more]
    raise UserError(f"--map-by {value}: {_MAPPED_IN_TURN.get(target.lower(), _IN_TURN)}")


def _modified(value: str, modifiers: Sequence[str]) -> Sequence[str]:
    """Returns our words for modifiers of --map-by. UserError: one has none."""
    more: list[str] = []
    for word in modifiers:
        if word.lower() == "oversubscribe":
            more.append("--oversubscribe")
        elif word.lower() not in ("nooversubscribe", ""):
            raise UserError(f"--map-by {value}: there is no '{word}' here; {_SEVERAL_CORES}")
    return more


def _bound(value: str) -> Sequence[str]:
    if value.lower() == "core":
        return []
    if value.lower() == "none":
        return ["--bind", "none"]
    raise UserError(
        f"--bind-to {value}: each rank is bound to a core; --bind 0-3+4 names the cores of each "
        "rank, --bind none leaves it to others"
    )


def _bound_by_srun(value: str) -> Sequence[str]:
    """Translates srun's --cpu-bind: verbose,map_cpu:0,4."""
    text = value.lower()
    for word in ("verbose,", "v,", "quiet,", "q,"):
        text = text.removeprefix(word)
    kind, _, cores = text.partition(":")
    if kind == "map_cpu" and cores:
        return ["--bind", cores]
    if kind in ("none", "no"):
        return ["--bind", "none"]
    if kind in ("cores", "rank", "yes"):
        return []
    raise UserError(
        f"--cpu-bind {value}: each rank is bound to a core; --bind 0,4 names the cores of the "
        "ranks, --place puts them on an l3, numa, socket, …"
    )


def distributed(option: str, value: str, ranks: int | None) -> Sequence[str]:
    """Translates srun's --distribution. UserError: it has no one meaning here."""
    ours = {
        "block": "compact",
        "block:block": "compact",
        "cyclic": HOSTS,
        "plane=1": HOSTS,
        "block:cyclic": SOCKETS if ranks == 2 else "",
    }.get(value.lower(), "")
    if ours:
        return ["--place", ours]
    raise UserError(
        f"{option} {value}: --place compact fills hosts and sockets in turn (block:block), "
        f"sockets takes two of them (block:cyclic), hosts different hosts (cyclic); {_SPREAD}"
    )


def _cpus_or_ranks(value: str) -> Sequence[str]:
    raise UserError(
        f"-c {value}: for mpirun these are ranks, --np {value} here; for srun CPUs of each rank: "
        f"{_SEVERAL_CORES}"
    )


# --- variables, settings --------------------------------------------------------------------------
def _variable(name: str, value: str) -> Sequence[str]:
    return ["--env", f"{name}={value}"]


def _exported(value: str) -> Sequence[str]:
    """Translates -x NAME=VALUE, or a bare number of OSU's, the calls before the first sample."""
    if value.isdigit():
        raise UserError(
            f"-x {value}: the first calls of each launch are never timed; for mpirun write "
            "-x NAME=VALUE, --env NAME=VALUE here"
        )
    return ["--env", value]


def _variables(value: str) -> Sequence[str]:
    """Translates srun's --export and Hydra's -genvlist: ALL,A=b,C."""
    words: list[str] = []
    for name in filter(None, value.split(",")):
        if name.upper() == "NONE":
            raise UserError(f"--export {value}: ranks get the environment of the command")
        if name.upper() != "ALL":
            words += ["--env", name]
    return words


def _parameter(name: str, value: str) -> Sequence[str]:
    """Translates a parameter of Open MPI; pml ucx chooses a transport, others how hosts are
    reached."""
    if name == "pml" and value == "ucx":
        return ["--transport", value]
    if name in _AGENTS:
        return ["--rsh", value]
    if name in _AGENT_OPTIONS:
        return ["--rsh", f"ssh {value}"]
    return ["--set", f"{name}={value}"]


def _rank_file(value: str) -> Sequence[str]:
    return ["--place", f"rankfile:{value}"]


def _port_or_partition(value: str) -> Sequence[str]:
    if value.isdigit():
        raise UserError(
            f'-p {value}: quote the words of --rsh together, as in --rsh "ssh -p {value}"'
        )
    raise UserError(
        f"-p {value}: `mpigauge submit --queue {value} run …` measures in a job of this partition"
    )


_QUEUE = answered("`mpigauge submit --queue {} run …` measures in a job of this partition")
_ACCOUNT = answered("`mpigauge submit --account {} run …` measures in a job of this account")
_HOST_COUNT = answered(
    "--hosts a,b names the hosts; `mpigauge submit --nodes {} run …` measures in a job of so many"
)
_MINUTES = answered(
    "for srun these are minutes, --time {0}m here, the time of the whole run; for osu_latency_mt "
    "threads, --threads {0}"
)
_STARTER = answered(
    "--rsh names the program that reaches other hosts, --launcher the one that starts the ranks"
)
_FILE_OF_PARAMETERS = answered("--set NAME=VALUE for each parameter in {}")
HABITS = {
    "-np": same_as("--np"),
    "-n": same_as("--np"),
    "--ntasks": same_as("--np"),
    "-ppn": same_as("--ppn"),
    "-perhost": same_as("--ppn"),
    "-grr": same_as("--ppn"),
    "--npernode": same_as("--ppn"),
    "--ntasks-per-node": same_as("--ppn"),
    "--tasks-per-node": same_as("--ppn"),
    "--pernode": flag("--ppn", "1"),
    "-N": Habit(_hosts_or_ranks),
    "-c": of_runs(Habit(_cpus_or_ranks)),
    "--nodes": _HOST_COUNT,
    "--cpus-per-task": answered(_SEVERAL_CORES),
    "--cpus-per-rank": answered(_SEVERAL_CORES),
    "--cpus-per-proc": answered(_SEVERAL_CORES),
    "--map-by": Habit(_mapped, of_ranks=True),
    "--npersocket": Habit(lambda value: ["--place", f"ppr:{value}:socket"]),
    "--ntasks-per-socket": Habit(lambda value: ["--place", f"ppr:{value}:socket"]),
    "--bynode": flag("--place", HOSTS),
    "-rr": flag("--place", HOSTS),
    "--byslot": flag("--place", "compact"),
    "--bycore": flag("--place", "compact"),
    "--bysocket": Habit(lambda ranks: _mapped("socket", ranks), values=0, of_ranks=True),
    "--distribution": Habit(
        lambda value, ranks: distributed("--distribution", value, ranks), of_ranks=True
    ),
    "--rank-by": answered("ranks are in the order of --place; --bind 4,0 names any other"),
    "--rankfile": Habit(_rank_file),
    "-rf": Habit(_rank_file),
    "--cpu-list": same_as("--bind"),
    "--cpu-set": same_as("--bind"),
    "--cpu-bind": Habit(_bound_by_srun),
    "--bind-to": Habit(_bound),
    "--bind-to-core": flag(),
    "--bind-to-none": flag("--bind", "none"),
    "--bind-to-socket": Habit(lambda: _bound("socket"), values=0),
    "-binding": answered("each rank is bound to a core; --bind and --place choose which"),
    "--report-bindings": of_runs(answered(_SHOWN, values=0)),
    "--display-map": of_runs(answered(_SHOWN, values=0)),
    "--display-allocation": of_runs(answered(_SHOWN, values=0)),
    "--display": of_runs(answered(_SHOWN)),
    "-print-rank-map": of_runs(answered(_SHOWN, values=0)),
    "--host": same_as("--hosts"),
    "-H": same_as("--hosts"),
    "-hosts": same_as("--hosts"),
    "-w": same_as("--hosts"),
    "--nodelist": same_as("--hosts"),
    "--nolocal": of_runs(answered("--hosts names the hosts, without this one", values=0)),
    "--machinefile": same_as("--hostfile"),
    "--default-hostfile": same_as("--hostfile"),
    "-hostfile": same_as("--hostfile"),
    "-f": same_as("--hostfile"),
    "-x": Habit(_exported),
    "-genv": Habit(_variable, values=NAME_AND_VALUE),
    "-env": Habit(_variable, values=NAME_AND_VALUE),
    "-genvlist": Habit(_variables),
    "-envlist": Habit(_variables),
    "-genvall": flag(),
    "-envall": flag(),
    "--export": Habit(_variables),
    "--mca": Habit(_parameter, values=NAME_AND_VALUE),
    "--gmca": Habit(_parameter, values=NAME_AND_VALUE),
    "--tune": _FILE_OF_PARAMETERS,
    "--am": _FILE_OF_PARAMETERS,
    "--prefix": same_as("--mpi"),
    "--overcommit": flag("--oversubscribe"),
    "-O": flag("--oversubscribe"),
    "-oversubscribe": flag("--oversubscribe"),
    "-launcher": _STARTER,
    "-bootstrap": _STARTER,
    "-p": Habit(_port_or_partition),
    "--partition": _QUEUE,
    "-A": _ACCOUNT,
    "--account": _ACCOUNT,
    "-t": of_runs(_MINUTES),
    "--wdir": of_runs(answered(_FOLDER)),
    "-wd": of_runs(answered(_FOLDER)),
    "-D": of_runs(answered(_FOLDER)),
    "--chdir": of_runs(answered(_FOLDER)),
    "--output-filename": of_runs(answered(_OUTPUT)),
    "--tag-output": usual(),
    "--timestamp-output": usual(),
    "-prepend-rank": usual(),
    "--label": usual(),
    "-l": usual(),
    "--exclusive": usual(),
    "--allow-run-as-root": usual(),
    "--kill-on-bad-exit": usual(),
    "-v": of_runs(
        answered("`mpigauge show last --all` prints all that a run has stored", values=0)
    ),
}
"""Names with one dash are Hydra's or short; those with two may have one: see OPEN_MPI."""
