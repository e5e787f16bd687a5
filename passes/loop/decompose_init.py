"""Moves the init of a reduction into a nest of its own before the reduction's loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.arith import AndIOp, ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_in, ops_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.errors import ScheduleError
from xrelay.passes.loop.nest_edits import Names, list_buffers
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops, is_spatial_in, reduces_over


def decompose_init(function: Operation, names: Names) -> None:
    """Moves the init regions out of the blocks of `function`.

    Before → after; the spatial loops inside the reduction are repeated for the init, with their kinds:

    ```
    loop.for "k" %k to 512 {                    loop.for "v_init" %w to 16 vectorized {
      loop.for "v" %v to 16 vectorized {          loop.block "mm_init" (%j : spatial 16 = %w) … { store zero }
        loop.block "mm" (… %k …) init {…} {…}   }
      }                                         loop.for "k" %k to 512 {
    }                                             loop.for "v" %v to 16 vectorized { loop.block "mm" (…) {…} }
                                                }
    ```

    A loop that drives both a spatial and a reduce variable is repeated too; then some elements are initialised more
    than once, but always before any addition. An init that reads results of its nest stays in place, under the
    condition that all other variables are zero; raises `ScheduleError` if the extent of one of these is a value.
    """
    for block in blocks_inside(function):
        if not block.has_init:
            continue
        outermost = next((loop for loop in enclosing_loops(block) if reduces_over(block, loop)), None)
        nest = [] if outermost is None else blocks_inside(outermost)
        written = {buffer for inner in nest for buffer in inner.writes}
        if outermost is not None and not any(op.memref in written for op in ops_of(block.init, LoadOp)):
            _hoist(block, outermost, names)
            continue
        # Only if the extents are static, the point at which the init runs is certain to be visited.
        reduced = [p for p, kind in enumerate(block.kinds) if kind is not IterKind.SPATIAL]
        if not all(isinstance(block.extents[p], int) for p in reduced):
            raise ScheduleError(
                f"the init of block {block.block_name!r} reads results of its nest, and an extent of its reduction is "
                f"dynamic: if the extent is 0, the init does not run",
                location=location_of(block),
                help="compute the operands of the init outside of the reduction",
            )
        _guard_in_place(block)


def _hoist(block: BlockOp, outermost: ForOp, names: Names) -> None:
    """Moves the init into a nest of its own, right before `outermost`."""
    around = enclosing_loops(block)
    inside = [loop for loop in around[around.index(outermost) :] if is_spatial_in(block, loop)]
    iter_vars = [var for var in block.iter_vars() if var.kind is IterKind.SPATIAL]
    statement = BlockOp(names.block(f"{block.block_name}_init"), iter_vars, (), block.writes, take_init(block))
    statement.location = block.location
    list_buffers(block)
    nest: Operation = statement
    for loop in reversed(inside):
        nest = copy_around(loop, nest, names, "init")
    parent = outermost.parent
    assert parent is not None
    parent.insert_op_before(nest, outermost)


def take_init(block: BlockOp) -> Region:
    """Removes the init of `block` and returns it as a region."""
    body = block.init.block
    block.init.detach_block(body)
    return Region(body)


def copy_around(loop: ForOp, inner: Operation, names: Names, suffix: str) -> ForOp:
    """Wraps `inner` in a copy of `loop`, named `<loop>_<suffix>`, and makes it use the index of the copy."""
    extent = loop.extent if loop.extent is not None else loop.dynamic_extent
    assert extent is not None
    name = names.loop(f"{loop.loop_name}_{suffix}")
    copy = ForOp(name, extent, kind=loop.kind, tail=loop.tail, no_unroll=loop.no_unroll)
    copy.location = loop.location
    copy.body.block.add_op(inner)
    for op in ops_in(copy.body):
        if loop.index in (operands := tuple(op.operands)):
            op.operands = [copy.index if operand is loop.index else operand for operand in operands]
    return copy


def _guard_in_place(block: BlockOp) -> None:
    """Moves the init to the start of the body, under an `scf.if` unless no condition is needed."""
    bound = zip(block.variables, block.kinds, block.bindings.exprs, strict=True)
    reduce = [v for v, kind, expr in bound if kind is not IterKind.SPATIAL and expr != AffineConstantExpr(0)]
    spatial = [block.variables[position] for position in block.spatial]
    init = take_init(block).block
    for argument, variable in zip(init.args, spatial, strict=True):
        argument.replace_all_uses_with(variable)
    statements: list[Operation] = list(init.ops)
    for op in statements:
        op.detach()
    if reduce:
        statements = _when_all_zero(reduce, statements)
    body = block.body.block
    assert body.first_op is not None
    body.insert_ops_before(statements, body.first_op)


def _when_all_zero(values: Sequence[SSAValue], statements: Sequence[Operation]) -> list[Operation]:
    """Wraps `statements` in an `scf.if` whose condition is that all of `values` are zero."""
    zero = ConstantOp(IntegerAttr.from_index_int_value(0))
    ops: list[Operation] = [zero]
    condition: SSAValue | None = None
    for value in values:
        ops.append(equal := CmpiOp(value, zero, "eq"))
        if condition is not None:
            ops.append(equal := AndIOp(condition, equal.result))
        condition = equal.result
    assert condition is not None
    return [*ops, scf.IfOp(condition, [], Region(Block([*statements, scf.YieldOp()])))]
