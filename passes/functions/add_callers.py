"""`relay-add-callers`: adds functions that call the closures which `@main` returns, for callers from outside.

A compiled program has an entry for each function that a user can call. The first is `@main`. For each closure that
`@main` or an added function returns, the pass adds a private function with the closure and its arguments as parameters;
it returns the closure's result. The attribute `relay.callers` of an entry lists the closures that it returns, each with
its type and its caller. `relay.takes` lists, for each parameter that is a function, the types of its valid arguments:
a caller may pass any closure that an entry returned, and no other function.

Before:

    func.func @main(%x: T) -> ((T) -> T) {
      %f = relay.fn(%a : T) -> T {…}
      func.return %f : (T) -> T
    }

After:

    func.func @main(%x: T) -> ((T) -> T)
        attributes {relay.callers = [{result = 0, caller = @main_result0, type = (T) -> T}]} {…}
    func.func private @main_result0(%function: (T) -> T, %input0: T) -> T attributes {relay.takes = [[(T) -> T]]} {
      %r = relay.invoke %function(%input0) : (T) -> T
      func.return %r : T
    }

Tuples that contain closures are split into separate results. A program whose `@main` returns no function is not
changed, nor is a program that has callers.

Raises `PassError` for a function parameter that matches no returned closure, and for a tuple parameter with functions.
Raises `TypeInferenceError` for values of incomplete type.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.shared.attribute_names import CALLERS, VALUE_NAME
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, dims_in
from xrelay.errors import PassError
from xrelay.passes.functions.closure_callers import (
    MAIN,
    ReturnedClosure,
    closures_of_parameters,
    functions_of,
    set_returned_closures,
    set_taken_types,
)
from xrelay.passes.graph.tuple_leaves import leaf_types, take_apart
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.types.check_types import check_types


@dataclass(frozen=True)
class RelayAddCallersPass(XRelayPass):
    """Adds functions that call the closures which `@main` returns; see the module's docstring. Exact."""

    name = "relay-add-callers"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds functions in place."""
        add_callers(op)


def add_callers(module: ModuleOp) -> None:
    """Adds the callers of the closures that `@main` and the callers themselves return; see the module's docstring."""
    main = functions_of(module).get(MAIN)
    if main is None or CALLERS in main.attributes:
        return
    if not any(isinstance(leaf, FunctionType) for leaf in leaf_types(main.function_type.outputs.data)):
        return
    # Functions without a use return no closures to callers.
    eliminate_dead_code(module)
    check_types(module)
    symbols = set(functions_of(module))
    entries = [main]
    for entry in entries:
        _refuse_tuples(entry)
        entries += _add_callers_of(module, entry, symbols)
    closures = closures_of_parameters(module)
    for entry in entries:
        types: list[list[FunctionType]] = []
        for parameter in entry.body.block.args if entry.body.blocks else ():
            if isinstance(parameter.type, FunctionType):
                if not closures[parameter]:
                    raise _nothing_fits(entry, parameter)
                types.append(list({_type_of(closure): None for closure in closures[parameter]}))
        set_taken_types(entry, types)


def _add_callers_of(module: ModuleOp, entry: FuncOp, symbols: set[str]) -> list[FuncOp]:
    """Adds and returns the functions that call the closures of `entry`."""
    last = entry.body.block.last_op if entry.body.blocks else None
    callers: list[FuncOp] = []
    closures: list[ReturnedClosure] = []
    for number, value in enumerate(_closures_apart(entry, last) if isinstance(last, ReturnOp) else ()):
        if isinstance(value.type, FunctionType):
            name = fresh_name(f"{entry.sym_name.data}_result{number}", symbols)
            caller = _caller(name, value.type)
            caller.location = entry.location
            module.body.block.add_op(caller)
            callers.append(caller)
            closures.append(ReturnedClosure(number, name, value.type))
    set_returned_closures(entry, closures)
    return callers


def _refuse_tuples(entry: FuncOp) -> None:
    """Raises `PassError` for a parameter that is a tuple with functions."""
    for parameter in entry.body.block.args if entry.body.blocks else ():
        leaves = leaf_types([parameter.type]) if isinstance(parameter.type, TupleType) else ()
        if any(isinstance(leaf, FunctionType) for leaf in leaves):
            raise PassError(
                f"relay-add-callers: {_name(parameter)} is a tuple with functions, {parameter.type}",
                location=location_of(entry),
                help="pass each function as a separate parameter",
            )


def _nothing_fits(entry: FuncOp, parameter: SSAValue) -> PassError:
    return PassError(
        f"relay-add-callers: {_name(parameter)} is of type {parameter.type}, but @{MAIN} returns no such function",
        location=location_of(entry),
        help="a compiled program only takes functions that it returned; return one, or use the interpreter",
    )


def _name(parameter: SSAValue) -> str:
    """Returns a description of a parameter for messages."""
    assert isinstance(parameter, BlockArgument), "parameters are block arguments"
    return f"parameter #{parameter.index - 1} of a function that @{MAIN} returns"


def _type_of(closure: SSAValue) -> FunctionType:
    assert isinstance(closure.type, FunctionType), "closures become data later"
    return closure.type


def _closures_apart(entry: FuncOp, last: ReturnOp) -> list[SSAValue]:
    """Returns the results of `entry` with tuples split into their leaves; empty if there are no closures."""
    parts = [take_apart(value) for value in last.operands]
    leaves = [leaf for each, _ in parts for leaf in each]
    if not any(isinstance(leaf.type, FunctionType) for leaf in leaves):
        return []
    ops = [op for _, each in parts for op in each]
    for op in ops:
        op.location = last.location
    Rewriter.insert_op(ops, InsertPoint.before(last))
    if len(leaves) != len(last.operands):
        last.operands, entry.res_attrs = leaves, None
        entry.update_function_type()
    return leaves


def _caller(name: str, type: FunctionType) -> FuncOp:
    """Returns a function that calls a closure of this type."""
    block = Block(arg_types=[type, *type.inputs])
    (output,) = type.outputs
    known = set(names_in(type.inputs))
    # An extent name that only the closure's type has is introduced by its call, when the callee is known.
    result: Attribute = output if all(dim.names <= known for dim in dims_in(output)) else IncompleteType()
    call = InvokeOp(block.args[0], block.args[1:], result)
    block.add_ops([call, ReturnOp(call.result)])
    caller = FuncOp(name, (list(block.arg_types), [result]), Region(block), "private")
    names = ["function", *(f"input{number}" for number in range(len(type.inputs)))]
    caller.arg_attrs = ArrayAttr([DictionaryAttr({VALUE_NAME: StringAttr(each)}) for each in names])
    return caller
