# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes what follows from schema/*.toml: C++ headers and tables, Python types, docs pages.

`python tools/generate.py` writes, `python tools/generate.py --check` only compares.
"""

from __future__ import annotations

import ast
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import (  # noqa: E402
    generate_command_line,
    generate_layout,
    generate_options,
    generate_records,
    generate_schedules,
)

SCHEMA = "schema/columns.toml"
LICENCE = ("SPDX-License-Identifier: BSD-3-Clause", "Copyright the mpigauge authors")
MADE_BY = f"Made by tools/generate.py from {SCHEMA}: change that file, not this one."
PYTHON_TYPES = {
    "int": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "words": "tuple[str, ...]",
}
WRITERS = ("kernels", "campaign")
GROUPS = {
    "cell": "Which cell it is",
    "effort": "How much was measured, and why it ended",
    "time": "What the clock saw, per call",
    "parts": "What was timed beside it, per call",
    "facts": "Facts to derive from",
}


TIMED_GROUPS = ("time", "parts")
ROLES = ("what", "how", "time", "fact")
ROLE_OF_GROUP = {"effort": "fact", "time": "time", "parts": "time", "facts": "fact"}
OVER_LAUNCHES = ("", "sum", "least", "most")


@dataclass(frozen=True)
class Column:
    """An entry of the schema, whose head says what each key means."""

    name: str
    about: str
    type: str = "float"
    unit: str = ""
    group: str = ""
    formula: str = ""
    absent: object = None
    by: str = "kernels"
    role: str = ""
    usual: object = None
    imported: object = None
    in_table: bool = False
    over_launches: str = ""
    quantile: float | None = None
    values: Sequence[str] = ()
    label: str = ""
    empty: str = ""
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    heading: str = ""
    in_name: str = ""
    phrase: str = ""
    column: str = ""

    @property
    def known_role(self) -> str:
        return self.role or ROLE_OF_GROUP.get(self.group, "")


@dataclass(frozen=True)
class Schema:
    version: int
    columns: tuple[Column, ...]
    derived: tuple[Column, ...]
    words: tuple[str, ...] = ()
    """The order of columns in text."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The columns by which rows are sorted, some of them together."""


def read_schema(path: Path) -> Schema:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    columns = tuple(Column(**entry) for entry in table["column"])
    derived = tuple(Column(**entry) for entry in table["derived"])
    _check(columns, derived)
    words, rows = _orders(table.get("order", {}), columns)
    return Schema(table["version"], columns, derived, words, rows)


def _check(columns: tuple[Column, ...], derived: tuple[Column, ...]) -> None:
    names = [column.name for column in columns + derived]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SystemExit(f"{SCHEMA}: defined twice: {', '.join(twice)}")
    for column in columns:
        _check_column(column)
    for column in derived:
        for used in _names_in(column.formula):
            if used not in names[: names.index(column.name)]:
                raise SystemExit(f"{SCHEMA}: {column.name}: unknown name {used} in the formula")


def _check_column(column: Column) -> None:
    if column.type not in PYTHON_TYPES or column.group not in GROUPS:
        raise SystemExit(f"{SCHEMA}: {column.name}: unknown type or group")
    if column.by not in WRITERS:
        raise SystemExit(f"{SCHEMA}: {column.name}: nobody called {column.by} writes columns")
    if column.known_role not in ROLES:
        raise SystemExit(f"{SCHEMA}: {column.name}: its role is none of {', '.join(ROLES)}")
    if column.over_launches not in OVER_LAUNCHES:
        raise SystemExit(f"{SCHEMA}: {column.name}: unknown word in over_launches")
    if column.quantile is not None and column.group != "time":
        raise SystemExit(f"{SCHEMA}: {column.name}: only times are quantiles of samples")


