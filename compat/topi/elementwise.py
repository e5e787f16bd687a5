"""Elementwise and broadcasting computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import DTypeLike

from xrelay import te
from xrelay.errors import InputError
from xrelay.te.expr import ExprLike, PrimExpr, binary, function
from xrelay.te.tensor import Tensor
from xrelay.topi import tag

Operand = Tensor | int | float
"""A tensor, or a number that is broadcast."""


def elementwise(name: str, x: Tensor, fill: Callable[[PrimExpr], PrimExpr]) -> Tensor:
    """Returns `fill` of every element of `x`."""
    return te.compute(x.shape, lambda *i: fill(x(*i)), name=f"T_{name}", tag=tag.ELEMWISE)


def unary(name: str) -> Callable[[Tensor], Tensor]:
    """Returns the compute of a function of one float, called `name` in `te`."""
    fill = function(name)

    def apply(x: Tensor) -> Tensor:
        return elementwise(name, x, fill)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`{name}` of every element."
    return apply


abs, ceil, cos, erf, exp = (unary(name) for name in ("abs", "ceil", "cos", "erf", "exp"))
floor, log, log2, round = (unary(name) for name in ("floor", "log", "log2", "round"))
sin, sqrt, tanh, trunc = (unary(name) for name in ("sin", "sqrt", "tanh", "trunc"))


def identity(x: Tensor) -> Tensor:
    """Returns a copy."""
    return elementwise("identity", x, lambda value: value)


def negative(x: Tensor) -> Tensor:
    """Returns `-x`."""
    return elementwise("negative", x, lambda value: -value)


def sigmoid(x: Tensor) -> Tensor:
    """Returns `1 / (1 + exp(-x))`."""
    return elementwise("sigmoid", x, te.sigmoid)


def rsqrt(x: Tensor) -> Tensor:
    """Returns `1 / sqrt(x)`."""
    return elementwise("rsqrt", x, te.rsqrt)


def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """Converts every element to another dtype."""
    return elementwise("cast", x, lambda value: value.astype(dtype))


def clip(x: Tensor, a_min: float, a_max: float) -> Tensor:
    """Clamps every element between two bounds."""
    return elementwise("clip", x, lambda value: te.max(te.min(value, a_max), a_min))


def broadcast_to(data: Tensor, shape: Sequence[int]) -> Tensor:
    """Broadcasts `data` to a shape. Raises `InputError` if numpy's rules do not allow it."""
    shape = tuple(shape)
    if _shape(data.name, [data.shape, shape]) != shape:
        raise InputError(f"{data.name} of shape {list(data.shape)} does not broadcast to {list(shape)}")
    return te.compute(shape, lambda *i: _at(data, i), name="T_broadcast_to", tag=tag.BROADCAST)


def broadcast(name: str, a: Operand, b: Operand, fill: Callable[[ExprLike, ExprLike], PrimExpr]) -> Tensor:
    """Returns `fill` of the elements of two operands, broadcast to their common shape.

    At least one must be a tensor.
    """
    shapes = [operand.shape for operand in (a, b) if isinstance(operand, Tensor)]
    if not shapes:
        raise InputError(f"{name} of two numbers", help="at least one operand must be a tensor")
    shape = _shape(name, shapes)
    return te.compute(shape, lambda *i: fill(_at(a, i), _at(b, i)), name=f"T_{name}", tag=tag.BROADCAST)


def _at(operand: Operand, indices: Sequence[te.IterVar]) -> ExprLike:
    """Returns the element of an operand at indices of the common shape."""
    if not isinstance(operand, Tensor):
        return operand
    own = indices[len(indices) - operand.ndim :]
    return operand(*(0 if extent == 1 else index for index, extent in zip(own, operand.shape, strict=True)))


def _shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        found = " and ".join(str(list(shape)) for shape in shapes)
        raise InputError(
            f"{name}: the shapes {found} do not broadcast", help="pass shapes that broadcast as in numpy"
        ) from error


def _binary(name: str, operator: str) -> Callable[[Operand, Operand], Tensor]:
    def apply(lhs: Operand, rhs: Operand) -> Tensor:
        return broadcast(name, lhs, rhs, lambda a, b: binary(operator, a, b))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`{operator}` of the elements of two operands, with numpy's broadcasting."
    return apply


add, subtract = _binary("add", "+"), _binary("subtract", "-")
multiply, divide = _binary("multiply", "*"), _binary("divide", "/")
floor_divide, floor_mod = _binary("floor_divide", "//"), _binary("floor_mod", "%")
maximum, minimum, power = _binary("maximum", "max"), _binary("minimum", "min"), _binary("power", "pow")
less, less_equal = _binary("less", "<"), _binary("less_equal", "<=")
greater, greater_equal, equal = _binary("greater", ">"), _binary("greater_equal", ">="), _binary("equal", "==")
