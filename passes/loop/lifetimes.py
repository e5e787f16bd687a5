"""What the values of a straight-line block point into, and for how long that is needed."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.attribute_names import ARENA
from xrelay.dialects.loop import WeightOp
from xrelay.passes.loop.signature import argument_attrs

Buffer = SSAValue | Attribute
"""The name of a piece of memory: the value that made it, or for weights the weight itself."""


def roots_of(block: Block) -> dict[SSAValue, tuple[Buffer, ...]]:
    """For each memref value of a straight-line block, the buffers that it may point into."""
    roots: dict[SSAValue, tuple[Buffer, ...]] = {arg: (arg,) for arg in block.args if isa(arg.type, MemRefType)}
    arenas = _arenas(block)
    for op in block.ops:
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
    """First and last use of each buffer, as positions in a block, and the buffers that the function returns."""

    first: dict[Buffer, int]
    last: dict[Buffer, int]
    returned: set[Buffer]


def lifetimes_in(block: Block) -> Lifetimes:
    """The lifetimes of the buffers of a straight-line block."""
    roots = roots_of(block)
    lives = Lifetimes({}, {}, set())
    for step, op in enumerate(block.ops):
        for root in (r for inner in op.walk() for operand in inner.operands for r in roots.get(operand, ())):
            lives.first.setdefault(root, step)
            lives.last[root] = step
            if isinstance(op, func.ReturnOp):
                lives.returned.add(root)
    return lives
