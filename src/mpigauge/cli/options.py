# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options that several commands have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from mpigauge.cli import completing
from mpigauge.cli.helping import GPUS, MPI, OUTPUT, RANKS, SOME, TIME, Option, option
from mpigauge.cli.paths import OutputFile, RunFolder
from mpigauge.model.units import listed

_F = TypeVar("_F", bound=Callable[..., Any])
USUAL_FORMAT = "table"


_JSON = "mpigauge.json"
"""The key in ctx.meta under which --json is recorded for --format."""


class Seconds(click.FloatRange):
    """A time within limits. Unlike click's own ranges it refuses NaN, which no limit excludes."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a time; write one from {self.min:g} to {self.max:g}")
        return number


def _note_json(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    del param
    if asked:
        ctx.meta[_JSON] = True


_json_flag = option(
    "--json",
    is_flag=True,
    is_eager=True,
    hidden=True,
    expose_value=False,
    callback=_note_json,
    help="The same as --format json.",
)


def _or_json(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The value of --format, or json with --json. BadParameter: both, and they differ."""
    if not ctx.meta.get(_JSON):
        return value
    given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    if given and value != "json":
        raise click.BadParameter(f"{value} is not what --json says; drop one", ctx, param)
    return "json"


def _is_json(ctx: click.Context, param: click.Parameter, value: str | None) -> bool:
    return _or_json(ctx, param, value) == "json"


def format_of(
    choices: Sequence[str], default: str = "table", about: str = "What to print."
) -> Callable[[_F], _F]:
    """--format with these choices, told to the command as `form`; --json is --format json."""
    form = option(
        "--format",
        "form",
        type=click.Choice(list(choices)),
        default=default,
        callback=_or_json,
        help=f"{about}  [default: {default}]",
        heading=OUTPUT,
    )
    return lambda function: form(_json_flag(function))


def json_option(function: _F) -> _F:
    """--format table or json, of commands that print one table; --json is the same. The command is
    told whether it is to be JSON, as `as_json`."""
    form = option(
        "--format",
        "as_json",
        type=click.Choice(["table", "json"]),
        default="table",
        callback=_is_json,
        help="table, for people, or json.  [default: table]",
        heading=OUTPUT,
    )
    return form(_json_flag(function))


def prometheus_option(function: _F) -> _F:
    """--prometheus FILE, told to the command as `metrics`."""
    return option(
        "--prometheus",
        "metrics",
        type=OutputFile(),
        metavar="FILE.prom",
        help="Write the result for the textfile collector of Prometheus' node exporter, too.",
    )(function)


def list_option(about: str) -> Callable[[_F], _F]:
    """--list, told to the command as `only_list`: it lists what it knows, and does nothing else."""
    return option("--list", "only_list", is_flag=True, help=about)


PROFILE_FORMATS = ("mpip", "perfcatch")
"""The formats of profiles alone: the sections of other profilers' reports."""


def format_option(
    default: str | None = USUAL_FORMAT, pairs: bool = False, profiles: bool = False
) -> Callable[[_F], _F]:
    """`pairs`: formats that show pairs of ranks are among them; `profiles`: those of profiles."""
    more = ", json, map or svg (of pairs of ranks)" if pairs else " or json"
    also = f"; of a profile also {listed(PROFILE_FORMATS, 'or')}" if profiles else ""
    check_any = _known_format_or_profile if profiles else _known_format
    checked = check_any if pairs else _known_format_of_rows
    form = option(
        "--format",
        "form",
        default=default,
        metavar="FORMAT",
        callback=lambda ctx, param, value: checked(ctx, param, _or_json(ctx, param, value)),
        help=f"What to print: table (for people), markdown, latex, imb, csv{more}{also}.",
        heading=OUTPUT,
        brief="What to print: table, markdown, csv, json …",
    )
    return lambda function: form(_json_flag(function))


