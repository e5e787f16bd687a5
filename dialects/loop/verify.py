"""Verifiers of the ops of the loop level, separate from the ops because each uses several kinds of ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, i1, i64
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.loop.access_ops import LoadOp, StoreOp
from xrelay.dialects.loop.base import IterKind, LoopKind, checks
from xrelay.dialects.loop.block_op import DYNAMIC, EXTENT_OPERAND, BlockOp
from xrelay.dialects.loop.extents import is_index_argument, loop_of_index, out_of_range, verify_extents
from xrelay.dialects.loop.for_op import MAX_COPIES, MAX_LANES, ForOp
from xrelay.dialects.loop.row_ops import CHUNK, RowOp, SortOp, SuppressOp, key_type, scratch_shape
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.value_map import ValueMap


def fail(op: Operation, constraint: str, message: str) -> VerifyException:
    """The error of a violated constraint."""
    return VerifyException(f"[{op.name} {constraint}] {message}")


@checks(ForOp)
def verify_for(op: ForOp) -> None:
    """Checks C1 to C3 and C6; checks C4, C5 and C7 once for the whole function, at its first loop."""
    if (op.extent is None) == (op.dynamic_extent is None):
        raise fail(op, "C1", f"loop {op.loop_name!r} needs one extent: a number or a value")
    if op.extent is not None and op.extent < 0:
        raise fail(op, "C2", f"loop {op.loop_name!r} has a negative extent: {op.extent}")
    arguments = op.body.block.arg_types
    if arguments != (IndexType(),):
        raise fail(op, "C3", f"the body of loop {op.loop_name!r} needs one index argument, got {len(arguments)}")
    if op.kind is LoopKind.VECTORIZED and op.extent is not None and op.extent > MAX_LANES:
        raise fail(
            op, "C6", f"vectorized loop {op.loop_name!r} has {op.extent} iterations, at most {MAX_LANES} are lanes"
        )
    if op.kind is LoopKind.UNROLLED and op.copies > MAX_COPIES:
        raise fail(op, "C6", f"loop {op.loop_name!r} is unrolled to {op.copies} copies, {MAX_COPIES} are allowed")
    parent = op.parent_op()
    if isinstance(parent, func.FuncOp) and not _loop_before(op):
        verify_extents(parent)
        _verify_names(parent)
        _verify_dominance(parent)


def _loop_before(op: ForOp) -> bool:
    previous = op.prev_op
    while previous is not None:
        if isinstance(previous, ForOp):
            return True
        previous = previous.prev_op
    return False


def _verify_names(function: func.FuncOp) -> None:
    seen: set[tuple[str, str]] = set()
    for op in function.body.walk():
        if isinstance(op, ForOp):
            key = ("loop", op.loop_name)
        elif isinstance(op, BlockOp):
            key = ("block", op.block_name)
        else:
            continue
        if key in seen:
            raise VerifyException(f"[loop.for C4] @{function.sym_name.data} has two {key[0]}s with the name {key[1]!r}")
        seen.add(key)


def _verify_dominance(function: func.FuncOp) -> None:
    """Checks that values are used in their block or below, after their definition; skips functions with branches."""
    if function.body.first_block is not function.body.last_block:
        return
    visible: set[SSAValue] = set()
    open_blocks: list[tuple[Block, Iterator[Operation]]] = []
    waiting = list(reversed(function.body.blocks))
    while waiting or open_blocks:
        if waiting and (not open_blocks or waiting[-1].parent_block() is open_blocks[-1][0]):
            block = waiting.pop()
            visible.update(block.args)
            open_blocks.append((block, iter(block.ops)))
            continue
        block, ops = open_blocks[-1]
        op = next(ops, None)
        if op is None:
            open_blocks.pop()
            visible.difference_update(block.args, *(inner.results for inner in block.ops))
            continue
        for position, operand in enumerate(op.operands):
            if operand not in visible:
                raise VerifyException(f"[loop.for C5] operand {position} of '{op.name}' is used before its definition")
        visible.update(op.results)
        waiting.extend(inner for region in reversed(op.regions) for inner in reversed(region.blocks))


@checks(BlockOp)
def verify_block(op: BlockOp) -> None:
    """Checks C1 to C12."""
    _verify_block_shape(op)
    for operand in op.binding_operands:
        if not _is_enclosing_index(op, operand) and not is_index_argument(operand):
            raise fail(op, "C4", f"a binding of block {op.block_name!r} uses a value that no enclosing loop runs over")
    for extent in op.extent_operands:
        if not isinstance(extent.owner.parent_op(), func.FuncOp):
            raise fail(op, "C12", f"an extent of block {op.block_name!r} is computed inside of a loop")
    stored: set[SSAValue] = set()
    for inner in op.walk():
        if inner is op:
            continue
        if isinstance(inner, ForOp | BlockOp):
            raise fail(op, "C10", f"block {op.block_name!r} contains a '{inner.name}'")
        _verify_inner(op, inner, stored)
    listed = set(op.writes)
    if stored != listed:
        raise fail(op, "C5", f"block {op.block_name!r} stores to {len(stored)} buffers, writes() lists {len(listed)}, "
                   f"{len(stored & listed)} are in both")  # fmt: skip
    for access in op.body.walk():
        if isinstance(access, StoreOp) and _is_computed(access):
            _verify_apart(op, access.memref)


def _is_computed(access: LoadOp | StoreOp) -> bool:
    """Whether an index of the access is not an expression of variables."""
    return any(isinstance(operand, OpResult) for operand in access.index_operands)


def _verify_apart(op: BlockOp, buffer: SSAValue) -> None:
    """Checks C11 for a buffer that the block updates at a computed position."""
    if IterKind.REDUCE in op.kinds:
        raise fail(op, "C11", f"block {op.block_name!r} has a computed store index and a reduce variable")
    accesses = [each for each in op.body.walk() if isinstance(each, LoadOp | StoreOp) and each.memref is buffer]
    for position in op.spatial:
        own = ValueMap.identity([op.variables[position]])
        places = [{d for d in range(len(each.index)) if each.index[d] == own} for each in accesses]
        if op.extents[position] != 1 and not set[int].intersection(*places):
            raise fail(op, "C11", f"block {op.block_name!r} has a computed store index, but its spatial variable "
                       f"{position} is not an index of the updated buffer")  # fmt: skip


def _verify_block_shape(op: BlockOp) -> None:
    kinds, extents, bindings = len(op.kinds), op.extents, op.bindings_attr.data
    if not kinds == len(extents) == len(bindings.results):
        raise fail(op, "C1", f"{kinds} kinds, {len(extents)} extents and {len(bindings.results)} bindings")
    if bindings.num_symbols or bindings.num_dims != len(op.binding_operands):
        raise fail(op, "C1", f"bindings over {bindings.num_dims} dimensions have {len(op.binding_operands)} operands")
    for extent in extents:
        if isinstance(extent, int) and extent <= 0 and extent != DYNAMIC:
            raise fail(op, "C2", f"a variable of block {op.block_name!r} has extent {extent}")
    values = op.extents_attr.get_values().count(EXTENT_OPERAND)
    if values != len(op.extent_operands):
        raise fail(
            op,
            "C2",
            f"{values} extents of block {op.block_name!r} are values, it has {len(op.extent_operands)} extent operands",
        )
    _verify_arguments(op, "body", op.body.block, kinds)
    if not op.has_init:
        return
    if not op.is_reduction:
        raise fail(op, "C7", f"block {op.block_name!r} has an init but no reduce or ordered variable")
    _verify_arguments(op, "init", op.init.block, len(op.spatial))


def _verify_arguments(op: BlockOp, what: str, block: Block, expected: int) -> None:
    if block.arg_types != (IndexType(),) * expected:
        raise fail(op, "C3", f"the {what} needs {expected} index arguments, got {len(block.args)}")


def _is_enclosing_index(op: BlockOp, value: SSAValue) -> bool:
    loop = loop_of_index(value)
    return loop is not None and loop.is_ancestor(op)


def _verify_inner(op: BlockOp, inner: Operation, stored: set[SSAValue]) -> None:
    if not isinstance(inner, LoadOp | StoreOp):
        for operand in inner.operands:
            if (loop := loop_of_index(operand)) is not None:
                raise fail(op, "C9", f"'{inner.name}' in block {op.block_name!r} computes with the index of loop "
                           f"{loop.loop_name!r}; use a block variable")  # fmt: skip
        if isinstance(inner, RowOp):
            _verify_inner_row(op, inner, stored)
        return
    if isinstance(inner, LoadOp):
        _verify_loads(op, inner.memref)
        return
    stored.add(inner.memref)
    _verify_stores(op, inner.index_operands)


def _verify_inner_row(op: BlockOp, inner: RowOp, stored: set[SSAValue]) -> None:
    for buffer in inner.read_buffers:
        _verify_loads(op, buffer)
    stored.update(inner.writes)
    _verify_stores(op, inner.numbers)


def _verify_loads(op: BlockOp, buffer: SSAValue) -> None:
    if buffer not in op.reads and buffer not in op.writes:
        raise fail(op, "C6", f"block {op.block_name!r} loads from a buffer that reads() does not list")


def _verify_stores(op: BlockOp, indices: Sequence[SSAValue]) -> None:
    reduce_variables = {v for v, kind in zip(op.variables, op.kinds, strict=True) if kind is IterKind.REDUCE}
    if any(operand in reduce_variables for operand in indices):
        raise fail(op, "C8", f"a store of block {op.block_name!r} depends on a reduce variable")


@checks(LoadOp, StoreOp)
def verify_access(op: LoadOp | StoreOp) -> None:
    """Checks C1 to C4."""
    scalar, element = op.scalar.type, op.buffer_type.element_type
    if scalar != signless(element):
        raise fail(
            op, "C4", f"a scalar of type {scalar} for elements of type {element}, which are {signless(element)} scalars"
        )
    shape = op.buffer_type.get_shape()
    affine_map = op.map_attr.data
    if len(affine_map.results) != len(shape):
        raise fail(op, "C1", f"{len(affine_map.results)} indices for a buffer of rank {len(shape)}")
    if affine_map.num_symbols or affine_map.num_dims != len(op.index_operands):
        raise fail(op, "C2", f"a map over {affine_map.num_dims} dimensions has {len(op.index_operands)} operands")
    if _is_guarded(op):
        return
    for position, (low, high) in out_of_range(op.index, shape):
        size = shape[position]
        raise fail(op, "C3", f"index {position} runs from {low} to {high}, the buffer has {size} elements there")


@checks(SortOp)
def verify_sort(op: SortOp) -> None:
    """Checks C1 to C3."""
    buffers = (op.source, *op.writes)
    shapes = [SSAValue.get(buffer, type=MemRefType).type.get_shape() for buffer in buffers]
    source, axis = shapes[0], op.axis.value.data
    if not 0 <= axis < len(source) or len(op.row) != len(source) - 1:
        raise fail(op, "C1", f"axis {axis} and {len(op.row)} row indices for a buffer of rank {len(source)}")
    kept = list(source)
    for shape in shapes[1:3]:
        kept[axis] = shape[axis] if len(shape) == len(source) else -1
        if list(shape) != kept or (DYNAMIC_INDEX != source[axis] < kept[axis]):
            raise fail(op, "C2", f"a result of shape {list(shape)} for a source of shape {list(source)}")
    if shapes[1] != shapes[2]:
        raise fail(op, "C2", f"values of shape {list(shapes[1])} and indices of shape {list(shapes[2])}")
    selected = shapes[1][axis] if op.selects is not None else None
    wanted = scratch_shape(source, axis, selected)
    if (source[axis] if selected is None else selected) == DYNAMIC_INDEX:
        wanted[-1] = DYNAMIC_INDEX
    if any(list(shape) != wanted for shape in shapes[3:]):
        raise fail(op, "C2", f"scratch buffers of shape {[list(s) for s in shapes[3:]]}, not {wanted}")
    if op.length is None or op.count is None:
        raise fail(op, "C2", "the length of the rows and the number of kept elements must be known or have an operand")
    elements = [SSAValue.get(buffer, type=MemRefType).type.element_type for buffer in buffers]
    if elements != [elements[0], elements[0], i64, key_type(elements[0]), i64]:
        raise fail(op, "C3", f"element types are {', '.join(map(str, elements))}, not T, T, i64, integers of T, i64")


@checks(SuppressOp)
def verify_suppress(op: SuppressOp) -> None:
    """Checks C1 and C2."""
    buffers = (*op.read_buffers, *op.writes)
    types = [SSAValue.get(buffer, type=MemRefType).type for buffer in buffers]
    shapes, row = [list(type.get_shape()) for type in types], list(types[1].get_shape())
    if len(row) != 3 or op.length is None:
        raise fail(op, "C1", f"the order is {types[1]}, it must have rank 3 and a known last extent")
    batch, classes, count = row
    room = count if count == DYNAMIC_INDEX else count + CHUNK - 1
    sides = 6 if shapes[0][1:2] == [6] else 5
    wanted = [[batch, sides, count], row, row, [], [], [], row, [batch, classes, sides, room]]
    if not all(map(_may_be_equal, shapes, wanted)):
        raise fail(op, "C1", f"extents do not fit: {', '.join(map(str, types))}")
    elements = [type.element_type for type in types]
    if elements != [elements[0], i64, elements[0], i64, elements[0], elements[0], i1, elements[0]]:
        raise fail(op, "C2", f"element types are {', '.join(map(str, elements))}, not T, i64, T, i64, T, T, i1, T")


def _may_be_equal(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes have the same rank and no different static extents."""
    pairs = zip(shape, other, strict=False)
    return len(shape) == len(other) and all(a == b or DYNAMIC_INDEX in (a, b) for a, b in pairs)


def _is_guarded(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        if isinstance(parent, scf.IfOp):
            return True
        parent = parent.parent_op()
    return False
