"""The buffers that values of a graph function refer to, their lifetimes, and the deallocation of dynamic buffers.

A subview of a buffer counts as the buffer; `loop.subview` itself is not a use.

Branches and loops between the calls are included: a step is the number of an op in text order. Branches share memory
like successive code. A buffer from outside a loop is needed until the end of the loop, because the next iteration reads
it again.

A dynamic buffer, which is outside of the arena, is owned by the block that allocates it. The operands of `scf.yield`,
`scf.condition` and `func.return`, and the initial operands of an `scf.while`, transfer ownership. Buffers that are
results of `scf.if`, `scf.while` or `func.call` are therefore owned by the block of the op, and those that are region
arguments by the region. A buffer that an op deallocates explicitly must be deallocated on all paths.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import SubviewOp, WeightOp
from xrelay.dialects.shared.attribute_names import ARENA
from xrelay.dialects.shared.op_lists import is_kind
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs

Buffer = SSAValue | Attribute
"""The identity of a buffer: the value that allocates it, or the attribute of a weight."""


LOOPS = (scf.WhileOp, scf.ForOp)
"""The ops with regions that run repeatedly."""

TRANSFERRING_OPS = (scf.YieldOp, scf.ConditionOp, scf.WhileOp, func.ReturnOp)
"""The ops that transfer the ownership of the buffers among their operands."""

_OWNING_OPS = (scf.IfOp, scf.WhileOp, func.CallOp)
"""The ops whose results and region arguments own buffers."""


def roots_of(block: Block) -> dict[SSAValue, tuple[Buffer, ...]]:
    """Maps each memref value of a graph function's block, and of regions in it, to the buffers it may refer to."""
    roots: dict[SSAValue, tuple[Buffer, ...]] = {arg: (arg,) for arg in block.args if isinstance(arg.type, MemRefType)}
    arenas = _arenas(block)
    for op in _ops_in(block):
        if is_kind(type(op), _OWNING_OPS):
            roots |= {buffer: (buffer,) for buffer in _made_by(op)}
            continue
        if type(op) is WeightOp:
            roots[op.results[0]] = (op.weight,)
            continue
        sources = tuple(dict.fromkeys(root for operand in op.operands for root in roots.get(operand, ())))
        for result in op.results:
            if isinstance(result.type, MemRefType):
                roots[result] = (result,) if not sources or _is_place_in(arenas, op) else sources
    return roots


def _made_by(op: Operation) -> list[SSAValue]:
    """The buffers among the results of an op and the arguments of its regions."""
    arguments = (arg for region in op.regions for block in region.blocks for arg in block.args)
    return [value for value in (*op.results, *arguments) if isinstance(value.type, MemRefType)]


def _arenas(block: Block) -> set[SSAValue]:
    """The arguments of a function's block that are marked as arenas."""
    function = block.parent_op()
    if not isinstance(function, func.FuncOp):
        return set()
    return {arg for arg, attrs in zip(block.args, argument_attrs(function), strict=True) if ARENA in attrs}


def _is_place_in(arenas: Container[SSAValue], op: Operation) -> bool:
    """Whether `op` is a view of an arena, or a view at a constant offset, whose place is planned already."""
    if not isinstance(op, memref.ViewOp):
        return False
    return op.source in arenas or isinstance(op.byte_shift.owner, arith.ConstantOp)


@dataclass(frozen=True)
class Lifetimes:
    """First and last use of each buffer, as steps, and the buffers whose ownership is transferred."""

    first: dict[Buffer, int]
    last: dict[Buffer, int]
    given: set[Buffer]


def lifetimes_in(block: Block) -> Lifetimes:
    """The lifetimes of the buffers of a graph function's block."""
    roots = roots_of(block)
    lives = Lifetimes({}, {}, set())
    ops = list(_ops_in(block))
    spans = _loop_spans(ops)
    for step, op in enumerate(ops):
        if isinstance(op, SubviewOp):
            continue
        for root in (root for operand in op.operands for root in roots.get(operand, ())):
            first, last = _needed(root, op, step, spans) if spans else (step, step)
            lives.first[root] = min(lives.first.get(root, first), first)
            lives.last[root] = max(lives.last.get(root, last), last)
            if is_kind(type(op), TRANSFERRING_OPS):
                lives.given.add(root)
    return lives


def _ops_in(block: Block) -> Iterator[Operation]:
    """The ops of a block and of the regions in it, in text order."""
    return (inner for op in block.ops for inner in walk_ops(op))


