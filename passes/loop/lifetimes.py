"""What the values of a graph function point into, for how long that is needed, and what is given away.

A part of a buffer is the buffer; to name a part is no use of it.

Branches and loops between the calls are walked into: a step is the number of an op in the order of the text. Branches
share memory as what comes one after the other does. What comes from outside of a loop is needed until its end, for the
next iteration reads it again.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import PartOp, WeightOp
from xrelay.dialects.shared.attribute_names import ARENA
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs

Buffer = SSAValue | Attribute
"""The name of a piece of memory: the value that made it, or for weights the weight itself."""


LOOPS = (scf.WhileOp, scf.ForOp)
"""The ops whose regions run again and again."""

GIVERS = (scf.YieldOp, scf.ConditionOp, scf.WhileOp, func.ReturnOp)
"""The ops that give the buffers which are their operands to who gets them, see `free_boxes.py`."""


def roots_of(block: Block) -> dict[SSAValue, tuple[Buffer, ...]]:
    """For each memref value of a graph function's block, and of regions in it, the buffers that it may point into."""
    roots: dict[SSAValue, tuple[Buffer, ...]] = {arg: (arg,) for arg in block.args if isa(arg.type, MemRefType)}
    arenas = _arenas(block)
    for op in _ops_in(block):
        if isinstance(op, scf.IfOp | scf.WhileOp | func.CallOp):
            given = [*op.results, *(arg for region in op.regions for inner in region.blocks for arg in inner.args)]
            roots |= {value: (value,) for value in given if isa(value.type, MemRefType)}
            continue
        sources = tuple(dict.fromkeys(root for operand in op.operands for root in roots.get(operand, ())))
        for result in op.results:
            if isinstance(op, WeightOp):
                roots[result] = (op.weight,)
            elif isinstance(result.type, MemRefType):
                roots[result] = (result,) if not sources or _is_place_in(arenas, op) else sources
    return roots


def _arenas(block: Block) -> set[SSAValue]:
    """The arguments of a function's block that are marked as arenas."""
    function = block.parent_op()
    if not isinstance(function, func.FuncOp):
        return set()
    return {arg for arg, attrs in zip(block.args, argument_attrs(function), strict=True) if ARENA in attrs}


def _is_place_in(arenas: Container[SSAValue], op: Operation) -> bool:
    """Views of arenas, and of other bytes at constant places, are buffers of their own, kept apart by a plan."""
    if not isinstance(op, memref.ViewOp):
        return False
    return op.source in arenas or isinstance(op.byte_shift.owner, arith.ConstantOp)


@dataclass(frozen=True)
class Lifetimes:
    """First and last use of each buffer, as steps, and the buffers that are given away."""

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
        if isinstance(op, PartOp):
            continue
        for root in (root for operand in op.operands for root in roots.get(operand, ())):
            first, last = _needed(root, op, step, spans) if spans else (step, step)
            lives.first[root] = min(lives.first.get(root, first), first)
            lives.last[root] = max(lives.last.get(root, last), last)
            if isinstance(op, GIVERS):
                lives.given.add(root)
    return lives


def _ops_in(block: Block) -> Iterator[Operation]:
    """The ops of a block and of the regions in it, in the order of the text."""
    return (inner for op in block.ops for inner in walk_ops(op))


def _loop_spans(ops: Sequence[Operation]) -> dict[Operation, tuple[int, int]]:
    """The steps of each loop: its own, and that of the last op in it."""
    steps = {op: step for step, op in enumerate(ops)}
    spans: dict[Operation, tuple[int, int]] = {}
    for op, step in steps.items():
        if isinstance(op, LOOPS):
            end = op.regions[-1].block.last_op
            spans[op] = (step, step if end is None else steps[end])
    return spans


def _needed(root: Buffer, op: Operation, step: int, spans: dict[Operation, tuple[int, int]]) -> tuple[int, int]:
    """From when to when `op` needs a buffer: for all iterations of loops that the buffer was not made in."""
    owner = root.owner if isinstance(root, SSAValue) else None
    made_in = owner.parent if isinstance(owner, Operation) else owner
    found, block = (step, step), op.parent
    while block is not None and block is not made_in:
        around = block.parent_op()
        if around is None:
            break
        found = spans.get(around, found)
        block = around.parent
    return found
