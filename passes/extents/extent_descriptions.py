"""Descriptions of the extents that `relay-name-extents` computes, for messages in place of their generated names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm.sort import DynTopKOp
from xrelay.dialects.relay.ops.dyn.pad import DynPadOp
from xrelay.dialects.relay.ops.dyn.shapes import CollapseSumToOp, DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.image.resize import DynResizeOp
from xrelay.dialects.relay.ops.sparse import DynSparseToDenseOp
from xrelay.dialects.relay.ops.tensor.range import ArangeOp
from xrelay.dialects.relay.structure.extents import ExtentDescription
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.types.dim_names import single_name

_FAILURES: Final[Mapping[type[RelayOp], str]] = {
    DynReshapeOp: "element {at} of the shape is an extent of {value}",
    DynBroadcastToOp: "element {at} of the shape is {value}",
    CollapseSumToOp: "element {at} of the shape is {value}",
    DynFullOp: "element {at} of the shape is {value}",
    DynSparseToDenseOp: "element {at} of the shape is {value}",
    DynTileOp: "number {at} of repetitions is {value}",
    DynStridedSliceOp: "the step along axis {at} is 0",
    DynTopKOp: "k is {value}",
    DynResizeOp: "size {at} is {value}",
    DynPadOp: "width {at} is {value}",
    ArangeOp: "the step is 0, or start and stop are too far apart",
}
"""Maps each op to the message for a negative computed number. A step of 0 also results in a negative number."""


def descriptions_of(op: RelayOp, names: Sequence[str | None], indices: Sequence[int]) -> list[ExtentDescription]:
    """Returns descriptions of the numbers at `indices` of an op's computed operand.

    A number with a name is an extent of the result.
    """
    # All fields of a tuple result, as the values and indices of topk, have one shape.
    first, *_ = leaf_types([op.results[0].type])
    axes = {single_name(dim): axis for axis, dim in enumerate(shape_of(first))}
    descriptions: list[ExtentDescription] = []
    for name, at in zip(names, indices, strict=True):
        axis = None if name is None else axes.get(name)
        subject = f"number {at} of {op.name}" if axis is None else f"extent {axis} of {op.name}"
        failure = _FAILURES.get(type(op), "number {at} is {value}").replace("{at}", str(at))
        descriptions.append(ExtentDescription(subject, f"{op.name}: {failure}"))
    return descriptions
