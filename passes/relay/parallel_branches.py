"""Ops that multiply the same data by weights of their own, for `relay-combine-parallel-conv2d` and its kin."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import is_complete, shape_of
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor_movement import StridedSliceOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.infra.verify import walk_ops


def combine(
    module: ModuleOp,
    name: str,
    key: Callable[[RelayOp], Hashable | None],
    join: Callable[[Emitter, Sequence[RelayOp], Sequence[SSAValue]], Sequence[SSAValue]],
    least: int,
) -> None:
    """Let `join` replace each group of at least `least` ops, for which `key` says which may be joined.

    `join` takes an emitter in front of the first op of a group, the ops, and their weights, which stand before it; it
    gives a value for each op. `PassError`, under the pass's `name`, where `least` is below 2.
    """
    if least < 2:
        raise PassError(f"{name}: min-num-branches is {least}, it must be at least 2")
    groups: dict[Hashable, list[RelayOp]] = {}
    places: dict[Operation, int] = {}
    for place, op in enumerate(walk_ops(module)):
        places[op] = place
        own = key(op) if isinstance(op, RelayOp) and all(map(is_complete, op.operand_types)) else None
        if own is not None and isinstance(op, RelayOp):
            groups.setdefault((op.parent, op.operands[0], own), []).append(op)
    for group in groups.values():
        first = group[0]
        fits = [op for op in group if op is first or _stands_before(op.operands[1], first, places)]
        if len(fits) >= least:
            emit = Emitter(PatternRewriter(first), first)
            weights = [_in_front(emit, op.operands[1], first, places) for op in fits]
            for op, value in zip(fits, join(emit, fits, weights), strict=True):
                Emitter(PatternRewriter(op), op).replace(value)
    rewrite(module, {})


def _stands_before(value: SSAValue, op: Operation, places: dict[Operation, int]) -> bool:
    """Whether `value` is there where `op` runs, or is a constant, which may be put there."""
    maker = value.op if isinstance(value, OpResult) else None
    if maker is None or isinstance(maker, ConstantOp) or maker.parent is not op.parent:
        return True
    return maker in places and places[maker] < places[op]


def _in_front(emit: Emitter, value: SSAValue, op: Operation, places: dict[Operation, int]) -> SSAValue:
    """`value`; a constant that stands behind `op`, again in front of it."""
    maker = value.op if isinstance(value, OpResult) else None
    if not isinstance(maker, ConstantOp) or maker.parent is not op.parent or places.get(maker, -1) < places[op]:
        return value
    return emit.insert(maker.clone()).result


def join_weights(emit: Emitter, weights: Sequence[SSAValue], axis: int) -> SSAValue:
    """The weights one behind the other."""
    return emit.call(ConcatenateOp, emit.call(TupleOp, *weights), axis=axis)


def cut_results(emit: Emitter, value: SSAValue, ops: Sequence[RelayOp], axis: int) -> list[SSAValue]:
    """The part of each op of a result that has them one behind the other along `axis`."""
    parts: list[SSAValue] = []
    begin = 0
    for op in ops:
        extent = shape_of(op.results[0].type)[axis]
        end = begin + (extent if isinstance(extent, int) else 0)
        parts.append(emit.call(StridedSliceOp, value, begin=[begin], end=[end], axes=[axis]))
        begin = end
    return parts


def extents_but(value: SSAValue, axis: int) -> Hashable | None:
    """The shape without the extent along `axis`; `None` where that is not known."""
    shape = shape_of(value.type)
    return (*shape[:axis], *shape[axis + 1 :]) if isinstance(shape[axis], int) else None


def properties_but(op: RelayOp, *names: str) -> Hashable:
    """The properties, without some of them, so that they can be compared."""
    return tuple((name, value) for name, value in sorted(op.properties.items()) if name not in names)
