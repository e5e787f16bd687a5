"""Evaluates the functions of a program as far as it is known, for `relay-partial-eval`.

The evaluator executes the ops of a block in order, as the interpreter does, and records what is known about each value.
Known results are computed, and ops for unknown results are emitted. A call of a known function evaluates its body; an
unknown condition evaluates both branches. Pending blocks are on an explicit stack, so that neither the depth of the
program nor that of its calls is limited by Python's recursion.

Emitted ops are collected in lists, one for each block. In the end the live ops are added to their blocks: ops that
compute the results of a block or may have side effects, and the ops that define their operands. Inner blocks come
first, because xDSL visits all blocks around an op that is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
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
from xrelay.dialects.shared.types import tuple_type
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import Value, evaluate_op
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.relay.fold_constant import MAX_GROWTH, bytes_of, may_fold, size_of

_TIMES = count()

_MAX_FUNCTIONS = 4_000
"""The maximum number of different functions and closures in which followed calls may nest."""

_Fuel: TypeAlias = "tuple[tuple[int, int], ...]"
"""For each argument of a call: the time at which its value was created, and its value if it is an integer, else 0."""

_Fuels: TypeAlias = "dict[Operation, _Fuel]"
"""Maps a function or closure to the minimum fuel of the arguments in its enclosing calls."""


@dataclass(eq=False, slots=True)
class _Partial:
    """A value of the original program: its known parts, and its value in the new program."""

    dynamic: SSAValue | None = None
    """The value in the new program; `None` for a constant that the new program does not use yet."""
    value: Value | None = None
    """The array, or tuple of arrays, if it is fully known."""
    fields: tuple[_Partial, ...] | None = None
    """The fields of a tuple, if the op that creates it is known."""
    closure: _Closure | None = None
    time: int = field(default_factory=lambda: next(_TIMES))
    """The time of creation: later values have greater numbers."""

    @property
    def fuel(self) -> tuple[int, int]:
        """The fuel of this value as an argument."""
        value, number = self.value, 0
        if isinstance(value, np.ndarray) and value.shape == () and value.dtype.name in ("int32", "int64"):
            number = max(0, int(value))
        return self.time, number


class _Activation(dict[SSAValue, _Partial]):
    """The values in one execution of a function's body; `outer` has those that a closure captures."""

    def __init__(self, outer: _Activation | None = None):
        self._outer = outer

    def __missing__(self, value: SSAValue) -> _Partial:
        """Returns the record of a value of an outer activation, and copies it to all inner ones."""
        missed: list[_Activation] = []
        current: _Activation | None = self
        while current is not None and value not in current:
            missed.append(current)
            current = current._outer
        assert current is not None, "a use follows its definition"
        found = current[value]
        for each in missed:
            each[value] = found
        return found


@dataclass(eq=False, slots=True)
class _Closure:
    """A `relay.fn` with the values that it captures, and the followed calls that led to it."""

    function: FnOp
    around: _Activation
    fuels: _Fuels


class _Sink:
    """The ops emitted for a block."""

    def __init__(self, block: Block):
        self.block = block
        self.ops: list[Operation] = []
        self.stay: list[Operation] = []
        """The ops that are always live."""
        self.has_effects = False
        """Whether an op of the block may have side effects."""


