# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the algorithms of src/mpigauge/schedules as C++, for the kernels of suite ALG.

Each phase becomes a function from a rank, a round and so on to a message; parts of expressions that
are used more than once are variables in it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from mpigauge.schedules import ALGORITHMS, OPERATIONS, Algorithm
from mpigauge.schedules.expression import Expression
from mpigauge.schedules.phase import Phase
from mpigauge.schedules.step import SEGMENT_BYTES

TARGET = "kernels/suites/algorithms/table.cpp"
HEAD = """\
// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from src/mpigauge/schedules: change that, not this file.
// clang-format off
// NOLINTBEGIN(readability-*,modernize-use-bool-literals,misc-redundant-expression)
// A comparison is a number in these expressions, as in Python, and constants are not folded.
#include "suites/algorithms/schedule.hpp"

#include <array>

namespace mpigauge::schedules {
namespace {

"""
TAIL = """\
}}  // namespace

const std::size_t segment_bytes = {segment_bytes};

std::span<const Operation> operations() {{ return operation_rows; }}
std::span<const Algorithm> algorithms() {{ return algorithm_rows; }}

}}  // namespace mpigauge::schedules
// NOLINTEND(readability-*,modernize-use-bool-literals,misc-redundant-expression)
"""
NUMBERS = ("rounds", "chunks", "senders", "lanes", "pieces")


def outputs() -> dict[str, str]:
    """The text of each file, by its path from the root of the checkout."""
    phases: dict[Phase, str] = {}
    for algorithm in ALGORITHMS.values():
        for phase in algorithm.phases:
            phases.setdefault(phase, f"phase_{len(phases)}")
    parts = [
        HEAD,
        *(_phase(phase, name) for phase, name in phases.items()),
        *(_phase_list(algorithm, phases) for algorithm in ALGORITHMS.values()),
        _operations(),
        _algorithms(),
        TAIL.format(segment_bytes=SEGMENT_BYTES),
    ]
    return {TARGET: "".join(parts)}


def _phase(phase: Phase, name: str) -> str:
    numbers = "".join(f"    .{each} = {_number(getattr(phase, each))},\n" for each in NUMBERS)
    return (
        f"Sent {name}_sent({_symbols(_fields(phase).values())}) {{\n{_body(phase)}}}\n"
        f"constexpr Phase {name}{{\n{numbers}    .sent = {name}_sent,\n"
        f"    .alike = Alike::{phase.alike.value},\n    .kind = Kind::{phase.kind.value},\n"
        f"    .reduces = {_bool(phase.reduces)},\n    .overlaps = {_bool(phase.overlaps)},\n}};\n\n"
    )


def _number(expression: Expression) -> str:
    return f"[]({_symbols([expression])}) -> Number {{ return {expression.cpp()}; }}"


def _symbols(expressions: Iterable[Expression]) -> str:
    uses = any(not each.operands and each.operator != "number" for each in _parts(expressions))
    return "const Symbols& s" if uses else "const Symbols&"


def _fields(phase: Phase) -> Mapping[str, Expression]:
    into = phase.into if phase.into is not None else phase.first
    return {
        "is_sent": phase.when,
        "has_piece": phase.piece_when,
        "to": phase.to,
        "first": phase.first,
        "into": into,
        "count": phase.count,
    }


def _body(phase: Phase) -> str:
    """The statements of a function that returns a message."""
    fields = _fields(phase)
    names: dict[Expression, str] = {}
    lines: list[str] = []
    uses = Counter(operand for each in _parts(fields.values()) for operand in each.operands)
    uses.update(fields.values())
    for part in _parts(fields.values()):
        if part.operands and uses[part] > 1:
            lines.append(f"  const Number v{len(names)} = {part.cpp(names)};\n")
            names[part] = f"v{len(names)}"
    values = []
    for name, value in fields.items():
        text = value.cpp(names)
        if name in {"is_sent", "has_piece"}:
            text = "true" if text == "1" else f"{text} != 0"
        values.append(f".{name} = {text}")
    return "".join([*lines, "  return {", ",\n          ".join(values), "};\n"])


def _parts(expressions: Iterable[Expression]) -> list[Expression]:
    """All parts of the expressions, each once, operands before what is made of them."""
    ordered: dict[Expression, None] = {}
    for each in expressions:
        for part in _post_order(each, ordered):
            ordered[part] = None
    return list(ordered)


def _post_order(expression: Expression, done: Mapping[Expression, None]) -> Iterator[Expression]:
    if expression in done:
        return
    for operand in expression.operands:
        yield from _post_order(operand, done)
    if expression not in done:
        yield expression


def _phase_list(algorithm: Algorithm, phases: Mapping[Phase, str]) -> str:
    names = ", ".join(f"&{phases[each]}" for each in algorithm.phases)
    count = len(algorithm.phases)
    return f"constexpr std::array<const Phase*, {count}> {_list_name(algorithm)}{{{names}}};\n"


def _list_name(algorithm: Algorithm) -> str:
    return algorithm.full_name.lower().replace("/", "_by_")


def _operations() -> str:
    rows = [
        f'    {{"{each.name}", {each.spaces}, {_bool(each.reduces)}, {_bool(each.has_root)}, '
        f"{_bool(each.has_block_per_rank)}, {_bool(each.moves_data)}, "
        f"{_bool(each.rotates_blocks)}}},\n"
        for each in OPERATIONS.values()
    ]
    return (
        f"\nconstexpr std::array<Operation, {len(rows)}> operation_rows{{{{\n{''.join(rows)}}}}};\n"
    )


def _algorithms() -> str:
    places = {name: place for place, name in enumerate(OPERATIONS)}
    rows = [
        f'    {{&operation_rows[{places[each.operation]}], "{each.full_name}",\n'
        f'     "MPI_{each.operation} written with messages: {each.about}.",\n'
        f"     {_list_name(each)}, {_bool(each.swaps_root)}, {_bool(_combines(each))}}},\n"
        for each in ALGORITHMS.values()
    ]
    return (
        f"\nconstexpr std::array<Algorithm, {len(rows)}> algorithm_rows{{{{\n"
        f"{''.join(rows)}}}}};\n\n"
    )


def _combines(algorithm: Algorithm) -> bool:
    """True if a message may have the blocks of several ranks."""
    return algorithm.facts.has_block_per_rank and any(
        phase.weight is not None or phase.count.number != 1 or phase.chunks.number == 1
        for phase in algorithm.phases
    )


def _bool(value: bool) -> str:
    return "true" if value else "false"
