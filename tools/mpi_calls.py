# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Joins the standard's machine-readable description of MPI's calls with schema/mpi_calls.toml.

What comes out is profiler/calls.inc: a line for each call that the profiler wraps, with all that it
has to know of it. `python tools/mpi_calls.py` writes it, `--check` only compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pympistandard  # type: ignore[import-untyped]
import tomli

ROOT = Path(__file__).resolve().parents[1]
NOTES = "schema/mpi_calls.toml"
MADE = "profiler/calls.inc"
MADE_BY = "Made by tools/mpi_calls.py from pympistandard and schema/mpi_calls.toml."
WIDE = "MPI_Count"
RULE_KEYS = {
    *("class", "calls", "forms", "sent", "received", "in_place", "to", "from", "root", "requests"),
    *("persistent", "waits", "equal_parts"),
}
WAITS = {"all for all": "all", "all for the root": "for_root", "the root for all": "at_root"}


# --- what the standard says ----------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    direction: str
    type: str
    is_array: bool


@dataclass(frozen=True)
class Call:
    """A procedure as C has it; the large-count form is a call of its own."""

    name: str
    """The name without MPI_."""
    parameters: tuple[Parameter, ...]
    returns: str = "int"
    fortran: tuple[Parameter, ...] = ()
    """The parameters in Fortran, without the modules' large counts; empty: no such subroutine."""
    fortran_08: tuple[Parameter, ...] = ()
    """The parameters in the module mpi_f08 if not only buffers differ: with large counts."""

    @property
    def base(self) -> str:
        """The name without the suffix of large counts."""
        return self.name.removesuffix("_c")

    def position(self, name: str) -> int:
        """Returns the position of a parameter. SystemExit: the call has none of that name."""
        names = [parameter.name for parameter in self.parameters]
        if name not in names:
            raise SystemExit(f"{NOTES}: MPI_{self.name} has no {name}, only {', '.join(names)}")
        return names.index(name)

    def first(self, kind: str, *directions: str) -> int:
        """Returns the position of the first single parameter of a kind and direction, or -1."""
        for position, each in enumerate(self.parameters):
            if each.kind == kind and each.direction in directions and not each.is_array:
                return position
        return -1


def read_standard() -> list[Call]:
    """All procedures of the standard that C has, by name, with their large-count forms."""
    pympistandard.use_api_version(1, force_bundled=True)
    calls = []
    for procedure in pympistandard.all_iso_c_procedures():
        attributes = procedure._parseset["attributes"]
        if attributes["callback"] or attributes["predefined_function"]:
            continue
        calls.append(_call(procedure.express.iso_c, procedure.express.f90))
        if procedure.has_embiggenment():
            large = procedure.express.embiggen
            calls.append(replace(_call(large.iso_c), fortran_08=_parameters(large.f08)))
    return sorted(calls, key=lambda call: call.name)


def _call(symbol: Any, fortran: Any = None) -> Call:
    return Call(
        symbol.name.removeprefix("MPI_"),
        _parameters(symbol),
        str(symbol.return_type),
        _parameters(fortran) if fortran else (),
    )


def _parameters(symbol: Any) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            name=each.name.lower(),
            kind=each._parseset["kind"],
            direction=each._parseset["param_direction"],
            type=str(each.type),
            is_array=bool(each._parseset["length"]),
        )
        for each in symbol.parameters
    )


# --- what we say ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Notes:
    """The contents of schema/mpi_calls.toml."""

    passed: frozenset[str]
    frees: frozenset[str]
    by_hand: frozenset[str]
    removed: dict[str, int]
    rules: dict[str, dict[str, Any]]
    """The rules by the name of the call, for all its forms."""
    classes: dict[str, str]


def read_notes(path: Path) -> Notes:
    table = tomli.loads(path.read_text(encoding="utf-8"))
    rules: dict[str, dict[str, Any]] = {}
    for rule in table["rule"]:
        if unknown := set(rule) - RULE_KEYS:
            raise SystemExit(f"{NOTES}: a rule has no key {min(unknown)}")
        for name, form in _forms(rule):
            if name in rules:
                raise SystemExit(f"{NOTES}: two rules for {name}")
            rules[name] = _rule_of_form(rule, form)
    return Notes(
        passed=frozenset(table["passed"]),
        frees=frozenset(table["frees"]),
        by_hand=frozenset(table["by_hand"]),
        removed=table["removed"],
        rules=rules,
        classes=table["classes"],
    )


