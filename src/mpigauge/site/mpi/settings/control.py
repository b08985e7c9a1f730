# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads the control variables of an MPI library, through MPI_T in a child process. No job is
started: MPI_T needs no MPI_Init."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.site.mpi.query import answer

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi, Mpi

SECONDS = 60.0
OWN = ("OMPI_MCA_", "MPIR_CVAR_", "MPICH_", "MPIR_PARAM_", "I_MPI_")
KEPT = ("I_MPI_ROOT",)
"""Variables among these that are not settings but places."""

Scope = Literal["constant", "readonly", "local", "group", "group_eq", "all", "all_eq", ""]
Level = Literal["user", "tuner", "developer", ""]

# Each ABI has numbers of its own for types, and starts its enumerations elsewhere. Those of the
# standard ABI's verbosity have a bit for the reader and one for the amount.
CHILD = """
import ctypes, json, sys
from ctypes import byref, c_char, c_int, c_void_p, create_string_buffer
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
abi = sys.argv[3]
NUMBERS = {
    "mpich": {0x4C000405: "int", 0x4C000406: "unsigned", 0x4C000807: "long",
              0x4C000808: "unsigned long", 0x4C000819: "unsigned long long", 0x4C000101: "char",
              0x4C00080B: "double", 0x4C00013F: "bool", 0x4C000845: "count"},
    "std": {0x209: "int", 0x20D: "unsigned", 0x20A: "long", 0x20E: "unsigned long",
            0x20F: "unsigned long long", 0x243: "char", 0x214: "double", 0x238: "bool",
            0x202: "count"},
    "ompi": {},
}[abi]
DATA = {"ompi_mpi_int": "int", "ompi_mpi_unsigned": "unsigned", "ompi_mpi_long": "long",
        "ompi_mpi_unsigned_long": "unsigned long", "ompi_mpi_char": "char",
        "ompi_mpi_unsigned_long_long": "unsigned long long", "ompi_mpi_double": "double",
        "ompi_mpi_c_bool": "bool", "ompi_mpi_count": "count", "ompi_mpi_uint64_t": "uint64",
        "ompi_mpi_int32_t": "int", "ompi_mpi_uint32_t": "unsigned", "ompi_mpi_int64_t": "long"}
if abi == "ompi":
    for symbol, kind in DATA.items():
        try:
            NUMBERS[ctypes.addressof(c_char.in_dll(library, symbol))] = kind
        except ValueError:
            pass
TYPES = {"int": c_int, "unsigned": ctypes.c_uint, "long": ctypes.c_long,
         "unsigned long": ctypes.c_ulong, "unsigned long long": ctypes.c_ulonglong,
         "double": ctypes.c_double, "bool": ctypes.c_bool, "count": ctypes.c_longlong,
         "uint64": ctypes.c_uint64}
Handle = c_int if abi == "mpich" else c_void_p
LONG = 1 << 16

def text(buffer):
    return buffer.value.decode("utf-8", "replace").strip()

def choices(enum):
    if not enum.value:
        return []
    count, length, name = c_int(), c_int(LONG), create_string_buffer(LONG)
    if library.MPI_T_enum_get_info(enum, byref(count), name, byref(length)):
        return []
    found = []
    for item in range(count.value):
        value, length = c_int(), c_int(LONG)
        if not library.MPI_T_enum_get_item(enum, item, byref(value), name, byref(length)):
            found.append([value.value, text(name)])
    return found

def read(index, kind):
    handle, count = c_void_p(), c_int()
    if library.MPI_T_cvar_handle_alloc(index, None, byref(handle), byref(count)):
        return None
    if kind == "char":
        value = create_string_buffer(max(count.value, 1) + LONG)
    elif kind in TYPES:
        value = (TYPES[kind] * max(count.value, 1))()
    else:
        return None
    failed = library.MPI_T_cvar_read(handle, value)
    library.MPI_T_cvar_handle_free(byref(handle))
    if failed:
        return None
    return text(value) if kind == "char" else value[0]

def variable(index):
    name, about = create_string_buffer(LONG), create_string_buffer(LONG)
    lengths = c_int(LONG), c_int(LONG)
    verbosity, bind, scope, kind, enum = c_int(), c_int(), c_int(), Handle(), c_void_p()
    if library.MPI_T_cvar_get_info(
        c_int(index), name, byref(lengths[0]), byref(verbosity), byref(kind), byref(enum), about,
        byref(lengths[1]), byref(bind), byref(scope)):
        return None
    known = NUMBERS.get(kind.value, "unknown")
    return {"name": text(name), "about": text(about), "kind": known, "scope": scope.value,
            "verbosity": verbosity.value, "choices": choices(enum),
            "value": read(index, known)}

provided, count = c_int(), c_int()
if library.MPI_T_init_thread(c_int(0), byref(provided)):
    sys.exit("MPI_T_init_thread fails")
library.MPI_T_cvar_get_num(byref(count))
found = [variable(index) for index in range(count.value)]
print("\\n" + sys.argv[2] + json.dumps([each for each in found if each]))
"""

