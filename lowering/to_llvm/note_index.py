"""`xrelay_note_index`: stores an out-of-range index and its limits in the context of the model's call.

Several threads may fail at once: the first one to set the mark writes, so that the three numbers belong together.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i1, i32, i64
from xdsl.ir import Block

from xrelay.dialects.upstream.llvm_extras import CmpXchgOp
from xrelay.lowering.loop_to_scf.checked_index import NOTE_INDEX
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.types import PTR

MARK = 1
"""The position of the mark in the context, in words of 8 bytes; value and limits follow (`runtime/abi.py`)."""


def define_note(module: ModuleOp) -> None:
    """Adds a body to `@xrelay_note_index` if the module declares it."""
    for op in module.ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data == NOTE_INDEX and not op.body.blocks:
            op.linkage = llvm.LinkageAttr("internal")
            for block in _blocks():
                op.body.add_block(block)


def _blocks() -> tuple[Block, Block, Block]:
    """Returns the blocks of `(ctx, value, low, high) -> 0`, which stores the numbers if it sets the mark first."""
    entry, first, done = Block(arg_types=[PTR, i64, i64, i64]), Block(), Block()
    context, *numbers = entry.args
    zero, one = constant(0, i64), constant(1, i64)
    mark = llvm.GEPOp(context, [MARK], i64, inbounds=True)
    exchange = CmpXchgOp(mark.result, zero.result, one.result)
    was_first = llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [1]), exchange.res, i1)
    entry.add_ops([zero, one, mark, exchange, was_first, llvm.CondBrOp(was_first.res, first, [], done, [])])
    for place, number in enumerate(numbers, MARK + 1):
        pointer = llvm.GEPOp(context, [place], i64, inbounds=True)
        first.add_ops([pointer, llvm.StoreOp(number, pointer.result)])
    first.add_op(llvm.BrOp(done))
    success = constant(0, i32)
    done.add_ops([success, llvm.ReturnOp(success.result)])
    return entry, first, done