def _rule_of_form(rule: Mapping[str, Any], form: str) -> dict[str, Any]:
    """Returns the rule for a form of its call; persistent requests do not wait on creation."""
    if form != "_init":
        return dict(rule)
    left = {name: value for name, value in rule.items() if name != "waits"}
    return left | {"persistent": True}


def _forms(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names that a rule is about: Bcast stands for Ibcast and Bcast_init, too."""
    for name in rule["calls"]:
        for form in rule.get("forms", [""]):
            yield (f"I{name[0].lower()}{name[1:]}" if form == "I" else name + form), form


def check(notes: Notes, calls: list[Call]) -> None:
    """SystemExit: the notes name a call that the standard lacks, or list as removed one it has."""
    names = {call.base for call in calls}
    for name in (*notes.rules, *notes.passed, *notes.frees, *notes.by_hand):
        if name not in names:
            raise SystemExit(f"{NOTES}: the standard has no MPI_{name}")
    for name in notes.removed:
        if name in names:
            raise SystemExit(f"{NOTES}: MPI_{name} is not removed, the standard has it")


# --- both ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A wrapped call and its facts as C++ expressions (profiler/facts.hpp)."""

    name: str
    arguments: int
    group: str
    facts: dict[str, str] = field(default_factory=dict)
    fortran: tuple[int, int] | None = None
    """The number of Fortran arguments, lengths of texts included, and the position of ierror."""

    def text(self) -> str:
        facts = {"group": f"Group::{identifier(self.group)}", **self.facts}
        words = ", ".join(f".{name} = {value}" for name, value in facts.items())
        return f"MPIGAUGE_CALL({self.name}, {self.arguments}, {words})"

    def fortran_text(self) -> str:
        words = ", ".join(map(str, self.fortran or ()))
        return f"MPIGAUGE_FORTRAN({self.name}, {self.name.lower()}, {self.name.upper()}, {words})"


def lines(notes: Notes, calls: list[Call]) -> list[Line]:
    wrapped = [call for call in calls if is_wrapped(notes, call)]
    made = [_line(notes, call) for call in wrapped]
    made += [Line(name, n, group_of(notes, name)) for name, n in notes.removed.items()]
    return sorted(made, key=lambda line: line.name)


def is_wrapped(notes: Notes, call: Call) -> bool:
    """Conversions of handles give something else than an error code."""
    if call.base in notes.passed | notes.by_hand:
        return False
    return call.returns == "int" and not re.search(r"_(c2f|f2c|toint|fromint)$", call.name)


def group_of(notes: Notes, name: str) -> str:
    beginnings = [start for start in notes.classes if name.startswith(start)]
    if not beginnings:
        raise SystemExit(f"{NOTES}: no class for MPI_{name}")
    return notes.classes[max(beginnings, key=len)]


def _line(notes: Notes, call: Call) -> Line:
    rule = notes.rules.get(call.base, {})
    facts: dict[str, str] = {}
    for key in ("sent", "received", "in_place"):
        if key in rule:
            facts[key] = _amount(call, rule[key])
    if "in_place" in rule:
        buffer = "sendbuf" if "sent" in rule else "recvbuf"
        facts["buffer"] = str(call.position(buffer))
    for key in ("to", "from", "root"):
        if key in rule:
            facts[key] = str(call.position(rule[key]))
    facts |= _tags(call, rule)
    if "requests" in rule:
        one = rule["requests"] == "1"
        facts["requests"] = "one_request" if one else str(call.position(rule["requests"]))
    facts |= _found_by_kind(call)
    if "waits" in rule:
        facts["waits"] = f"Waits::{_who_waits(rule['waits'])}"
    facts |= {key: "true" for key in ("equal_parts", "persistent") if rule.get(key)}
    if _begins_request(call):
        facts["begins"] = "true"
    if call.base in notes.frees:
        facts["frees"] = "true"
    group = rule.get("class") or group_of(notes, call.name)
    return Line(call.name, len(call.parameters), group, facts, _fortran(call, facts))


def _tags(call: Call, rule: Mapping[str, Any]) -> dict[str, str]:
    """Returns the position of the send tag (the first) and of the receive tag (the last); none for
    partitioned messages, which match only each other, in the order of initialization."""
    tags = [at for at, parameter in enumerate(call.parameters) if parameter.kind == "TAG"]
    if not tags or rule.get("class") == "partitioned":
        return {}
    sent = {"to_tag": str(tags[0])} if "to" in rule else {}
    return sent | ({"from_tag": str(tags[-1])} if "from" in rule else {})


def _fortran(call: Call, facts: Mapping[str, str]) -> tuple[int, int] | None:
    """Facts are by the order of C's parameters, so it has to be that of Fortran's."""
    names = [parameter.name for parameter in call.fortran]
    if "ierror" not in names:
        return None
    same = names[:-1] == [parameter.name for parameter in call.parameters]
    if facts and not same:
        return None
    texts = sum("CHARACTER" in parameter.type for parameter in call.fortran)
    return len(names) + texts, names.index("ierror")


def _who_waits(text: str) -> str:
    if text not in WAITS:
        raise SystemExit(f"{NOTES}: waits is {', '.join(WAITS)}, not {text}")
    return WAITS[text]


def _found_by_kind(call: Call) -> dict[str, str]:
    positions = {
        "comm": call.first("COMMUNICATOR", "in", "inout"),
        "new_comm": call.first("COMMUNICATOR", "out"),
        "window": call.first("WINDOW", "in", "inout"),
        "new_window": call.first("WINDOW", "out"),
        "file": call.first("FILE", "in", "inout"),
        "new_file": call.first("FILE", "out"),
        "operation": call.first("OPERATION", "in"),
        "message": call.first("MESSAGE", "out", "inout"),
        "request": _request(call),
        "status": call.first("STATUS", "out"),
    }
    return {name: str(position) for name, position in positions.items() if position >= 0}


def _request(call: Call) -> int:
    """One request or an array of them."""
    kinds = [parameter.kind for parameter in call.parameters]
    return kinds.index("REQUEST") if "REQUEST" in kinds else -1


def _begins_request(call: Call) -> bool:
    """True if the call gives out a new request; others take one, by its place or by its value."""
    return any(
        parameter.kind == "REQUEST" and parameter.direction == "out"
        for parameter in call.parameters
    )


def _amount(call: Call, text: str) -> str:
    """An amount as C++ has it: how to count, where the count, the factor and the type are."""
    count, _, kind = text.partition(" ")
    type_at = call.position(kind)
    how, name, factor = _count(count)
    fields = {"how": f"Count::{how}"}
    if name:
        position = call.position(name)
        fields["count"] = str(position)
        if call.parameters[position].type.startswith(WIDE):
            fields["wide"] = "true"
    if factor:
        fields["factor"] = str(call.position(factor))
    fields["type"] = str(type_at)
    if call.parameters[type_at].is_array:
        fields["types"] = "true"
    return "{" + ", ".join(f".{key} = {value}" for key, value in fields.items()) + "}"


def _count(text: str) -> tuple[str, str, str]:
    """Returns the kind of a count, the parameter that gives it, and the one that multiplies it."""
    if text == "1":
        return "one", "", ""
    if match := re.fullmatch(r"(sum|own)\((\w+)\)", text):
        return match[1], match[2], ""
    if match := re.fullmatch(r"(\w+)\*(\w+)", text):
        return "value", match[2], match[1]
    return "value", text, ""


def identifier(group: str) -> str:
    return group.replace("-", "_").replace(" ", "_")


# --- text ----------------------------------------------------------------------------------


def table(path: Path = ROOT / NOTES) -> str:
    """Returns the text of profiler/calls.inc."""
    notes, calls = read_notes(path), read_standard()
    check(notes, calls)
    made = lines(notes, calls)
    groups = sorted({line.group for line in made})
    return "\n".join(
        [
            "// SPDX-License-Identifier: BSD-3-Clause",
            "// Copyright the mpigauge authors",
            f"// {MADE_BY} Do not edit.",
            "//",
            "// Classes of calls: MPIGAUGE_GROUP(identifier, name); the calls that are wrapped:",
            "// MPIGAUGE_CALL(name without MPI_, number of arguments, what is known of it); those",
            "// of Fortran: MPIGAUGE_FORTRAN(name, in small letters, in capitals, number of words,",
            "// where the error code is).",
            "// clang-format off",
            *(f'MPIGAUGE_GROUP({identifier(group)}, "{group}")' for group in groups),
            *(line.text() for line in made),
            *(line.fortran_text() for line in made if line.fortran),
            "",
        ]
    )


def main(words: list[str]) -> int:
    text, made = table(), ROOT / MADE
    if made.exists() and made.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in words:
        print(f"{MADE} is out of date; run: python tools/mpi_calls.py", file=sys.stderr)
        return 1
    made.write_text(text, encoding="utf-8")
    print(f"wrote {MADE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