def _orders(
    order: Mapping[str, Any], columns: tuple[Column, ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Returns the key columns of a cell in the order of words, and those by which rows are sorted;
    columns in neither list of the schema come last."""
    names = [column.name for column in columns if _in_key(column)]
    first = order.get("words", [])
    rows = [(each,) if isinstance(each, str) else tuple(each) for each in order.get("rows", [])]
    for name in (*first, *(name for each in rows for name in each)):
        if name not in names:
            raise SystemExit(f"{SCHEMA}: [order] names {name}, which is not a column of a cell")
    sorted_by = {name for each in rows for name in each}
    rows += [(c.name,) for c in columns if c.values and c.name not in sorted_by]
    return (*first, *(name for name in names if name not in first)), tuple(rows)


def _names_in(formula: str) -> list[str]:
    return [node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)]


# --- C++ -----------------------------------------------------------------------------------


def cpp_header(schema: Schema) -> str:
    written = [column for column in schema.columns if column.by == "kernels"]
    lines = [f"// {line}" for line in (*LICENCE, MADE_BY)]
    lines += ["#pragma once", "", "#include <array>", "#include <limits>"]
    lines += ["#include <string_view>", ""]
    lines += ["namespace mpigauge::column {", ""]
    lines += [f"inline constexpr int schema_version = {schema.version};", ""]
    for column in written:
        lines += _comment(column, "// ")
        lines.append(f'inline constexpr std::string_view {column.name} = "{column.name}";')
    lines += ["", "// All of them, in the order in which a record has them."]
    lines.append("// clang-format off")
    lines.append(f"inline constexpr std::array<std::string_view, {len(written)}> all{{")
    lines += [f"    {column.name}," for column in written]
    lines += ["};", "// clang-format on", "", *_times_struct(schema)]
    lines += ["", "}  // namespace mpigauge::column", ""]
    return "\n".join(lines)


def _times_struct(schema: Schema) -> list[str]:
    """Returns a C++ struct of the columns that are computed from samples, and its writer."""
    names = [c.name for c in schema.columns if c.group in TIMED_GROUPS and c.by == "kernels"]
    lines = [
        "/// What was timed of a cell, each by the name of its column; NaN where it is not known."
    ]
    lines.append("struct Times {")
    lines += [f"  double {name} = std::numeric_limits<double>::quiet_NaN();" for name in names]
    lines += ["};", "", "/// Adds all of them to a record, in their order."]
    lines += ["template <class Record>", "void add_times(Record& record, const Times& times) {"]
    lines += [f"  record.add({name}, times.{name});" for name in names]
    return [*lines, "}", "", *_quantiles(schema)]


def _quantiles(schema: Schema) -> list[str]:
    """Returns the C++ table of the columns that hold quantiles of all samples."""
    quantile_columns = [(c.name, c.quantile) for c in schema.columns if c.quantile is not None]
    lines = ["/// A column, and which quantile of all samples it is.", "struct Quantile {"]
    lines += ["  double Times::* column;", "  double share;", "};"]
    lines += [f"inline constexpr std::array<Quantile, {len(quantile_columns)}> quantiles{{{{"]
    return [
        *lines,
        *(f"    {{&Times::{name}, {share}}}," for name, share in quantile_columns),
        "}};",
    ]


def _comment(column: Column, mark: str, width: int = 100) -> list[str]:
    unit = f" [{column.unit}]" if column.unit else ""
    return textwrap.wrap(column.about + unit, width, initial_indent=mark, subsequent_indent=mark)


# --- Python --------------------------------------------------------------------------------

PYTHON_HEAD = '''"""Every stored column of a cell record, and what is derived from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = {version}


class Column(NamedTuple):
    """What schema/columns.toml says of a column; the head of that file explains each field."""

    name: str
    type: str
    unit: str
    group: str
    about: str
    role: str = ""
    usual: Any = None
    imported: Any = None
    in_table: bool = False
    over_launches: str = ""
    quantile: float | None = None
    values: tuple[str, ...] = ()
    label: str = ""
    empty: str = ""
    words: Mapping[str, str] = MappingProxyType({{}})
    heading: str = ""
    in_name: str = ""
    phrase: str = ""
    column: str = ""


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(word) for word in value)

'''

PYTHON_TAIL = '''
    @property
    def key(self) -> tuple[str | int | bool, ...]:
        """What makes this cell one cell: the columns of group "cell" without the launch."""
        found: tuple[str | int | bool, ...] = _key(self)
        return found

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Cell:
        """The cell in a record line; keys that are not columns are left out."""
        try:
            full = {**ABSENT, **record}
            cell = object.__new__(cls)  # not by its __init__, which sets a frozen field at a time
            cell.__dict__.update({name: read(full[name]) for name, read in _READ.items()})
            return cell
        except KeyError as error:
            raise ValueError(f"the cell record has no column {error}") from None
        except TypeError as error:
            raise ValueError(f"the cell record has a value of a wrong type: {error}") from None


'''


def python_module(schema: Schema) -> str:
    lines = [f"# {line}" for line in (*LICENCE, MADE_BY)]
    lines += PYTHON_HEAD.format(version=schema.version).split("\n")
    lines += ["@dataclass(frozen=True)", "class Cell:"]
    lines.append('    """One cell of one launch: each stored column, and derived values."""')
    for column in schema.columns:
        lines += ["", *_comment_indented(column)]
        lines.append(f"    {column.name}: {PYTHON_TYPES[column.type]}")
    for column in schema.derived:
        lines += _property(column)
    lines += PYTHON_TAIL.rstrip("\n").split("\n")
    lines += ["", "", "KEY_COLUMNS = ("]
    lines += [f'    "{column.name}",' for column in schema.columns if _in_key(column)]
    lines += [")", "_key = attrgetter(*KEY_COLUMNS)", "", "_READ: dict[str, Any] = {"]
    lines += [f'    "{column.name}": {_reader(column)},' for column in schema.columns]
    lines += ["}", "", "# Of records that were written before there were these columns."]
    lines += ["ABSENT: dict[str, Any] = {", *_absent(schema.columns), "}"]
    lines += ["", "# In which people are told of columns.", "ORDER_OF_WORDS = ("]
    lines += [f'    "{name}",' for name in schema.words]
    lines += [")", "", "# By which rows are sorted.", "ORDER_OF_ROWS = ("]
    lines += [f"    {_tuple(names)}," for names in schema.rows]
    lines += [")", "", *_column_table("COLUMNS", schema.columns)]
    lines += ["", *_column_table("DERIVED", schema.derived), ""]
    return "\n".join(lines)


def _absent(columns: tuple[Column, ...]) -> list[str]:
    values = {c.name: c.absent for c in columns if c.absent is not None}
    shown = {name: repr(value).replace("'", '"') for name, value in values.items()}
    return [f'    "{name}": {"None" if v == "nan" else v},' for name, v in shown.items()]


def _in_key(column: Column) -> bool:
    return column.group == "cell" and column.name != "launch"


def _reader(column: Column) -> str:
    return {"float": "_float", "words": "_words"}.get(column.type, column.type)


def _comment_indented(column: Column) -> list[str]:
    return [f"    {line}" for line in _comment(column, "# ", 94)]


def _property(column: Column) -> list[str]:
    return [
        "",
        "    @property",
        f"    def {column.name}(self) -> float:",
        f'        """{column.about} [{column.unit}]"""',
        f"        return {_python(ast.parse(column.formula, mode='eval').body)}",
    ]


def _python(node: ast.expr) -> str:
    """The formula as Python, with a division by zero giving nan."""
    if isinstance(node, ast.Name):
        return f"self.{node.id}"
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return f"_ratio({_python(node.left)}, {_python(node.right)})"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return f"{_python(node.left)} * {_python(node.right)}"
    raise SystemExit(f"{SCHEMA}: only * and / can stand in a formula: {ast.unparse(node)}")


def _column_table(name: str, columns: tuple[Column, ...]) -> list[str]:
    lines = [f"{name} = ("]
    for column in columns:
        lines.append("    Column(")
        fields = (column.name, column.type, column.unit, column.group or "derived", column.about)
        lines += [f"        {_quoted(field)}," for field in fields]
        lines += [f"        {line}" for line in _facts(column)]
        lines.append("    ),")
    return [*lines, ")"]


def _facts(column: Column) -> list[str]:
    """Returns the optional facts of a column as keyword arguments, without absent ones."""
    usual = column.absent if column.usual is None else column.usual
    lines = [f"role={_text(column.known_role)},"] if column.known_role else []
    lines += [
        f"{name}={_literal(value)},"
        for name, value in (("usual", usual), ("imported", column.imported))
        if value is not None and value == value  # NaN stands for nothing
    ]
    lines += ["in_table=True,"] if column.in_table else []
    lines += [f"over_launches={_text(column.over_launches)},"] if column.over_launches else []
    lines += [f"quantile={column.quantile},"] if column.quantile is not None else []
    lines += [f"values={_tuple(column.values)},"] if column.values else []
    words = ("label", "empty", "heading", "in_name", "phrase", "column")
    lines += [f"{name}={_text(text)}," for name in words if (text := getattr(column, name))]
    if column.words:
        pairs = (f"    {_text(value)}: {_text(word)}," for value, word in column.words.items())
        lines += ["words={", *pairs, "},"]
    return lines


def _literal(value: object) -> str:
    return _text(value) if isinstance(value, str) else repr(value)


def _tuple(words: Sequence[str]) -> str:
    return f"({', '.join(map(_text, words))}{',' * (len(words) == 1)})"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _quoted(text: str) -> str:
    """A string literal as ruff format leaves it; long ones go over several lines."""
    if len(text) < 90:
        return f'"{text}"'
    literals = [f'"{part}"' for part in textwrap.wrap(text, 80, drop_whitespace=False)]
    return "\n".join(["(", *(f"            {literal}" for literal in literals), "        )"])


# --- docs ----------------------------------------------------------------------------------


def docs_page(schema: Schema) -> str:
    lines = [f"<!-- {MADE_BY} -->", "# Stored columns", ""]
    lines += [f"Schema version {schema.version}. Units are SI; `1` is a plain ratio.", ""]
    lines += [ROLES_IN_DOCS, ""]
    for group, title in GROUPS.items():
        of_group = [column for column in schema.columns if column.group == group]
        lines += [f"## {title}", "", *_head("type")]
        lines += [_row(column, column.type) for column in of_group]
        lines += ["", *_how(of_group), ""] if any(c.known_role == "how" for c in of_group) else [""]
    lines += ["## Derived, never stored", "", *_head("formula")]
    lines += [_row(column, f"`{column.formula}`") for column in schema.derived]
    return "\n".join([*lines, ""])


ROLES_IN_DOCS = (
    "Numbers that differ in a column of a cell are of different things, and never compared. Where "
    "it only records how they were measured, they are compared, and the difference is reported."
)


def _how(columns: Sequence[Column]) -> list[str]:
    names = ", ".join(f"`{column.name}`" for column in columns if column.known_role == "how")
    return [f"Only how it was measured: {names}."]


def _head(second: str) -> list[str]:
    return [f"| column | {second} | unit | meaning |", "|---|---|---|---|"]


def _row(column: Column, second: str) -> str:
    return f"| `{column.name}` | {second} | {column.unit} | {column.about} |"


# --- writing -------------------------------------------------------------------------------


def outputs(schema: Schema) -> dict[str, str]:
    return {
        "kernels/record/columns.hpp": cpp_header(schema),
        "src/mpigauge/model/columns.py": python_module(schema),
        "docs/reference/columns.md": docs_page(schema),
    }


def all_outputs() -> dict[str, str]:
    columns = outputs(read_schema(ROOT / SCHEMA))
    options = generate_options.outputs(ROOT / generate_options.SCHEMA)
    options |= generate_command_line.outputs(ROOT / generate_options.SCHEMA)
    records = generate_records.outputs(ROOT / generate_records.SCHEMA)
    schedules = generate_schedules.outputs()
    return columns | options | records | schedules | generate_layout.outputs()


def stale(root: Path, texts: dict[str, str]) -> list[str]:
    def differs(name: str, text: str) -> bool:
        path = root / name
        return not path.exists() or path.read_text(encoding="utf-8") != text

    return [name for name, text in texts.items() if differs(name, text)]


def main(words: list[str]) -> int:
    texts = all_outputs()
    old = stale(ROOT, texts)
    if "--check" in words:
        for name in old:
            print(f"{name} is out of date; run: python tools/generate.py", file=sys.stderr)
        return 1 if old else 0
    for name in old:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(texts[name], encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
