"""Types and shapes that the ops of topi share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IndexType, IntegerType, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.index_algebra.dim_intervals import interval_of
from xrelay.index_algebra.dims import ANY, Dim, Shape


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that must be a tensor whose dimensions are all static or named.

    Raises `VerifyException` for other values.
    """
    if not isa(value.type, TensorType):
        raise VerifyException(f"{value.type} is not a tensor")
    try:
        shape = shape_of_type(value.type)
    except ValueError as error:
        raise VerifyException(str(error)) from error
    if ANY in shape:
        raise VerifyException(
            f"{value.type} has an unnamed dynamic dimension: the extents of topi are integers or named"
        )
    return value.type


def shape_of(value: SSAValue) -> Shape:
    """The shape of a tensor value, with named dimensions as expressions."""
    return shape_of_type(tensor_type(value))


def known_shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor value of static shape; raises `VerifyException` for a named dimension."""
    known = [dim for dim in shape_of(value) if isinstance(dim, int)]
    if len(known) != len(shape_of(value)):
        raise VerifyException(f"{value.type} has named dimensions, static extents are required")
    return tuple(known)


def shape_list(shape: Sequence[Dim]) -> str:
    """A shape in a message: `[n, 8]`."""
    return f"[{', '.join(map(str, shape))}]"


def certainly_greater(lhs: Dim, rhs: Dim) -> bool:
    """Whether `lhs` is greater than `rhs` for all sizes of named dimensions."""
    difference = lhs - rhs
    return isinstance(difference, int) and difference > 0


def certainly_at_most(lhs: Dim, rhs: Dim) -> bool:
    """Whether `lhs` is proven to be at most `rhs` for all sizes of named dimensions, by their bounds."""
    low, _ = interval_of(rhs - lhs, {})
    return low is not None and low >= 0


def ints(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """`values` as an `array<i64: …>` attribute."""
    return DenseArrayBase.from_list(i64, list(values))


def bit_width(type: Attribute) -> int:
    """The width of a scalar type in bits; index counts as 64."""
    if isinstance(type, AnyFloat):
        return type.bitwidth
    if isinstance(type, IntegerType):
        return type.width.data
    if isinstance(type, IndexType):
        return 64
    raise VerifyException(f"{type} is not a scalar type")


def float_type(type: Attribute) -> AnyFloat:
    """`type`, which must be a float type; raises `VerifyException` for other types."""
    if not isinstance(type, AnyFloat):
        raise VerifyException(f"{type} is not a float type")
    return type


def holds_products_of(accumulator: Attribute, element: Attribute) -> bool:
    """Whether `accumulator` can hold sums of products of `element`: the same kind of number, not narrower."""
    same_kind = isinstance(accumulator, AnyFloat) == isinstance(element, AnyFloat)
    return same_kind and bit_width(accumulator) >= bit_width(element)
