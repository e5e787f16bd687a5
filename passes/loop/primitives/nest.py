"""Finding and rewriting loops of a kernel: what every schedule primitive stands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp, SchedulePrimitive, StoreOp, ValueMap
from xrelay.dialects.loop.ranges import interval_of
from xrelay.dialects.loop.schedule import primitive_text
from xrelay.errors import ScheduleError, did_you_mean
from xrelay.index_algebra.value_map import Space


def refusal(step: SchedulePrimitive, subject: str, reason: str, help: str) -> ScheduleError:
    """The error of a primitive that is not legal: `subject` is a loop or a block, `reason` says why."""
    return ScheduleError(f"{primitive_text(step)}: {subject}: {reason}", help=help)


def structure_of(root: Operation) -> Iterator[Operation]:
    """The ops with regions inside of `root`, in the order of the text: what a search for loops and blocks looks at.

    Every primitive searches several times; most ops are scalars in bodies of blocks, which `Operation.walk` would enter
    one generator each.
    """
    pending = [iter(block.ops) for region in reversed(root.regions) for block in reversed(region.blocks)]
    while pending:
        op = next(pending[-1], None)
        if op is None:
            pending.pop()
        elif op.regions:
            yield op
            pending += [iter(block.ops) for region in reversed(op.regions) for block in reversed(region.blocks)]


def loops_of(kernel: func.FuncOp) -> dict[str, ForOp]:
    """Every loop of the kernel by name, in the order of the text."""
    return {op.loop_name: op for op in structure_of(kernel) if isinstance(op, ForOp)}


def blocks_of(kernel: func.FuncOp) -> dict[str, BlockOp]:
    """Every block of the kernel by name, in the order of the text."""
    return {op.block_name: op for op in structure_of(kernel) if isinstance(op, BlockOp)}


def find_loop(kernel: func.FuncOp, name: str, step: SchedulePrimitive) -> ForOp:
    """The loop called `name`; `ScheduleError` if there is none."""
    loops = loops_of(kernel)
    if name not in loops:
        raise _not_found(kernel, "loop", name, list(loops), step)
    return loops[name]


def find_block(kernel: func.FuncOp, name: str, step: SchedulePrimitive) -> BlockOp:
    """The block called `name`; `ScheduleError` if there is none."""
    blocks = blocks_of(kernel)
    if name not in blocks:
        raise _not_found(kernel, "block", name, list(blocks), step)
    return blocks[name]


def _not_found(kernel: func.FuncOp, what: str, name: str, known: list[str], step: SchedulePrimitive) -> ScheduleError:
    hint = did_you_mean(name, known, f"there are {', '.join(known) if known else 'none'}")
    return refusal(step, f"{what} {name!r}", f"@{kernel.sym_name.data} has no such {what}", hint)


def check_new_names(kernel: func.FuncOp, names: list[str], replaced: set[str], step: SchedulePrimitive) -> None:
    """Refuse names for new loops that other loops have."""
    taken = loops_of(kernel).keys() - replaced
    for position, name in enumerate(names):
        if name in taken or name in names[:position]:
            raise refusal(step, f"loop {name!r}", "there is a loop with this name already", "give other names")


def static_extent(loop: ForOp, step: SchedulePrimitive) -> int:
    """The extent of the loop; refuses one that is known only at run time."""
    if loop.extent is None:
        raise refusal(
            step, f"loop {loop.loop_name!r}", "its extent is known only at run time", "give the kernel a static shape"
        )
    return loop.extent


def enclosing_loops(op: Operation) -> list[ForOp]:
    """The loops around `op`, the outermost first."""
    result: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            result.append(parent)
        parent = parent.parent_op()
    result.reverse()
    return result


def blocks_under(op: Operation) -> Iterator[BlockOp]:
    """The blocks inside `op`."""
    return (inner for inner in (op, *structure_of(op)) if isinstance(inner, BlockOp))


def only_op(loop: ForOp) -> Operation | None:
    """The single op of the loop's body; `None` if there are none or several."""
    block = loop.body.block
    return block.first_op if block.first_op is block.last_op else None


