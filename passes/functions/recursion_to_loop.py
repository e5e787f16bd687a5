"""`relay-recursion-to-loop`: replaces the tail recursion of a function by a loop.

If the body of a function contains a single call of the function, in a branch of a `relay.if`, and returns the result of
the call, the recursion becomes a `relay.loop` that computes the arguments of the next call as long as the condition
selects this branch. The ops of the last call follow the loop.

Before:

    func.func @power(%x: T, %n: tensor<i64>) -> T {
      %stop = relay.less(%n, %one)
      %r = relay.if %stop : tensor<i1> -> T {
        relay.yield %x : T
      } else {
        %m = relay.subtract(%n, %one)
        %y = relay.add(%x, %x)
        %p = func.call @power(%y, %m) : (T, tensor<i64>) -> T
        relay.yield %p : T
      }
      func.return %r : T
    }

After:

    %l = relay.loop(%i, %x_1 = %x, %n_1 = %n) while %true -> tuple<T, tensor<i64>> {
      %stop = relay.less(%n_1, %one)
      %s = relay.if %stop {yield (false, %x_1, %n_1)} else {yield (true, %x_1 + %x_1, %n_1 - 1)}
      relay.yield (%s.0, %s.1, %s.2)
    }
    func.return %l.0 : T

The loop has the attribute `relay.recursion` with the name of the function: it fails with the error of the recursion if
it has more iterations than there may be pending calls. Each op runs as often as before.

First, ops are moved to the innermost block that contains all their uses, so that a call before the branch that uses it
does not recurse endlessly.

The pass refuses, with a remark, functions that call themselves in several places, calls whose result is not that of the
function, calls in a loop, in a closure or outside of branches, and arguments whose types differ from the parameters.
Such functions keep their calls, whose frames `llvm-recursion-to-frames` keeps in memory. Recursions by way of other
functions, kernels and functions in A-normal or basic block normal form are not changed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.loop import COUNT, LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE, RECURSION
from xrelay.dialects.shared.types import is_complete, tuple_type
from xrelay.passes.graph.effects import PureFunctions
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_basic_block_normal_form import place_ops_of


@dataclass(frozen=True)
class RelayRecursionToLoopPass(XRelayPass):
    """Replaces tail recursions with a single call by loops; see the module's docstring. Exact."""

    name = "relay-recursion-to-loop"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(turn_recursions_into_loops(op))


def turn_recursions_into_loops(module: ModuleOp) -> list[Remark]:
    """Rewrites each function of `module` that calls itself in one place; returns a remark on each recursion."""
    remarks = Remarks(RelayRecursionToLoopPass.name)
    pure = PureFunctions(module)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes and not function.is_declaration:
            _rewrite(function, remarks, pure)
    return remarks.all


def _rewrite(function: FuncOp, remarks: Remarks, pure_calls: Container[str]) -> None:
    calls, form = _calls_of_itself(function), function.attributes.get(FORM)
    is_ordered = isinstance(form, StringAttr) and form.data != "dataflow"
    if not calls or is_ordered or function.sym_name.data not in pure_calls or len(function.body.blocks) != 1:
        return
    place_ops_of(function, pure_calls)
    calls = _calls_of_itself(function)
    if not calls:
        return  # Nothing uses the value of the call.
    found = _recursion(function, calls)
    if isinstance(found, str):
        remarks.refused(calls[0], found)
        return
    remarks.applied(calls[0], "the recursion becomes a loop")
    write_loop(found)


def _calls_of_itself(function: FuncOp) -> list[AnyCall]:
    name = function.sym_name.data
    return [op for op in walk_ops(function) if is_call(op) and callee_name(op) == name]


def _recursion(function: FuncOp, calls: list[AnyCall]) -> Recursion | str:
    """The recursion of `function`, or the reason why it cannot become a loop."""
    call = calls[0]
    if len(calls) > 1:
        return f"@{function.sym_name.data} calls itself in {len(calls)} places"
    end = function.body.block.last_op
    if not isinstance(end, ReturnOp):
        return "the function does not end in func.return"
    parameters = [argument.type for argument in function.body.block.args]
    if [operand.type for operand in call.operands] != parameters or not all(map(is_complete, parameters)):
        return "the types of the arguments differ from those of the parameters"
    if list(call.result_types) != [operand.type for operand in end.operands]:
        return "the types of the call's results differ from those of the function"
    path: list[Step] = []
    op: Operation = call
    while op.parent is not function.body.block:
        around, region = op.parent_op(), op.parent_region()
        if not isinstance(around, IfOp) or region is None:
            return f"the call is in a {around.name if around is not None else 'block of its own'}"
        path.append(Step(around, around.regions.index(region)))
        op = around
    found = Recursion(function, call, path[::-1])
    if not path:
        return "the call is not in a branch: the recursion does not end"
    return found if found.is_tail else "the result of the call is not that of the function"


Values = dict[SSAValue, SSAValue]
"""Values of the original function → values in a copy of its ops."""


@dataclass(frozen=True)
class Step:
    """A branch around the call: region `index` of `op`."""

    op: IfOp
    index: int

    @property
    def branch(self) -> Block:
        """The branch that contains the call."""
        return self.op.regions[self.index].block

    @property
    def other(self) -> Block:
        """The branch without the call."""
        return self.op.regions[1 - self.index].block

    def choice(self, values: Values, inside: Region, outside: Region, result: SSAValue) -> IfOp:
        """A copy of the branch with these regions, `inside` being the one with the call."""
        regions = (inside, outside) if self.index == 0 else (outside, inside)
        return IfOp(_of(values, self.op.condition), result.type, *regions)


@dataclass(frozen=True)
class Recursion:
    """A function, its call of itself, and the branches around the call, outer ones first."""

    function: FuncOp
    call: AnyCall
    path: Sequence[Step]

    @property
    def parameters(self) -> Sequence[SSAValue]:
        """The function's parameters."""
        return self.function.body.block.args

    @property
    def is_tail(self) -> bool:
        """Whether the function returns the result of the call."""
        returned = list(cast(ReturnOp, self.function.body.block.last_op).operands)
        for step in self.path:
            if returned != [step.op.result]:
                return False
            returned = [_yielded(step.branch)]
        return returned == list(self.call.results)


class Writer:
    """Appends ops to a block, located at the recursive call."""

    def __init__(self, block: Block, like: Operation):
        self.block, self._like = block, like

    def add(self, op: Operation) -> SSAValue:
        """Appends `op`; returns its first result."""
        op.location = self._like.location
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: bool) -> SSAValue:
        """A constant of i1."""
        return self.add(ConstantOp.of(np.array(value)))

    def pack(self, values: Iterable[SSAValue]) -> SSAValue:
        """The tuple of `values`."""
        return self.add(TupleOp.call(*values))

    def unpack(self, value: SSAValue) -> list[SSAValue]:
        """The fields of a tuple."""
        count = len(cast(TupleType, value.type).types)
        return [self.add(TupleGetItemOp.call(value, index=index)) for index in range(count)]

    def yield_value(self, value: SSAValue) -> None:
        """Appends a yield of `value`."""
        self.block.add_op(YieldOp.create(operands=[value], location=self._like.location))

    def copy(self, ops: Iterable[Operation], values: Values) -> None:
        """Appends copies of `ops`, with operands from `values`, and adds their results to `values`."""
        for op in ops:
            self.block.add_op(op.clone(values))


def write_loop(recursion: Recursion) -> None:
    """Replaces the body of the function by a loop and the ops of the last call."""
    body, old = recursion.function.body, recursion.function.body.block
    block = Block(arg_types=old.arg_types)
    for argument, like in zip(block.args, old.args, strict=True):
        argument.name_hint, argument.location = like.name_hint, like.location
    writer = Writer(block, recursion.call)
    last = _write_calls(recursion, writer)
    result = _write_base(recursion, writer, dict(zip(recursion.parameters, last, strict=True)))
    block.add_op(ReturnOp(result))
    body.erase_block(old, safe_erase=False)
    body.add_block(block)


def _write_calls(recursion: Recursion, writer: Writer) -> list[SSAValue]:
    """Emits the loop over the calls; returns the arguments of the last call."""
    types = [parameter.type for parameter in recursion.parameters]
    body = Writer(Block(arg_types=[COUNT, *types]), recursion.call)
    arguments = body.block.args[1:]
    for argument, like in zip(arguments, recursion.parameters, strict=True):
        argument.name_hint = like.name_hint
    body.yield_value(_write_step(recursion, body, dict(zip(recursion.parameters, arguments, strict=True))))
    loop = LoopOp(None, writer.constant(True), writer.block.args, tuple_type(types), Region(body.block))
    loop.attributes[RECURSION] = recursion.function.sym_name
    return writer.unpack(writer.add(loop))


def _write_step(recursion: Recursion, writer: Writer, values: Values) -> SSAValue:
    """Emits the step for the parameters in `values`; returns a tuple of the condition to call and the arguments."""
    levels, block = [writer], recursion.function.body.block
    for step in recursion.path:
        levels[-1].copy(_ops_before(block, step.op), values)
        levels.append(Writer(Block(), recursion.call))
        block = step.branch
    inner = levels.pop()
    inner.copy(_ops_before(block, recursion.call), values)
    result = inner.pack([inner.constant(True), *(_of(values, value) for value in recursion.call.operands)])
    for step in reversed(recursion.path):
        inner.yield_value(result)
        other = Writer(Block(), recursion.call)
        other.yield_value(
            other.pack([other.constant(False), *(values[parameter] for parameter in recursion.parameters)])
        )
        chosen = step.choice(values, Region(inner.block), Region(other.block), result)
        inner = levels.pop()
        result = inner.add(chosen)
    return result


def _write_base(recursion: Recursion, writer: Writer, values: Values) -> SSAValue:
    """Emits the last call, for the parameters in `values`; returns its result."""
    levels, block = [writer], recursion.function.body.block
    *outer, last = recursion.path
    for step in outer:
        levels[-1].copy(_ops_before(block, step.op), values)
        levels.append(Writer(Block(), recursion.call))
        block = step.branch
    inner = levels.pop()
    inner.copy(_ops_before(block, last.op), values)
    inner.copy((op for op in last.other.ops if op.next_op is not None), values)
    result = _of(values, _yielded(last.other))
    for step in reversed(outer):
        inner.yield_value(result)
        other = Region()
        step.op.regions[1 - step.index].clone_into(other, value_mapper=values)
        chosen = step.choice(values, Region(inner.block), other, result)
        inner = levels.pop()
        result = inner.add(chosen)
    return result


def _ops_before(block: Block, op: Operation) -> list[Operation]:
    return list(takewhile(lambda each: each is not op, block.ops))


def _yielded(block: Block) -> SSAValue:
    return cast(YieldOp, block.last_op).value


def _of(values: Values, value: SSAValue) -> SSAValue:
    return values.get(value, value)
