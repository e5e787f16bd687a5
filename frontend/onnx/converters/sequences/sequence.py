"""Ops on sequences, which are folded if the sequence is known at import."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import onnx
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.structure.containers import (
    ConcatFromSequenceOp,
    SequenceAtOp,
    SequenceConstructOp,
    SequenceEmptyOp,
    SequenceEraseOp,
    SequenceInsertOp,
    SequenceLengthOp,
    SplitToSequenceOp,
)
from xrelay.dialects.shared.types import SequenceType, tensor_type
from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    converts,
    dtype_of_attribute,
    element_type,
    is_static,
    known_axis,
    shape_of,
)
from xrelay.frontend.onnx.known_containers import MAX_VALUES, values_of_sequence


@converts("SequenceEmpty", since=11, attributes=("dtype",))
def convert_sequence_empty(node: NodeView) -> SSAValue:
    """An empty sequence; inserted values determine the rank, which ONNX does not declare."""
    number = node.attribute_int("dtype", onnx.TensorProto.FLOAT)
    return _sequence(node, (), tensor_type((), element_type(dtype_of_attribute(node, "dtype", number))))


@converts("SequenceConstruct", since=11)
def convert_sequence_construct(node: NodeView) -> SSAValue:
    """A sequence of the inputs."""
    return node.emit(SequenceConstructOp, *(node.input(index) for index in range(len(node.inputs))))


@converts("SequenceInsert", since=11)
def convert_sequence_insert(node: NodeView) -> SSAValue:
    """The sequence with a value inserted before a position, or appended."""
    values, at = _values(node), _position(node)
    if values is None or at is None or len(values) >= MAX_VALUES:
        if values == ():
            raise node.error("a position in an empty sequence must be constant", help="omit the position")
        return node.emit(SequenceInsertOp, *_inputs(node, 2, optional=1))
    place = len(values) if at == () else _checked(node, at[0], len(values), len(values))
    return _sequence(node, (*values[:place], node.input(1), *values[place:]))


@converts("SequenceErase", since=11)
def convert_sequence_erase(node: NodeView) -> SSAValue:
    """The sequence without the value at a position, or without the last one."""
    values, at = _values(node), _position(node, 1)
    if values is None or at is None:
        return node.emit(SequenceEraseOp, *_inputs(node, 1, optional=1))
    place = _checked(node, at[0] if at else -1, len(values), len(values) - 1)
    return _sequence(node, (*values[:place], *values[place + 1 :]), values[place].type)


@converts("SequenceAt", since=11, limits="values of several ranks")
def convert_sequence_at(node: NodeView) -> SSAValue:
    """The value at a position; for a computed position in values of one shape, a slice of their stack."""
    values, at = _values(node), _position(node, 1)
    if values is not None and at:
        return values[_checked(node, at[0], len(values), len(values) - 1)]
    if values and is_static(values[0].type) and all(value.type == values[0].type for value in values):
        together = node.emit("stack", node.make_tuple(values), axis=0)
        return node.emit("take", together, node.input(1), axis=0, mode="raise")
    return node.emit(SequenceAtOp, *_inputs(node, 2))


@converts("SequenceLength", since=11)
def convert_sequence_length(node: NodeView) -> SSAValue:
    """The number of values."""
    values = _values(node)
    if values is None:
        return node.emit(SequenceLengthOp, node.input(0))
    return node.emit_ints(len(values), "length")


@converts("ConcatFromSequence", since=11, attributes=("axis", "new_axis"), limits="values of several ranks")
def convert_concat_from_sequence(node: NodeView) -> SSAValue:
    """`concatenate` of the values, or `stack` with `new_axis`."""
    if "axis" not in node.attribute_names:
        raise node.error("attribute 'axis' is required")
    axis = node.attribute_int("axis", 0)
    new_axis = node.attribute_flag("new_axis")
    values = _values(node)
    if values is None:
        return node.emit(ConcatFromSequenceOp, node.input(0), axis=axis, new_axis=new_axis)
    if not values:
        raise node.error("an empty sequence cannot be concatenated")
    return node.emit("stack" if new_axis else "concatenate", node.make_tuple(values), axis=axis)


@converts("SplitToSequence", since=11, attributes=("axis", "keepdims"))
def convert_split_to_sequence(node: NodeView) -> SSAValue:
    """`split`, with the parts as a sequence."""
    shape = node.shape(0)
    axis = known_axis(node, node.attribute_int("axis", 0), len(shape))
    keepdims = node.attribute_flag("keepdims", True)
    extent, given = shape[axis], node.optional_input(1) is not None
    sizes = _sizes(node, extent) if isinstance(extent, int) else None
    if sizes is None or not 0 < len(sizes) <= MAX_VALUES:
        inputs = [node.input(index) for index in range(2 if given else 1)]
        return node.emit(SplitToSequenceOp, *inputs, axis=axis, keepdims=keepdims)
    indices = tuple(accumulate(sizes[:-1]))
    parts = node.emit("split", node.input(0), indices_or_sections=indices, axis=axis)
    fields = [node.tuple_field(parts, index) for index in range(len(sizes))]
    if not given and not keepdims:
        fields = [node.emit("squeeze", field, axis=(axis,)) for field in fields]
    return _sequence(node, fields)


def _sizes(node: NodeView, extent: int) -> list[int] | None:
    """The extents of the parts; the last of equal parts may be smaller.

    `None` if they are computed, or if there would be more than `MAX_VALUES` equal parts.
    """
    split = np.array(1) if node.optional_input(1) is None else node.constant(1)
    if split is None:
        return None
    if split.ndim == 0 and split.dtype.kind in "iu" and split.item() > 0:
        size = int(split.item())
        firsts = range(0, extent, size)
        return [min(size, extent - first) for first in firsts] if len(firsts) <= MAX_VALUES else None
    sizes = [int(size) for size in split.reshape(-1)] if split.dtype.kind in "iu" else [-1]
    if split.ndim != 1 or min(sizes, default=0) < 0 or sum(sizes) != extent:
        raise node.error(f"parts of {split.tolist()} do not make an extent of {extent}")
    return sizes


def _sequence(node: NodeView, values: Sequence[SSAValue], of: Attribute | None = None) -> SSAValue:
    """The sequence of `values`; `of` is their type if the sequence is empty."""
    return node.emit(SequenceConstructOp, *values) if values else node.emit(SequenceEmptyOp, of=of)


def _values(node: NodeView) -> tuple[SSAValue, ...] | None:
    """The values of the first input, which must be a sequence; `None` if they are not known."""
    if not isinstance(node.input(0).type, SequenceType):
        raise node.error(f"input #0 must be a sequence, found {node.input(0).type}")
    return values_of_sequence(node.input(0))


def _position(node: NodeView, index: int = 2) -> tuple[int, ...] | None:
    """The position in input `index`, an empty tuple if it is absent; `None` if it is computed."""
    if node.optional_input(index) is None:
        return ()
    return None if node.constant(index) is None else (node.required_int(index, "position"),)


def _checked(node: NodeView, place: int, count: int, last: int) -> int:
    """A position as a nonnegative number."""
    if not -count <= place <= last:
        raise node.error(f"position {place} is out of range for a sequence of {count}")
    return place + count if place < 0 else place


def _inputs(node: NodeView, required: int, *, optional: int = 0) -> list[SSAValue]:
    """The first inputs: the required ones, and the optional ones that are present."""
    others = (node.optional_input(required + index) for index in range(optional))
    # Models also write a position as a list of one element.
    places = [
        node.reshape(value, ()) if shape_of(value.type) == (1,) else value for value in others if value is not None
    ]
    return [*(node.input(index) for index in range(required)), *places]
