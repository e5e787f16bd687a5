"""`relay-recursion-to-loop`: replaces the recursion of a function that calls itself in one place by loops.

If the body of a function contains a single call of the function, in a branch of a `relay.if`, the recursion becomes a
`relay.loop` that computes the arguments of the next call as long as the condition selects this branch. In a tail
recursion the result of the last call is the result of the function. Otherwise a second loop applies the ops after the
call, for each call from the last to the first; the first loop stacks the arguments that these ops need. Native code has
loops, and a pending call costs more than a row of a stack.

Before:

    func.func @power(%x: T, %n: tensor<i64>) -> T {
      %stop = relay.less(%n, %one)
      %r = relay.if %stop : tensor<i1> -> T {
        relay.yield %x : T
      } else {
        %m = relay.subtract(%n, %one)
        %p = func.call @power(%x, %m) : (T, tensor<i64>) -> T
        %d = relay.add(%p, %p)
        relay.yield %d : T
      }
      func.return %r : T
    }

After:

    %l = relay.loop(%i, %x_1 = %x, %n_1 = %n, %c = %zero) while %true -> tuple<T, tensor<i64>, tensor<i64>> {
      %stop = relay.less(%n_1, %one)
      %s = relay.if %stop {yield (false, %x_1, %n_1)} else {yield (true, %x_1, %n_1 - 1)}
      relay.yield (%s.0, %s.1, %s.2, %i)
    }
    %r = relay.loop(%j, %p = %l.0 : T) to %l.2 : tensor<i64> -> tuple<T> {
      %d = relay.add(%p, %p)
      relay.yield (%d)
    }

The first loop has the attribute `relay.recursion` with the name of the function: it fails with the error of the
recursion if it has more iterations than there may be pending calls. Each op runs as often as before, except that ops
whose results both loops need run in both.

First, ops are moved to the innermost block that contains all their uses, so that a call before the branch that uses it
does not recurse endlessly.

The pass refuses, with a remark, functions that call themselves in several places, calls in a loop, in a closure or
outside of branches, and arguments whose types differ from the parameters. Recursions by way of other functions, kernels
and functions in A-normal or basic block normal form are not changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from xrelay.dialects.relay.ops.tensor.arithmetic import SubtractOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.loop import COUNT, LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE, RECURSION
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of, tensor_type, tuple_type
from xrelay.index_algebra.dims import ANY
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_basic_block_normal_form import place_ops_of
from xrelay.passes.types.infer_type import infer_types


@dataclass(frozen=True)
class RelayRecursionToLoopPass(XRelayPass):
    """Replaces recursions with a single call by loops; see the module's docstring. Exact."""

    name = "relay-recursion-to-loop"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(turn_recursions_into_loops(op))


def turn_recursions_into_loops(module: ModuleOp) -> list[Remark]:
    """Rewrites each function of `module` that calls itself in one place; returns a remark on each recursion."""
    remarks = Remarks(RelayRecursionToLoopPass.name)
    pure = pure_functions(module)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes and not function.is_declaration:
            _rewrite(function, remarks, pure)
    if any(remark.applied for remark in remarks.all):
        infer_types(module)  # The stacks' extents get names.
    return remarks.all


def _rewrite(function: FuncOp, remarks: Remarks, pure_calls: Collection[str]) -> None:
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
    remarks.applied(calls[0], "the recursion becomes a loop" if found.is_tail else "the recursion becomes two loops")
    write_loops(found)


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
    if not found.is_tail and not all(isinstance(parameter.type, TensorType) for parameter in found.frame):
        return "the ops after the call need a parameter that is not a tensor"
    return found if path else "the call is not in a branch: the recursion does not end"


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
    def results(self) -> Sequence[SSAValue]:
        """The operands of the function's return."""
        return cast(ReturnOp, self.function.body.block.last_op).arguments

    @cached_property
    def ascent(self) -> set[Operation]:
        """The ops needed to compute the function's results from those of the call, including the ifs of the path."""
        steps = {step.op: step for step in self.path}
        needed, pending = set[Operation](), list(self.results)
        while pending:
            owner = pending.pop().owner
            if not isinstance(owner, Operation) or owner in needed or owner is self.call:
                continue
            needed.add(owner)
            step = steps.get(cast(IfOp, owner))
            if step is not None:
                pending.append(_yielded(step.branch))
            else:
                pending += [operand for inner in owner.walk() for operand in inner.operands]
        return needed

    @cached_property
    def frame(self) -> list[SSAValue]:
        """The parameters that the ascent needs."""
        steps = {step.op for step in self.path}
        used = {operand for op in self.ascent if op not in steps for inner in op.walk() for operand in inner.operands}
        used |= {_yielded(step.branch) for step in self.path} | set(self.results)
        return [parameter for parameter in self.parameters if parameter in used]

    @property
    def is_tail(self) -> bool:
        """Whether the function's results are those of the call."""
        found = [self._value_on_path(value) for value in self.results]
        return found == list(self.call.results)

    def _value_on_path(self, value: SSAValue) -> SSAValue:
        """The value that `value` has if every `relay.if` of the path selects the branch with the call."""
        steps = {step.op: step for step in self.path}
        while isinstance(value, OpResult) and isinstance(value.op, IfOp) and value.op in steps:
            step = steps[value.op]
            value = _yielded(step.branch)
        return value


class Writer:
    """Appends ops to a block, located at the recursive call."""

    def __init__(self, block: Block, like: Operation):
        self.block, self._like = block, like

    def add(self, op: Operation) -> SSAValue:
        """Appends `op`; returns its first result."""
        op.location = self._like.location
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: int | bool) -> SSAValue:
        """A constant of i1 or i64."""
        dtype = np.bool_ if isinstance(value, bool) else np.int64
        return self.add(ConstantOp.of(np.array(value, dtype)))

    def pack(self, values: Iterable[SSAValue]) -> SSAValue:
        """The tuple of `values`."""
        return self.add(TupleOp.call(*values))

    def unpack(self, value: SSAValue) -> list[SSAValue]:
        """The fields of a tuple."""
        count = len(cast(TupleType, value.type).types)
        return [self.add(TupleGetItemOp.call(value, index=index)) for index in range(count)]

    def end(self, *values: SSAValue) -> None:
        """Appends a yield of the tuple of `values`."""
        self.block.add_op(YieldOp.create(operands=[self.pack(values)], location=self._like.location))

    def copy(self, ops: Iterable[Operation], values: Values) -> None:
        """Appends copies of `ops`, with operands from `values`, and adds their results to `values`."""
        for op in ops:
            self.block.add_op(op.clone(values))


def write_loops(recursion: Recursion) -> None:
    """Replaces the body of the function by loops. The extent of the stacks is unnamed until types are inferred."""
    body, old = recursion.function.body, recursion.function.body.block
    block = Block(arg_types=old.arg_types)
    for argument, like in zip(block.args, old.args, strict=True):
        argument.name_hint, argument.location = like.name_hint, like.location
    writer = Writer(block, recursion.call)
    last, count, stacks = _write_descent(recursion, writer)
    results = _write_base(recursion, writer, dict(zip(recursion.parameters, last, strict=True)))
    if not recursion.is_tail:
        results = _write_ascent(recursion, writer, results, count, stacks)
    block.add_op(ReturnOp(*results))
    body.erase_block(old, safe_erase=False)
    body.add_block(block)


def _write_descent(recursion: Recursion, writer: Writer) -> tuple[list[SSAValue], SSAValue, list[SSAValue]]:
    """Emits the loop over the calls; returns the arguments of the last call, the number of calls, and the stacks."""
    types = [parameter.type for parameter in recursion.parameters]
    body = Writer(Block(arg_types=[COUNT, *types, COUNT]), recursion.call)
    number, *arguments = body.block.args[:-1]
    for argument, like in zip(arguments, recursion.parameters, strict=True):
        argument.name_hint = like.name_hint
    values: Values = dict(zip(recursion.parameters, arguments, strict=True))
    continues, *following = body.unpack(_write_step(recursion, body, values))
    frame = [] if recursion.is_tail else recursion.frame
    body.end(continues, *following, number, *(values[parameter] for parameter in frame))
    stacked = [tensor_type([ANY, *shape_of(parameter.type)], element_type_of(parameter.type)) for parameter in frame]
    initial = [*writer.block.args, writer.constant(0)]
    loop = LoopOp(None, writer.constant(True), initial, tuple_type([*types, COUNT, *stacked]), Region(body.block))
    loop.attributes[RECURSION] = recursion.function.sym_name
    fields = writer.unpack(writer.add(loop))
    return fields[: len(types)], fields[len(types)], fields[len(types) + 1 :]


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
        inner.block.add_op(YieldOp(result))
        other = Writer(Block(), recursion.call)
        end = other.pack([other.constant(False), *(values[parameter] for parameter in recursion.parameters)])
        other.block.add_op(YieldOp(end))
        chosen = step.choice(values, Region(inner.block), Region(other.block), result)
        inner = levels.pop()
        result = inner.add(chosen)
    return result


