"""Scalar expressions, which define the elements of a compute.

They are built with Python operators and functions such as `te.exp(x)`. Indices are integers (`int32`); `//` and `%`
round to minus infinity. Nothing is computed until a compute is lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import DTypeLike
from xdsl.dialects import math
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.errors import InputError, XRelayError

INDEX = "int32"
"""The dtype of index variables."""

ExprLike: TypeAlias = "PrimExpr | int | float | bool"


def _operator(symbol: str) -> Callable[[PrimExpr, ExprLike], PrimExpr]:
    return lambda self, other: binary(symbol, self, other)


def _reflected(symbol: str) -> Callable[[PrimExpr, ExprLike], PrimExpr]:
    return lambda self, other: binary(symbol, other, self)


class PrimExpr:
    """A scalar expression of a dtype."""

    # Otherwise numpy would apply the operator to each element of an array.
    __array_ufunc__ = None

    def __init__(self, dtype: str, *operands: PrimExpr):
        self.dtype, self.operands = dtype, operands

    def astype(self, dtype: DTypeLike) -> PrimExpr:
        """Returns the value in another dtype; floats are truncated to integers."""
        return Cast(self, dtype_name(dtype))

    __add__, __radd__ = _operator("+"), _reflected("+")
    __sub__, __rsub__ = _operator("-"), _reflected("-")
    __mul__, __rmul__ = _operator("*"), _reflected("*")
    __truediv__, __rtruediv__ = _operator("/"), _reflected("/")
    __floordiv__, __rfloordiv__ = _operator("//"), _reflected("//")
    __mod__, __rmod__ = _operator("%"), _reflected("%")
    __lt__, __le__, __gt__, __ge__ = _operator("<"), _operator("<="), _operator(">"), _operator(">=")

    def __neg__(self) -> PrimExpr:
        return binary("-", const(0, self.dtype), self)

    def equal(self, other: ExprLike) -> PrimExpr:
        """Returns the comparison of two values; `==` compares the expression objects."""
        return binary("==", self, other)

    def __bool__(self) -> bool:
        """Raises `InputError`: the value is known only when the program runs."""
        raise InputError(
            "the truth value of a scalar expression is unknown until the program runs",
            help="use te.if_then_else(cond, a, b), or te.all(…) of conditions",
        )


class Const(PrimExpr):
    """A constant."""

    def __init__(self, value: float, dtype: str):
        super().__init__(dtype)
        self.value = value


@dataclass(frozen=True)
class Range:
    """The range of an axis: its start `min` and its extent."""

    min: int
    extent: int


class IterVar(PrimExpr):
    """An axis. As an expression it is the index; `dom` is its range."""

    def __init__(self, name: str, extent: int, *, is_reduction: bool = False):
        super().__init__(INDEX)
        self.name, self.extent, self.is_reduction = name, extent, is_reduction

    @property
    def dom(self) -> Range:
        """The range of the index."""
        return Range(0, self.extent)

    @property
    def var(self) -> IterVar:
        """The index as an expression, which is the axis itself."""
        return self

    def __repr__(self) -> str:
        return f"{self.name}[0:{self.extent}]"


class Binary(PrimExpr):
    """A binary operator: `+ - * / // %`, `max`, `min`, `pow`, a comparison, `and`, `or`."""

    def __init__(self, operator: str, a: PrimExpr, b: PrimExpr, dtype: str):
        super().__init__(dtype, a, b)
        self.operator, self.a, self.b = operator, a, b


class Unary(PrimExpr):
    """A call of a unary float function, by its name in `FUNCTIONS`."""

    def __init__(self, function: str, x: PrimExpr):
        super().__init__(x.dtype, x)
        self.function, self.x = function, x


class Cast(PrimExpr):
    """A conversion to another dtype."""

    def __init__(self, x: PrimExpr, dtype: str):
        super().__init__(dtype, x)
        self.x = x


class Choice(PrimExpr):
    """A conditional.

    Only the chosen branch is evaluated, so it may read at an index that is invalid in the other case.
    """

    def __init__(self, condition: PrimExpr, then: PrimExpr, otherwise: PrimExpr):
        super().__init__(then.dtype, condition, then, otherwise)
        self.condition, self.then, self.otherwise = condition, then, otherwise


class Reduce(PrimExpr):
    """A `sum`, `max` or `min` over axes, which must be the whole expression of a compute."""

    def __init__(self, kind: str, x: PrimExpr, axes: tuple[IterVar, ...]):
        super().__init__(x.dtype, x)
        self.kind, self.x, self.axes = kind, x, axes


FUNCTIONS: dict[str, Callable[[SSAValue], Operation]] = {
    "abs": math.AbsFOp,
    "ceil": math.CeilOp,
    "cos": math.CosOp,
    "erf": math.ErfOp,
    "exp": math.ExpOp,
    "floor": math.FloorOp,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "round": math.RoundEvenOp,
    "sin": math.SinOp,
    "sqrt": math.SqrtOp,
    "tanh": math.TanhOp,
    "trunc": math.TruncOp,
}
"""Functions of one float and the ops that compute them. `round` rounds ties to even."""

_COMPARISONS = ("<", "<=", ">", ">=", "==")


def dtype_name(dtype: DTypeLike) -> str:
    """Returns the name of a scalar dtype. Raises `InputError` for other values."""
    try:
        return str(numpy_dtype(element_type(dtype)))
    except (XRelayError, TypeError) as error:
        raise InputError(f"{dtype!r} is not a scalar dtype", help="write e.g. 'float32'") from error


def const(value: ExprLike, dtype: DTypeLike | None = None) -> PrimExpr:
    """Returns a number as an expression; without `dtype`, floats are float32 and integers int32."""
    if isinstance(value, PrimExpr):
        return value
    _check_number(value)
    if dtype is not None:
        return Const(value, dtype_name(dtype))
    return Const(value, "bool" if isinstance(value, bool) else "float32" if isinstance(value, float) else INDEX)


def _check_number(value: object) -> None:
    if not isinstance(value, (int, float, np.number, np.bool_)):
        raise InputError(f"{value!r} is neither a scalar expression nor a number", help="index the tensor: A[i, j]")


def binary(operator: str, a: ExprLike, b: ExprLike) -> PrimExpr:
    """Returns `a operator b`; a number takes the dtype of the other. Raises `InputError` if the dtypes do not fit."""
    left = a if isinstance(a, PrimExpr) else const(a, b.dtype if isinstance(b, PrimExpr) else None)
    right = b if isinstance(b, PrimExpr) else const(b, left.dtype)
    for number, other in ((a, right), (b, left)):
        if isinstance(number, float) and not is_float(other.dtype):
            raise InputError(f"the number {number!r} is not of dtype {other.dtype}", help="write x.astype('float32')")
    if left.dtype != right.dtype:
        raise InputError(f"{left.dtype} {operator} {right.dtype}: the dtypes differ", help="write x.astype(…)")
    if (operator in ("and", "or")) != (left.dtype == "bool") and operator != "==":
        raise InputError(f"{operator} of {left.dtype}", help="combine conditions with te.all and te.any")
    if operator in ("//", "%") and is_float(left.dtype):
        raise InputError(f"{operator} of {left.dtype}", help="// needs integers")
    if operator == "/" and not is_float(left.dtype):
        raise InputError(f"/ of {left.dtype}", help="use // for integers, or cast to a float")
    if operator == "pow" and not is_float(left.dtype):
        raise InputError(f"pow of {left.dtype}", help="cast to a float")
    return Binary(operator, left, right, "bool" if operator in _COMPARISONS else left.dtype)


def is_float(dtype: str) -> bool:
    """Whether a dtype is a float."""
    return dtype.startswith(("float", "bfloat"))


def function(name: str) -> Callable[[ExprLike], PrimExpr]:
    """Returns the function called `name` in `FUNCTIONS`."""

    def apply(x: ExprLike) -> PrimExpr:
        value = const(x)
        if not is_float(value.dtype):
            raise InputError(f"{name} of {value.dtype}", help="cast to a float: x.astype('float32')")
        return Unary(name, value)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"`{name}(x)` of a float; `InputError` for another dtype."
    return apply


def if_then_else(cond: ExprLike, t: ExprLike, f: ExprLike) -> PrimExpr:
    """Returns `t` if `cond` holds, else `f`; only one is evaluated. Raises `InputError` if the dtypes do not fit."""
    condition = const(cond)
    then = t if isinstance(t, PrimExpr) else const(t, f.dtype if isinstance(f, PrimExpr) else None)
    otherwise = f if isinstance(f, PrimExpr) else const(f, then.dtype)
    if condition.dtype != "bool":
        raise InputError(f"a condition of dtype {condition.dtype}", help="compare: x > 0")
    if then.dtype != otherwise.dtype:
        raise InputError(f"{then.dtype} or {otherwise.dtype}: the dtypes differ", help="write x.astype(…)")
    return Choice(condition, then, otherwise)


def all(*conditions: ExprLike) -> PrimExpr:
    """Whether all conditions hold."""
    return _joined("and", conditions)


def any(*conditions: ExprLike) -> PrimExpr:
    """Whether any condition holds."""
    return _joined("or", conditions)


def _joined(operator: str, conditions: Sequence[ExprLike]) -> PrimExpr:
    if not conditions:
        raise InputError("te.all and te.any need a condition", help="write te.all(i >= 1, i < n)")
    result = const(conditions[0])
    for condition in conditions[1:]:
        result = binary(operator, result, condition)
    return result


def power(x: ExprLike, y: ExprLike) -> PrimExpr:
    """Returns `x` to the power of `y`, for floats."""
    return binary("pow", x, y)


def sigmoid(x: ExprLike) -> PrimExpr:
    """Returns `1 / (1 + exp(-x))`."""
    return 1 / (1 + Unary("exp", -const(x)))


def rsqrt(x: ExprLike) -> PrimExpr:
    """Returns `1 / sqrt(x)`."""
    return 1 / Unary("sqrt", const(x))


exp, log, log2, sqrt, tanh, erf = (function(name) for name in ("exp", "log", "log2", "sqrt", "tanh", "erf"))
floor, ceil, trunc, round = (function(name) for name in ("floor", "ceil", "trunc", "round"))
sin, cos, abs = (function(name) for name in ("sin", "cos", "abs"))


Axes: TypeAlias = "IterVar | Sequence[IterVar]"
"""One or several reduction axes."""


def _reduction(kind: str, expr: ExprLike, axis: object) -> PrimExpr:
    given = cast("Sequence[object]", axis if isinstance(axis, (list, tuple)) else [axis])
    axes = tuple(one for one in given if isinstance(one, IterVar) and one.is_reduction)
    if not axes or len(axes) < len(given):
        raise InputError(f"te.{kind} is over {axis!r}", help="pass te.reduce_axis((0, n), 'k'), or a list of them")
    if kind == "sum" and const(expr).dtype == "bool":
        raise InputError("te.sum of bool", help="cast it: x.astype('int32')")
    return Reduce(kind, const(expr), axes)


def sum(expr: ExprLike, axis: Axes) -> PrimExpr:
    """Returns the sum over reduction axes, in any order."""
    return _reduction("sum", expr, axis)


def max(expr: ExprLike, axis: Axes | ExprLike) -> PrimExpr:
    """Returns the maximum over reduction axes, or the larger of two scalars."""
    return binary("max", expr, axis) if _is_scalar(axis) else _reduction("max", expr, axis)


def min(expr: ExprLike, axis: Axes | ExprLike) -> PrimExpr:
    """Returns the minimum over reduction axes, or the smaller of two scalars."""
    return binary("min", expr, axis) if _is_scalar(axis) else _reduction("min", expr, axis)


def _is_scalar(axis: object) -> TypeGuard[ExprLike]:
    is_axis = isinstance(axis, IterVar) and axis.is_reduction
    return isinstance(axis, (PrimExpr, int, float)) and not is_axis