def reduces_over(block: BlockOp, loop: ForOp) -> bool:
    """Whether a reduce variable of the block depends on the loop."""
    bindings = block.bindings
    return any(kind is IterKind.REDUCE and loop.index in bindings[k].operands for k, kind in enumerate(block.kinds))


def is_spatial_in(block: BlockOp, loop: ForOp) -> bool:
    """Whether a spatial variable of the block depends on the loop."""
    return loop.index in block.bindings.select(block.spatial).operands


def accumulates_without_init(block: BlockOp) -> bool:
    """Whether running the block twice at one point gives another result: it reads what it wrote, and has no init."""
    written = set(block.writes)
    return not block.has_init and any(isinstance(op, LoadOp) and op.memref in written for op in block.body.walk())


def intervals(values: tuple[SSAValue, ...]) -> dict[SSAValue, tuple[int, int]]:
    """The known intervals of index values."""
    return {value: interval for value in values if (interval := interval_of(value)) is not None}


def simplified(index: ValueMap) -> ValueMap:
    """`index` simplified with what the extents of loops and variables say."""
    return index.simplified(intervals(index.operands))


def replace_indices(replacements: Mapping[SSAValue, ValueMap]) -> None:
    """Rewrite every binding and access that uses one of the indices in terms of other indices."""
    users = {use.operation: None for value in replacements for use in value.uses}
    for user in users:
        if isinstance(user, BlockOp):
            user.bindings = simplified(user.bindings.substitute(replacements))
        elif isinstance(user, LoadOp | StoreOp):
            user.index = simplified(user.index.substitute(replacements))


def difference(left: ValueMap, right: ValueMap) -> ValueMap:
    """`left - right` for two single expressions, simplified."""
    return _combination(left, right, -1)


def total(left: ValueMap, right: ValueMap) -> ValueMap:
    """`left + right` for two single expressions, simplified."""
    return _combination(left, right, 1)


def _combination(left: ValueMap, right: ValueMap, factor: int) -> ValueMap:
    space = Space()
    (first,), (second,) = space.lift(left), space.lift(right)
    return simplified(ValueMap.make([first + second * factor], space.values))


def nest_root(block: BlockOp) -> Operation:
    """The outermost op that holds `block` and nothing else: a loop of its perfect nest, or the block itself."""
    root: Operation = block
    parent = root.parent_op()
    while isinstance(parent, ForOp) and only_op(parent) is root:
        root, parent = parent, parent.parent_op()
    return root


def single_output(block: BlockOp, step: SchedulePrimitive) -> SSAValue:
    """The one buffer that `block` writes; refuses several."""
    if len(block.writes) != 1:
        reason = f"it writes {len(block.writes)} buffers"
        raise refusal(step, f"block {block.block_name!r}", reason, "a block with one result is needed")
    return block.writes[0]


def store_positions(block: BlockOp, buffer: SSAValue, step: SchedulePrimitive) -> list[int | None]:
    """For each dimension of `buffer` the spatial variable that alone is its index; `None` for a constant 0.

    Refuses a block whose stores are not of this form, or whose other spatial variables have more than one value.
    """
    subject = f"block {block.block_name!r}"
    advice = "a block that stores each element at its own spatial variables is needed"
    stores = [op for op in block.walk() if isinstance(op, StoreOp) and op.memref is buffer]
    if not stores:
        raise refusal(step, subject, "it stores nothing", advice)
    found = [_positions_of(block, op) for op in stores]
    if any(positions is None or positions != found[0] for positions in found):
        raise refusal(step, subject, "it stores at something else than its spatial variables", advice)
    positions = found[0] if found[0] is not None else []
    used = [p for p in positions if p is not None]
    missing = [k for k in block.spatial if k not in used and block.extents[k] != 1]
    if len(set(used)) != len(used) or missing:
        raise refusal(step, subject, "its stores do not use each spatial variable once", advice)
    return positions


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
            positions.append(variables[arguments.index(expr.operands[0])])
        else:
            return None
    return positions


def retarget(block: BlockOp, old: SSAValue, new: SSAValue) -> None:
    """Let `block` access `new` wherever it accesses `old`."""
    for op in block.walk():
        for position, operand in enumerate(op.operands):
            if operand is old:
                op.operands[position] = new