SCOPES: tuple[Scope, ...] = (
    "constant",
    "readonly",
    "local",
    "group",
    "group_eq",
    "all",
    "all_eq",
)
_FIRST_SCOPE = {"mpich": 60438, "ompi": 0, "std": 1}
_FIRST_VERBOSITY = {"mpich": 221, "ompi": 0}
_LEVELS: tuple[Level, ...] = ("user", "tuner", "developer")


@dataclass(frozen=True)
class Variable:
    """A control variable as the library reports it."""

    name: str
    about: str
    kind: str
    value: str | None
    """The value; None: it cannot be read."""
    choices: tuple[str, ...]
    scope: Scope
    level: Level
    number: int | None = None
    """The value if it is a whole number, also one that has a name."""


def variables(mpi: Mpi, env: Mapping[str, str] | None = None) -> tuple[Variable, ...]:
    """Returns all control variables, with defaults or values of `env`. UserError: it fails."""
    own = [name for name in os.environ if name.startswith(OWN) and name not in KEPT]
    here = {**mpi.env, **(env or {})}
    records = json.loads(answer(CHILD, mpi.library, here, SECONDS, mpi.abi, without=own))
    return tuple(variable(each, mpi.abi) for each in records)


def variable(record: Mapping[str, Any], abi: Abi) -> Variable:
    """Converts the child's record of a variable, with the ABI's numbers as words."""
    values: dict[int, str] = dict(record["choices"])
    return Variable(
        name=record["name"],
        about=" ".join(record["about"].split()),
        kind="string" if record["kind"] == "char" else record["kind"],
        value=_value(record["value"], values),
        number=record["value"] if type(record["value"]) is int else None,
        choices=tuple(values.values()) or _listed(record["about"]),
        scope=_scope(record["scope"], abi),
        level=_level(record["verbosity"], abi),
    )


def _listed(about: str) -> tuple[str, ...]:
    """Returns the values in a description: MPICH lists them as lines `name - what it does`."""
    names = re.findall(r"^\s*([a-z][a-z0-9_]*)\s+-\s", about, re.MULTILINE)
    if len(names) > 1:
        return tuple(dict.fromkeys(names))
    return ()


def _value(value: Any, names: Mapping[int, str]) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    return names.get(value, f"{value:g}" if isinstance(value, float) else str(value))


def _scope(number: int, abi: Abi) -> Scope:
    place = number - _FIRST_SCOPE[abi]
    if 0 <= place < len(SCOPES):
        return SCOPES[place]
    return ""


def _level(number: int, abi: Abi) -> Level:
    if abi == "std":
        place = {0x08: 0, 0x10: 1, 0x20: 2}.get(number & 0x38, -1)
    else:
        place = (number - _FIRST_VERBOSITY[abi]) // 3
    if 0 <= place < len(_LEVELS):
        return _LEVELS[place]
    return ""
