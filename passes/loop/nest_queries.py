"""Queries on a loop nest: its loops and blocks, their nesting, and the ranges of index values."""

from __future__ import annotations

from math import ceil, prod
from typing import Final

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xrelay.dialects.loop import DYNAMIC, LOCAL, BlockOp, ForOp, IterKind, StoreOp, ValueMap
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import MAX_EXTENT, expression_of, interval_of, loop_of_index
from xrelay.dialects.shared.attribute_names import LOOP_KERNEL
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import first_ops, ops_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import Interval, bounds, linear_form
from xrelay.index_algebra.affine_bounds import is_nonnegative as is_nonnegative_within
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.index_algebra.value_map import Space

STACK_BYTES: Final = 1 << 20
"""The stack memory for all local buffers of a function: an eighth of a thread's stack."""


def kernels_of(module: ModuleOp) -> list[func.FuncOp]:
    """The kernels of a module that have a body: the functions marked `loop.kernel`, in order."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and LOOP_KERNEL in op.attributes]
    return [function for function in functions if function.body.first_block is not None]


def structure_of(root: Operation) -> list[Operation]:
    """The ops with regions inside of `root`, in text order; blocks are not entered, since they hold no loops or blocks.

    Returns a list, because every primitive searches several times, and a generator would take twice the time. Most ops
    are scalar ops in the bodies of blocks; `Operation.walk` would create a generator for each.
    """
    found: list[Operation] = []
    pending = first_ops(root)
    while pending:
        op = pending.pop()
        while op is not None and not op.regions:
            op = op.next_op
        if op is None:
            continue
        found.append(op)
        if (after := op.next_op) is not None:
            pending.append(after)
        # Exact types, here and below: `isinstance` of an abstract class is ten times slower.
        if type(op) is ForOp and (block := op.regions[0].first_block) is not None:
            if (first := block.first_op) is not None:
                pending.append(first)
        elif type(op) is not BlockOp:
            pending += first_ops(op)
    return found


def require_lowered_blocks(root: Operation, pass_name: str) -> None:
    """Raises `LoweringError` if `root` contains a `loop.block`; for passes that run after `loop-lower-blocks`."""
    if blocks := ops_of(root, BlockOp):
        raise LoweringError(
            f"{pass_name} does not accept {blocks[0].name}",
            location=describe_location(blocks[0]),
            help="run loop-lower-blocks first",
        )


def loops_of(kernel: func.FuncOp) -> dict[str, ForOp]:
    """Every loop of the kernel by name, in text order."""
    return {op.loop_name: op for op in structure_of(kernel) if type(op) is ForOp}


def loop_named(kernel: func.FuncOp, name: str) -> ForOp | None:
    """The loop of the kernel with this name, or `None`."""
    for op in structure_of(kernel):
        if type(op) is ForOp and op.loop_name == name:
            return op
    return None


def blocks_of(kernel: func.FuncOp) -> dict[str, BlockOp]:
    """Every block of the kernel by name, in text order."""
    return {op.block_name: op for op in structure_of(kernel) if type(op) is BlockOp}


def function_of(op: Operation) -> func.FuncOp:
    """The function around `op`, which must be in one."""
    parent = op.parent_op()
    while not isinstance(parent, func.FuncOp):
        assert parent is not None, "loops are in a function"
        parent = parent.parent_op()
    return parent


def enclosing_loops(op: Operation) -> list[ForOp]:
    """The loops around `op`, outermost first."""
    loops: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        if type(parent) is ForOp:
            loops.append(parent)
        parent = parent.parent_op()
    return loops[::-1]


def blocks_inside(op: Operation) -> list[BlockOp]:
    """The blocks in `op`, including itself, in text order."""
    return [inner for inner in (op, *structure_of(op)) if type(inner) is BlockOp]


def only_op(loop: ForOp) -> Operation | None:
    """The single op of the loop's body; `None` if it has no or several ops."""
    block = loop.body.block
    return block.first_op if block.first_op is block.last_op else None


def nest_root(block: BlockOp) -> Operation:
    """The outermost op that contains only `block`: a loop of its perfect nest, or the block itself."""
    root: Operation = block
    parent = root.parent_op()
    while isinstance(parent, ForOp) and only_op(parent) is root:
        root, parent = parent, parent.parent_op()
    return root


