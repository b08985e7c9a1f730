# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Integer expressions that are evaluated over arrays of ranks, and written as C++.

A schedule is described once, by expressions of a rank, a round and a number of ranks. The step
model evaluates them with numpy for all ranks at once; the kernels have them as C++ text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = "int | NDArray[np.int64]"
Term: TypeAlias = "Expression | int"


@dataclass(frozen=True, eq=False)
class Expression:
    """A symbol, a constant, or an operator with its operands. Two are equal if they are one."""

    operator: str
    operands: tuple[Expression, ...] = ()
    number: int = 0

    def __add__(self, other: Term) -> Expression:
        return _make("+", self, other)

    def __radd__(self, other: int) -> Expression:
        return _make("+", other, self)

    def __sub__(self, other: Term) -> Expression:
        return _make("-", self, other)

    def __rsub__(self, other: int) -> Expression:
        return _make("-", other, self)

    def __mul__(self, other: Term) -> Expression:
        return _make("*", self, other)

    def __rmul__(self, other: int) -> Expression:
        return _make("*", other, self)

    def __floordiv__(self, other: Term) -> Expression:
        return _make("//", self, other)

    def __mod__(self, other: Term) -> Expression:
        return _make("%", self, other)

    def __and__(self, other: Term) -> Expression:
        return _make("&", self, other)

    def __xor__(self, other: Term) -> Expression:
        return _make("^", self, other)

    def __rshift__(self, other: Term) -> Expression:
        return _make(">>", self, other)

    def __lt__(self, other: Term) -> Expression:
        return _make("<", self, other)

    def __ge__(self, other: Term) -> Expression:
        return _make(">=", self, other)

    def equals(self, other: Term) -> Expression:
        """1 if both are equal, else 0."""
        return _make("==", self, other)

    def differs(self, other: Term) -> Expression:
        """1 if both are different, else 0."""
        return _make("!=", self, other)

    def replace(self, terms: dict[Expression, Expression]) -> Expression:
        """Returns this expression with other terms in the place of symbols. All parts that were
        replaced are added to the terms, so that shared parts stay shared."""
        if self not in terms:
            operands = tuple(each.replace(terms) for each in self.operands)
            terms[self] = Expression(self.operator, operands) if operands else self
        return terms[self]

    def cpp(self, names: Mapping[Expression, str] | None = None) -> str:
        """The C++ text, with symbols as members of `s`, and with names of parts in their place."""
        names = names or {}
        if self in names:
            return names[self]
        if self.operator == "number":
            return str(self.number)
        if not self.operands:
            return f"s.{self.operator}"
        operands = [each.cpp(names) for each in self.operands]
        if self.operator in _CPP_FUNCTIONS:
            return f"{_CPP_FUNCTIONS[self.operator]}({', '.join(operands)})"
        return f"({operands[0]} {_CPP_OPERATORS.get(self.operator, self.operator)} {operands[1]})"


def symbol(name: str) -> Expression:
    """A symbol, whose value is given when expressions are evaluated."""
    return Expression(name)


def term(value: Term) -> Expression:
    """An expression of a constant; an expression as it is."""
    return value if isinstance(value, Expression) else Expression("number", number=value)


def _make(operator: str, *operands: Term) -> Expression:
    if operator in {"*", "//"} and operands[1] == 1:
        return term(operands[0])
    return Expression(operator, tuple(term(each) for each in operands))


def power_of_two(exponent: Term) -> Expression:
    """2 to the power of the exponent; 0 where that is negative."""
    return _make("<<", 1, exponent)


def floor_log2(value: Term) -> Expression:
    """The number of times that a positive value can be halved."""
    return _make("floor_log2", value)


def ceil_log2(value: Term) -> Expression:
    """The number of times that 1 must be doubled to reach a positive value."""
    return floor_log2(2 * term(value) - 1)


def ceil_div(value: Term, divisor: Term) -> Expression:
    """A quotient, rounded up."""
    return (term(value) + divisor - 1) // divisor


def least(a: Term, b: Term) -> Expression:
    """The smaller one of two values."""
    return _make("min", a, b)


def most(a: Term, b: Term) -> Expression:
    """The larger one of two values."""
    return _make("max", a, b)


def choose(condition: Expression, yes: Term, no: Term) -> Expression:
    """One of two values, by a condition."""
    return _make("choose", condition, yes, no)


def both(*conditions: Expression) -> Expression:
    """1 if all conditions are true."""
    result, *others = conditions
    for each in others:
        result = _make("and", result, each)
    return result


def negated(condition: Expression) -> Expression:
    """1 if the condition is false."""
    return condition.equals(0)


def reversed_bits(value: Term, bits: Term) -> Expression:
    """The lowest bits of a value in the opposite order."""
    return _make("reversed_bits", value, bits)


def evaluate(
    expression: Expression, values: Mapping[str, Value], memo: dict[Expression, Value]
) -> Value:
    """Evaluates an expression; the memo has the values of parts that were evaluated before."""
    if expression not in memo:
        memo[expression] = _evaluate(expression, values, memo)
    return memo[expression]


def _evaluate(
    expression: Expression, values: Mapping[str, Value], memo: dict[Expression, Value]
) -> Value:
    if expression.operator == "number":
        return expression.number
    if not expression.operands:
        return values[expression.operator]
    operands = [evaluate(each, values, memo) for each in expression.operands]
    return _FUNCTIONS[expression.operator](*operands)


def _shift(value: Value, bits: Value) -> Value:
    if isinstance(value, int) and isinstance(bits, int):
        return value << bits if bits >= 0 else 0
    return np.where(np.asarray(bits) >= 0, np.left_shift(value, np.maximum(bits, 0)), 0)


def _shift_back(value: Value, bits: Value) -> Value:
    if isinstance(value, int) and isinstance(bits, int):
        return value >> bits if bits >= 0 else 0
    return np.where(np.asarray(bits) >= 0, np.right_shift(value, np.maximum(bits, 0)), 0)


def _divide(value: Value, divisor: Value) -> Value:
    if isinstance(divisor, int):
        return value // divisor if divisor else 0
    return value // np.maximum(divisor, 1)


def _modulo(value: Value, divisor: Value) -> Value:
    if isinstance(divisor, int):
        return value % divisor if divisor else 0
    return value % np.maximum(divisor, 1)


def _floor_log2(value: Value) -> Value:
    if isinstance(value, int):
        return max(value, 1).bit_length() - 1
    return np.frexp(np.maximum(value, 1))[1].astype(np.int64) - 1


def _reversed_bits(value: Value, bits: Value) -> Value:
    result: Value = 0
    for bit in range(int(np.max(bits))):
        place = _shift((value >> bit) & 1, bits - 1 - bit)
        result = result + place
    return result


def _is_both(a: Value, b: Value) -> Value:
    return np.logical_and(a, b).astype(np.int64)


_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": _divide,
    "%": _modulo,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    ">>": _shift_back,
    "<<": _shift,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "and": _is_both,
    "min": np.minimum,
    "max": np.maximum,
    "choose": np.where,
    "floor_log2": _floor_log2,
    "reversed_bits": _reversed_bits,
}
_CPP_OPERATORS = {"and": "&&"}
_CPP_FUNCTIONS = {
    "//": "quotient",
    "%": "modulo",
    ">>": "shifted_back",
    "<<": "shifted",
    "min": "std::min<Number>",
    "max": "std::max<Number>",
    "choose": "choose",
    "floor_log2": "floor_log2",
    "reversed_bits": "reversed_bits",
}
