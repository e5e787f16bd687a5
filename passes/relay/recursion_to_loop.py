"""`relay-recursion-to-loop`: a function that calls itself in one place becomes loops.

What: a function whose body has one call of itself, in a branch of a `relay.if`, becomes a `relay.loop` that follows the
arguments from call to call for as long as the branch is taken. Where the result of the call is that of the function
(tail recursion), the value of the last call is all that is left. Otherwise a second loop goes the way back, and applies
to the value what each call did with it; the arguments that this needs the first loop stacks. Why: loops have a native
form, and a call that is open costs more than a row of a stack.

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

The first loop names the function in `relay.recursion`: more iterations than calls may be open are the error that the
recursion would be. Each op runs as often as before; ops that both the next arguments
and the way back use run in both loops.

Ops are moved to the blocks where their uses meet first, so that a call before the branch that uses it ends.

Refuses, with a remark: a function that calls itself in several places or by way of another, a call in a loop or
closure or in no branch, and arguments of other types than the parameters. Left alone: kernels, functions in A-normal or
basic block normal form, whose ops run whether they are needed or not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.recursion_parts import Recursion, Step, write_loops
from xrelay.passes.relay.to_basic_block_normal_form import place_ops_of
from xrelay.passes.types.infer_type import infer_types


@dataclass(frozen=True)
class RelayRecursionToLoopPass(ModulePass):
    """Turn functions that call themselves in one place into loops; see the module's docstring. Exact."""

    name = "relay-recursion-to-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        report(turn_recursions_into_loops(op))


def turn_recursions_into_loops(module: ModuleOp) -> list[Remark]:
    """Rewrite each function of `module` that calls itself in one place; gives what is to be said of each."""
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
    """The recursion of `function`, or why it becomes no loop."""
    call = calls[0]
    if len(calls) > 1:
        return f"@{function.sym_name.data} calls itself in {len(calls)} places"
    end = function.body.block.last_op
    if not isinstance(end, ReturnOp):
        return "the function does not end in func.return"
    parameters = [argument.type for argument in function.body.block.args]
    if [operand.type for operand in call.operands] != parameters or not all(map(is_complete, parameters)):
        return "the arguments of the call have other types than the parameters"
    if list(call.result_types) != [operand.type for operand in end.operands]:
        return "the results of the call have other types than those of the function"
    path: list[Step] = []
    op: Operation = call
    while op.parent is not function.body.block:
        around, region = op.parent_op(), op.parent_region()
        if not isinstance(around, IfOp) or region is None:
            return f"the call stands in a {around.name if around is not None else 'block of its own'}"
        path.append(Step(around, around.regions.index(region)))
        op = around
    found = Recursion(function, call, path[::-1])
    if not found.is_tail and not all(isinstance(parameter.type, TensorType) for parameter in found.frame):
        return "the way back needs a parameter that is no tensor"
    return found if path else "the call stands in no branch: it would not end"
