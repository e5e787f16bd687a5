"""Legality of primitives: lookup of loops and blocks, and conditions that several primitives share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, memref
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, IterKind, LoadOp, LoopKind, SchedulePrimitive, StoreOp
from xrelay.dialects.loop.extents import expression_of, interval_of
from xrelay.dialects.loop.schedule import primitive_text
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import ScheduleError, did_you_mean
from xrelay.index_algebra.affine_bounds import Interval, bounds, stride
from xrelay.index_algebra.value_map import ValueMap
from xrelay.passes.loop.nest_queries import (
    blocks_of,
    is_nonnegative,
    loop_named,
    loops_of,
    reduces_over,
)


def refusal(step: SchedulePrimitive, subject: str, reason: str, help: str) -> ScheduleError:
    """Returns the error of a primitive that is not legal; `subject` is a loop or a block."""
    return ScheduleError(f"{primitive_text(step)}: {subject}: {reason}", help=help)


def find_loop(kernel: func.FuncOp, name: str, step: SchedulePrimitive) -> ForOp:
    """The loop called `name`; raises `ScheduleError` if it does not exist."""
    if (found := loop_named(kernel, name)) is None:
        raise _not_found(kernel, "loop", name, list(loops_of(kernel)), step)
    return found


def find_loops(kernel: func.FuncOp, names: Sequence[str], step: SchedulePrimitive) -> list[ForOp]:
    """The loops of these names; raises `ScheduleError` if one does not exist."""
    loops = loops_of(kernel)
    missing = next((name for name in names if name not in loops), None)
    if missing is not None:
        raise _not_found(kernel, "loop", missing, list(loops), step)
    return [loops[name] for name in names]


def find_block(kernel: func.FuncOp, name: str, step: SchedulePrimitive) -> BlockOp:
    """The block called `name`; raises `ScheduleError` if it does not exist."""
    blocks = blocks_of(kernel)
    if name not in blocks:
        raise _not_found(kernel, "block", name, list(blocks), step)
    return blocks[name]


def _not_found(kernel: func.FuncOp, what: str, name: str, known: list[str], step: SchedulePrimitive) -> ScheduleError:
    hint = did_you_mean(name, known, f"there are {', '.join(known) if known else 'none'}")
    return refusal(step, f"{what} {name!r}", f"@{kernel.sym_name.data} has no such {what}", hint)


def check_new_names(kernel: func.FuncOp, names: list[str], replaced: set[str], step: SchedulePrimitive) -> None:
    """Refuses names for new loops that are taken."""
    taken = loops_of(kernel).keys() - replaced
    for position, name in enumerate(names):
        if name in taken or name in names[:position]:
            raise refusal(step, f"loop {name!r}", "there is a loop with this name already", "choose other names")


def static_extent(loop: ForOp, step: SchedulePrimitive) -> int:
    """The extent of the loop; refuses an extent known only at run time."""
    if loop.extent is None:
        reason = "its extent is known only at run time"
        raise refusal(step, f"loop {loop.loop_name!r}", reason, "split it, and name the inner loop")
    return loop.extent


def check_serial(loop: ForOp, own: LoopKind, step: SchedulePrimitive, advice: str) -> None:
    """Raises `ScheduleError` for a loop that is neither serial nor of the kind `own`, which the primitive sets."""
    if loop.kind not in (LoopKind.SERIAL, own):
        raise refusal(step, f"loop {loop.loop_name!r}", f"it is {loop.kind}", advice)


def check_reduces_over(block: BlockOp, loop: ForOp, step: SchedulePrimitive) -> None:
    """Raises `ScheduleError` for a loop over which the block does not reduce."""
    if not reduces_over(block, loop) or not loop.is_ancestor(block):
        reason = f"block {block.block_name!r} does not reduce over it"
        raise refusal(step, f"loop {loop.loop_name!r}", reason, "name a loop over which it reduces")


def store_positions(block: BlockOp, buffer: SSAValue, step: SchedulePrimitive) -> list[int | None]:
    """For each dimension of `buffer`, the number of the spatial variable that is its index, or `None` for a constant 0.

    Refuses a block whose stores are not of this form, or whose other spatial variables have more than one value.
    """
    subject = f"block {block.block_name!r}"
    advice = "name a block whose stores use each spatial variable as an index"
    stores = [op for op in ops_of(block, StoreOp) if op.memref is buffer]
    if not stores:
        raise refusal(step, subject, "it stores nothing", advice)
    found = [_positions_of(block, op) for op in stores]
    if any(positions is None or positions != found[0] for positions in found):
        raise refusal(step, subject, "its stores have other indices than spatial variables", advice)
    positions = found[0] if found[0] is not None else []
    used = [p for p in positions if p is not None]
    missing = [k for k in block.spatial if k not in used and block.extents[k] != 1]
    if len(set(used)) != len(used) or missing:
        raise refusal(step, subject, "its stores do not use each spatial variable once", advice)
    return positions


def common_positions(block: BlockOp, buffers: Sequence[SSAValue], step: SchedulePrimitive) -> list[int | None]:
    """The `store_positions` of all of `buffers`; refuses a block that stores its results at different indices."""
    found = [store_positions(block, buffer, step) for buffer in buffers]
    if any(positions != found[0] for positions in found):
        reason = "it stores its results at different indices"
        raise refusal(step, f"block {block.block_name!r}", reason, "name a block that stores all results at one index")
    return found[0]


def _positions_of(block: BlockOp, store: StoreOp) -> list[int | None] | None:
    in_init = block.has_init and store.parent_block() is block.init.block
    arguments: list[SSAValue] = list(block.init.block.args if in_init else block.variables)
    variables = list(block.spatial) if in_init else list(range(len(arguments)))
    positions: list[int | None] = []
    index = store.index
    for k in range(len(index)):
        expr = index[k]
        if expr.exprs[0] == AffineConstantExpr(0):
            positions.append(None)
        elif expr.exprs[0] == AffineDimExpr(0) and expr.operands[0] in arguments:
            position = variables[arguments.index(expr.operands[0])]
            if block.kinds[position] is not IterKind.SPATIAL:
                return None
            positions.append(position)
        else:
            return None
    return positions


def allocation_of(block: BlockOp, step: SchedulePrimitive) -> memref.AllocOp:
    """The allocation of the only buffer that a block writes; refuses others."""
    subject = f"block {block.block_name!r}"
    buffers = list(block.writes)
    if len(buffers) != 1:
        raise refusal(step, subject, f"it writes {len(buffers)} buffers", "name a block that writes one")
    alloc = buffers[0].owner
    if not isinstance(alloc, memref.AllocOp):
        raise refusal(step, subject, "it writes an argument of the kernel", "use cache_write or cache_read first")
    other = [use.operation.name for use in buffers[0].uses if not isinstance(use.operation, BlockOp | LoadOp | StoreOp)]
    if other:
        raise refusal(step, subject, f"'{other[0]}' uses its buffer", "only loads and stores may use it")
    return alloc


def keeps_away(block: BlockOp, loop: ForOp, beyond: Interval) -> bool:
    """Whether some variable of the block is outside its domain at every iteration of `loop` in `beyond`.

    Such iterations are harmless: the block's implicit guard skips them.
    """
    bindings = block.bindings
    box = [beyond if value is loop.index else interval_of(value) for value in bindings.operands]
    for expr, extent in zip(bindings.exprs, block.extents, strict=True):
        values = bounds(expr, box)
        if values is None or not isinstance(extent, int) or extent == DYNAMIC:
            continue
        if values[0] >= extent or values[1] < 0:
            return True
    return False


def keeps_away_from(block: BlockOp, loop: ForOp, end: ValueMap) -> bool:
    """Whether a variable of the block is proven to be outside its domain from iteration `end` of `loop` on."""
    bindings = block.bindings
    for position, extent in enumerate(block.extents):
        binding = bindings[position]
        if extent == DYNAMIC or loop.index not in binding.operands:
            continue
        dim = binding.operands.index(loop.index)
        step = stride(binding.exprs[0], dim)
        at_end = binding.substitute({loop.index: end}).plus(expression_of(extent), -1)
        if step is not None and step > 0 and is_nonnegative(at_end):
            return True
    return False
