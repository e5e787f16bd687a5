"""`transform.Defunctionalization`: removes functions that take or return functions."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.errors import PassError
from xrelay.passes.functions.lift_closures import lift_closures
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types
from xrelay.relay.function import Function
from xrelay.relay.module import MAIN, IRModule


def defunctionalize(func: Function, mod: IRModule) -> Function:
    """Returns `func`, the entry of the program, without functions as values, to be stored in `mod` again.

    A closure becomes data (`!relay.closure`): the number of a function and the captured values. Functions of `mod` that
    `func` calls, directly or indirectly, take and return such data. The bodies of closures become functions of `mod`,
    and a call selects one by its number. Functions that `func` does not call are not changed.

    Raises `PassError` if `func` itself takes or returns functions, and if `relay-lift-closures` fails.
    """
    program = IRModule.of(mod)
    before = {var.name_hint for var in program.get_global_vars()}
    name = fresh_name(MAIN, before)
    program[name] = func
    if has_incomplete_types([program]):
        infer_types(program)
    functions = {op.sym_name.data: op for op in program.ops if isinstance(op, FuncOp)}
    _refuse(functions[name])
    for each, function in functions.items():
        function.sym_visibility = None if each == name else StringAttr("private")
    visibilities = {op.sym_name.data: op.sym_visibility for op in mod.ops if isinstance(op, FuncOp)}
    lift_closures(program, keep=True)
    for op in list(program.ops):
        if isinstance(op, FuncOp) and op.sym_name.data != name:
            op.sym_visibility = visibilities.get(op.sym_name.data, op.sym_visibility)
            mod.update_func(op.sym_name.data, op)
    return program[name]


def _refuse(function: FuncOp) -> None:
    """Raises `PassError` if the entry function takes or returns functions."""
    type = function.function_type
    if any(isinstance(leaf, FunctionType) for leaf in leaf_types([*type.inputs, *type.outputs])):
        raise PassError(
            "Defunctionalization: the function takes or returns functions",
            help="pass the entry of the program, a function on tensors and tuples",
        )
