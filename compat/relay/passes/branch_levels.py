"""The ops that follow parallel products, level by level, and the op that replaces a level.

A `Level` is one op of each branch, all of the same class and properties. A `BranchLayout` joins the values of the
branches to one value: side by side along an axis (`Concatenated`), or as a stack (`Stacked`). It decides whether one op
can replace a level, and emits that op on the joined operands.

The ops of a level compute each element from the elements at the same position, or are `bias_add` or `expand_dims`. Such
an op on the joined value computes the values of all branches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import WhereOp
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp, UnaryElementwiseOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.rewriting import Emitter

_ON_ELEMENTS = (UnaryElementwiseOp, CastOp, BinaryBroadcastOp, WhereOp, BiasAddOp, ExpandDimsOp)


@dataclass(frozen=True)
class Level:
    """The ops of a level, one for each branch, of one class and with the same properties."""

    ops: Sequence[RelayOp]
    operand_index: int
    """The index of the operand that comes from the previous level."""

    @property
    def first(self) -> RelayOp:
        """The op of the first branch, which represents all."""
        return self.ops[0]

    @property
    def sides(self) -> list[Sequence[SSAValue]]:
        """The other operands: for each operand index, the operands of all branches."""
        indices = (index for index in range(len(self.first.operands)) if index != self.operand_index)
        return [[op.operands[index] for op in self.ops] for index in indices]

    @property
    def arguments(self) -> list[SSAValue]:
        """All values of `sides`."""
        return [value for side in self.sides for value in side]

    def shapes(self) -> list[tuple[Shape, Shape]]:
        """Returns for each branch the shapes of the operand from the previous level and of the result."""
        return [(shape_of(op.operands[self.operand_index].type), shape_of(op.results[0].type)) for op in self.ops]

    def emit(self, emit: Emitter, value: SSAValue, sides: Sequence[SSAValue]) -> SSAValue:
        """Emits the op of this level on `value` and the joined operands `sides`; returns its result."""
        operands = [*sides[: self.operand_index], value, *sides[self.operand_index :]]
        return emit.insert(type(self.first).typed(operands, self.first.properties)).results[0]


def next_level(ops: Sequence[RelayOp]) -> Level | None:
    """Returns the level of the only users of `ops`, or None if these differ."""
    uses = [op.results[0].first_use for op in ops if op.results[0].has_one_use()]
    if len(uses) < len(ops):
        return None
    users = [use.operation for use in uses if use is not None and isinstance(use.operation, RelayOp)]
    indices = {use.index for use in uses if use is not None}
    alike = len(users) == len(ops) and len(indices) == 1 and all(_are_alike(users[0], user) for user in users)
    fits = alike and users[0].parent is ops[0].parent and all(map(_is_on_elements, users))
    return Level(users, indices.pop()) if fits else None


def _are_alike(one: RelayOp, other: RelayOp) -> bool:
    return type(one) is type(other) and one.properties == other.properties and one.parent is other.parent


def _is_on_elements(op: RelayOp) -> bool:
    return isinstance(op, _ON_ELEMENTS) and op.fusion_pattern <= OpPatternKind.BROADCAST


class BranchLayout(ABC):
    """A layout of the values of all branches in one value."""

    @abstractmethod
    def accepts(self, level: Level) -> bool:
        """Whether one op on the joined value can replace `level`."""

    @abstractmethod
    def apply(self, emit: Emitter, value: SSAValue, level: Level) -> SSAValue:
        """Emits that op on `value`, the joined values before `level`; returns its result."""

    @abstractmethod
    def after(self, level: Level) -> BranchLayout:
        """Returns the `BranchLayout` of the values after `level`."""

    @abstractmethod
    def split(self, emit: Emitter, value: SSAValue, count: int) -> list[SSAValue]:
        """Emits the ops that split `value` into the values of the `count` branches."""
