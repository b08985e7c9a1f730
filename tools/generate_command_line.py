# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes from schema/options.toml the Python code of the options of `mpigauge run`.

The rows of the command line, the fields of requests and plans, and the options of mpigauge.measure.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tools.generate_options import NUMBERS, SCHEMA, Option, default_words, read_options
from tools.generate_text import docstring, head, quoted, wrapped


class Form(NamedTuple):
    """The types of Python for the values of a form."""

    request: str
    """The type of a field of a request."""
    absent: str
    """The value of that field if the option is not given."""
    python: str = "str"
    """The type that mpigauge.measure takes."""
    planned: str = ""
    """The type of a field of a plan with a default; empty: a plan has what a request has."""


_TEXTS = "tuple[str, ...]"
_MAPPING = Form("Mapping[str, str]", "field(default_factory=dict, hash=False)", "Mapping[str, str]")
_NUMBER = Form("float | None", "None", "str | float", "float")
_COUNT = Form("int | None", "None", "int", "int")
_WORDS = Form(_TEXTS, "()", "str | Sequence[str]")
_TEXT = Form("str", '""', planned="str")
_PATH = Form("", "", "str | Path")
PYTHON_FORMS = {
    "rank_count": _COUNT,
    "rank_counts": Form("tuple[int, ...]", "()", "str | int | Iterable[int]"),
    "rank_grid": Form("tuple[int, int] | None", "None"),
    "int": _COUNT,
    "seed": Form("int", "0", "int"),
    "share": _NUMBER,
    "duration": _NUMBER,
    "bytes": Form("int", "0", "str | int"),
    "sizes": Form("tuple[int, ...] | None", "None", "str | Iterable[int]"),
    "flag": Form("bool", "False", "bool"),
    "word": _TEXT,
    "text": _TEXT,
    "name": _TEXT,
    "library": Form("str", '""', "str | Path"),
    "agent": Form(_TEXTS, "()"),
    "policies": _WORDS,
    "memories": _WORDS,
    "hosts": Form("tuple[NamedHost, ...]", "()"),
    "settings": _MAPPING,
    "variables": _MAPPING,
    "path": _PATH,
    "run_folder": _PATH,
}
"""The types by the form of an option of all benchmarks."""


def outputs(path: Path) -> dict[str, str]:
    options = read_options(path)
    shown = sorted((each for each in options if each.heading), key=lambda each: each.place)
    offered = [each for each in options if each.suite and each.name and each.offered]
    return {
        "src/mpigauge/model/option_table.py": _table(options, shown, offered),
        "src/mpigauge/model/run_options.py": _run_options([*shown, *offered]),
        "src/mpigauge/measuring/plan/general.py": _fields(shown),
    }


def _form(option: Option) -> str:
    if option.suite and option.type == "flag":
        return "switch"
    return option.form or option.type


def _is_number(option: Option) -> bool:
    """True for a word whose values are all numbers."""
    return bool(option.words) and all(map(str.isdigit, option.words))


def _types(option: Option) -> Form:
    return _COUNT if _is_number(option) else PYTHON_FORMS[_form(option)]


# --- the command line ----------------------------------------------------------------------
TABLE_HEAD = '''"""The options of `mpigauge run`, and the names of those that the kernels have."""

from __future__ import annotations

from typing import NamedTuple


class OptionRow(NamedTuple):
    name: str
    form: str
    """The form of its values, as users write them."""
    about: str
    metavar: str
    choices: tuple[str, ...]
    least: int
    most: int
    typed: str = ""
    """Its name on the command line, if another."""
    heading: str = "some"
    """The part of the help that shows it."""
    brief: str = ""
    """Its line in the short help; empty: only --help-all shows it."""
    kept: str = ""
    """The key by which the command line passes it on, if not its name."""
    older: tuple[str, ...] = ()
    """Its names in older versions, if they are not its own name."""
    several: bool = False
    """True if it can be repeated."""
    hidden: bool = False
    python: str = ""
    """Its name for mpigauge.measure; empty: it has none."""

    @property
    def flag(self) -> str:
        """The option as it is written on the command line."""
        return f"--{self.typed or self.name}"

    @property
    def former(self) -> tuple[str, ...]:
        """The options of older versions that mean the same."""
        if self.older:
            return tuple(f"--{name}" for name in self.older)
        return (f"--{self.name}",) if self.typed else ()

    @property
    def key(self) -> str:
        """The key by which the command line passes it on."""
        return self.kept or self.name.replace("-", "_")

    @property
    def takes_one(self) -> bool:
        """True if its value is one of its choices, and nothing else."""
        return self.form in ("word", "switch")


'''


