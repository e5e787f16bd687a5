"""Branches, loops and tuples of the graph function at the topi level."""

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
from xrelay.interpreters.work import Work

Values = dict[SSAValue, Array]
Step = Callable[[Operation, Values], "Work[None] | None"]
"""Runs an op, or returns the work that runs it."""


class Regions:
    """Runs control flow. `step` runs all other ops, and `note` is called with values whose types may bind names.

    A tuple is represented by a Python tuple of its fields.
    """

    def __init__(self, step: Step, note: Callable[[Attribute, Array], None], sizes: Callable[[], dict[str, int]]):
        """`sizes` returns the sizes of bound names; names bound in a region are removed at its end."""
        self._step, self._note, self._sizes = step, note, sizes

    def enter(self, op: Operation, values: Values) -> Work[None] | None:
        """Returns the work that runs `op`, or None if it is not control flow."""
        match op:
            case IfOp():
                return self._if(op, values)
            case LoopOp():
                return self._loop(op, values)
            case _:
                return None

    def run(self, op: Operation, values: Values) -> bool:
        """Runs `op` if it is a tuple op; returns whether it is."""
        match op:
            case TupleOp():
                values[op.result] = _tuple([values[field] for field in op.fields])
            case TupleGetItemOp():
                values[op.results[0]] = values[op.data][op.index.value.data]
            case _:
                return False
        return True

    def _if(self, op: IfOp, values: Values) -> Work[None]:
        taken = op.true_region if values[op.condition].item() else op.false_region
        given = yield self._block(taken.block, values)
        self._set_result(op.result, given, values)

    def _loop(self, op: LoopOp, values: Values) -> Work[None]:
        run = LoopRun.start(op, [values[operand] for operand in op.operands])
        while (arguments := run.arguments) is not None:
            given = yield self._block(op.body.block, values, cast("Sequence[Array]", arguments))
            run.take(tuple(given))
        result: Value = run.result(self._sizes())
        self._set_result(op.result, cast("Sequence[Array]", result), values)

    def _block(self, block: Block, values: Values, arguments: Sequence[Array] = ()) -> Work[Sequence[Array]]:
        """Runs a region; returns the yielded value, or the fields of a yielded tuple."""
        sizes = self._sizes()
        around = dict(sizes)
        for argument, value in zip(block.args, arguments, strict=True):
            self._note(argument.type, value)
            values[argument] = value
        for op in block.ops:
            if isinstance(op, YieldOp):
                sizes.clear()
                sizes.update(around)
                value = values[op.value]
                return cast("Sequence[Array]", value) if isinstance(op.value.type, TupleType) else [value]
            if (work := self._step(op, values)) is not None:
                yield work
        return []

    def _set_result(self, result: SSAValue, fields: Sequence[Array], values: Values) -> None:
        types = result.type.types.data if isinstance(result.type, TupleType) else [result.type]
        for type, field in zip(types, fields, strict=True):
            self._note(type, field)
        values[result] = _tuple(fields) if isinstance(result.type, TupleType) else fields[0]


def _tuple(fields: Sequence[Array]) -> Array:
    return cast("Array", tuple(fields))
