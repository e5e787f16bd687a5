"""Moves an op that must not run in vain to where its value is needed first, for `relay-to-basic-block-normal-form`.

The uses lie in branches of several `relay.if`s, or on one side of a nested one, so that no block needs the value for
all conditions. Each branch that needs it computes it, unless an earlier branch has: a `relay.if` after which it may be
needed again also yields whether it was computed, and the value.

Before:

    %v = func.call @f(%x)
    %a = relay.if %c {relay.yield %v} else {relay.yield %x}
    %b = relay.if %d {relay.yield %v} else {relay.yield %x}

After:

    %s = relay.if %c {
      %v = func.call @f(%x)
      %t = relay.tuple(%v, true, %v)
      relay.yield %t
    } else {
      %t = relay.tuple(%x, false, zeros)
      relay.yield %t
    }
    %a = relay.tuple_get_item(%s) {index = 0}
    %b = relay.if %d {
      %known = relay.tuple_get_item(%s) {index = 1}
      %w = relay.if %known {
        %v = relay.tuple_get_item(%s) {index = 2}
        relay.yield %v
      } else {
        %v = func.call @f(%x)
        relay.yield %v
      }
      relay.yield %w
    } else {relay.yield %x}

Ops that only this op needs move with it, unless a let binds them; if it is computed again, only light ones do. A value
without zeros (a closure, a tensor of unknown extents) is computed again by each branch that needs it, the captures of a
closure are not. So is a value whose op makes extents that others name: the names are bound after the op, in its block.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.tensor_transform import PadOp
from xrelay.dialects.relay.structure.constant import INLINE_LIMIT, ConstantOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp, outside_closures
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp, yielded
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of, tuple_type
from xrelay.passes.graph.name_uses import NameUses
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import enclosing_op
from xrelay.passes.infra.verify import walk_ops


@dataclass(frozen=True)
class _State:
    """What is known of the value at a place: nothing, the value itself, or a tuple that says whether it is there."""

    value: SSAValue | None = None
    packed: SSAValue | None = None
    """Holds the flag in field 1 and the value in field 2."""


@dataclass
class _Frame:
    """A block on the way through the program, with the ops in it that need the value, or hold branches that do."""

    block: Block
    users: Sequence[Operation]
    state: _State
    needed_after: bool
    """Whether the value may be needed behind the block."""
    at: int = 0
    ends: list[_State] = field(default_factory=list[_State])
    """What is known behind the branches of the op at hand."""


def compute_on_demand(
    op: Operation, needed: Collection[Block], delayed: Collection[Operation], names: NameUses
) -> None:
    """Let each branch that needs `op` compute it, once in a run; `op` goes.

    `needed` are the blocks that need it for all conditions; that of `op` is none of them. `delayed` are all ops of the
    function that must not run in vain, and `names` notes the copies. The work is that of the ops between `op` and its
    last use.
    """
    block = op.parent
    if block is None:
        raise ValueError(f"{op.name} stands in no block")
    _Walk(op, block, needed, delayed, names).run()


class _Walk:
    """Goes through the branches that need a value, in the order of the program."""

    def __init__(
        self,
        op: Operation,
        block: Block,
        needed: Collection[Block],
        delayed: Collection[Operation],
        names: NameUses,
    ):
        self.op, self.needed, self.names = op, needed, names
        self.named_by = set(names.of(op))
        packed = op if len(op.results) == 1 else _with_one_result(op, block, names)
        self.result = packed.results[0]
        self.has_zeros = has_zeros(self.result.type) and not self.named_by
        # What may be computed again takes nothing along that must not, or that costs more than its elements.
        self.unit = _unit([packed, op], set() if self.has_zeros else delayed, names, is_light=not self.has_zeros)
        self.users = _users_by_block(self.result, self.named_by, block)
        self.frames = [_Frame(block, _in_order(self.users[block], op), _State(), needed_after=False)]

    def run(self) -> None:
        """Move the computation, and erase where it stood."""
        while self.frames:
            frame = self.frames[-1]
            if frame.at < len(frame.users):
                self._step(frame, frame.users[frame.at])
            else:
                self.frames.pop()
                if self.frames:
                    self.frames[-1].ends.append(frame.state)
        for member in reversed(self.unit):
            erase_op(member)

    def _step(self, frame: _Frame, user: Operation) -> None:
        if frame.state.value is not None or self._needs(user):
            value = self._force(frame.state, user)
            frame.state = _State(value)
            for use in list(self.result.uses):
                if enclosing_op(use.operation, frame.block) is user:
                    use.operation.operands[use.index] = value
            frame.at += 1
            return
        again = frame.needed_after or frame.at + 1 < len(frame.users)
        if len(frame.ends) < len(user.regions):
            branch = user.regions[len(frame.ends)].block
            users = _in_order(self.users.get(branch, {}), branch.first_op)
            self.frames.append(_Frame(branch, users, frame.state, again))
            return
        if again and any(end != frame.state for end in frame.ends):
            frame.state = self._yield_states(user, frame.ends)
        frame.at, frame.ends = frame.at + 1, []

    def _needs(self, user: Operation) -> bool:
        """Whether `user` needs the value for all conditions."""
        if not isinstance(user, IfOp) or user.condition is self.result or user in self.named_by:
            return True
        return all(region.block in self.needed for region in user.regions)

    # --- the value --------------------------------------------------------------------------------------------------

    def _force(self, state: _State, place: Operation) -> SSAValue:
        """The value in front of `place`: what is known of it, or computed there."""
        if state.value is not None:
            return state.value
        if state.packed is None:
            return self._compute(InsertPoint.before(place))
        known, fresh = Block(), Block()
        known.add_op(YieldOp(self._insert(TupleGetItemOp.call(state.packed, index=2), InsertPoint.at_end(known))))
        fresh.add_op(YieldOp(self._compute(InsertPoint.at_end(fresh))))
        flag = self._insert(TupleGetItemOp.call(state.packed, index=1), InsertPoint.before(place))
        choice = IfOp(flag, self.result.type, Region(known), Region(fresh))
        return self._insert(choice, InsertPoint.before(place))

    def _compute(self, point: InsertPoint) -> SSAValue:
        """Copy the computation to `point`."""
        values: dict[SSAValue, SSAValue] = {}
        copies = [member.clone(values) for member in self.unit]
        Rewriter.insert_op(copies, point)
        for op in (inner for copy in copies for inner in walk_ops(copy)):
            self.names.note(op)
        return copies[-1].results[0]

    def _insert(self, op: Operation, point: InsertPoint) -> SSAValue:
        op.location = self.op.location
        Rewriter.insert_op(op, point)
        self.names.note(op)
        return op.results[0]

    # --- what is known behind branches ------------------------------------------------------------------------------

    def _yield_states(self, branches: Operation, ends: list[_State]) -> _State:
        """Let `branches` yield what is known of the value as well; gives what that is."""
        if not self.has_zeros:
            return _State()
        for region, end in zip(branches.regions, ends, strict=True):
            last = region.block.last_op
            if last is None:
                raise ValueError("a branch ends in relay.yield")
            flag, value = self._flag_and_value(end, InsertPoint.before(last))
            packed = TupleOp.call(yielded(region), flag, value)
            last.operands = [self._insert(packed, InsertPoint.before(last))]
        # What the branches yielded before may be of another extent in each: the result has a name for it.
        type = tuple_type([branches.results[0].type, TensorType(i1, []), self.result.type])
        new = IfOp(branches.operands[0], type, *(branches.detach_region(region) for region in list(branches.regions)))
        new.attributes.update(branches.attributes)
        new.location = branches.location
        Rewriter.insert_op(new, InsertPoint.before(branches))
        own = TupleGetItemOp.call(new.result, index=0)
        own.location, own.result.name_hint = branches.location, branches.results[0].name_hint
        Rewriter.replace_op(branches, own)
        self.names.note(new)
        self.names.note(own)
        return _State(packed=new.result)

    def _flag_and_value(self, state: _State, point: InsertPoint) -> tuple[SSAValue, SSAValue]:
        if state.packed is not None:
            fields = [TupleGetItemOp.call(state.packed, index=index) for index in (1, 2)]
            return self._insert(fields[0], point), self._insert(fields[1], point)
        flag = self._insert(ConstantOp.of(np.array(state.value is not None)), point)
        if state.value is not None:
            return flag, state.value
        zeros = zeros_of(self.result.type)
        for op in zeros:
            self._insert(op, point)
        return flag, zeros[-1].results[0]


def has_zeros(type: Attribute) -> bool:
    """Whether zeros can stand for a value of `type`: a tensor of known extents, or a tuple of such."""
    return all(isinstance(one, TensorType) and is_static(one) for one in _fields(type))


def zeros_of(type: Attribute) -> list[Operation]:
    """Ops the last of which gives zeros of `type`, for which `has_zeros` holds; no large constants are among them."""
    fields = [_zeros(one) for one in _fields(type)]
    ops = [op for field in fields for op in field]
    return [*ops, TupleOp.call(*(field[-1] for field in fields))] if isinstance(type, TupleType) else ops


def _fields(type: Attribute) -> Sequence[Attribute]:
    return type.types.data if isinstance(type, TupleType) else [type]


def _zeros(type: Attribute) -> list[Operation]:
    dtype, shape = numpy_dtype(element_type_of(type)), [dim for dim in shape_of(type) if isinstance(dim, int)]
    if prod(shape) <= INLINE_LIMIT:
        return [ConstantOp.of(np.zeros(shape, dtype))]
    corner, scalar = ConstantOp.of(np.zeros([1] * len(shape), dtype)), ConstantOp.of(np.zeros((), dtype))
    return [corner, scalar, PadOp.call(corner, scalar, pad_width=[wide for dim in shape for wide in (0, dim - 1)])]


def _with_one_result(op: Operation, home: Block, names: NameUses) -> Operation:
    """The tuple of the results of `op`, which takes their place: each user takes its fields from it."""
    packed = TupleOp.call(*op.results)
    packed.location = op.location
    Rewriter.insert_op(packed, InsertPoint.after(op))
    for index, result in enumerate(op.results):
        for use in list(result.uses):
            if use.operation is packed:
                continue
            item = TupleGetItemOp.call(packed.result, index=index)
            item.location = op.location
            Rewriter.insert_op(item, InsertPoint.before(outside_closures(use.operation, home)))
            names.note(item)
            use.operation.operands[use.index] = item.result
    return packed


def _unit(
    ops: Sequence[Operation], others: Collection[Operation], names: NameUses, *, is_light: bool
) -> list[Operation]:
    """`ops`, the last of them first, and what serves them alone in their block and is none of `others`, in order.

    With `is_light` no operators but those whose elements follow from one element of each operand.
    """
    last = ops[0]
    home, found, pending = last.parent, dict.fromkeys(ops), [operand for op in ops for operand in op.operands]
    while pending:
        owner = pending.pop().owner
        if not isinstance(owner, Operation) or owner in found or owner in others or owner.parent is not home:
            continue
        if isinstance(owner, LetOp):
            continue
        if is_light and isinstance(owner, RelayOp) and owner.fusion_pattern > OpPatternKind.INJECTIVE:
            continue
        users = [use.operation for result in owner.results for use in result.uses]
        if all(enclosing_op(user, home) in found for user in (*users, *names.of(owner))):
            found[owner] = None
            pending += owner.operands
    unit: list[Operation] = []
    current: Operation | None = last
    while current is not None and len(unit) < len(found):
        if current in found:
            unit.append(current)
        current = current.prev_op
    return unit[::-1]


def _users_by_block(value: SSAValue, others: Collection[Operation], home: Block) -> dict[Block, dict[Operation, None]]:
    """For each block from `home` down: ops in it that use `value`, are of `others`, or hold branches with such ops."""
    found: dict[Block, dict[Operation, None]] = {}
    for op in (*(use.operation for use in value.uses), *others):
        user: Operation | None = outside_closures(op, home)
        while user is not None and user.parent is not None and user not in found.setdefault(user.parent, {}):
            found[user.parent][user] = None
            user = user.parent_op() if user.parent is not home else None
    return found


def _in_order(ops: Collection[Operation], first: Operation | None) -> list[Operation]:
    """`ops`, all of one block, in the order of the block, in which none stands before `first`."""
    found: list[Operation] = []
    while first is not None and len(found) < len(ops):
        if first in ops:
            found.append(first)
        first = first.next_op
    return found
