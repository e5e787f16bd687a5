"""Slots for the values of a kernel, and index expressions compiled to functions of them.

A kernel is compiled once into closures; each works on a frame, the list of the current values. Index values are Python
ints, or int64 arrays where a nest runs many iterations (lanes) at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import ValueMap
from xrelay.dialects.loop.affine_bounds import linear_form
from xrelay.errors import InterpreterError
from xrelay.interpreters.scalar_meaning import Value

Array: TypeAlias = NDArray[Any]
Frame: TypeAlias = list[Value]
Step: TypeAlias = Callable[[Frame], None]
"""Does what one op does, reading and writing slots."""

IndexFunction: TypeAlias = Callable[[Frame], Value]
"""The value of an index expression."""


class Slots:
    """Where in a frame each SSA value lives."""

    def __init__(self) -> None:
        self._slots: dict[SSAValue, int] = {}

    def define(self, value: SSAValue) -> int:
        """The slot of a value, a new one at first."""
        return self._slots.setdefault(value, len(self._slots))

    def use(self, value: SSAValue) -> int:
        """The slot of a value that has been defined; `InterpreterError` if it has not."""
        if value not in self._slots:
            raise InterpreterError(f"a value of type {value.type} is used before its definition")
        return self._slots[value]

    def frame(self) -> Frame:
        """A frame with every slot empty."""
        return [None] * len(self._slots)


def compile_index(index: ValueMap, slots: Slots) -> list[IndexFunction]:
    """A function for each expression of `index`."""
    places = [slots.use(value) for value in index.operands]
    return [_compile_expr(expr, places) for expr in index.exprs]


def _compile_expr(expr: AffineExpr, places: Sequence[int]) -> IndexFunction:
    form = linear_form(expr)
    constant = form.constant
    parts = [(_compile_atom(atom, places), coefficient) for atom, coefficient in form.terms]
    if not parts:
        return lambda frame: constant
    if len(parts) == 1 and constant == 0 and parts[0][1] == 1:
        return parts[0][0]
    if len(parts) == 1:
        atom, coefficient = parts[0]
        return lambda frame: atom(frame) * coefficient + constant
    if len(parts) == 2:
        (first, a), (second, b) = parts
        return lambda frame: first(frame) * a + second(frame) * b + constant

    def function(frame: Frame) -> Value:
        result: Value = constant
        for atom, coefficient in parts:
            result = result + atom(frame) * coefficient
        return result

    return function


def _compile_atom(atom: AffineExpr, places: Sequence[int]) -> IndexFunction:
    match atom:
        case AffineDimExpr(position=position):
            place = places[position]
            return lambda frame: frame[place]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=AffineConstantExpr(value=divisor)) if divisor > 0:
            inner = _compile_expr(lhs, places)
            if kind is AffineBinaryOpKind.Mod:
                return lambda frame: inner(frame) % divisor
            if kind is AffineBinaryOpKind.FloorDiv:
                return lambda frame: inner(frame) // divisor
        case _:
            pass
    raise InterpreterError(f"index expression {atom} has no meaning", help="divide by positive constants only")


def is_lanes(value: Value) -> bool:
    """Whether the value differs between lanes."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def outside(op: Operation, dimension: int, low: int, high: int, shape: Sequence[int]) -> InterpreterError:
    """The error of an access that leaves its buffer."""
    where = f"{low}" if low == high else f"{low} to {high}"
    return InterpreterError(
        f"'{op.name}' reaches outside its buffer: index {dimension} is {where}, the shape is {list(shape)}",
        help="check the bindings and bounds of the loops around it",
    )
