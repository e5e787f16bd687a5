"""`relay-un-cps`: removes the continuation parameter of functions in continuation passing style.

The last parameter of a function, its continuation, is replaced by the identity, so that the function returns the result
that it had before `relay-to-cps`. If the result is a tuple, its fields become separate results again.

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

Callees are not changed. Nor are functions whose last parameter is not a continuation with equal argument and result
types, functions that other functions call (with a continuation), kernels, and functions without a body.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class RelayUnCpsPass(XRelayPass):
    """Removes the continuation parameters of functions; see the module's docstring. Exact."""

    name = "relay-un-cps"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        called = {callee_name(each) for each in walk_ops(op) if is_call(each)}
        for name, function in functions_of(op).items():
            if name not in called:
                un_cps(function)


def un_cps(function: FuncOp) -> bool:
    """Removes the continuation parameter of `function`; returns False if it has no suitable continuation."""
    type = function.function_type
    if len(function.body.blocks) != 1 or not type.inputs.data or len(type.outputs) != 1:
        return False
    result = type.outputs.data[0]
    if type.inputs.data[-1] != FunctionType.from_lists([result], [result]):
        return False
    block = function.body.block
    continuation = block.args[-1]
    identity = _identity(result)
    identity.location, identity.result.name_hint = function.location, continuation.name_hint
    Rewriter.insert_op(identity, InsertPoint.at_start(block))
    continuation.replace_all_uses_with(identity.result)
    block.erase_arg(continuation)
    if isinstance(result, TupleType) and isinstance(block.last_op, ReturnOp):
        emit, value = Emitter(PatternRewriter(block.last_op), block.last_op), block.last_op.operands[0]
        block.last_op.operands = [emit.call(TupleGetItemOp, value, index=index) for index in range(len(result.types))]
    last = block.last_op
    outputs = list(last.operand_types) if last is not None else [result]
    function.function_type = FunctionType.from_lists(list(block.arg_types), outputs)
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr(function.arg_attrs.data[:-1])
    if function.res_attrs is not None and len(function.res_attrs) != len(outputs):
        function.res_attrs = None
    return True


def _identity(result: Attribute) -> FnOp:
    """A closure that returns its argument."""
    block = Block(arg_types=[result])
    block.add_op(YieldOp(block.args[0]))
    return FnOp(FunctionType.from_lists([result], [result]), Region(block))