def _loop_spans(ops: Sequence[Operation]) -> dict[Operation, tuple[int, int]]:
    """The steps of each loop: its own, and that of the last op in it."""
    steps = {op: step for step, op in enumerate(ops)}
    spans: dict[Operation, tuple[int, int]] = {}
    for op, step in steps.items():
        if is_kind(type(op), LOOPS):
            end = op.regions[-1].block.last_op
            spans[op] = (step, step if end is None else steps[end])
    return spans


def _needed(root: Buffer, op: Operation, step: int, spans: dict[Operation, tuple[int, int]]) -> tuple[int, int]:
    """The steps for which `op` needs a buffer, extended to whole loops that use but do not define it."""
    made_in = block_of(root) if isinstance(root, SSAValue) else None
    found, block = (step, step), op.parent
    while block is not None and block is not made_in:
        around = block.parent_op()
        if around is None:
            break
        found = spans.get(around, found)
        block = around.parent
    return found


def free_dynamic_buffers(function: func.FuncOp, allocs: Iterable[memref.AllocOp]) -> None:
    """Adds a `memref.dealloc` for each of `allocs` and each buffer from a call or an op of scf, unless it is freed.

    Before → after:

    ```
    %t = memref.alloc(%k) : memref<?xf32>         %t = memref.alloc(%k) : memref<?xf32>
    func.call @k(%x, %t, %k) : …              →   func.call @k(%x, %t, %k) : …
    func.call @l(%t, %y, %k) : …                  func.call @l(%t, %y, %k) : …
                                                  memref.dealloc %t : memref<?xf32>
    ```

    Buffers whose ownership is transferred are not freed.
    """
    block = function.body.block
    made = [buffer for op in _ops_in(block) if is_kind(type(op), _OWNING_OPS) for buffer in _made_by(op)]
    buffers = [*(alloc.memref for alloc in allocs), *made]
    lives = BlockLifetimes(block).lives if buffers else {}
    for buffer in buffers:
        life = lives.get(buffer)
        if life is not None and life.ended is not None:
            continue
        user = buffer.owner if life is None else life.user
        free = memref.DeallocOp.get(buffer)
        if isinstance(user, Operation):
            free.location = user.location
            Rewriter.insert_op(free, InsertPoint.after(user))
        else:
            Rewriter.insert_op(free, InsertPoint.at_start(user))


@dataclass
class BufferUses:
    """The uses of a buffer, as positions: numbers of ops in the block of the buffer.

    Ops inside a branch or a loop have the position of the branch or loop. `ended` is the position at which the buffer
    is transferred or freed.
    """

    buffer: SSAValue
    """The buffer, or the larger buffer that contains this subview."""
    first: int
    begin: int
    """The first use, including the subviews that replace other buffers."""
    last: int
    user: Operation
    """The op at `last`."""
    written: int = -1
    """The last store."""
    ended: int | None = None


class BlockLifetimes:
    """The lifetimes of the buffers of a graph function's block and of regions in it; constants have none."""

    def __init__(self, block: Block, stored: Callable[[Operation], Collection[int]] = lambda _: ()):
        """`stored` returns the numbers of the operands to which an op may store."""
        self.roots = roots_of(block)
        self.positions: dict[Operation, int] = {}
        self.lives: dict[SSAValue, BufferUses] = {}
        for op in _ops_in(block):
            before = op.prev_op
            self.positions[op] = 0 if before is None else self.positions[before] + 1
            if isinstance(op, SubviewOp):
                continue
            written = stored(op)
            for number, operand in enumerate(op.operands):
                for root in self.roots.get(operand, ()):
                    if isinstance(root, SSAValue):
                        self._note(root, op, is_written=number in written)

    def _note(self, root: SSAValue, op: Operation, *, is_written: bool) -> None:
        user = ancestor_in(block_of(root), op)
        position = self.positions[user]
        life = self.lives.setdefault(root, BufferUses(root, position, position, position, user))
        if position >= life.last:
            life.last, life.user = position, user
        if is_written:
            life.written = max(life.written, position)
        if is_kind(type(op), (*TRANSFERRING_OPS, memref.DeallocOp)):
            life.ended = position if life.ended is None else min(life.ended, position)


def block_of(buffer: SSAValue) -> Block:
    """The block that owns a buffer."""
    home = buffer.owner if isinstance(buffer.owner, Block) else buffer.owner.parent
    assert home is not None, "a buffer belongs to a block"
    return home


def ancestor_in(block: Block | None, op: Operation) -> Operation:
    """The ancestor of `op` in `block`, or `op` itself."""
    while op.parent is not block and (around := op.parent_op()) is not None:
        op = around
    return op