def _table(options: tuple[Option, ...], shown: list[Option], offered: list[Option]) -> str:
    lines = [*head(SCHEMA, "#"), *TABLE_HEAD.rstrip("\n").split("\n")]
    lines += ["", "", "KERNEL_OPTIONS = ("]
    lines += [f'    "{each.name}",' for each in options if each.name and each.kernels]
    lines += [")", '"""Every option of the kernels, in the order of their command line."""', ""]
    lines += ["GENERAL = (", *(line for each in shown for line in _row(each)), ")"]
    lines += ['"""The options that are not of some benchmarks alone, in the order of the help."""']
    lines += ["", "OFFERED = (", *(line for each in offered for line in _row(each)), ")"]
    lines += [
        '"""The options of some benchmarks that the kernels get as users write them, or nearly."""',
        "",
        "",
        "def general(flag: str) -> OptionRow:",
        '    """The row of a general option by its name on the command line, such as bind-by."""',
        '    return next(row for row in GENERAL if row.flag == f"--{flag}")',
        "",
    ]
    return "\n".join(lines)


def _row(option: Option) -> list[str]:
    """The row of an option as ruff format leaves it."""
    choices = ("on", "off") if _form(option) == "switch" else tuple(option.words)
    most = "," if len(choices) == 1 else ""
    least, limit = option.limits if option.type in NUMBERS else (0, 0)
    values = [
        quoted(option.name),
        quoted(_form(option)),
        wrapped(_help(option)),
        quoted(option.metavar),
        f"({', '.join(map(quoted, choices))}{most})",
        str(int(least)),
        str(int(limit)),
    ]
    values += [f"{name}={value}" for name, value in _facts(option).items() if value]
    return ["    OptionRow(", *(f"        {value}," for value in values), "    ),"]


def _facts(option: Option) -> dict[str, str]:
    """The facts of a row that most rows lack; empty: this one lacks it."""
    older = "".join(f"{quoted(name)}, " for name in option.former)
    texts = {
        "typed": option.typed,
        "heading": option.heading if option.heading != "some" else "",
        "brief": option.brief,
        "kept": option.key,
    }
    facts = {name: quoted(text) if text else "" for name, text in texts.items()}
    facts["older"] = f"({older.rstrip(' ') if len(option.former) == 1 else older[:-2]})"
    facts["older"] = facts["older"] if option.former else ""
    facts |= {"several": "True" * option.several, "hidden": "True" * option.hidden}
    name = _python_name(option)
    return facts | {"python": quoted(name) if name else ""}


def _help(option: Option) -> str:
    """The help on the command line. With no words for it, that of the kernels with the default."""
    if option.help:
        return option.help.replace("{default}", option.usually or option.shown_default)
    if option.heading and (option.hidden or option.type == "flag" or "[default:" in option.about):
        return option.about
    return f"{option.about}{default_words(option)}"


# --- notebooks -----------------------------------------------------------------------------
RUN_OPTIONS_HEAD = '''"""The options of mpigauge.measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


class RunOptions(TypedDict, total=False):
    """Options of `mpigauge run`, with underscores for hyphens. A text is what the command line
    takes; numbers, lists and mappings stand for such texts."""

'''


def _python_name(option: Option) -> str:
    return option.flag.replace("-", "_") if option.python is None else option.python


def _run_options(options: list[Option]) -> str:
    lines = [*head(SCHEMA, "#"), *RUN_OPTIONS_HEAD.rstrip("\n").split("\n"), ""]
    for option in options:
        if name := _python_name(option):
            lines += [f"    {name}: {_python_type(option)}", *docstring(_help(option))]
    return "\n".join([*lines, ""])


def _python_type(option: Option) -> str:
    if option.suite:
        texts = " | Sequence[str]" if option.several else ""
        return "str | int" if option.type == "int" else f"str{texts}"
    return _types(option).python


# --- requests and plans --------------------------------------------------------------------
FIELDS_HEAD = '''"""The fields of a request and of a plan that are options of all benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.hosts import NamedHost


'''


def _fields(options: list[Option]) -> str:
    lines = [*head(SCHEMA, "#"), *FIELDS_HEAD.rstrip("\n").split("\n"), "", ""]
    lines += ["@dataclass(frozen=True, kw_only=True)", "class RequestFields:"]
    lines += ['    """The options that a user gave. None and empty mean: not given."""', ""]
    for option in options:
        if option.request:
            lines += [f"    {_key(option)}: {_request_type(option)}", *_about(option)]
    lines += ["", "", "@dataclass(frozen=True, kw_only=True)", "class PlanFields:"]
    lines += ['    """The options that a plan keeps, with the defaults of the kernels."""', ""]
    for option in options:
        if option.is_planned:
            lines += [f"    {_key(option)}: {_plan_type(option)}", *_about(option)]
    return "\n".join([*lines, ""])


def _key(option: Option) -> str:
    return option.key or option.name.replace("-", "_")


def _about(option: Option) -> list[str]:
    """The lines that describe a field: the help without its default, as fields have their own."""
    return docstring(re.sub(r"\s*\[default: .*\]$", "", option.help or option.about))


def _request_type(option: Option) -> str:
    types = _types(option)
    if option.words and not _is_number(option):
        return f"str = {quoted(option.usually or option.default)}"
    return f"{types.request} = {types.absent}"


def _plan_type(option: Option) -> str:
    types = _types(option)
    if option.default is None or not types.planned or _is_number(option):
        return f"{types.request} = {types.absent}"
    value = quoted(option.default) if types.planned == "str" else str(option.default)
    value += ".0" * (types.planned == "float" and isinstance(option.default, int))
    return f"{types.planned} = {value}"
