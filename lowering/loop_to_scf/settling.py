"""Settling loops: `scf.while` loops that end after an iteration that changes nothing."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, i64
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.loop import ForOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, load, store
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.local_buffers import on_stack


def can_settle(loop: ForOp) -> bool:
    """Whether changes can be detected: all stores are of integers, and inner loops are serial or unrolled."""
    kinds = {inner.kind for inner in ops_of(loop.body, ForOp)}
    types = [SSAValue.get(op.memref, type=MemRefType).type for op in ops_of(loop, StoreOp)]
    is_plain = kinds <= {LoopKind.SERIAL, LoopKind.UNROLLED}
    return is_plain and all(isinstance(type.element_type, IntegerType) for type in types)


class Changes:
    """The bits by which the stores of one iteration change elements, in a stack buffer of one integer."""

    def __init__(self, emitter: Emitter):
        self._emit = emitter
        buffer = emitter.on_stack(on_stack(MemRefType(i64, [1])))
        self._target = AccessTarget(buffer.memref, ValueMap.constant(0))

    def note(self, target: AccessTarget, value: SSAValue) -> None:
        """Adds the bits in which `value` differs from the element at `target`; call it before the store."""
        emit = self._emit
        bits = emit.add(arith.XOrIOp(load(emit, target, None), value)).result
        if bits.type != i64:
            bits = emit.add(arith.ExtUIOp(bits, i64)).result
        store(emit, self._target, emit.add(arith.OrIOp(load(emit, self._target, None), bits)).result, None)

    def loop(self, extent: SSAValue, body: Callable[[SSAValue], None]) -> None:
        """Writes the loop; `body` gets its index and notes the changes."""
        emit, zero = self._emit, self._emit.constant(IntegerAttr(0, i64))
        before, after = Block(arg_types=[IndexType()]), Block(arg_types=[IndexType()])
        with emit.inside(before):
            continues = emit.add(CmpiOp(before.args[0], extent, "slt")).result
            emit.add(scf.ConditionOp(continues, before.args[0]))
        with emit.inside(after):
            store(emit, self._target, zero, None)
            body(after.args[0])
            changed = emit.add(CmpiOp(load(emit, self._target, None), zero, "ne")).result
            following = emit.add(arith.AddiOp(after.args[0], emit.index(1))).result
            emit.add(make(scf.YieldOp, (emit.add(SelectOp(changed, following, extent)).result,)))
        emit.add(scf.WhileOp([emit.index(0)], [IndexType()], Region(before), Region(after)))
