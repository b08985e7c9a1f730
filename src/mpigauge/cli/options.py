# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Options that several commands have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from mpigauge.cli import completing
from mpigauge.cli.helping import HEADINGS, OUTPUT, Option, option
from mpigauge.cli.output import note
from mpigauge.cli.paths import OutputFile, RunFolder
from mpigauge.model.errors import no_such
from mpigauge.model.option_table import OptionRow, general
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
        raise click.BadParameter(f"{value} contradicts --json; drop one", ctx, param)
    return "json"


def _is_json(ctx: click.Context, param: click.Parameter, value: str | None) -> bool:
    return _or_json(ctx, param, value) == "json"


def format_of(
    choices: Sequence[str], default: str = "table", about: str = "Format of the output."
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


PROFILE_FORMATS = ("mpip", "perfcatch", "talp")
"""The formats of profiles alone: those of other profilers' reports."""


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
        help=f"Format of the output: table (for people), markdown, latex, imb, csv{more}{also}.",
        heading=OUTPUT,
        brief="Format of the output: table, markdown, csv, json …",
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
    from mpigauge.show.formats import FORMATS

    if value is not None and value not in FORMATS:
        raise click.BadParameter(str(no_such("format", value, FORMATS)), ctx, param)
    return value


def _known_format_of_rows(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    """Checks a format before anything is measured: it is known and shows more than pairs of
    ranks."""
    if value == USUAL_FORMAT:
        return value  # known without looking at the others, which takes as long as a measurement
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
        self.help = f"Launcher of the ranks: {listed(words, 'or')}.  [default: the MPI's own]"
        return super().get_help_record(ctx)


def _note_node(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Notes that `node`, the word of older versions, means two sockets."""
    del ctx, param
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


def option_of(row: OptionRow, **changes: Any) -> Callable[[_F], _F]:
    """The option of a row of the schema. `changes`: attributes that differ in a command."""
    attributes: dict[str, Any] = {
        "metavar": row.metavar or None,
        "help": row.about,
        "heading": HEADINGS[row.heading],
        "brief": row.brief,
        "former": row.former,
        "multiple": row.several,
        "hidden": row.hidden,
    }
    if row.takes_one:
        attributes["type"] = click.Choice(row.choices)
    key = changes.pop("key", row.key)
    attributes.update(_BY_FORM.get(row.form, {}))
    attributes.update(_BY_FLAG.get(row.flag, {}))
    return option(row.flag, key, **attributes | changes)


def shared(flag: str, **changes: Any) -> Callable[[_F], _F]:
    """An option of `mpigauge run` for another command, by its name, such as bind-by."""
    return option_of(general(flag), **changes)


def all_shared(flags: str) -> tuple[Callable[[_F], _F], ...]:
    """Several of them as they are, by their names with blanks between."""
    return tuple(map(shared, flags.split()))


_BY_FORM: Mapping[str, Mapping[str, Any]] = {
    "flag": {"is_flag": True},
    "int": {"type": int},
    "seed": {"type": int},
    "path": {"type": click.Path(path_type=Path)},
    "run_folder": {"type": RunFolder()},
}
"""The types of options by their form."""
_BY_FLAG: Mapping[str, Mapping[str, Any]] = {
    "--mpi": {"shell_complete": completing.mpis},
    "--place": {"shell_complete": completing.placements, "callback": _note_node},
    "--set": {"shell_complete": completing.settings},
    "--transport": {"shell_complete": completing.transports},
    "--launcher": {"cls": LauncherOption},
    "--no-history": {
        "expose_value": False,
        "callback": lambda _, __, asked: _switch_history_off() if asked else None,
    },
}
"""The completion, callback or class of options that do more than being read."""

mpi_option = shared(
    "mpi",
    key="mpi_spec",
    multiple=False,
    help=general("mpi").about.partition(" Several are measured")[0],
    brief="mpich, openmpi, intel or the path of a prefix.",
)
one_place_option = shared(
    "place", help=general("place").about.partition(", or all (a pair of each level)")[0] + "."
)
hosts_to_ask = (
    shared(
        "hosts",
        help="These hosts, such as a,b[01-04].  [default: those of the batch job, or this one]",
    ),
    shared("hostfile"),
    shared("rsh"),
)
only_option = option(
    "--only",
    "chosen",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows with this value, if a run has several of a column: placement=l3. "
    "Repeat the option for several values.",
)
limits_option = option(
    "--limits",
    "limits_of",
    metavar="RUN",
    help="A run of `mpigauge node` with the limits for these numbers; or none.  [default: "
    "one of the same machine beside this run, if there is one]",
)
job_option = option(
    "--job",
    type=click.IntRange(min=0),
    metavar="N",
    help="The job of a profile whose script or program starts several, by its number.  [default: "
    "the one with most calls]",
)


def together(*options: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Several options at once, shown in this order."""

    def decorate(function: _F) -> _F:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate
