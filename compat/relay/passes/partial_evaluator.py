"""Evaluates the functions of a program as far as it is known, for `relay-partial-eval`.

The evaluator executes the ops of a block in order, as the interpreter does, and records what is known about each value.
Known results are computed, and ops for unknown results are emitted. A call of a known function evaluates its body; an
unknown condition evaluates both branches. Pending blocks are on an explicit stack, so that neither the depth of the
program nor that of its calls is limited by Python's recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.ops.qnn.op_base import QnnOp
from xrelay.dialects.relay.structure.call import callee_name
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.op_lists import captures_in
from xrelay.dialects.shared.requirements import made_extents
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import Value, evaluate_op
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.fold_constant import bytes_of, may_fold, size_of
from xrelay.relay.passes.partial_values import Activation, Closure, Fuels, Partial
from xrelay.relay.passes.partial_writer import Sink, Writer

End = Callable[[list[Partial]], None]
"""Receives the operands of a block's terminator."""


@dataclass(eq=False, slots=True)
class _Frame:
    """A block that is being evaluated."""

    op: Operation | None
    values: Activation
    fuels: Fuels
    sink: Sink
    end: End
    followed: bool
    """Whether the block is in the body of a followed call."""


class Budget:
    """The number of ops that may still be evaluated in bodies of followed calls."""

    def __init__(self, ops: int):
        self.left = ops


class Program:
    """The functions of a module before evaluation, with cached properties."""

    def __init__(self, functions: Mapping[str, FuncOp]):
        self.functions = functions
        self._numbers: dict[Operation, int] = {}
        self._named: set[Operation] = set()
        for function in functions.values():
            self._note_names(function)

    def _note_names(self, function: FuncOp) -> None:
        """Records whether `function` has named extents, and which of its closures do."""
        if dim_names_in(function):
            self._named.add(function)
            self._named |= {op for op in walk_ops(function) if isinstance(op, FnOp) and dim_names_in(op)}

    def number(self, function: Operation) -> int:
        """The number of a function or closure."""
        return self._numbers.setdefault(function, len(self._numbers))

    def has_names(self, function: FuncOp | FnOp) -> bool:
        """Whether a function or closure has named extents, which have other values at each call."""
        return function in self._named


