"""Numbers with operators that insert ops of arith: `x * 2.0 + y` on scalars, indices and vectors of any width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, SelectOp, element_type, with_element

_Build: TypeAlias = Callable[..., Operation]
_EXACT: Final = arith.FastMathFlagsAttr("none")


@dataclass(frozen=True)
class Arithmetic:
    """The place where ops are inserted."""

    insert: Callable[[Operation], Operation]
    constant: Callable[[float, Attribute], SSAValue]
    """Returns a number as a constant of a type; in a vector, each element is this number."""
    flags: arith.FastMathFlagsAttr = _EXACT
    """The flags of sums and products of floats."""


@dataclass(frozen=True, eq=False)
class Number:
    """A value of integers, indices, floats or conditions. Operands are numbers of its type, or Python numbers."""

    value: SSAValue
    at: Arithmetic

    def like(self, number: float) -> Number:
        """Returns a constant of the type of this number."""
        return Number(self.at.constant(number, self.value.type), self.at)

    def __add__(self, other: Operand) -> Number:
        return self._sum_or_product(arith.AddfOp, arith.AddiOp, other)

    def __sub__(self, other: Operand) -> Number:
        return self._sum_or_product(arith.SubfOp, arith.SubiOp, other)

    def __mul__(self, other: Operand) -> Number:
        return self._sum_or_product(arith.MulfOp, arith.MuliOp, other)

    def __truediv__(self, other: Operand) -> Number:
        return self._binary(arith.DivfOp, other)

    def __floordiv__(self, other: Operand) -> Number:
        return self._binary(arith.DivUIOp, other)

    def __mod__(self, other: Operand) -> Number:
        return self._binary(arith.RemUIOp, other)

    def __and__(self, other: Operand) -> Number:
        return self._binary(arith.AndIOp, other)

    def __or__(self, other: Operand) -> Number:
        return self._binary(arith.OrIOp, other)

    def __xor__(self, other: Operand) -> Number:
        return self._binary(arith.XOrIOp, other)

    def __lshift__(self, other: Operand) -> Number:
        return self._binary(arith.ShLIOp, other)

    def __rshift__(self, other: Operand) -> Number:
        return self._binary(arith.ShRSIOp, other)

    def shift_right_logical(self, other: Operand) -> Number:
        """Shifts zeros into the highest bits."""
        return self._binary(arith.ShRUIOp, other)

    def minimum(self, other: Operand) -> Number:
        """Returns the lesser of two signed integers."""
        return self._binary(arith.MinSIOp, other)

    def maximum(self, other: Operand) -> Number:
        """Returns the greater of two signed integers."""
        return self._binary(arith.MaxSIOp, other)

    def compare(self, predicate: str, other: Operand) -> Number:
        """Compares two floats (`olt`, …; `u…` is true for NaNs) or two integers (`slt`, `ult`, `eq`, …)."""
        kind = CmpfOp if self._is_float else CmpiOp
        return self._added(kind(self.value, self._operand(other), predicate))

    def select(self, then: Number, otherwise: Number) -> Number:
        """Returns `then` if this condition is true, else `otherwise`."""
        return self._added(SelectOp(self.value, then.value, otherwise.value))

    def multiply_add(self, factor: Operand, summand: Operand) -> Number:
        """Returns `self * factor + summand`; both operands exist before the product."""
        factor, summand = (Number(self._operand(each), self.at) for each in (factor, summand))
        return self * factor + summand

    def polynomial(self, coefficients: Sequence[float]) -> Number:
        """Returns `c0 + c1 x + c2 x² + …` as `(c0 + c1 x) + x² ((c2 + c3 x) + …)`.

        This takes one product more than Horner's rule, and half as many steps that wait for one another.
        """
        square = self * self
        result: Number | None = None
        for first in range((len(coefficients) - 1) // 2 * 2, -1, -2):
            constant, *linear = coefficients[first : first + 2]
            pair = self.like(linear[0]).multiply_add(self, constant) if linear else self.like(constant)
            result = pair if result is None else result.multiply_add(square, pair)
        assert result is not None, "there is a coefficient"
        return result

    def absolute(self) -> Number:
        """Returns the magnitude of a float."""
        return self._added(math.AbsFOp(self.value))

    def square_root(self) -> Number:
        """Returns the square root of a float."""
        return self._added(math.SqrtOp(self.value))

    def floor(self) -> Number:
        """Returns the greatest integral float that is not greater than this one."""
        return self._added(math.FloorOp(self.value))

    def copy_sign(self, sign: Number) -> Number:
        """Returns the magnitude of a float with the sign of `sign`."""
        return self._added(math.CopySignOp(self.value, sign.value))

    def convert(self, op: Callable[[SSAValue, Attribute], Operation], element: Attribute) -> Number:
        """Applies a conversion to an element type, such as `arith.ExtFOp`."""
        return self._added(op(self.value, with_element(self.value.type, element)))

    def bits(self, element: Attribute) -> Number:
        """Returns the value with the same bits of another element type."""
        return self.convert(arith.BitcastOp, element)

    @property
    def _is_float(self) -> bool:
        return isinstance(element_type(self.value.type), AnyFloat)

    def _operand(self, other: Operand) -> SSAValue:
        return other.value if isinstance(other, Number) else self.at.constant(other, self.value.type)

    def _sum_or_product(self, floats: _Build, integers: _Build, other: Operand) -> Number:
        if self._is_float:
            return self._added(floats(self.value, self._operand(other), self.at.flags))
        return self._binary(integers, other)

    def _binary(self, op: _Build, other: Operand) -> Number:
        return self._added(op(self.value, self._operand(other)))

    def _added(self, op: Operation) -> Number:
        return Number(self.at.insert(op).results[0], self.at)


Operand: TypeAlias = "Number | float"
