"""Edits of a loop nest: fresh names, replaced indices, redirected accesses, and nests that copy buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.traits import is_side_effect_free

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import expression_of, extents_of, interval_of
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.passes.loop.index_arith import IndexArith, RangeOf, index_constant
from xrelay.passes.loop.nest_queries import index_range, structure_of


class Names:
    """The names of loops and blocks in a function, and fresh names derived from them."""

    _loops: set[str]
    _blocks: set[str]

    def __init__(self, function: Operation):
        structure = list(structure_of(function))
        self._loops = {op.loop_name for op in structure if isinstance(op, ForOp)}
        self._blocks = {op.block_name for op in structure if isinstance(op, BlockOp)}

    def loop(self, stem: str) -> str:
        """A fresh name for a loop: `stem`, or `stem` and a number."""
        return _fresh(stem, self._loops)

    def block(self, stem: str) -> str:
        """A fresh name for a block: `stem`, or `stem` and a number."""
        return _fresh(stem, self._blocks)

    def rename_nested(self, op: Operation, suffix: str) -> None:
        """Renames the loops and blocks of a copied nest to fresh names."""
        for inner in (op, *structure_of(op)):
            if isinstance(inner, ForOp):
                inner.loop_name_attr = StringAttr(self.loop(f"{inner.loop_name}_{suffix}"))
            elif isinstance(inner, BlockOp):
                inner.block_name_attr = StringAttr(self.block(f"{inner.block_name}_{suffix}"))


def _fresh(stem: str, taken: set[str]) -> str:
    candidates: Iterator[str] = (stem if n == 0 else f"{stem}_{n}" for n in count())
    name = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(name)
    return name


def substitute_index(index: SSAValue, value: ValueMap, at: Block) -> None:
    """Replaces all uses of `index` by the one expression of `value`.

    In bindings and accesses, `value` is composed into their expressions. For uses by other ops, `value` is computed at
    the start of the block `at`, which must contain all these uses.
    """
    computed: SSAValue | None = None
    for use in list(index.uses):
        user = use.operation
        if isinstance(user, BlockOp):
            user.bindings = user.bindings.substitute({index: value})
        elif isinstance(user, LoadOp | StoreOp):
            user.index = user.index.substitute({index: value})
        else:
            if computed is None:
                ops: list[Operation] = []
                computed = compute(value, ops)
                prepend(at, ops)
            user.operands[use.index] = computed


def replace_indices(replacements: Mapping[SSAValue, ValueMap]) -> None:
    """Rewrites every binding and access that uses one of the indices in terms of other indices."""
    users = {use.operation: None for value in replacements for use in value.uses}
    for user in users:
        if isinstance(user, BlockOp):
            user.bindings = simplified(user.bindings.substitute(replacements))
        elif isinstance(user, LoadOp | StoreOp):
            user.index = simplified(user.index.substitute(replacements))


def retarget(block: BlockOp, old: SSAValue, new: SSAValue) -> None:
    """Replaces `old` by `new` in all accesses of `block`."""
    for op in all_ops(block):
        for position, operand in enumerate(op.operands):
            if operand is old:
                op.operands[position] = new


def list_buffers(block: BlockOp) -> None:
    """Makes `reads` and `writes` of a block name the buffers that it accesses; those named already keep their order."""
    named = dict.fromkeys((*block.reads, *block.writes))
    stored = {op.memref: None for op in ops_of(block, StoreOp)}
    loaded = {op.memref: None for op in ops_of(block, LoadOp) if op.memref not in stored}
    block.set_buffers(*([buffer for buffer in named | found if buffer in found] for found in (loaded, stored)))


def take_body(loop: ForOp, index: ValueMap) -> list[Operation]:
    """Detaches the ops of a loop's body and replaces the loop's index in them by `index`."""
    substitute_index(loop.index, index, loop.body.block)
    ops = list(loop.body.block.ops)
    for op in ops:
        op.detach()
    return ops


def erase_empty_loops(function: Operation) -> None:
    """Erases loops without ops, innermost first."""
    for loop in reversed(ops_of(function, ForOp)):
        if loop.body.block.is_empty:
            loop.detach()
            loop.erase()


def take_branch(op: scf.IfOp, *, answer: bool) -> None:
    """Replaces an `scf.if` by the ops of the region that runs, since a contracted loop may contain no branch."""
    region = op.true_region if answer else op.false_region
    if region.blocks:
        *ops, last = region.block.ops
        assert op.parent is not None, "it is in a loop"
        for inner in ops:
            inner.detach()
        op.parent.insert_ops_before(ops, op)
        for result, value in zip(op.results, last.operands, strict=True):
            result.replace_all_uses_with(value)
    op.detach()
    op.erase()


def erase_unused(op: Operation) -> None:
    """Erases an op without uses, and the arithmetic that only it uses."""
    pending = [op]
    while pending:
        current = pending.pop()
        if current.parent is None or any(result.uses for result in current.results) or not is_side_effect_free(current):
            continue
        pending += [operand.owner for operand in current.operands if isinstance(operand.owner, Operation)]
        current.detach()
        current.erase()


def prepend(block: Block, ops: Sequence[Operation]) -> None:
    """Inserts `ops` at the start of a block."""
    if (first := block.first_op) is not None:
        block.insert_ops_before(ops, first)
    else:
        block.add_ops(ops)


def compute(value: ValueMap, ops: list[Operation], range_of: RangeOf = index_range) -> SSAValue:
    """Appends to `ops` the ops that compute the one expression of `value`; returns the result."""

    def constant(number: int) -> SSAValue:
        ops.append(op := index_constant(number))
        return op.result

    return IndexArith(ops.append, constant, range_of).value(value)


def extent_value(kernel: Operation, value: ValueMap, name: str | None = None) -> int | SSAValue:
    """The one expression of `value`, an expression of extents, as the extent of a loop of `kernel`.

    A constant becomes a number. Other expressions become a value at the top of the kernel's body, computed once: the
    operand itself, the result of an existing op, or of new ops there, with the name hint `name`.
    """
    value = simplified(value)
    if isinstance(number := value.exprs[0], AffineConstantExpr):
        return number.value
    if value == ValueMap.identity(value.operands):
        return value.operands[0]
    body = kernel.regions[0].block
    leading = list(
        takewhile(lambda op: op.name.startswith("arith.") and isinstance(op.results[0].type, IndexType), body.ops)
    )
    for op in leading:
        if expression_of(op.results[0]) == value:
            return op.results[0]
    ops: list[Operation] = []
    result = compute(value, ops)
    result.name_hint = name
    if leading:
        body.insert_ops_after(ops, leading[-1])
    else:
        prepend(body, ops)
    return result


def simplified(index: ValueMap) -> ValueMap:
    """`index` simplified by the extents of loops and variables."""
    if index.is_simple:
        return index
    return index.simplified({v: known for v in index.operands if (known := interval_of(v)) is not None})


def difference(left: ValueMap, right: ValueMap) -> ValueMap:
    """`left - right` for two single expressions, simplified."""
    return simplified(left.plus(right, -1))


def total(left: ValueMap, right: ValueMap) -> ValueMap:
    """`left + right` for two single expressions, simplified."""
    return simplified(left.plus(right))


def alloc_like(type: MemRefType, shape: Sequence[Extent]) -> memref.AllocOp:
    """Allocates a contiguous buffer of these extents, which may be values, in the memory space of `type`."""
    sizes = [DYNAMIC_INDEX if isinstance(extent, SSAValue) else extent for extent in shape]
    values = [extent for extent in shape if isinstance(extent, SSAValue)]
    return memref.AllocOp(values, [], buffer_type(type.element_type, sizes, space=type.memory_space))


def known_extents(buffer: SSAValue) -> list[Extent] | None:
    """The extents of a buffer as numbers and values; None if an extent is unknown."""
    extents = [extent for extent in extents_of(buffer) if extent is not None]
    return extents if len(extents) == memref_type(buffer).get_num_dims() else None


def copy_nest(
    name: str,
    loops: Sequence[str],
    shape: Sequence[Extent],
    copies: Mapping[SSAValue, SSAValue],
    order: Sequence[int] | None = None,
) -> Operation:
    """Builds loops over `shape` around a block that copies one element of each source in `copies` to its target.

    `shape` is the shape of the targets. With `order`, dimension k of a target is dimension `order[k]` of its source.
    """
    nest = [ForOp(loop, extent) for loop, extent in zip(loops, shape, strict=True)]
    variables = [
        IterVar(IterKind.SPATIAL, extent, ValueMap.make([AffineDimExpr(0)], (loop.index,)), f"v{dimension}")
        for dimension, (loop, extent) in enumerate(zip(nest, shape, strict=True))
    ]
    block = BlockOp(name, variables, list(copies), list(copies.values()))
    with ImplicitBuilder(block.body):
        index = ValueMap.identity(block.variables)
        read = index if order is None else index.select([order.index(dimension) for dimension in range(len(order))])
        for source, target in copies.items():
            value = LoadOp(source, read)
            StoreOp(value.result, target, index)
    return nested(nest, block)


def nested(loops: Sequence[ForOp], inner: Operation) -> Operation:
    """Nests `inner` inside `loops`, the outermost first; returns the outermost op."""
    for loop in reversed(loops):
        loop.body.block.add_op(inner)
        inner = loop
    return inner
