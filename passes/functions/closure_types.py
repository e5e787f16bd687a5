"""Replaces function types by `!relay.closure` in a program whose closures become data."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.shared.container_types import ClosureType
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.types import tuple_type
from xrelay.passes.graph.replacements import retype
from xrelay.passes.infra.verify import walk_ops


def data_type(type: Attribute) -> Attribute:
    """Returns `type` with `!relay.closure` for functions; recursive to the depth of nested tuples."""
    if isinstance(type, FunctionType):
        return ClosureType()
    if isinstance(type, TupleType):
        fields = [data_type(field) for field in type.types]
        if any(new is not old for new, old in zip(fields, type.types, strict=True)):
            return tuple_type(fields)
    return type


def let_closures_be_data(module: ModuleOp) -> None:
    """Replaces function types in the types of all values of `module` and in signatures."""
    known: dict[int, tuple[Attribute, Attribute]] = {}
    changed: dict[SSAValue, Attribute] = {}
    for op in walk_ops(module):
        for value in defined_values(op):
            old = value.type
            if id(old) not in known:
                known[id(old)] = old, data_type(old)
            if (new := known[id(old)][1]) is not old:
                changed[value] = new
    retype(changed)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            _write_signature(function)


def _write_signature(function: FuncOp) -> None:
    inputs, outputs = map(list, (function.function_type.inputs.data, function.function_type.outputs.data))
    if function.body.blocks:
        inputs = list(function.body.block.arg_types)
        last = function.body.block.last_op
        if isinstance(last, ReturnOp):
            outputs = [data_type(type) for type in outputs]
    new = FunctionType.from_lists(inputs, outputs)
    if new != function.function_type:
        function.function_type = new
