"""The types of the loop level that hold the values of the topi level."""

from __future__ import annotations

from math import ceil, prod

from xdsl.dialects.builtin import MemRefType, NoneType, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xrelay.dialects.loop.list_ops import ListType
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import ClosureType, OptionalType, SequenceType, element_of_any_rank, shape_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import ANY

MAX_BYTES = (1 << 63) - 1
"""The size of the largest buffer: offsets of elements are signed 64-bit numbers."""


def memref_of(type: Attribute, place: Operation) -> MemRefType:
    """Returns the type of the buffer that holds a tensor, with `?` for named dimensions.

    Raises `LoweringError` for an unnamed dynamic extent, or for more bytes than can be addressed.
    """
    if not isa(type, TensorType) or ANY in (shape := shape_of(type)):
        raise LoweringError(
            f"{type} has no buffer: the loop level requires known or named extents",
            location=describe_location(place),
            help="use static shapes in the model",
        )
    size = prod(dim for dim in shape if isinstance(dim, int)) * ceil(bit_width(type.element_type) / 8)
    if size > MAX_BYTES:
        raise LoweringError(
            f"{type} takes {size} bytes, the limit for a buffer is {MAX_BYTES}",
            location=describe_location(place),
            help="use smaller shapes in the model",
        )
    return buffer_type(type.element_type, type.get_shape())


def is_container(type: Attribute) -> bool:
    """Whether `type` is that of a sequence, an optional or a closure."""
    return isinstance(type, SequenceType | OptionalType | ClosureType)


def holder_of(type: Attribute, place: Operation) -> MemRefType | ListType:
    """Returns the type that holds a value: a buffer for a tensor, a list for a sequence, optional or closure.

    Raises `LoweringError` at `place` for other types.
    """
    if isinstance(type, ClosureType):
        return ListType(NoneType())
    depth = 0
    inner = type
    while isinstance(inner, SequenceType | OptionalType):
        inner, depth = inner.element, depth + 1
    if not depth:
        return memref_of(type, place)
    element = element_of_any_rank(inner)
    if element is None:
        raise LoweringError(
            f"{type} is not a sequence or optional of tensors",
            location=describe_location(place),
            help="interpret the program",
        )
    found = ListType(element)
    for _ in range(depth - 1):
        found = ListType(found)
    return found
