# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes from schema/records.toml what the kernels write of records and what is read of them."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tools.generate_text import cpp_comment, cpp_header, docstring, head, made_by, quoted

SCHEMA = "schema/records.toml"
CPP_TYPES = {
    "int": "int",
    "count": "std::uint64_t",
    "seed": "std::uint64_t",
    "float": "double",
    "str": "std::string",
    "bool": "bool",
    "ints": "std::vector<std::uint64_t>",
    "key": "Object",
    "columns": "Object",
}
CPP_NUMBERS = ("int", "count", "seed", "float", "bool")
"""The types whose default in C++ is an indeterminate value."""
PYTHON_TYPES = {
    "int": "int",
    "count": "int",
    "seed": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "ints": "tuple[int, ...]",
    "key": "Mapping[str, Any]",
    "columns": "Mapping[str, Any]",
}
WRITERS = ("kernels", "campaign", "driver")


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    about: str
    unit: str = ""
    absent: Any = None
    by: str = "kernels"
    flat: bool = False
    """True for a key whose columns are stored among the other fields."""
    read: bool = True

    @property
    def part(self) -> str:
        """The kind of which it is, where it is a part of its own."""
        return "" if self.type in CPP_TYPES else self.type.removesuffix("[]")

    @property
    def many(self) -> bool:
        return self.type.endswith("[]")


@dataclass(frozen=True)
class Record:
    name: str
    about: str
    fields: tuple[Field, ...]
    kind: str = ""
    by: str = "kernels"


def read_records(path: Path) -> tuple[Record, ...]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    records = [_record(entry) for entry in table["record"]]
    for number, record in enumerate(records):
        _check(record, {each.name for each in records[:number]})
    return tuple(records)


def _record(entry: dict[str, Any]) -> Record:
    fields = tuple(Field(name, **of) for name, of in entry.pop("field").items())
    return Record(fields=fields, **entry)


def _check(record: Record, before: set[str]) -> None:
    if record.name in before:
        raise SystemExit(f"{SCHEMA}: {record.name}: defined twice")
    for field in record.fields:
        what = f"{SCHEMA}: {record.name}.{field.name}"
        if field.part and field.part not in before:
            raise SystemExit(f"{what}: unknown type {field.type}")
        if field.by not in WRITERS or record.by not in WRITERS:
            raise SystemExit(f"{what}: nobody called {field.by} writes records")
    absent = [field.absent is not None for field in record.fields]
    if absent != sorted(absent):
        raise SystemExit(f"{SCHEMA}: {record.name}: what can be absent comes last")


# --- C++ -----------------------------------------------------------------------------------
CPP_HEAD = """template <class Part>
std::vector<Object> objects_of(const std::vector<Part>& parts) {
  std::vector<Object> objects;
  for (const Part& part : parts) objects.push_back(object_of(part));
  return objects;
}
"""


def cpp(records: tuple[Record, ...]) -> str:
    lines = CPP_HEAD.split("\n")
    for record in records:
        if record.by == "kernels":
            lines += [*_struct(record), *_writer(record)]
    includes = ("<cstdint>", "<limits>", "<string>", "<vector>", "record/json.hpp")
    return cpp_header(SCHEMA, lines, *includes, namespace="mpigauge::records")


def _struct(record: Record) -> list[str]:
    lines = [*cpp_comment(record.about), f"struct {record.name} {{"]
    for field in _written(record):
        member = f"  {_cpp_type(field)} {field.name}{_cpp_default(field)};"
        lines += [*cpp_comment(field.about, "  "), member]
    return [*lines, "};"]


def _cpp_default(field: Field) -> str:
    """The default of a member: the value that an absent field has."""
    if field.absent == "nan":
        return " = std::numeric_limits<double>::quiet_NaN()"
    if field.type == "str":
        return f" = {quoted(field.absent)}" if field.absent else ""
    if field.type in ("int", "bool") and field.absent:
        return f" = {json.dumps(field.absent)}"
    return "{}" if field.type in CPP_NUMBERS else ""


