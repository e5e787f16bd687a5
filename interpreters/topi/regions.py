"""Branches and loops of the graph function at the topi level, and the tuples that they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.interpreters.relay.loop_run import LoopRun
from xrelay.interpreters.relay.registry import Value
from xrelay.interpreters.topi.indices import Array

Values = dict[SSAValue, Array]


class Regions:
    """Runs control flow; `step` runs every other op of a block, `note` is told values whose types may bring names."""

    def __init__(self, step: Callable[[Operation, Values], None], note: Callable[[Attribute, Array], None]):
        self._step, self._note = step, note
        self._fields: dict[SSAValue, Sequence[Array]] = {}

    def run(self, op: Operation, values: Values) -> bool:
        """Run `op`, if it is control flow or a tuple; whether it is."""
        match op:
            case IfOp():
                taken = op.true_region if values[op.condition].item() else op.false_region
                self._give(op.result, self._block(taken.block, values), values)
            case LoopOp():
                self._loop(op, values)
            case TupleOp():
                self._fields[op.result] = [values[field] for field in op.fields]
            case TupleGetItemOp():
                values[op.results[0]] = self._fields[op.data][op.index.value.data]
            case _:
                return False
        return True

    def _loop(self, op: LoopOp, values: Values) -> None:
        run = LoopRun.start(op, [values[operand] for operand in op.operands])
        while (arguments := run.arguments) is not None:
            for argument, value in zip(op.body.block.args, cast("Sequence[Array]", arguments), strict=True):
                self._note(argument.type, value)
                values[argument] = value
            run.take(tuple(self._block(op.body.block, values)))
        result: Value = run.result({})
        self._give(op.result, cast("Sequence[Array]", result), values)

    def _block(self, block: Block, values: Values) -> Sequence[Array]:
        """What a region yields, a tuple's fields one by one."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return self._fields[op.value] if isinstance(op.value.type, TupleType) else [values[op.value]]
            self._step(op, values)
        return []

    def _give(self, result: SSAValue, fields: Sequence[Array], values: Values) -> None:
        types = result.type.types.data if isinstance(result.type, TupleType) else [result.type]
        for type, field in zip(types, fields, strict=True):
            self._note(type, field)
        if isinstance(result.type, TupleType):
            self._fields[result] = fields
        else:
            values[result] = fields[0]
