"""The closures that a program exchanges with callers from outside of it, in the attributes of its entries.

An entry is `@main`, or a function that calls a closure which another entry returns. `relay-add-callers` adds the
entries, `relay-lift-closures` makes their closures data, and `relay-select-entry` extracts the program of one entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, SymbolRefAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.shared.attribute_names import CALLERS, TAKES
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import PassError

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


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    """Returns the functions of `module` by name."""
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}


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
