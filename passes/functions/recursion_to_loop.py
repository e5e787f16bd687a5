"""`relay-recursion-to-loop`: replaces the recursion of a function that calls itself in one place by loops.

If the body of a function contains a single call of the function, in a branch of a `relay.if`, the recursion becomes a
`relay.loop` that computes the arguments of the next call as long as the condition selects this branch. In a tail
recursion the result of the last call is the result of the function. Otherwise a second loop applies the ops after the
call, for each call from the last to the first; the first loop stacks the arguments that these ops need. Native code has
loops, and an open call costs more than a row of a stack.

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
recursion if it has more iterations than there may be open calls. Each op runs as often as before, except that ops whose
results both loops need run in both.

First, ops are moved to the innermost block that contains all their uses, so that a call before the branch that uses it
does not recurse endlessly.

The pass refuses, with a remark, functions that call themselves in several places, calls in a loop, in a closure or
outside of branches, and arguments whose types differ from the parameters. Recursions by way of other functions, kernels
and functions in A-normal or basic block normal form are not changed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.functions.recursion_loops import Recursion, Step, write_loops
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