def _known_format_or_profile(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    if value in PROFILE_FORMATS:
        return value
    return _known_format(ctx, param, value)


def _known_format(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Checks the name of a format; all formats are looked up only when one is named."""
    from mpigauge.model.errors import no_such
    from mpigauge.show.formats import FORMATS

    if value is not None and value not in FORMATS:
        raise click.BadParameter(str(no_such("format", value, FORMATS)), ctx, param)
    return value


def _known_format_of_rows(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    """Before anything is measured that could not be shown."""
    if value == USUAL_FORMAT:
        return value  # known without looking at the others, which takes as long as a measurement
    from mpigauge.model.errors import no_such
    from mpigauge.show.formats import FORMATS, for_any_run

    if value in FORMATS and value not in for_any_run():
        raise click.BadParameter(f"{value} shows pairs; `mpigauge map` measures them", ctx, param)
    if value is not None and value not in FORMATS:
        raise click.BadParameter(str(no_such("format", value, for_any_run())), ctx, param)
    return value


class LauncherOption(Option):
    """Its help names the launchers that there are, which are looked for only when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from mpigauge.site.launch import nameable

        words = [word for launcher in nameable() for word in launcher.words]
        self.help = f"What starts the ranks: {listed(words, 'or')}.  [default: the MPI's own]"
        return super().get_help_record(ctx)


def _note_node(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Notes that `node`, the word of older versions, means two sockets."""
    del ctx, param
    from mpigauge.cli.screen import note

    if any(word.strip().lower() == "node" for text in value for word in text.split(",")):
        note(
            "--place node is --place sockets here: two sockets of a host; --place hosts: two hosts"
        )
    return value


def _switch_history_off() -> None:
    """Switches the history off for this process, as the environment variable does."""
    import os

    from mpigauge.runs.store.history import OFF, SWITCH

    os.environ[SWITCH] = OFF[0]


mpi_option = option(
    "--mpi",
    "mpi_spec",
    metavar="MPI",
    shell_complete=completing.mpis,
    help="Which MPI: mpich, openmpi, intel (installed by `mpigauge mpi install`), path, or the "
    "path of a prefix or an mpiexec; @std after it takes the standard ABI.",
    heading=MPI,
    brief="mpich, openmpi, intel or the path of a prefix.",
)
mpis_option = option(
    "--mpi",
    "mpi_specs",
    multiple=True,
    metavar="MPI",
    shell_complete=completing.mpis,
    help="Which MPI: mpich, openmpi, intel (installed by `mpigauge mpi install`), path, or the "
    "path of a prefix or an mpiexec; @std after it takes the standard ABI. Several are measured in "
    "turn, launch by launch.",
    heading=MPI,
    brief="mpich, openmpi, intel or a path; again for several.",
)
blas_option = option(
    "--blas",
    multiple=True,
    metavar="BLAS",
    help="The library for products of matrices (DGEMM): openblas, mkl, blis or a file. Several are "
    "measured in turn, launch by launch.  [default: openblas, which mpigauge[blas] brings]",
    heading=SOME,
)
compiler_option = option(
    "--compiler",
    "compilers",
    multiple=True,
    metavar="'PROGRAM FLAGS'",
    help="A compiler of the simple loops (NODE:Triad …), such as clang++ or 'g++ -O2'. Several are "
    "measured in turn, one beside the loops of the kernels.",
    heading=SOME,
)
output_option = option(
    "--output",
    type=RunFolder(),
    metavar="DIR",
    help="Folder of the run; it must not hold anything yet.  [default: a new one below "
    "mpigauge-runs]",
    heading=OUTPUT,
    brief="Folder of the run.  [default: below mpigauge-runs]",
)
history_option = option(
    "--no-history",
    is_flag=True,
    expose_value=False,
    callback=lambda _, __, asked: _switch_history_off() if asked else None,
    help="Do not read or update the run history (± machine).",
    heading=OUTPUT,
)


def _place_option(more: str) -> Callable[[_F], _F]:
    """The option --place. `more` ends its help, behind the policies."""
    return option(
        "--place",
        multiple=True,
        metavar="POLICY",
        shell_complete=completing.placements,
        callback=_note_node,
        help="Placement of ranks: core, l2, l3, numa or socket (two ranks with this innermost "
        "common level), sockets (two ranks on different sockets), hosts (ranks on different "
        "hosts), nic-near, nic-far, gpu, compact, scatter, ppr:N:LEVEL, cores:0,4, "
        f"rankfile:FILE{more}.",
        heading=RANKS,
        brief="Placement: core, sockets, hosts, all, cores:0,4 …",
    )


place_option = _place_option(
    ", or all (a pair of each level). Several, with commas or again, are all measured"
)
one_place_option = _place_option("")
placement_option = option(
    "--bind-by",
    "bound_by",
    type=click.Choice(["kernel", "launcher"]),
    help="Binding of ranks: by the benchmark (kernel) or by the launcher. The binding is verified "
    "either way.  [default: kernel]",
    heading=RANKS,
    former=["--placement"],
)
dry_run_option = option(
    "--dry-run",
    is_flag=True,
    help="Print the location of each rank, without launching.",
    heading=RANKS,
    brief="Print the location of each rank; launch nothing.",
)
topology_option = option(
    "--topology",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --dry-run: the machine in an XML of hwloc instead of this one.",
    heading=RANKS,
)
only_option = option(
    "--only",
    "chosen",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Of a run that holds numbers in several ways, those with this value: placement=l3. "
    "Several values of a column: the option again.",
)
precision_option = option(
    "--precision",
    metavar="SHARE",
    help="Wanted relative error, such as 2%.  [default: 5%]",
    heading=TIME,
    brief="Relative error to reach.  [default: 5%]",
)
seconds_option = option(
    "--time",
    "seconds",
    metavar="TIME",
    help="Time for everything, such as 30s or 2m; it goes to the cells with the widest interval.  "
    "[default: at most 10 s for each cell over all launches, but at least one call in each launch]",
    heading=TIME,
    brief="Time for everything, such as 30s or 2m.",
    former=["--in"],
)
launches_option = option(
    "--launches",
    type=int,
    metavar="N",
    help="Number of job launches.  [default: 6 to 20, until the precision is reached]",
    heading=TIME,
)
set_option = option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completing.settings,
    help="A setting of the MPI: an environment variable, or an MCA parameter of Open MPI.",
    heading=MPI,
    brief="A setting of the MPI.",
)
env_option = option(
    "--env",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="An environment variable for all ranks; without a value, as it is here.",
    heading=MPI,
    brief="An environment variable for all ranks.",
)
host_options = (
    option(
        "--hosts",
        metavar="LIST",
        help="Hosts of the ranks, such as a,b[01-04], or a:2,b:2 with at most 2 on each.  "
        "[default: those of the batch job that we are in, else this machine]",
        heading=RANKS,
        brief="Hosts of the ranks, such as a,b[01-04] or a:2,b:2.",
    ),
    option(
        "--hostfile",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read hosts from a file, as launchers and batch systems write them.",
        heading=RANKS,
    ),
    option("--ppn", metavar="N", help="Ranks on each host.", heading=RANKS),
    option("--launcher", metavar="NAME", cls=LauncherOption, heading=RANKS),
    option(
        "--rsh",
        metavar="WORDS",
        help="What starts programs on other hosts, such as 'ssh -p 50000'.  [default: ssh]",
        heading=RANKS,
    ),
)
hosts_to_ask = (
    option(
        "--hosts",
        metavar="LIST",
        help="These hosts, such as a,b[01-04].  [default: those of the batch job, or this one]",
        heading=RANKS,
        brief="Hosts of the ranks, such as a,b[01-04] or a:2,b:2.",
    ),
    option(
        "--hostfile",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read hosts from a file, as launchers and batch systems write them.",
        heading=RANKS,
    ),
    option(
        "--rsh",
        metavar="WORDS",
        help="What starts programs on other hosts, such as 'ssh -p 50000'.  [default: ssh]",
        heading=RANKS,
    ),
)
gpu_options = (
    option(
        "--memory",
        multiple=True,
        metavar="KIND,…",
        help="Memory of the buffers: host, pinned, device, managed, or two of them as device:host "
        "for the two ranks of a pair. Several are measured in turn in each launch.  [default: "
        "host]",
        heading=GPUS,
    ),
    option(
        "--gpu",
        metavar="GPU,…",
        help="GPUs of local rank 0, 1, … of a host: near (to the rank's core), or an index or a "
        "PCI address for each; a GPU that is named twice is shared.  [default: near]",
        heading=GPUS,
    ),
    option(
        "--cuda", metavar="FILE", hidden=True, help="The library of the CUDA driver.", heading=GPUS
    ),
    option(
        "--nccl",
        metavar="FILE",
        help="The library of NCCL (suite NCCL).  [default: the one that is found]",
        heading=GPUS,
    ),
)
oversubscribe_option = option(
    "--oversubscribe", is_flag=True, help="Allow more ranks than cores.", heading=RANKS
)
seed_option = option("--seed", type=int, metavar="N", help="Random seed.", heading=TIME)
timeout_option = option(
    "--timeout",
    "timeout_s",
    metavar="TIME",
    help="End a launch that has been silent for so long.  [default: 5m]",
    heading=TIME,
)


def together(*options: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Several options at once, shown in this order."""

    def decorate(function: _F) -> _F:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate


transport_option = option(
    "--transport",
    metavar="NAME",
    shell_complete=completing.transports,
    help="Transport of the messages: shm, tcp, tcp:eth0, ucx:mlx5_0:1, … (`mpigauge mpi "
    "transports`).",
    heading=MPI,
    brief="Transport of the messages: shm, tcp, ucx:mlx5_0:1 …",
)
tuned_option = option(
    "--tuned",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Have the MPI follow the rules of this tuning (`mpigauge tune`).",
    heading=MPI,
)
limits_option = option(
    "--limits",
    "limits_of",
    metavar="RUN",
    help="A run of `mpigauge node` with the limits for these numbers; or none.  [default: "
    "one of the same machine beside this run, if there is one]",
)