def _write_base(recursion: Recursion, writer: Writer, values: Values) -> list[SSAValue]:
    """Emits the base for the parameters in `values`; returns the results."""
    levels, block = [writer], recursion.function.body.block
    for step in recursion.path[:-1]:
        levels[-1].copy(_ops_before(block, step.op), values)
        levels.append(Writer(Block(), recursion.call))
        block = step.branch
    inner, last = levels.pop(), recursion.path[-1]
    inner.copy(_ops_before(block, last.op), values)
    inner.copy(_without_end(last.other), values)
    values[last.op.result] = _of(values, _yielded(last.other))
    inner.copy(_ops_after(last.op), values)
    for step in reversed(recursion.path[:-1]):
        inner.block.add_op(YieldOp(_of(values, _yielded(step.branch))))
        other = Region()
        step.op.regions[1 - step.index].clone_into(other, value_mapper=values)
        chosen = step.choice(values, Region(inner.block), other, step.op.result)
        inner = levels.pop()
        values[step.op.result] = inner.add(chosen)
        inner.copy(_ops_after(step.op), values)
    return [_of(values, value) for value in recursion.results]


def _write_ascent(
    recursion: Recursion, writer: Writer, results: Sequence[SSAValue], count: SSAValue, stacks: Sequence[SSAValue]
) -> list[SSAValue]:
    """Emits the loop that computes the result of each call from that of the next one, the last call first."""
    types = [value.type for value in results]
    body = Writer(Block(arg_types=[COUNT, *types]), recursion.call)
    number, *carried = body.block.args
    values: Values = dict(zip(recursion.call.results, carried, strict=True))
    if stacks:
        row = body.add(SubtractOp.call(writer.add(SubtractOp.call(count, writer.constant(1))), number))
        rows = (body.add(TakeOp.call(stack, row, axis=0)) for stack in stacks)
        values |= dict(zip(recursion.frame, rows, strict=True))
    _copy_ascent(recursion, body, values)
    body.end(*(_of(values, value) for value in recursion.results))
    return writer.unpack(writer.add(LoopOp(count, None, results, tuple_type(types), Region(body.block))))


def _copy_ascent(recursion: Recursion, writer: Writer, values: Values) -> None:
    """Copies the ops of the ascent in program order."""
    block = recursion.function.body.block
    for step in recursion.path:
        writer.copy((op for op in _ops_before(block, step.op) if op in recursion.ascent), values)
        block = step.branch
    writer.copy((op for op in _without_end(block) if op in recursion.ascent), values)
    for step in reversed(recursion.path):
        values[step.op.result] = _of(values, _yielded(step.branch))
        writer.copy((op for op in _ops_after(step.op) if op in recursion.ascent), values)


def _ops_before(block: Block, op: Operation) -> list[Operation]:
    return list(takewhile(lambda each: each is not op, block.ops))


def _ops_after(op: Operation) -> list[Operation]:
    """The ops after `op` in its block, without the terminator."""
    found: list[Operation] = []
    while (following := op.next_op) is not None and following.next_op is not None:
        found.append(following)
        op = following
    return found


def _without_end(block: Block) -> list[Operation]:
    return [op for op in block.ops if op.next_op is not None]


def _yielded(block: Block) -> SSAValue:
    return cast(YieldOp, block.last_op).value


def _of(values: Values, value: SSAValue) -> SSAValue:
    return values.get(value, value)
