# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the layout of the profiler's files as numpy types, from profiler/layout.hpp.

The header uses few forms of C++: constants, enumerations and structures. Anything else in it ends
the program with the line that it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "profiler" / "layout.hpp"
TARGET = "src/mpigauge/products/profile/read/layout.py"
HEAD = '''\
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# Made by tools/generate.py from profiler/layout.hpp: change that file, not this one.
"""The layout of the profiler's files as numpy types; profiler/layout.hpp documents its fields."""

from __future__ import annotations

from enum import IntEnum, IntFlag

import numpy as np
'''
PYTHON_NAMES = {"Kind": "BlockKind", "Way": "Counted", "CallName": "Call"}
"""Names of the header that mean something else in Python."""
TYPES = {
    "std::uint8_t": "u1",
    "std::uint16_t": "u2",
    "std::uint32_t": "u4",
    "std::uint64_t": "u8",
    "std::int32_t": "i4",
}
TEXTS = {"char": "S", "std::uint8_t": "V"}
"""The letter of arrays of these elements, which are one text or one piece of memory in numpy."""
ITEM = re.compile(
    r"constexpr (?P<type>\S+(?: \d+>)?) (?P<constants>[^;]+);"
    r"|enum (?P<closed>class )?(?P<enum>\w+) : \S+ \{(?P<members>[^}]*)\};"
    r"|struct (?P<struct>\w+) \{(?P<fields>[^}]*)\};"
    r"|static_assert\([^;]*\);"
)
FIELD = re.compile(
    r"(?P<type>[\w:]+|std::array<(?P<of>[\w:]+), (?P<size>\w+)>)\s+(?P<names>[\w,\s]+)"
)


def outputs() -> dict[str, str]:
    """Returns the text of the Python module, by its path from the root of the checkout."""
    return {TARGET: python_module(SOURCE.read_text(encoding="utf-8"))}


def python_module(header: str) -> str:
    """Returns the Python module for this header. ValueError: a form that is not read."""
    parts = [part for item in _items(header) for part in _python(item)]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join([HEAD, *parts, ""]))


def _items(header: str) -> Iterator[re.Match[str]]:
    text = re.sub(r"//[^\n]*", "", header)
    body = text[text.index("layout {") + len("layout {") : text.rindex("}")]
    while body := body.lstrip():
        item = ITEM.match(body)
        if item is None:
            raise ValueError(f"{SOURCE.name}: cannot read {body.splitlines()[0]!r}")
        yield item
        body = body[item.end() :]


def _python(item: re.Match[str]) -> Iterator[str]:
    if item["constants"]:
        yield from _constants(item["type"], item["constants"])
    elif item["enum"]:
        yield from _enumeration(item["enum"], item["members"], is_flag=not item["closed"])
    elif item["struct"]:
        yield from _structure(item["struct"], item["fields"])


def _constants(kind: str, text: str) -> Iterator[str]:
    if kind.startswith("std::array<char"):
        name, _, letters = text.partition(" = ")
        word = "".join(re.findall(r"'(.)'", letters))
        yield f'{name.upper()} = b"{word}"'
        return
    for each in text.split(","):
        name, value = each.split("=")
        yield f"{name.strip().upper()} = {_number(value)}"


def _number(text: str) -> str:
    digits = text.strip()
    return f"0x{digits[2:].upper()}" if digits.startswith("0x") else digits


def _enumeration(name: str, text: str, *, is_flag: bool) -> Iterator[str]:
    base = "IntFlag" if is_flag else "IntEnum"
    yield f"\n\nclass {PYTHON_NAMES.get(name, name)}({base}):"
    members = [each.strip() for each in text.split(",") if each.strip()]
    for index, each in enumerate(members):
        member, _, value = each.partition(" = ")
        yield f"    {member.removeprefix(f'{name.lower()}_').upper()} = {value or index}"
    yield "\n"


def _structure(name: str, text: str) -> Iterator[str]:
    yield f"{python_name(name)} = np.dtype(\n    ["
    for each in filter(str.strip, text.split(";")):
        field = FIELD.fullmatch(each.strip())
        if field is None:
            raise ValueError(f"{SOURCE.name}: cannot read {each.strip()!r} of {name}")
        yield from (f"        {one}," for one in _fields(field))
    yield "    ],\n    align=True,\n)"


def _fields(field: re.Match[str]) -> Iterator[str]:
    if field["type"] == "Block":
        yield "*BLOCK.descr"
        return
    for name in field["names"].split(","):
        yield f'("{name.strip()}", {_type(field)})'


def _type(field: re.Match[str]) -> str:
    of, size = field["of"], field["size"]
    if of is None:
        return _element(field["type"])
    if of in TEXTS and size.isdigit():
        return f'"{TEXTS[of]}{size}"'
    return f"{_element(of)}, ({size.upper()},)"


def _element(kind: str) -> str:
    return f'"{TYPES[kind]}"' if kind in TYPES else python_name(kind)


def python_name(structure: str) -> str:
    """Returns the name of the numpy type of a structure."""
    name = PYTHON_NAMES.get(structure, structure)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