class _Writer:
    """Emits the blocks of one function."""

    def __init__(self, parameters: Sequence[SSAValue]):
        self._sinks: list[_Sink] = []
        self._inner: dict[Operation, Sequence[_Sink]] = {}
        """Emitted ops → their inner blocks."""
        self.bodies: dict[Operation, Callable[[], _Sink]] = {}
        """Emitted closures → the functions that emit their bodies and return the blocks, called for live closures."""
        self._constants: list[Operation] = []
        self.body = self.sink([value.type for value in parameters])
        for old, new in zip(parameters, self.body.block.args, strict=True):
            new.name_hint = old.name_hint

    def sink(self, types: Sequence[Attribute] = ()) -> _Sink:
        """Returns a new block with arguments of these types."""
        made = _Sink(Block(arg_types=types))
        self._sinks.append(made)
        return made

    def add(self, sink: _Sink, new: Operation, like: Operation, inner: Sequence[_Sink] = ()) -> None:
        """Emits an op with the location and the names of `like`; `inner` are its inner blocks."""
        new.location = like.location
        for made, old in zip(new.results, like.results, strict=False):
            made.name_hint = old.name_hint
        sink.ops.append(new)
        if inner:
            self._inner[new] = inner
        if new.has_trait(IsTerminator):
            sink.stay.append(new)
        elif any(each.has_effects for each in inner) or (not new.regions and not is_pure(new)):
            sink.stay.append(new)
            sink.has_effects = True

    def value(self, partial: _Partial) -> SSAValue:
        """The value in the new program; constants are created at the beginning of the function."""
        if partial.dynamic is None:
            pending = [partial]
            while pending:
                each = pending[-1]
                fields = each.fields if each.fields is not None else ()
                missing = [field for field in fields if field.dynamic is None]
                pending += missing
                if not missing:
                    pending.pop()
                    each.dynamic = self._constant(each)
        assert partial.dynamic is not None, "values that are not constant were emitted"
        return partial.dynamic

    def _constant(self, partial: _Partial) -> SSAValue:
        if partial.fields is None:
            made: Operation = ConstantOp.of(np.asarray(partial.value))
        else:
            values = [self.value(each) for each in partial.fields]
            made = TupleOp.create(operands=values, result_types=[tuple_type(value.type for value in values)])
        self._constants.append(made)
        return made.results[0]

    def add_constant(self, op: ConstantOp) -> SSAValue:
        """Copies a constant of the original program to the beginning of the function."""
        made = op.clone()
        made.result.name_hint = op.result.name_hint
        self._constants.append(made)
        return made.result

    def finish(self) -> Block:
        """Returns the body of the function with all live ops."""
        live: set[Operation] = set()
        pending: list[Operation] = list(self.body.stay)
        while pending:
            op = pending.pop()
            if op in live:
                continue
            live.add(op)
            pending += [value.op for value in op.operands if isinstance(value, OpResult)]
            later = self.bodies.pop(op, None)
            inner = self._inner.get(op, ()) if later is None else [later()]
            for sink in inner:
                pending += sink.stay
        self.body.ops[:0] = self._constants
        for sink in self._sinks:
            for op in sink.ops:
                if op not in live:
                    op.operands = []
        for sink in reversed(self._sinks):
            sink.block.add_ops([op for op in sink.ops if op in live])
        return self.body.block


_End = Callable[[list[_Partial]], None]
"""Receives the operands of a block's terminator."""


@dataclass(eq=False, slots=True)
class _Frame:
    """A block that is being evaluated."""

    op: Operation | None
    values: _Activation
    fuels: _Fuels
    sink: _Sink
    end: _End
    followed: bool
    """Whether the block is in the body of a followed call."""


def _fuels_of_call(fuels: _Fuels, function: Operation, arguments: Sequence[_Partial]) -> _Fuels | None:
    """Returns the map inside a call of `function`; None if the call makes no progress.

    A call makes progress if an argument was created earlier, or is a smaller number, than in all enclosing calls of the
    function. Neither can continue forever, so following calls ends.
    """
    old, fuel = fuels.get(function), tuple(each.fuel for each in arguments)
    if old is None:
        return {**fuels, function: fuel} if len(fuels) < _MAX_FUNCTIONS else None
    least = tuple((min(one[0], other[0]), min(one[1], other[1])) for one, other in zip(old, fuel, strict=True))
    return None if least == old else {**fuels, function: least}


class Evaluator:
    """Evaluates functions with unknown parameters, and emits the remaining ops.

    `functions` are the functions before evaluation whose calls are followed, `budget` is the number of ops that may be
    evaluated in bodies of followed calls.
    """

    def __init__(self, functions: Mapping[str, FuncOp], budget: int):
        self._functions, self._budget = functions, budget
        self._frames: list[_Frame] = []

    def run(self, function: FuncOp) -> Block:
        """The new body of `function`."""
        self._writer = _Writer(function.body.block.args)
        self._constants: dict[ConstantOp, _Partial] = {}
        sink, values = self._writer.body, _Activation()
        values.update(zip(function.body.block.args, map(_Partial, sink.block.args), strict=True))
        fuels: _Fuels = {function: tuple(each.fuel for each in values.values())}
        last = function.body.block.last_op
        assert last is not None, "a function ends in func.return"

        def end(results: list[_Partial]) -> None:
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
                frame.end([frame.values[value] for value in op.operands])
                continue
            frame.op = op.next_op
            if frame.followed:
                self._budget -= 1
            self._visit(frame, op)

    def _visit(self, frame: _Frame, op: Operation) -> None:
        values = frame.values
        match op:
            case ConstantOp():
                values[op.result] = self._constant(op)
            case LetOp():
                values[op.result] = values[op.value]
            case TupleOp():
                values[op.result] = self._tuple(frame, op)
            case TupleGetItemOp() if (fields := values[op.data].fields) is not None:
                values[op.result] = fields[op.index.value.data]
            case FnOp():
                self._closure(frame, op)
            case InvokeOp() | CallOp() if self._follows(frame, op):
                pass
            case IfOp():
                self._choose(frame, op)
            case LoopOp():
                self._loop(frame, op)
            case _:
                self._compute(frame, op)

    # --- values ----------------------------------------------------------------------------------------------------

    def _constant(self, op: ConstantOp) -> _Partial:
        """The value of a constant, which is emitted once per function."""
        if op not in self._constants:
            is_here = not isinstance(op.value, WeightAttr) or op.value.data.is_resolved
            value = op.array if is_here else None
            self._constants[op] = _Partial(self._writer.add_constant(op), value)
        return self._constants[op]

    def _tuple(self, frame: _Frame, op: TupleOp) -> _Partial:
        fields = tuple(frame.values[value] for value in op.operands)
        if all(each.value is not None for each in fields):
            return _Partial(None, tuple(each.value for each in fields if each.value is not None), fields)
        (made,) = self._write(frame, op)
        made.fields = fields
        return made

    def _compute(self, frame: _Frame, op: Operation) -> None:
        """Computes an op if its operands are known and it does not fail; emits it otherwise."""
        value = self._evaluated(op, [frame.values[operand].value for operand in op.operands])
        made = [_known(value)] if value is not None else self._write(frame, op)
        frame.values.update(zip(op.results, made, strict=True))

    def _evaluated(self, op: Operation, operands: Sequence[Value | None]) -> Value | None:
        """The result of an op, if it is known and small enough."""
        values = [value for value in operands if value is not None]
        if len(values) < len(operands) or not may_fold(op) or isinstance(op, QnnOp):
            return None
        type = op.results[0].type
        if bytes_of(type) - sum(map(size_of, values)) > MAX_GROWTH:
            return None
        try:
            value = evaluate_op(op, values)
        except InterpreterError:
            return None  # It fails at run time, if it runs.
        return None if isinstance(value, tuple) and not isinstance(type, TupleType) else value

    def _write(self, frame: _Frame, op: Operation) -> list[_Partial]:
        """Emits an op on the emitted operands; returns its unknown results."""
        operands = {value: frame.values[value] for value in op.operands}
        if op.regions:
            operands |= {value: frame.values[value] for value in captures_in(op)[op]}
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
        return [_Partial(value) for value in new.results]

    def _closure(self, frame: _Frame, op: FnOp) -> None:
        """Creates a closure; its body is emitted only if a use other than a known call needs it."""
        new = FnOp.create(result_types=list(op.result_types), properties=dict(op.properties), regions=[Region()])
        new.attributes.update(op.attributes)
        closure = _Closure(op, frame.values, frame.fuels)
        self._writer.add(frame.sink, new, op)
        self._writer.bodies[new] = lambda: self._body(closure, new)
        frame.values[op.result] = _Partial(new.result, closure=closure)

    def _body(self, closure: _Closure, new: FnOp) -> _Sink:
        """Emits the body of a closure, with unknown parameters."""
        function = closure.function
        old = function.body.block
        sink, values = self._writer.sink([value.type for value in old.args]), _Activation(closure.around)
        new.regions[0].add_block(sink.block)
        for parameter, value in zip(old.args, sink.block.args, strict=True):
            value.name_hint = parameter.name_hint
            itself = closure if parameter is function.self_argument else None
            values[parameter] = _Partial(value, closure=itself)
        arguments = [values[parameter] for parameter in function.parameters]
        fuels = _fuels_of_call(closure.fuels, function, arguments)
        fuels = closure.fuels if fuels is None else fuels
        end = self._yield_to(sink, old)
        self._go(_Frame(old.first_op, values, fuels, sink, end, followed=False))
        return sink

    def _yield_to(self, sink: _Sink, old: Block, then: Callable[[_Partial], None] | None = None) -> _End:
        """Returns a function that terminates the emitted block with the value that `old` yields, then calls `then`."""
        last = old.last_op
        assert last is not None, "a block ends in a terminator"

        def end(returned: list[_Partial]) -> None:
            (value,) = returned
            self._writer.add(sink, YieldOp(self._writer.value(value)), last)
            if then is not None:
                then(value)

        return end

    # --- calls -----------------------------------------------------------------------------------------------------

    def _follows(self, frame: _Frame, call: InvokeOp | CallOp) -> bool:
        """Enters the body of the callee; returns False if it is not known, or the call makes no progress."""
        arguments = [frame.values[value] for value in call.arguments]
        function: FuncOp | FnOp
        if isinstance(call, CallOp):
            if (named := self._functions.get(callee_name(call))) is None:
                return False
            function, values = named, _Activation()
            values.update(zip(named.body.block.args, arguments, strict=True))
        else:
            callee = frame.values[call.callee]
            if (closure := callee.closure) is None:
                return False
            function, values = closure.function, _Activation(closure.around)
            values.update(zip(function.parameters, arguments, strict=True))
            if function.self_argument is not None:
                values[function.self_argument] = callee
        fuels = _fuels_of_call(frame.fuels, function, arguments) if self._budget > 0 else None
        if fuels is None:
            return False

        def end(returned: list[_Partial]) -> None:
            frame.values.update(zip(call.results, returned, strict=True))

        self._frames.append(_Frame(function.body.block.first_op, values, fuels, frame.sink, end, followed=True))
        return True

    # --- control flow ----------------------------------------------------------------------------------------------

    def _choose(self, frame: _Frame, op: IfOp) -> None:
        """Evaluates the branch that a known condition selects, or both branches."""
        condition = frame.values[op.condition]
        if isinstance(condition.value, np.ndarray):
            region = op.true_region if condition.value.item() else op.false_region

            def end(returned: list[_Partial]) -> None:
                frame.values[op.result] = returned[0]

            self._enter(frame, region.block, frame.sink, end)
            return
        sinks = [self._writer.sink(), self._writer.sink()]

        def both(_: _Partial) -> None:
            regions = [Region(sink.block) for sink in sinks]
            new = IfOp(self._writer.value(condition), op.result.type, regions[0], regions[1])
            new.attributes.update(op.attributes)
            self._writer.add(frame.sink, new, op, sinks)
            frame.values[op.result] = _Partial(new.result)

        def other(_: _Partial) -> None:
            self._enter(frame, op.false_region.block, sinks[1], self._yield_to(sinks[1], op.false_region.block, both))

        self._enter(frame, op.true_region.block, sinks[0], self._yield_to(sinks[0], op.true_region.block, other))

    def _enter(self, frame: _Frame, block: Block, sink: _Sink, end: _End) -> None:
        """Evaluates a block of the function of `frame`."""
        self._frames.append(_Frame(block.first_op, frame.values, frame.fuels, sink, end, frame.followed))

    def _loop(self, frame: _Frame, op: LoopOp) -> None:
        """Evaluates the body of a loop once, with unknown iteration number and carried values."""
        body = op.body.block
        sink = self._writer.sink([value.type for value in body.args])
        for old, new in zip(body.args, sink.block.args, strict=True):
            new.name_hint = old.name_hint
            frame.values[old] = _Partial(new)

        def end(_: _Partial) -> None:
            operands = {value: self._writer.value(frame.values[value]) for value in op.operands}
            new = LoopOp(
                None if op.trip_count is None else operands[op.trip_count],
                None if op.condition is None else operands[op.condition],
                [operands[value] for value in op.initial],
                op.result.type,
                Region(sink.block),
            )
            new.attributes.update(op.attributes)
            self._writer.add(frame.sink, new, op, [sink])
            frame.values[op.result] = _Partial(new.result)

        self._enter(frame, body, sink, self._yield_to(sink, body, end))


def _known(value: Value) -> _Partial:
    """The known value `value`, with its fields if it is a tuple."""
    # Operators return tuples of arrays, but no nested tuples.
    fields = tuple(_known(field) for field in value) if isinstance(value, tuple) else None
    return _Partial(None, value, fields)
