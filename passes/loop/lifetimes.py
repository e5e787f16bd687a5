"""The buffers that values of a graph function refer to, their lifetimes, and transfers of their ownership.

A part of a buffer counts as the buffer; `loop.subview` itself is not a use.

Branches and loops between the calls are included: a step is the number of an op in text order. Branches share memory
like successive code. A buffer from outside a loop is needed until the end of the loop, because the next iteration reads
it again.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import SubviewOp, WeightOp
from xrelay.dialects.shared.attribute_names import ARENA
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs

Buffer = SSAValue | Attribute
"""The identity of a piece of memory: the value that allocates it, or the attribute of a weight."""


LOOPS = (scf.WhileOp, scf.ForOp)
"""The ops with regions that run repeatedly."""

GIVERS = (scf.YieldOp, scf.ConditionOp, scf.WhileOp, func.ReturnOp)
"""The ops that transfer the ownership of the buffers among their operands, see `free_dynamic_buffers.py`."""


def roots_of(block: Block) -> dict[SSAValue, tuple[Buffer, ...]]:
    """Maps each memref value of a graph function's block, and of regions in it, to the buffers it may refer to."""
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
    """Whether `op` is a view of an arena, or a view at a constant offset; a plan keeps these buffers apart."""
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
            if isinstance(op, GIVERS):
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
        if isinstance(op, LOOPS):
            end = op.regions[-1].block.last_op
            spans[op] = (step, step if end is None else steps[end])
    return spans


def _needed(root: Buffer, op: Operation, step: int, spans: dict[Operation, tuple[int, int]]) -> tuple[int, int]:
    """The steps for which `op` needs a buffer, extended to whole loops that use but do not define it."""
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
