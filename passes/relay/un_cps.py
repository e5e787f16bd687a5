"""`relay-un-cps`: gives functions in continuation passing style their plain type again.

What: the last parameter of a function, its continuation, becomes a closure that gives what it is given, and so the
function gives what it gave before `relay-to-cps`. Where that is a tuple, its fields are results again.

Before:

    func.func @main(%x: T, %k: (T) -> T) -> T {
      %y = relay.exp(%x)
      %r = relay.invoke %k(%y)
      func.return %r
    }

After:

    func.func @main(%x: T) -> T {
      %k = relay.fn(%y: T) -> T {
        relay.yield %y
      }
      %y = relay.exp(%x)
      %r = relay.invoke %k(%y)
      func.return %r
    }

What the function calls stays as it is. Left alone: functions whose last parameter is no continuation that answers with
what it is given, functions that others call, which hand continuations over, kernels, and functions without a body.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.verify import walk_ops


@dataclass(frozen=True)
class RelayUnCpsPass(ModulePass):
    """Take the continuations of functions away; see the module's docstring. Exact."""

    name = "relay-un-cps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        functions = [each for each in op.body.block.ops if isinstance(each, FuncOp)]
        called = {callee_name(each) for function in functions for each in walk_ops(function) if is_call(each)}
        for function in functions:
            if function.sym_name.data not in called:
                un_cps(function)


def un_cps(function: FuncOp) -> bool:
    """Take the continuation of `function` away; whether it has one that answers with what it is given."""
    type = function.function_type
    if len(function.body.blocks) != 1 or not type.inputs.data or len(type.outputs) != 1:
        return False
    given = type.outputs.data[0]
    if type.inputs.data[-1] != FunctionType.from_lists([given], [given]):
        return False
    block = function.body.block
    continuation = block.args[-1]
    identity = _identity(given)
    identity.location, identity.result.name_hint = function.location, continuation.name_hint
    Rewriter.insert_op(identity, InsertPoint.at_start(block))
    continuation.replace_all_uses_with(identity.result)
    block.erase_arg(continuation)
    if isinstance(given, TupleType) and isinstance(block.last_op, ReturnOp):
        _give_fields(block.last_op, len(given.types))
    last = block.last_op
    outputs = list(last.operand_types) if last is not None else [given]
    function.function_type = FunctionType.from_lists(list(block.arg_types), outputs)
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr(function.arg_attrs.data[:-1])
    if function.res_attrs is not None and len(function.res_attrs) != len(outputs):
        function.res_attrs = None
    return True


def _identity(given: Attribute) -> FnOp:
    """A closure that gives what it is given."""
    block = Block(arg_types=[given])
    block.add_op(YieldOp(block.args[0]))
    return FnOp(FunctionType.from_lists([given], [given]), Region(block))


def _give_fields(returned: ReturnOp, count: int) -> None:
    """Let a function that gives a tuple give its fields."""
    fields: list[Operation] = [TupleGetItemOp.call(returned.operands[0], index=index) for index in range(count)]
    for field in fields:
        field.location = returned.location
    Rewriter.insert_op(fields, InsertPoint.before(returned))
    values: list[SSAValue] = [field.results[0] for field in fields]
    new = ReturnOp(*values)
    new.location = returned.location
    Rewriter.insert_op(new, InsertPoint.before(returned))
    erase_op(returned)
