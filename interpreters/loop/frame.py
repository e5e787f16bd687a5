"""Slots for the values of a kernel, and compiled index expressions.

A kernel is compiled once to closures that operate on a frame, the list of current values. Index values are Python ints,
or int64 arrays if a loop nest runs many iterations (lanes) at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import ValueMap
from xrelay.errors import InterpreterError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.interpreters.scalar import Value

Array: TypeAlias = NDArray[Any]
Frame: TypeAlias = list[Value]
Step: TypeAlias = Callable[[Frame], None]
"""Executes one op by reading and writing slots."""

IndexFunction: TypeAlias = Callable[[Frame], tuple[Value, ...]]
"""Computes the values of index expressions."""


class Slots:
    """The position of each SSA value in a frame."""

    def __init__(self) -> None:
        self._slots: dict[SSAValue, int] = {}
        self._count = 0

    def define(self, value: SSAValue) -> int:
        """Returns the slot of a value; allocates it on first use."""
        if value not in self._slots:
            self._slots[value] = self.add()
        return self._slots[value]

    def add(self) -> int:
        """Allocates a slot without a value."""
        self._count += 1
        return self._count - 1

    def use(self, value: SSAValue) -> int:
        """Returns the slot of a defined value. Raises `InterpreterError` for an undefined value."""
        if value not in self._slots:
            raise InterpreterError(f"a value of type {value.type} is used before its definition")
        return self._slots[value]

    def frame(self) -> Frame:
        """Returns a frame of empty slots."""
        return [None] * self._count


def compile_index(index: ValueMap, slots: Slots) -> IndexFunction:
    """Returns a function that computes the values of all expressions of `index` from a frame.

    It is a single Python expression, because a call for each term of each access would dominate the cost.
    """
    numbers = [slots.use(value) for value in index.operands]
    return _function("".join(f"{_expression(expr, numbers)}, " for expr in index.exprs))


@lru_cache(maxsize=4096)
def _function(values: str) -> IndexFunction:
    """Returns the function for the elements of a tuple, cached because kernels have few distinct ones."""
    return eval(f"lambda frame: ({values})", {})


def _expression(expr: AffineExpr, slots: Sequence[int]) -> str:
    """Returns the Python expression over `frame` for an affine expression."""
    form = linear_form(expr)
    terms = [
        _atom(atom, slots) if coefficient == 1 else f"{_atom(atom, slots)} * {coefficient}"
        for atom, coefficient in form.terms
    ]
    if form.constant or not terms:
        terms.append(str(form.constant))
    return " + ".join(terms)


def _atom(atom: AffineExpr, slots: Sequence[int]) -> str:
    match atom:
        case AffineDimExpr(position=position):
            return f"frame[{slots[position]}]"
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=rhs):
            return f"{_atom(lhs, slots)} * {_atom(rhs, slots)}"
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mod, lhs=lhs, rhs=rhs) if _may_divide(rhs):
            return f"(({_expression(lhs, slots)}) % ({_expression(rhs, slots)}))"
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.FloorDiv, lhs=lhs, rhs=rhs) if _may_divide(rhs):
            return f"(({_expression(lhs, slots)}) // ({_expression(rhs, slots)}))"
        case _:
            pass
    raise InterpreterError(f"index expression {atom} is not supported", help="use a positive divisor")


def _may_divide(divisor: AffineExpr) -> bool:
    """Returns whether a divisor is supported: anything except a negative constant.

    A divisor of 0 is an extent of 0, so the expression is never evaluated.
    """
    return not isinstance(divisor, AffineConstantExpr) or divisor.value >= 0


def is_lanes(value: Value) -> bool:
    """Returns whether the value differs between lanes."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def outside(op: Operation, dimension: int, low: int, high: int, shape: Sequence[int]) -> InterpreterError:
    """Returns the error for an access out of the bounds of its buffer."""
    where = f"{low}" if low == high else f"{low} to {high}"
    return InterpreterError(
        f"'{op.name}' is out of the bounds of its buffer: index {dimension} is {where}, the shape is {list(shape)}",
        help="check the bindings and bounds of the loops around it",
    )
