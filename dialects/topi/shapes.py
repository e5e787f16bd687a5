"""Types and sizes that the ops of topi share: tensors of values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IndexType, IntegerType, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that must be a tensor of static shape; raises `VerifyException` where it is not."""
    if not isa(value.type, TensorType):
        raise VerifyException(f"{value.type} is not a tensor")
    if any(extent < 0 for extent in value.type.get_shape()):
        raise VerifyException(f"{value.type} has a dynamic dimension: topi needs static extents")
    return value.type


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The static shape of a tensor value."""
    return tensor_type(value).get_shape()


def ints(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """`values` as an `array<i64: …>` attribute."""
    return DenseArrayBase.from_list(i64, list(values))


def bit_width(type: Attribute) -> int:
    """The width of a scalar type in bits; index counts as 64."""
    if isinstance(type, IndexType):
        return 64
    if isinstance(type, IntegerType):
        return type.width.data
    if isinstance(type, AnyFloat):
        return type.bitwidth
    raise VerifyException(f"{type} is not a scalar type")


def float_type(type: Attribute) -> AnyFloat:
    """`type`, which must be one of floats; raises `VerifyException` where it is not."""
    if not isinstance(type, AnyFloat):
        raise VerifyException(f"{type} is not a type of floats")
    return type


def holds_products_of(accumulator: Attribute, element: Attribute) -> bool:
    """Whether sums of products of `element`s may be kept in `accumulator`: the same kind of number, not narrower."""
    same_kind = isinstance(accumulator, AnyFloat) == isinstance(element, AnyFloat)
    return same_kind and bit_width(accumulator) >= bit_width(element)
