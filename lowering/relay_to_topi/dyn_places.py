"""`dyn.nn.pad`: padding with widths from an operand."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.checked_indices import checked_indices
from xrelay.dialects.relay.computes.padding import padded
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import ANY, maximum, minimum
from xrelay.lowering.relay_to_topi.registry import implements


def has_named_extents(op: Operation) -> str | None:
    """Returns why the result cannot be allocated (its extents are new or unnamed), or None."""
    if made := made_extents(op):
        return f"it makes the extent {made[0].name}; relay-name-extents tells it before"
    type = op.results[0].type
    return f"its result is {type}" if isinstance(type, TensorType) and ANY in shape_of_type(type) else None


@implements(DynPadOp, "dyn.nn.pad.named", condition=has_named_extents)
def build_pad(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Pads like `nn.pad`, with widths that are checked at run time."""
    shape, grown, mode = shape_of(emitter.operand(0)), emitter.result_shape, emitter.text("pad_mode")
    widths: list[SSAValue] = []
    for axis, (extent, room) in enumerate(zip(shape, grown, strict=True)):
        most = {"constant": room, "edge": minimum(extent, 1) * room, "reflect": maximum(extent, 1) - 1}[mode]
        widths.append(checked_indices(emitter, emitter.operand(1), most + 1, part=axis, from_end=False))

    def before(b: Body) -> Sequence[IndexLike]:
        return [b.as_index(b.read(pair, 0)) for pair in widths]

    return [padded(emitter, emitter.operand(2), before, [True] * len(shape))]