class Evaluator:
    """Evaluates one function of a program with unknown parameters, and emits the remaining ops."""

    def __init__(self, program: Program, budget: Budget, max_growth: int):
        self._program, self._budget, self._max_growth = program, budget, max_growth
        self._frames: list[_Frame] = []
        self._constants: dict[ConstantOp, Partial] = {}

    def run(self, function: FuncOp) -> Block:
        """The new body of `function`."""
        self._writer = Writer(function.body.block.args)
        sink, values = self._writer.body, Activation()
        parameters = [Partial(value) for value in sink.block.args]
        values.values.update(zip(function.body.block.args, parameters, strict=True))
        fuels = Fuels().following(self._program.number(function), tuple(each.fuel for each in parameters))
        assert fuels is not None, "a first call makes progress"
        last = function.body.block.last_op
        assert last is not None, "a function ends in func.return"

        def end(results: list[Partial]) -> None:
            returned = type(last).create(operands=[self._writer.value(each) for each in results])
            self._writer.add(sink, returned, last)

        self._go(_Frame(function.body.block.first_op, values, fuels, sink, end, followed=False))
        return self._writer.finish()

    def _go(self, first: _Frame) -> None:
        """Evaluates a block, and all blocks that it enters."""
        self._frames.append(first)
        while self._frames:
            frame = self._frames[-1]
            op = frame.op
            assert op is not None, "a block ends in a terminator"
            if op.has_trait(IsTerminator):
                self._frames.pop()
                frame.end([frame.values.of(value) for value in op.operands])
                continue
            frame.op = op.next_op
            if frame.followed:
                self._budget.left -= 1
            self._visit(frame, op)

    def _visit(self, frame: _Frame, op: Operation) -> None:
        values = frame.values
        match op:
            case ConstantOp():
                values.values[op.result] = self._constant(op)
            case LetOp():
                values.values[op.result] = values.of(op.value)
            case TupleOp():
                values.values[op.result] = self._tuple(frame, op)
            case TupleGetItemOp() if (fields := values.of(op.data).fields) is not None:
                values.values[op.result] = fields[op.index.value.data]
            case FnOp():
                self._closure(frame, op)
            case InvokeOp() if self._follow_closure(frame, op):
                pass
            case CallOp() if self._follow_function(frame, op):
                pass
            case IfOp():
                self._choose(frame, op)
            case LoopOp():
                self._loop(frame, op)
            case _:
                self._compute(frame, op)

    # --- values ----------------------------------------------------------------------------------------------------

    def _constant(self, op: ConstantOp) -> Partial:
        """The value of a constant, which is emitted once per function."""
        if op not in self._constants:
            is_here = not isinstance(op.value, WeightAttr) or op.value.data.is_resolved
            value = op.array if is_here else None
            self._constants[op] = Partial(self._writer.add_constant(op), value)
        return self._constants[op]

    def _tuple(self, frame: _Frame, op: TupleOp) -> Partial:
        fields = tuple(frame.values.of(value) for value in op.operands)
        if all(each.value is not None for each in fields):
            return Partial(None, tuple(each.value for each in fields if each.value is not None), fields)
        (made,) = self._write(frame, op)
        made.fields = fields
        return made

    def _compute(self, frame: _Frame, op: Operation) -> None:
        """Computes an op if its operands are known and it does not fail; emits it otherwise."""
        value = self._evaluated(op, [frame.values.of(operand).value for operand in op.operands])
        made = [known(value)] if value is not None else self._write(frame, op)
        frame.values.values.update(zip(op.results, made, strict=True))

    def _evaluated(self, op: Operation, operands: Sequence[Value | None]) -> Value | None:
        """The result of an op, if it is known and small enough."""
        values = [value for value in operands if value is not None]
        if len(values) < len(operands) or not may_fold(op) or isinstance(op, QnnOp):
            return None
        type = op.results[0].type
        if bytes_of(type) - sum(map(size_of, values)) > self._max_growth:
            return None
        try:
            value = evaluate_op(op, values)
        except InterpreterError:
            return None  # It fails at run time, if it runs.
        return None if isinstance(value, tuple) and not isinstance(type, TupleType) else value

    def _write(self, frame: _Frame, op: Operation) -> list[Partial]:
        """Emits an op on the emitted operands; returns its unknown results."""
        operands = {value: frame.values.of(value) for value in op.operands}
        if op.regions:
            operands |= {value: frame.values.of(value) for value in captures_in(op)[op]}
        written = {value: self._writer.value(partial) for value, partial in operands.items()}
        if op.regions:
            new = op.clone(dict(written))
        else:
            new = type(op).create(
                operands=[written[value] for value in op.operands],
                result_types=list(op.result_types),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
        self._writer.add(frame.sink, new, op)
        return [Partial(value) for value in new.results]

    def _closure(self, frame: _Frame, op: FnOp) -> None:
        """Creates a closure; its body is emitted only if a use other than a known call needs it."""
        new = FnOp.create(result_types=list(op.result_types), properties=dict(op.properties), regions=[Region()])
        new.attributes.update(op.attributes)
        closure = Closure(op, frame.values, frame.fuels)
        self._writer.add_closure(frame.sink, new, op, lambda: self._body(closure, new))
        frame.values.values[op.result] = Partial(new.result, closure=closure)

    def _body(self, closure: Closure, new: FnOp) -> Sink:
        """Emits the body of a closure, with unknown parameters."""
        function = closure.function
        old = function.body.block
        sink, values = self._writer.sink([value.type for value in old.args]), Activation(closure.around)
        new.regions[0].add_block(sink.block)
        for parameter, value in zip(old.args, sink.block.args, strict=True):
            value.name_hint = parameter.name_hint
            itself = closure if parameter is function.self_argument else None
            values.values[parameter] = Partial(value, closure=itself)
        arguments = tuple(values.values[parameter].fuel for parameter in function.parameters)
        fuels = closure.fuels.following(self._program.number(function), arguments)
        fuels = closure.fuels if fuels is None else fuels
        end = self._yield_to(sink, old)
        self._go(_Frame(old.first_op, values, fuels, sink, end, followed=False))
        return sink

    def _yield_to(self, sink: Sink, old: Block, then: Callable[[Partial], None] | None = None) -> End:
        """Returns a function that terminates the emitted block with the value that `old` yields, then calls `then`."""
        last = old.last_op
        assert last is not None, "a block ends in a terminator"

        def end(returned: list[Partial]) -> None:
            (value,) = returned
            self._writer.add(sink, YieldOp(self._writer.value(value)), last)
            if then is not None:
                then(value)

        return end

    # --- calls -----------------------------------------------------------------------------------------------------

    def _follow_closure(self, frame: _Frame, call: InvokeOp) -> bool:
        callee = frame.values.of(call.callee)
        closure = callee.closure
        if closure is None or self._program.has_names(closure.function):
            return False
        arguments = [frame.values.of(value) for value in call.arguments]
        function = closure.function
        values = Activation(closure.around)
        values.values.update(zip(function.parameters, arguments, strict=True))
        itself = function.self_argument
        if itself is not None:
            values.values[itself] = callee
        return self._follow(frame, call, function, function.body.block, arguments, values)

    def _follow_function(self, frame: _Frame, call: CallOp) -> bool:
        function = self._program.functions.get(callee_name(call))
        if function is None or self._program.has_names(function):
            return False
        arguments = [frame.values.of(value) for value in call.arguments]
        block, values = function.body.block, Activation()
        values.values.update(zip(block.args, arguments, strict=True))
        return self._follow(frame, call, function, block, arguments, values)

    def _follow(
        self,
        frame: _Frame,
        call: Operation,
        function: Operation,
        body: Block,
        arguments: Sequence[Partial],
        values: Activation,
    ) -> bool:
        """Enters the body of the callee of `call` with `values`; returns False if the call makes no progress."""
        if self._budget.left <= 0 or self._program.number(function) >= Fuels.MOST:
            return False
        fuels = frame.fuels.following(self._program.number(function), tuple(each.fuel for each in arguments))
        if fuels is None:
            return False

        def end(returned: list[Partial]) -> None:
            frame.values.values.update(zip(call.results, returned, strict=True))

        self._frames.append(_Frame(body.first_op, values, fuels, frame.sink, end, followed=True))
        return True

    # --- control flow ----------------------------------------------------------------------------------------------

    def _choose(self, frame: _Frame, op: IfOp) -> None:
        """Evaluates the branch that a known condition selects, or both branches."""
        condition = frame.values.of(op.condition)
        # If the op introduces a named extent for both branches, the name must remain bound.
        if isinstance(condition.value, np.ndarray) and not made_extents(op):
            region = op.true_region if condition.value.item() else op.false_region

            def end(returned: list[Partial]) -> None:
                frame.values.values[op.result] = returned[0]

            self._enter(frame, region.block, frame.sink, end)
            return
        sinks = [self._writer.sink(), self._writer.sink()]

        def both(_: Partial) -> None:
            regions = [Region(sink.block) for sink in sinks]
            new = IfOp(self._writer.value(condition), op.result.type, regions[0], regions[1])
            new.attributes.update(op.attributes)
            self._writer.add(frame.sink, new, op, sinks)
            frame.values.values[op.result] = Partial(new.result)

        def other(_: Partial) -> None:
            self._enter(frame, op.false_region.block, sinks[1], self._yield_to(sinks[1], op.false_region.block, both))

        self._enter(frame, op.true_region.block, sinks[0], self._yield_to(sinks[0], op.true_region.block, other))

    def _enter(self, frame: _Frame, block: Block, sink: Sink, end: End) -> None:
        """Evaluates a block of the function of `frame`."""
        self._frames.append(_Frame(block.first_op, frame.values, frame.fuels, sink, end, frame.followed))

    def _loop(self, frame: _Frame, op: LoopOp) -> None:
        """Evaluates the body of a loop once, with unknown iteration number and carried values."""
        body = op.body.block
        sink = self._writer.sink([value.type for value in body.args])
        for old, new in zip(body.args, sink.block.args, strict=True):
            new.name_hint = old.name_hint
            frame.values.values[old] = Partial(new)

        def end(_: Partial) -> None:
            operands = {value: self._writer.value(frame.values.of(value)) for value in op.operands}
            new = LoopOp(
                None if op.trip_count is None else operands[op.trip_count],
                None if op.condition is None else operands[op.condition],
                [operands[value] for value in op.initial],
                op.result.type,
                Region(sink.block),
            )
            new.attributes.update(op.attributes)
            self._writer.add(frame.sink, new, op, [sink])
            frame.values.values[op.result] = Partial(new.result)

        self._enter(frame, body, sink, self._yield_to(sink, body, end))


def known(value: Value) -> Partial:
    """The known value `value`, with its fields if it is a tuple."""
    # Operators return tuples of arrays, but no nested tuples.
    fields = tuple(known(field) for field in value) if isinstance(value, tuple) else None
    return Partial(None, value, fields)
