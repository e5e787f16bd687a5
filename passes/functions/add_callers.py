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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.shared.attribute_names import CALLERS, TAKES, VALUE_NAME
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, dims_in
from xrelay.errors import PassError
from xrelay.passes.graph.calls import functions_of
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


# --- the closures that a program exchanges with callers, in the attributes of its entries --------------------------

MAIN: Final = "main"
"""The entry that returns the first closures to a caller."""


class ReturnedClosure(NamedTuple):
    """A closure that an entry returns."""

    result: int
    """The index of the result."""
    caller: str
    """The entry that calls the closure."""
    type: FunctionType
    """The type of the closure before it becomes data."""


def set_returned_closures(entry: FuncOp, closures: Sequence[ReturnedClosure]) -> None:
    """Records the closures that `entry` returns."""
    if closures:
        entry.attributes[CALLERS] = ArrayAttr(
            DictionaryAttr({"result": IntegerAttr(result, i64), "caller": SymbolRefAttr(caller), "type": type})
            for result, caller, type in closures
        )


def returned_closures(entry: FuncOp) -> list[ReturnedClosure]:
    """Returns the recorded closures that `entry` returns. Raises `PassError` for an attribute of another form."""
    rows = entry.attributes.get(CALLERS, ArrayAttr([]))
    return [_returned(entry, row) for row in rows] if isinstance(rows, ArrayAttr) else [_returned(entry, rows)]


def _returned(entry: FuncOp, row: Attribute) -> ReturnedClosure:
    fields: Mapping[str, Attribute] = row.data if isinstance(row, DictionaryAttr) else {}
    result, caller, type = (fields.get(name) for name in ("result", "caller", "type"))
    if not isa(result, IntegerAttr) or not isinstance(caller, SymbolRefAttr) or not isinstance(type, FunctionType):
        raise _malformed(entry, CALLERS)
    return ReturnedClosure(result.value.data, caller.root_reference.data, type)


def set_taken_types(entry: FuncOp, types: Sequence[Sequence[FunctionType]]) -> None:
    """Records the types of the valid arguments of each parameter of `entry` that is a function."""
    if types:
        entry.attributes[TAKES] = ArrayAttr([ArrayAttr(each) for each in types])


def taken_types(entry: FuncOp) -> list[list[FunctionType]]:
    """Returns the recorded types of valid arguments. Raises `PassError` for an attribute of another form."""
    rows = entry.attributes.get(TAKES, ArrayAttr([]))
    if not isa(rows, ArrayAttr[ArrayAttr[FunctionType]]):
        raise _malformed(entry, TAKES)
    return [list(types) for types in rows]


def _malformed(entry: FuncOp, name: str) -> PassError:
    message = f"the attribute {name} of @{entry.sym_name.data} is not of the form that relay-add-callers writes"
    return PassError(message, location=location_of(entry))


def closures_of_parameters(module: ModuleOp) -> Mapping[SSAValue, Sequence[SSAValue]]:
    """Returns the parameters of entries that are functions, each with the closures that may be its argument.

    The first parameter of a caller is its own closure. Another parameter may be any returned closure of a compatible
    type. Closures must not be data yet. Raises `PassError` if the attributes do not fit the functions.
    """
    functions = functions_of(module)
    returned = [(entry, closure) for entry in functions.values() for closure in returned_closures(entry)]
    own: dict[SSAValue, SSAValue] = {}
    for entry, closure in returned:
        caller, last = functions.get(closure.caller), entry.body.block.last_op if entry.body.blocks else None
        is_valid = isinstance(last, ReturnOp) and 0 <= closure.result < len(last.operands)
        if not is_valid or last is None or caller is None or not caller.body.blocks or not caller.body.block.args:
            raise _malformed(entry, CALLERS)
        own[caller.body.block.args[0]] = last.operands[closure.result]
    entries = {entry: None for entry, _ in returned} | {functions[closure.caller]: None for _, closure in returned}
    return {
        parameter: [own[parameter]] if parameter in own else list(_compatible(own.values(), parameter))
        for entry in entries
        for parameter in entry.body.block.args
        if isinstance(parameter.type, FunctionType)
    }


def _compatible(closures: Iterable[SSAValue], parameter: SSAValue) -> Iterator[SSAValue]:
    return (closure for closure in closures if compatible(closure.type, parameter.type))
