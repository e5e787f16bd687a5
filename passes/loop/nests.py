"""Small things that rewrites of loop nests share: what encloses an op, fresh names, giving an index another value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.ranges import interval_of
from xrelay.index_algebra.affine_bounds import Interval, bounds
from xrelay.passes.loop.index_arith import IndexArith


def enclosing_loops(op: Operation) -> list[ForOp]:
    """The loops around `op`, the outermost first."""
    loops: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            loops.append(parent)
        parent = parent.parent_op()
    return loops[::-1]


def index_range(value: SSAValue) -> Interval | None:
    """What a loop index, a constant, a product or a minimum of such can be; None if that is not known."""
    if not isinstance(value, OpResult) or not isinstance(op := value.op, arith.MinSIOp | arith.MuliOp):
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


def is_local(buffer: SSAValue) -> bool:
    """Whether a buffer has the memory space `"local"`."""
    return isinstance(buffer.type, MemRefType) and buffer.type.memory_space == StringAttr(LOCAL)


def blocks_inside(op: Operation) -> list[BlockOp]:
    """The statements under `op`, in order."""
    return [inner for inner in op.walk() if isinstance(inner, BlockOp)]


class Names:
    """The names of loops and blocks in a function, and fresh ones made from them."""

    _loops: set[str]
    _blocks: set[str]

    def __init__(self, function: Operation):
        self._loops = {op.loop_name for op in function.walk() if isinstance(op, ForOp)}
        self._blocks = {op.block_name for op in function.walk() if isinstance(op, BlockOp)}

    def loop(self, stem: str) -> str:
        """A name for a loop that no other has: `stem`, or `stem` and a number."""
        return _fresh(stem, self._loops)

    def block(self, stem: str) -> str:
        """A name for a block that no other has: `stem`, or `stem` and a number."""
        return _fresh(stem, self._blocks)

    def rename_inside(self, op: Operation, suffix: str) -> None:
        """Gives the loops and blocks of a copied nest names of their own."""
        for inner in op.walk():
            if isinstance(inner, ForOp):
                inner.loop_name_attr = StringAttr(self.loop(f"{inner.loop_name}_{suffix}"))
            elif isinstance(inner, BlockOp):
                inner.block_name_attr = StringAttr(self.block(f"{inner.block_name}_{suffix}"))


def _fresh(stem: str, taken: set[str]) -> str:
    candidates: Iterator[str] = (stem if n == 0 else f"{stem}_{n}" for n in count())
    name = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(name)
    return name


def give_value(index: SSAValue, value: ValueMap, at: Block) -> None:
    """Everything that uses `index` uses the one expression of `value` instead.

    Bindings and accesses get it composed into their expressions; where an op computes with the index, `value` is
    computed at the beginning of the block `at`, under which all these uses stand.
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


def prepend(block: Block, ops: Sequence[Operation]) -> None:
    """Inserts `ops` at the beginning of a block."""
    if (first := block.first_op) is not None:
        block.insert_ops_before(ops, first)
    else:
        block.add_ops(ops)


def compute(value: ValueMap, ops: list[Operation]) -> SSAValue:
    """Appends to `ops` what computes the one expression of `value`."""

    def constant(number: int) -> SSAValue:
        ops.append(op := arith.ConstantOp(IntegerAttr.from_index_int_value(number)))
        return op.result

    return IndexArith(ops.append, constant, index_range).value(value)
