"""Exits of functions in the llvm dialect for failures, which free the scratch that the function holds.

A kernel allocates at the beginning of a structured block and frees at its end; in between, a failed call or assertion
may end the kernel. The live buffers form a stack: a linked list from the newest buffer to the oldest. Equal lists are
shared, so that functions with many buffers and many calls take linear time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import cf, func, llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.shared.op_lists import ops_in
from xrelay.dialects.upstream.llvm_extras import CmpXchgOp
from xrelay.lowering.to_llvm.ops import constant, result_of
from xrelay.lowering.to_llvm.runtime_functions import SCRATCH_FREE, SCRATCH_NEW


@dataclass(frozen=True, eq=False)
class LiveBuffer:
    """A live buffer, and the buffers allocated before it."""

    pointer: SSAValue
    below: LiveBuffer | None


def live_allocations_at_exits(body: Region) -> dict[Operation, LiveBuffer]:
    """Returns the live allocations at each call and assertion of a function, if there are any.

    Only buffers that the function frees itself on success are counted. A block with several predecessors has the
    allocations common to all of them, so that no buffer is freed twice.
    """
    freed = {op.operands[0] for op in ops_in(body) if _calls(op, SCRATCH_FREE)}
    if not freed or body.first_block is None:
        return {}
    stacks = _Stacks()
    at_entry: dict[Block, LiveBuffer | None] = {body.first_block: None}
    pending = [body.first_block]
    while pending:
        block = pending.pop()
        state = at_entry[block]
        for op in block.ops:
            state = stacks.after(op, state, freed)
        for successor in _successors(block):
            joined = _common(at_entry[successor], state) if successor in at_entry else state
            if successor not in at_entry or joined is not at_entry[successor]:
                at_entry[successor] = joined
                pending.append(successor)
    exits: dict[Operation, LiveBuffer] = {}
    for block, state in at_entry.items():
        for op in block.ops:
            if state is not None and isinstance(op, func.CallOp | cf.AssertOp):
                exits[op] = state
            state = stacks.after(op, state, freed)
    return exits


class _Stacks:
    """Creates stacks; equal stacks are one object, so that they can be compared and shared."""

    def __init__(self) -> None:
        self._known: dict[tuple[SSAValue, LiveBuffer | None], LiveBuffer] = {}

    def after(self, op: Operation, state: LiveBuffer | None, freed: set[SSAValue]) -> LiveBuffer | None:
        """Returns the stack of live allocations after `op`."""
        if _calls(op, SCRATCH_NEW) and op.results[0] in freed:
            return self._push(op.results[0], state)
        if _calls(op, SCRATCH_FREE):
            return self._without(op.operands[0], state)
        return state

    def _push(self, pointer: SSAValue, below: LiveBuffer | None) -> LiveBuffer:
        return self._known.setdefault((pointer, below), LiveBuffer(pointer, below))

    def _without(self, pointer: SSAValue, state: LiveBuffer | None) -> LiveBuffer | None:
        above: list[SSAValue] = []
        for held in _live_buffers(state):
            if held.pointer is pointer:
                rest = held.below
                break
            above.append(held.pointer)
        else:
            return state
        for other in reversed(above):
            rest = self._push(other, rest)
        return rest


def _live_buffers(state: LiveBuffer | None) -> Iterator[LiveBuffer]:
    while state is not None:
        yield state
        state = state.below


def _common(left: LiveBuffer | None, right: LiveBuffer | None) -> LiveBuffer | None:
    """Returns the buffers at the bottom of both stacks."""
    if left is right:
        return left
    others = set(_live_buffers(right))
    return next((held for held in _live_buffers(left) if held in others), None)


def _successors(block: Block) -> tuple[Block, ...]:
    last = block.last_op
    return () if last is None else tuple(last.successors)


def _calls(op: Operation, name: str) -> bool:
    return type(op) is func.CallOp and op.callee.string_value() == name


class FunctionExits:
    """The blocks at the end of a function that return a status; created on first use.

    If the function holds heap buffers, blocks before the exits free them: one buffer per block, the newest first.
    """

    def __init__(self, context: SSAValue, body: Region):
        self.context, self.body = context, body
        self._propagate: dict[LiveBuffer | None, Block] = {}
        self._fail: dict[LiveBuffer | None, Block] = {}
        self._numbered: dict[tuple[LiveBuffer | None, int], Block] = {}

    def propagate(self, held: LiveBuffer | None) -> Block:
        """Returns `^bb(%status): return %status`, after freeing the held buffers."""
        if None not in self._propagate:
            self._propagate[None] = exit = self._append()
            exit.add_op(result_of(exit.args[0]))
        return self._freeing(held, self._propagate)

    def add_kernel(self, held: LiveBuffer | None, bits: int) -> Block:
        """Returns `^bb(%status)`: branches to `propagate(held)` with `%status | bits`; `bits` names the kernel."""
        if (held, bits) not in self._numbered:
            following, block = self.propagate(held), self._append()
            number = constant(bits, i32)
            named = llvm.OrOp(block.args[0], number.result)
            block.add_ops([number, named, llvm.BrOp(following, named.res)])
            self._numbered[held, bits] = block
        return self._numbered[held, bits]

    def fail(self, held: LiveBuffer | None) -> Block:
        """Returns `^bb(%status)`: frees the held buffers, sets the context's status unless set, returns `%status`."""
        if None not in self._fail:
            self._fail[None] = exit = self._append()
            status, zero = exit.args[0], constant(0, i32)
            store = CmpXchgOp(self.context, zero.result, status)
            exit.add_ops([zero, store, result_of(status)])
        return self._freeing(held, self._fail)

    def _freeing(self, held: LiveBuffer | None, exits: dict[LiveBuffer | None, Block]) -> Block:
        """Returns the block that frees `held` and the buffers below it, and continues at the exit."""
        missing: list[LiveBuffer] = []
        while held is not None and held not in exits:
            missing.append(held)
            held = held.below
        block = exits[held]
        for each in reversed(missing):
            following, block = block, self._append()
            block.add_ops([llvm.CallOp(SCRATCH_FREE, self.context, each.pointer), llvm.BrOp(following, block.args[0])])
            exits[each] = block
        return block

    def _append(self) -> Block:
        block = Block(arg_types=[i32])
        block.args[0].name_hint = "status"
        self.body.add_block(block)
        return block
