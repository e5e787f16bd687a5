"""Rebuilds calls with another callee or other arguments, keeping attributes and source locations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.func import CallOp
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.call import NamedCallOp, is_call
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import IncompleteType, is_complete
from xrelay.errors import InputError
from xrelay.relay.attrs import Op
from xrelay.relay.expr import Expr, view
from xrelay.relay.function import Function, invoke
from xrelay.relay.graph import detached
from xrelay.relay.nodes import Call, GlobalVar, op_of


def call_with(call: Call, op: object, args: Sequence[Expr]) -> Expr:
    """Returns `call` with another callee and other arguments. The type follows from them."""
    old, values = op_of(call), [arg.ssa_value for arg in args]
    if isinstance(op, Op) and isinstance(old, RelayOp):
        made: Expr = _relay_call(old, op, values)
    elif isinstance(op, GlobalVar) and is_call(old):
        # The named dimensions of the callee are resolved from the arguments.
        types = [IncompleteType()] * len(old.results) if isinstance(old, NamedCallOp) else list(old.result_types)
        # `call` is one of several results.
        made = view(CallOp(op.name_hint, values, types).results[cast(OpResult, call.ssa_value).index])
    elif isinstance(op, Function) and isinstance(old, FusedOp):
        made = _fused_call(old, op, values)
    elif isinstance(op, Expr):
        made = op(*args) if isinstance(op, (GlobalVar, Function)) else invoke(op, *args)
    else:
        raise InputError(f"{op!r} cannot be called in place of {call.op!r}", help="pass a relay.Call instead")
    op_of(made).location = old.location
    if not isinstance(old, RelayOp | FusedOp):
        # Keep the user's attributes. Those recorded by passes follow from the arguments.
        given = {name: value for name, value in old.attributes.items() if not name.startswith(("relay.", "xrelay."))}
        op_of(made).attributes.update(given)
    return made


def _relay_call(old: RelayOp, op: Op, values: Sequence[SSAValue]) -> Expr:
    if op.kind is type(old) and [value.type for value in values] == [value.type for value in old.operands]:
        # Equal operand types imply an equal result type.
        copy = detached(old.clone())
        copy.operands = values
        return view(copy.results[0])
    kind, properties = op.kind, dict(old.properties)
    if kind.INFERS_FROM_INCOMPLETE or all(is_complete(value.type) for value in values):
        made: RelayOp = kind.typed(values, properties)
    else:
        made = kind.create(operands=values, result_types=[IncompleteType()], properties=properties)
    made.attributes.update(old.attributes)
    return view(made.results[0])


def _fused_call(old: FusedOp, function: Function, values: Sequence[SSAValue]) -> Expr:
    """Returns a group with another function, whose closure provides the region and captures nothing."""
    closure: Operation = detached(op_of(function.closure()))
    region = closure.regions[0]
    closure.detach_region(region)
    last = region.block.last_op
    result = last.operands[0].type if isinstance(last, YieldOp) else old.result.type
    made = FusedOp(old.group_name.data, values, result, region)
    made.properties.update(old.properties)
    made.attributes.update(old.attributes)
    return view(made.result)