def _written(record: Record) -> list[Field]:
    return [field for field in record.fields if field.by == "kernels"]


def _cpp_type(field: Field) -> str:
    if not field.part:
        return CPP_TYPES[field.type]
    return f"std::vector<{field.part}>" if field.many else field.part


def _writer(record: Record) -> list[str]:
    first = f"record({quoted(record.kind)})" if record.kind else "Object()"
    lines = [f"inline Object object_of(const {record.name}& r) {{", f"  return {first}"]
    lines += [f"      {_addition(field)}" for field in _written(record)]
    return [*lines[:-1], f"{lines[-1]};", "}", ""]


def _addition(field: Field) -> str:
    if field.flat:
        return f".merge(r.{field.name})"
    value = f"r.{field.name}"
    if field.part:
        value = f"{'objects_of' if field.many else 'object_of'}({value})"
    return f'.add("{field.name}", {value})'


# --- Python --------------------------------------------------------------------------------
PYTHON_HEAD = '''"""What the records of a run hold, beside the columns of cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
'''


def python_module(records: tuple[Record, ...]) -> str:
    lines = [*head(SCHEMA, "#"), *PYTHON_HEAD.split("\n")]
    for record in records:
        lines += ["", "@dataclass(frozen=True)", f"class {record.name}:"]
        lines += [*docstring(record.about), ""]
        for field in record.fields:
            if field.read:
                lines += [f"    {field.name}: {_python_type(field)}{_default(field)}"]
                lines += docstring(field.about)
        lines.append("")
    kinds = [f"    {quoted(record.kind)}: {record.name}," for record in records if record.kind]
    lines += ["", "KINDS: dict[str, type[Any]] = {", *kinds, "}"]
    lines += ['"""By the word in their lines."""']
    parts = [f"    {quoted(record.name)}: {record.name}," for record in records if not record.kind]
    lines += ["PARTS: dict[str, type[Any]] = {", *parts, "}"]
    return "\n".join([*lines, '"""What only stands in other records, by its name."""', ""])


def _python_type(field: Field) -> str:
    if not field.part:
        return PYTHON_TYPES[field.type]
    return f"tuple[{field.part}, ...]" if field.many else field.part


def _default(field: Field) -> str:
    if field.absent is None:
        return ""
    if field.part and not field.many:
        return f" = {field.part}()"
    if field.absent == "nan" and field.type == "float":
        return " = math.nan"
    if isinstance(field.absent, list):
        return " = ()"
    if isinstance(field.absent, dict):
        return " = field(default_factory=dict)"
    return f" = {quoted(field.absent) if isinstance(field.absent, str) else field.absent}"


# --- docs ----------------------------------------------------------------------------------
DOCS_HEAD = """# Records

The lines of `records.jsonl` in a [run folder](run-folder.md); `record` is their kind. Those of
kind `cell` have the [stored columns](columns.md), and a `raw` where samples are kept. Numbers
that are not known are `null`; fields with a value under *absent* may be missing, which means that
value.
"""


def docs_page(records: tuple[Record, ...]) -> str:
    lines = [f"<!-- {made_by(SCHEMA)} -->", *DOCS_HEAD.split("\n")]
    for record in records:
        title = f"`{record.kind}`" if record.kind else record.name
        lines += [f"## {title}", "", record.about, ""]
        lines += ["| field | type | unit | absent | meaning |", "|---|---|---|---|---|"]
        lines += [_docs_row(field) for field in record.fields] + [""]
    return "\n".join(lines)


def _docs_row(field: Field) -> str:
    value = None if field.absent == "nan" and field.type == "float" else field.absent
    absent = "" if field.absent is None else f"`{json.dumps(value)}`"
    return f"| `{field.name}` | {field.type} | {field.unit} | {absent} | {field.about} |"


def outputs(path: Path) -> dict[str, str]:
    records = read_records(path)
    return {
        "kernels/record/records.hpp": cpp(records),
        "src/mpigauge/model/records.py": python_module(records),
        "docs/reference/records.md": docs_page(records),
    }