def reduced_indices(block: BlockOp) -> set[SSAValue]:
    """The loop indices on which a reduce or an ordered variable of the block depends; see `reduces_over`."""
    bindings = block.bindings
    reduced = [k for k, kind in enumerate(block.kinds) if kind is not IterKind.SPATIAL]
    return {index for k in reduced for index in bindings[k].operands}


def reduces_over(block: BlockOp, loop: ForOp) -> bool:
    """Whether a reduce or an ordered variable of the block depends on the loop."""
    return any(kind is not IterKind.SPATIAL for kind in _kinds_over(block, loop))


def is_spatial_in(block: BlockOp, loop: ForOp) -> bool:
    """Whether a spatial variable of the block depends on the loop."""
    return IterKind.SPATIAL in _kinds_over(block, loop)


def is_ordered_in(block: BlockOp, loop: ForOp) -> bool:
    """Whether an ordered variable of the block depends on the loop."""
    return IterKind.ORDERED in _kinds_over(block, loop)


def _kinds_over(block: BlockOp, loop: ForOp) -> list[IterKind]:
    """The kinds of the variables of a block that depend on a loop."""
    bindings = block.bindings
    return [kind for k, kind in enumerate(block.kinds) if loop.index in bindings[k].operands]


def runs_everywhere(block: BlockOp) -> bool:
    """Whether the loops around a block run it exactly once at each point of its variables."""
    loops = {loop.index: loop.bound for loop in enclosing_loops(block)}
    bindings, bound = block.bindings, set[SSAValue]()
    for expr, extent in zip(bindings.exprs, block.extents, strict=True):
        if isinstance(expr, AffineConstantExpr) and expr.value == 0 and extent == 1:
            continue
        index = bindings.operands[expr.position] if isinstance(expr, AffineDimExpr) else None
        if index is None or loops.get(index) != extent or index in bound:
            return False
        bound.add(index)
    return bound == loops.keys()


def only_store(output: SSAValue) -> StoreOp | None:
    """The only op that accesses `output`, if it is a store."""
    users = [use.operation for use in output.uses]
    stores = [op for op in users if isinstance(op, StoreOp)]
    blocks = [op for op in users if isinstance(op, BlockOp) and output not in op.reads]
    return stores[0] if len(stores) == 1 and len(stores) + len(blocks) == len(users) else None


def stores_once(block: BlockOp, index: ValueMap) -> bool:
    """Whether each point of a block runs once and stores its own element, with or without indices of extent 1."""
    if block.has_init or any(kind is not IterKind.SPATIAL for kind in block.kinds):
        return False
    stored = [index.operands[expr.position] for expr in index.exprs if isinstance(expr, AffineDimExpr)]
    is_plain = all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in index.exprs)
    missing = {variable for variable, extent in zip(block.variables, block.extents, strict=True) if extent != 1}
    return (
        is_plain
        and len(set(stored)) == len(stored)
        and missing <= set(stored) <= set(block.variables)
        and runs_everywhere(block)
    )


def is_local(buffer: SSAValue) -> bool:
    """Whether a buffer has the memory space `"local"`."""
    return isinstance(buffer.type, MemRefType) and buffer.type.memory_space == StringAttr(LOCAL)


def buffers_on_stack(function: func.FuncOp) -> set[memref.AllocOp]:
    """The local buffers of a function that are placed on the stack: in text order, as long as they fit.

    The others, such as those of `cache_write` without a `compute_at` after it, are allocated like any buffer.
    """
    room = STACK_BYTES
    found: set[memref.AllocOp] = set()
    for op in ops_of(function.body, memref.AllocOp):
        if is_local(op.memref) and op.memref.type.has_static_shape():
            size = prod(op.memref.type.get_shape()) * ceil(bit_width(op.memref.type.element_type) / 8)
            if size <= room:
                room -= size
                found.add(op)
    return found


