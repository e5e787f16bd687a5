"""Construction of the nest of a scatter: its updates in order, except along axes that separate them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.topi import Combine, ScatterOp
from xrelay.dialects.topi.build_scatter import combined
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.topi_to_loop.body import BodyLowering
from xrelay.lowering.topi_to_loop.build_nest import NestNames, loaded_buffers, nested, source_of
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents


def build_scatter(
    op: ScatterOp, buffers: Mapping[SSAValue, SSAValue], result: SSAValue, names: NestNames, sizes: KernelExtents
) -> Operation | None:
    """Returns the nest that updates the memref `result`, which holds the initial tensor; None if there are no updates.

    ```
    topi.scatter "s" [%i : 4, %j : 8] add … {     →   loop.for "i" %i to 4 {
      …                                                 loop.for "j" %j to 8 {
      topi.yield %k, %j, %u                               loop.block "s" (%vi : ordered 4 = %i, %vj : spatial 8 = %j)
    }                                                         reads(…) writes(%r) {…}
    ```

    A variable that is itself an index is spatial, any other is ordered. Loops of one iteration are omitted.
    """
    if 0 in op.spatial or 0 in shape_of(op.into):
        return None
    block_name = names.block(op)
    apart = op.apart
    loops: list[ForOp] = []
    variables: list[IterVar] = []
    for variable, name, extent in zip(op.spatial_vars, names.loops(op, block_name), op.spatial, strict=True):
        kind = IterKind.SPATIAL if variable in apart else IterKind.ORDERED
        binding = ValueMap.constant(0)
        size = sizes.value(extent)
        if size != 1:
            loops.append(ForOp(name, size))
            binding = ValueMap.identity([loops[-1].index])
        hint = variable.name_hint
        variables.append(IterVar(kind, size, binding, f"v{hint}" if hint else None))
    body = _build_body(op, buffers, result, sizes)
    block = BlockOp(block_name, variables, loaded_buffers(body, [result]), [result], Region(body))
    block.attributes |= source_of(op)
    block.location = op.location
    return nested(loops, block)


def _build_body(op: ScatterOp, buffers: Mapping[SSAValue, SSAValue], result: SSAValue, sizes: KernelExtents) -> Block:
    body = Block(arg_types=[IndexType()] * len(op.spatial))
    values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars, body.args, strict=True))
    *indices, value = BodyLowering(values, buffers, sizes).copy(op.body.block, body)
    place = ValueMap.identity(indices)
    if op.combine is not Combine.UPDATE:
        old = LoadOp(result, place)
        body.add_op(old)
        value = combined(op.combine, op.element_type, old.result, value, body)
    body.add_op(StoreOp(value, result, place))
    return body
