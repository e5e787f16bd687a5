"""Exit blocks of a function in the llvm dialect, for failures."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.upstream.llvm_extras import CmpXchgOp
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.live_allocations import Held
from xrelay.lowering.to_llvm.ops import result_of
from xrelay.lowering.to_llvm.scratch import SCRATCH_FREE


class FunctionExits:
    """The blocks at the end of a function that return a status; created on first use.

    If the function holds heap buffers, blocks before the exits free them: one buffer per block, the newest first.
    """

    def __init__(self, context: SSAValue, body: Region):
        self.context, self.body = context, body
        self._propagate: dict[Held | None, Block] = {}
        self._fail: dict[Held | None, Block] = {}
        self._numbered: dict[tuple[Held | None, int], Block] = {}

    def propagate(self, held: Held | None) -> Block:
        """Returns `^bb(%status): return %status`, after freeing the held buffers."""
        if None not in self._propagate:
            self._propagate[None] = exit = self._append()
            exit.add_op(result_of(exit.args[0]))
        return self._freeing(held, self._propagate)

    def add_kernel(self, held: Held | None, bits: int) -> Block:
        """Returns `^bb(%status)`: branches to `propagate(held)` with `%status | bits`; `bits` names the kernel."""
        if (held, bits) not in self._numbered:
            following, block = self.propagate(held), self._append()
            number = constant(bits, i32)
            named = llvm.OrOp(block.args[0], number.result)
            block.add_ops([number, named, llvm.BrOp(following, named.res)])
            self._numbered[held, bits] = block
        return self._numbered[held, bits]

    def fail(self, held: Held | None) -> Block:
        """Returns `^bb(%status)`: frees what is held, sets the context's status unless set, and returns `%status`."""
        if None not in self._fail:
            self._fail[None] = exit = self._append()
            status, zero = exit.args[0], constant(0, i32)
            store = CmpXchgOp(self.context, zero.result, status)
            exit.add_ops([zero, store, result_of(status)])
        return self._freeing(held, self._fail)

    def _freeing(self, held: Held | None, exits: dict[Held | None, Block]) -> Block:
        """Returns the block that frees `held` and the buffers below it, and continues at the exit."""
        missing: list[Held] = []
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