def index_range(value: SSAValue) -> Interval | None:
    """The range of a loop index, a constant, or a product or minimum of these; None if unknown."""
    if type(value) is not OpResult or not isinstance(op := value.op, arith.MinSIOp | arith.MuliOp):
        return interval_of(value)
    left, right = index_range(op.lhs), index_range(op.rhs)
    if left is None or right is None:
        return None
    if isinstance(op, arith.MinSIOp):
        return min(left[0], right[0]), min(left[1], right[1])
    products = [a * b for a in left for b in right]
    return min(products), max(products)


def box_of(value: ValueMap) -> list[Interval | None]:
    """The range of each operand of a map."""
    return [index_range(operand) for operand in value.operands]


def range_of(value: ValueMap) -> Interval | None:
    """Bounds of the one expression of `value`; None if unknown."""
    return bounds(value.exprs[0], box_of(value))


def linear_in(value: ValueMap, index: SSAValue) -> tuple[int, LinearForm]:
    """The coefficient of `index` in the only expression of `value`, and the other terms, which may use it too."""
    form = linear_form(value.exprs[0], box_of(value))
    dim = AffineDimExpr(value.operands.index(index)) if index in value.operands else None
    step = sum(coefficient for atom, coefficient in form.terms if atom == dim)
    return step, LinearForm(tuple(term for term in form.terms if term[0] != dim), form.constant)


def is_nonnegative(value: ValueMap) -> bool:
    """Whether the one expression of `value` is proven to be 0 or more, by ranges and by extents that are values."""
    box = box_of(value)
    known = bounds(value.exprs[0], box)
    if known is not None and known[0] >= 0:
        return True
    space = Space(value.operands)
    limits = {
        position: space.lift(limit)[0]
        for position, operand in enumerate(value.operands)
        if (limit := _limit_of(operand)) is not None
    }
    box += [index_range(limit) for limit in space.values[len(box) :]]
    return is_nonnegative_within(value.exprs[0], box, limits)


def _limit_of(value: SSAValue) -> ValueMap | None:
    """The exclusive upper limit of an index in terms of the kernel's extents; None if it is a number."""
    if isinstance(value, OpResult) and isinstance(value.op, arith.MinSIOp):
        return _of_kernel(expression_of(value.op.rhs).plus(1))
    loop = loop_of_index(value)
    return None if loop is None or loop.dynamic_extent is None else _of_kernel(expression_of(loop.dynamic_extent))


def _of_kernel(value: ValueMap) -> ValueMap | None:
    """Returns `value` if its operands are defined outside of all loops; None for a number and for other expressions."""
    return value if value.operands and all(map(is_made_outside, value.operands)) else None


def is_made_outside(value: SSAValue) -> bool:
    """Whether a value is defined outside of all loops: an argument of the function, or computed at its top."""
    owner = value.owner
    return isinstance(owner.parent_op(), func.FuncOp)


def domain_conditions(block: BlockOp, index: SSAValue | None = None) -> list[tuple[ValueMap, ValueMap]]:
    """The variables of `block` that may leave their domains, as (binding, extent); given `index`, those bound to it."""
    bindings = block.bindings
    conditions: list[tuple[ValueMap, ValueMap]] = []
    for position, extent in enumerate(block.extents):
        binding = bindings[position]
        if extent == DYNAMIC or (index is not None and index not in binding.operands) or _runs_over(binding, extent):
            continue
        limit = expression_of(extent)
        if not all(is_within(binding, limit)):
            conditions.append((binding, limit))
    return conditions


def _runs_over(binding: ValueMap, extent: Extent) -> bool:
    """Whether a binding is the index of a loop of this extent: most are, and need no proof."""
    expr = binding.exprs[0]
    loop = loop_of_index(binding.operands[expr.position]) if isinstance(expr, AffineDimExpr) else None
    return loop is not None and loop.bound == extent


def is_within(value: ValueMap, extent: ValueMap) -> tuple[bool, bool]:
    """Whether the one expression of `value` is proven to be 0 or more, and to be less than `extent`."""
    number = extent.exprs[0]
    interval = range_of(value) if isinstance(number, AffineConstantExpr) else None
    if isinstance(number, AffineConstantExpr) and interval is not None and interval[1] < MAX_EXTENT - 1:
        return interval[0] >= 0, interval[1] < number.value
    return is_nonnegative(value), is_nonnegative(extent.plus(value, -1).plus(-1))
