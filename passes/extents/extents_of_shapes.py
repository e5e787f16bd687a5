"""Computes the extents of ops with a shape as an operand, for `relay-name-extents`.

The ops are `dyn.reshape`, `dyn.broadcast_to`, `collapse_sum_to`, `dyn.full`, `dyn.sparse_to_dense`, `dyn.tile` and
`dyn.image.resize`. Each function `name_*` returns None for other ops. An invalid shape (two -1, a 0 that copies no
extent) becomes a negative extent, which `relay.extents` rejects.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.dyn.shapes import CollapseSumToOp, DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.image.resize import DynResizeOp
from xrelay.dialects.relay.ops.sparse import DynSparseToDenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import DivideOp, MaximumOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, GreaterOp
from xrelay.dialects.relay.ops.tensor.logic import LogicalOrOp
from xrelay.dialects.relay.ops.tensor.reduce import ProdOp, SumOp
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Dim, Shape
from xrelay.passes.extents.shape_code import ShapeCode, known_numbers, length

IMPOSSIBLE = -2
"""An invalid extent. It is not -1, which is the code of an inferred extent."""


def name_reshape(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the reshape by extents: 0 is replaced by the data's extent and -1 by the inferred extent."""
    if not isinstance(op, DynReshapeOp):
        return None
    shape, sizes = shape_of(op.data.type), code.operand(1)
    copies, count = not op.allowzero.value.data, length(sizes)
    extents = code.join(code.shape(op.data), code.numbers([IMPOSSIBLE]))
    if copies:
        copied = code.take(extents, [min(at, len(shape)) for at in range(count)])
        sizes = code.where(code.call(EqualOp, sizes, 0), copied, sizes)
    rests = code.call(EqualOp, sizes, -1)
    extents_or_rest = code.where(rests, _rest(code, sizes, rests), sizes)
    known = code.join(code.operand(1), extents)
    indices = [
        _index_of_known_extent(at, element, shape, count if copies else None)
        for at, element in enumerate(code.elements(1, count))
    ]
    bound = code.bind_unknown(extents_or_rest, shape_of(op.result.type), known, indices)
    return code.rebuild(op.data, bound, allowzero=True)


def _rest(code: ShapeCode, sizes: SSAValue, rests: SSAValue) -> SSAValue:
    """Emits the inferred extent: the quotient of the numbers of elements of the data and of the other extents."""
    known = code.call(ProdOp, code.where(rests, 1, sizes), axis=[0])
    many = code.call(GreaterOp, code.call(SumOp, code.cast(rests), axis=[0]), 1)
    bad = code.call(LogicalOrOp, code.call(EqualOp, known, 0), many)
    quotient = code.call(DivideOp, code.size(code.op.operands[0]), code.call(MaximumOp, known, 1))
    return code.where(bad, IMPOSSIBLE, quotient)


def _index_of_known_extent(at: int, element: Dim | None, shape: Shape, extents: int | None) -> int | None:
    """Returns the index of an element's extent among the known extents, or None if it must be checked or computed.

    The data's extents start at index `extents` if 0 copies them.
    """
    if isinstance(element, int):
        return None if element < 0 else at if element or extents is None else extents + at
    # An element that may be 0 is checked.
    return at if element is not None and element in shape[at : at + 1] else None


def name_broadcast(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the broadcast by extents: an element of 1 is replaced by the data's extent."""
    if not isinstance(op, DynBroadcastToOp):
        return None
    sizes = code.operand(1)
    count = length(sizes)
    extents_or_rest = code.where(code.call(EqualOp, sizes, 1), _last_extents(code, count), sizes)
    indices = known_numbers(code.elements(1, count))
    bound = code.bind_unknown(extents_or_rest, shape_of(op.result.type)[-count:], sizes, indices)
    return code.rebuild(op.data, bound)


def name_collapse(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with the elements of the shape as extents; its rule compares them with the data's."""
    if not isinstance(op, CollapseSumToOp):
        return None
    sizes = code.operand(1)
    indices = known_numbers(code.elements(1, length(sizes)))
    return code.rebuild(op.data, code.bind_unknown(sizes, shape_of(op.result.type), sizes, indices))


def name_full(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with the elements of the shape as extents."""
    if not isinstance(op, DynFullOp):
        return None
    sizes = code.operand(1)
    indices = known_numbers(code.elements(1, length(sizes)))
    return code.rebuild(op.fill_value, code.bind_unknown(sizes, shape_of(op.result.type), sizes, indices))


def name_sparse_to_dense(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with the elements of the shape as extents."""
    if not isinstance(op, DynSparseToDenseOp):
        return None
    sizes = code.operand(1)
    indices = known_numbers(code.elements(1, length(sizes)))
    bound = code.bind_unknown(sizes, shape_of(op.result.type), sizes, indices)
    return code.rebuild(op.sparse_indices, bound, op.sparse_values, op.default_value)


def name_resize(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with the sizes as extents of the resized axes."""
    if not isinstance(op, DynResizeOp):
        return None
    sizes, shape = code.operand(1), shape_of(op.result.type)
    indices = known_numbers(code.elements(1, length(sizes)))
    bound = code.bind_unknown(sizes, [shape[axis] for axis in ints(op.axes)], sizes, indices)
    return code.rebuild(op.data, bound, op.scale, op.roi, axes=ints(op.axes))


def name_tile(op: RelayOp, code: ShapeCode) -> RelayOp | None:
    """Returns the op with checked numbers of repetitions. They are bound together with the resulting extents."""
    if not isinstance(op, DynTileOp):
        return None
    sizes = code.operand(1)
    count = length(sizes)
    dims = shape_of(op.result.type)[-count:]
    made = [at for at, dim in enumerate(dims) if code.name_of(dim) is not None]
    extents = code.take(code.call(MultiplyOp, sizes, _last_extents(code, count)), made)
    known = [*known_numbers(code.elements(1, count)), *([None] * len(made))]
    bound = code.bind_unknown(code.join(sizes, extents), [*([None] * count), *(dims[at] for at in made)], sizes, known)
    return code.rebuild(op.data, code.take(bound, range(count)))


def _last_extents(code: ShapeCode, count: int) -> SSAValue:
    """Emits the data's last `count` extents, preceded by ones if it has fewer."""
    data = code.op.operands[0]
    rank = len(shape_of(data.type))
    extents = code.join(code.numbers([1] * max(count - rank, 0)), code.shape(data))
    return code.take(extents, range(max(rank - count, 0), max(rank, count)))
