# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Conditions of a sweep: comparisons of names and values, with and, or, not and brackets.

They are parsed with Python's own grammar; anything else is refused, so a plan file runs no code.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from mpigauge.model.errors import UserError, nearest_or_all
from mpigauge.model.limits import MOST_CONDITION

Value = str | float
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def holds(condition: str, values: Mapping[str, str]) -> bool:
    """True if `A < 4096 and B != 'x'` holds for these values, some of which may be numbers.

    UserError: it is not such a condition, or names something that is not varied.
    """
    return _truth(_tree(condition), values, condition)


def names_in(condition: str) -> set[str]:
    """The names in a condition. UserError: it is not a condition."""
    names: set[str] = set()
    for node in ast.walk(_tree(condition)):
        if isinstance(node, ast.Name):
            names.add(node.id)
    return names


def _tree(condition: str) -> ast.expr:
    if len(condition) > MOST_CONDITION:
        raise UserError(
            f"when: a condition has {len(condition)} characters; at most {MOST_CONDITION} are read"
        )
    try:
        return ast.parse(condition.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # of too many brackets
        raise UserError(
            f"when: '{condition}' is not a condition; write A < 4096 and B != 'x'"
        ) from None


def _truth(node: ast.expr, values: Mapping[str, str], text: str) -> bool:
    if isinstance(node, ast.BoolOp):
        parts = [_truth(part, values, text) for part in node.values]
        if isinstance(node.op, ast.And):
            return all(parts)
        return any(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _truth(node.operand, values, text)
    if isinstance(node, ast.Compare):
        return _compared(node, values, text)
    raise UserError(f"when: '{text}' compares nothing; write A < 4096 and B != 'x'")


def _compared(node: ast.Compare, values: Mapping[str, str], text: str) -> bool:
    sides = [_value(side, values, text) for side in (node.left, *node.comparators)]
    for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
        compare = _COMPARE.get(type(op))
        if compare is None:
            raise UserError(
                f"when: '{text}' compares with {type(op).__name__}; there are == != < <= > >="
            )
        ordered = type(op) not in (ast.Eq, ast.NotEq)
        if ordered and isinstance(left, str) != isinstance(right, str):
            raise UserError(f"when: '{text}' compares a number with a word: {left} and {right}")
        if not compare(left, right):
            return False
    return True


def _value(node: ast.expr, values: Mapping[str, str], text: str) -> Value:
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float)):
        if isinstance(node.value, str):
            return node.value
        return float(node.value)
    if isinstance(node, ast.Name):
        if node.id in values:
            return _number(values[node.id])
        hint = nearest_or_all(node.id, values)
        raise UserError(f"when: '{text}' names {node.id}, which is not varied{hint}")
    raise UserError(f"when: '{text}' holds more than names, numbers and words in quotes")


def _number(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text
