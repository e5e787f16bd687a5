"""The writer of operations at the scf level: insertion point, shared constants and index arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.shared.op_making import append, make
from xrelay.index_algebra.affine_bounds import bounds
from xrelay.index_algebra.value_map import ValueMap
from xrelay.passes.loop.index_arith import IndexArith, index_number

Constant: TypeAlias = IntegerAttr[IntegerType | IndexType] | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr
"""The values that `arith.constant` can have."""

OpT = TypeVar("OpT", bound=Operation)


@dataclass
class _Scope:
    """A block that holds shared constants: a function's entry, or the body of a parallel loop to be outlined."""

    entry: Block
    ops: dict[Constant, Operation] = field(default_factory=dict[Constant, Operation])
    indices: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    stack: list[Operation] = field(default_factory=list[Operation])


class Emitter:
    """An insertion point at the end of a block, the constants in scope, and the known ranges of index values.

    Constants and stack buffers go to the beginning of the scope: the function, or the body of a parallel loop, which
    later becomes a function of its own. They are inserted on leaving the scope.
    """

    block: Block
    location: LocationAttr

    def __init__(self) -> None:
        self.location = UnknownLoc()
        self.ranges = dict[SSAValue, tuple[int, int]]()
        """Inclusive bounds of index values, from the ranges of loops."""
        self._scopes = list[_Scope]()
        self._arith = IndexArith(self.add, self.index, self.ranges.get)

    def add(self, op: OpT) -> OpT:
        """Appends an operation with the current location."""
        op.location = self.location
        append(self.block, op)
        return op

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Moves the insertion point to the end of `block` for the duration of the context."""
        outer = self.block
        self.block = block
        yield
        self.block = outer

    @contextmanager
    def when(self, condition: SSAValue) -> Generator[None]:
        """Writes the ops that are added in this context under an `scf.if`."""
        block = Block()
        with self.inside(block):
            yield
            self.add(scf.YieldOp())
        self.add(scf.IfOp(condition, [], Region(block)))

    def choose(
        self, condition: SSAValue, type: Attribute, then: Callable[[], SSAValue], otherwise: Callable[[], SSAValue]
    ) -> SSAValue:
        """Writes an `scf.if` with one result, and returns it."""
        regions: list[Region] = []
        for value in (then, otherwise):
            block = Block()
            with self.inside(block):
                self.add(scf.YieldOp(value()))
            regions.append(Region(block))
        return self.add(scf.IfOp(condition, [type], regions[0], regions[1])).output[0]

    def each_lane(self, count: int, write: Callable[[SSAValue], None]) -> scf.ForOp:
        """Writes a loop over the numbers of lanes."""
        body = Block(arg_types=[IndexType()])
        lane = body.args[0]
        lane.name_hint = "lane"
        with self.inside(body):
            write(lane)
            self.add(scf.YieldOp())
        return self.add(scf.ForOp(self.index(0), self.index(count), self.index(1), [], body))

    @contextmanager
    def scope(self, block: Block) -> Generator[None]:
        """Moves the insertion point to the end of `block`; constants and stack buffers go to its beginning."""
        outer = self.block if self._scopes else block
        self._scopes.append(_Scope(block))
        self.block = block
        yield
        self.block = outer
        scope = self._scopes.pop()
        used = [op for op in scope.ops.values() if any(result.uses for result in op.results)]
        hoisted = [*used, *scope.stack]
        if (first := block.first_op) is not None:
            block.insert_ops_before(hoisted, first)
        else:
            block.add_ops(hoisted)

    def on_stack(self, op: OpT) -> OpT:
        """Adds an allocation at the beginning of the scope."""
        self._scopes[-1].stack.append(op)
        return op

    def constant(self, value: Constant) -> SSAValue:
        """Returns the constant of this typed value; each scope has one."""
        ops = self._scopes[-1].ops
        if value not in ops:
            ops[value] = make(arith.ConstantOp, result_types=(value.get_type(),), properties={"value": value})
        return ops[value].results[0]

    def index(self, value: int) -> SSAValue:
        """Returns the index constant `value`."""
        indices = self._scopes[-1].indices
        if value not in indices:
            indices[value] = self.constant(index_number(value))
        return indices[value]

    def range_of(self, value: ValueMap) -> tuple[int, int] | None:
        """Returns bounds of a map's one expression, from the ranges of its operands; None if unknown."""
        return bounds(value.exprs[0], [self.ranges.get(operand) for operand in value.operands])

    def affine(self, value: ValueMap) -> SSAValue:
        """Computes the one expression of `value`."""
        return self._arith.value(value)

    def affine_all(self, value: ValueMap) -> list[SSAValue]:
        """Computes every expression of `value`."""
        return [self.affine(value[position]) for position in range(len(value))]
