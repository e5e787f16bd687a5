"""Adds functions that call the closures which `@main` returns, for callers from outside of the program.

A caller may pass the closures that it received to the added functions, if these have function parameters. `@main` has
no function parameters: before it has run, a caller has no closures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.shared.attribute_names import VALUE_NAME
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, dims_in
from xrelay.errors import PassError
from xrelay.passes.graph.tuple_leaves import leaf_types, take_apart
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.relay.closure_flow import ClosureFlow

MAIN: Final = "main"
"""The function that returns the first closures to a caller."""


@dataclass(frozen=True)
class Exchange:
    """The closures that an entry returns to its caller and takes as arguments."""

    callers: Mapping[int, str]
    """For the index of each result that is a closure, the function that calls it."""
    given: Sequence[FunctionType]
    """The types of these closures."""
    taken: Sequence[Sequence[FunctionType]]
    """For each function parameter, in order, the types of the closures that are valid arguments."""


Exchanges: TypeAlias = Mapping[str, Exchange]
"""The exchanged closures of each entry, by its name. They are empty for an entry without closures."""


class AddedCallers:
    """The functions that are added to a module, and the closures that they and `@main` exchange with callers."""

    def __init__(self, module: ModuleOp):
        """Creates an empty record for `module`."""
        self._module = module
        self._symbols = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._given: dict[str, dict[int, tuple[str, SSAValue]]] = {}
        """For each entry and the index of each returned closure: the function that calls it, and the closure."""
        self._taken: dict[str, list[tuple[SSAValue, list[SSAValue]]]] = {}
        """For each entry its function parameters, each with the closures that may be its argument."""

    def add(self) -> None:
        """Adds a private function for each closure that `@main` or an added function returns.

        Its parameters are the closure and its arguments; it returns the closure's result. Tuples with closures are
        split into separate results. Raises `PassError` for a function parameter that matches no returned closure.
        """
        mains = (op for op in self._module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == MAIN)
        entries: list[tuple[FuncOp, SSAValue | None]] = [(op, None) for op in mains]
        for entry, called in entries:
            entries += self._add_callers(entry)
            own = [argument for argument in _parameters(entry) if isinstance(argument.type, FunctionType)]
            self._taken[entry.sym_name.data] = [(each, []) for each in own]
            if called is not None:
                self._taken[entry.sym_name.data][0][1].append(called)
        self._relate([entry for entry, _ in entries])

    def tell(self, flow: ClosureFlow) -> None:
        """Adds to `flow` that the closures may be arguments of the parameters."""
        for parameters in self._taken.values():
            for parameter, closures in parameters:
                for closure in closures:
                    flow.join(closure, parameter)

    def exchanges(self) -> Exchanges:
        """Returns the exchanged closures of each entry; must be called before closures become data."""
        found: dict[str, Exchange] = {}
        for name, parameters in self._taken.items():
            given = self._given.get(name, {})
            taken = [list({_type_of(closure): None for closure in closures}) for _, closures in parameters]
            callers = {number: caller for number, (caller, _) in given.items()}
            found[name] = Exchange(callers, [_type_of(closure) for _, closure in given.values()], taken)
        return found

    def _add_callers(self, entry: FuncOp) -> list[tuple[FuncOp, SSAValue | None]]:
        """Adds the functions that call the closures of `entry`; returns each with its closure."""
        last = entry.body.block.last_op if entry.body.blocks else None
        added: list[tuple[FuncOp, SSAValue | None]] = []
        for number, value in enumerate(_closures_apart(entry, last) if isinstance(last, ReturnOp) else ()):
            if isinstance(value.type, FunctionType):
                name = fresh_name(f"{entry.sym_name.data}_result{number}", self._symbols)
                caller = _caller(name, value.type)
                caller.location = entry.location
                self._module.body.block.add_op(caller)
                self._given.setdefault(entry.sym_name.data, {})[number] = name, value
                added.append((caller, value))
        return added

    def _relate(self, entries: Sequence[FuncOp]) -> None:
        """Matches function parameters with all closures of a compatible type, except the first parameter of a caller.

        That parameter is for the caller's own closure.
        """
        given = [closure for each in self._given.values() for _, closure in each.values()]
        for entry in entries:
            for parameter, closures in self._taken[entry.sym_name.data]:
                if not closures:
                    closures += [closure for closure in given if compatible(closure.type, parameter.type)]
                if not closures:
                    raise _nothing_fits(entry, parameter)


def _parameters(entry: FuncOp) -> Sequence[SSAValue]:
    """Returns the parameters of an entry; raises `PassError` for a tuple that contains functions."""
    found = entry.body.block.args if entry.body.blocks else ()
    for parameter in found:
        leaves = leaf_types([parameter.type]) if isinstance(parameter.type, TupleType) else ()
        if any(isinstance(leaf, FunctionType) for leaf in leaves):
            raise PassError(
                f"relay-lift-closures: {_name(parameter)} is a tuple with functions, {parameter.type}",
                location=location_of(entry),
                help="pass each function as a separate parameter",
            )
    return found


def _nothing_fits(entry: FuncOp, parameter: SSAValue) -> PassError:
    return PassError(
        f"relay-lift-closures: {_name(parameter)} is of type {parameter.type}, but @{MAIN} returns no such function",
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
    # An extent name that only the closure's type has is introduced by its call.
    result: Attribute = output if all(dim.names <= known for dim in dims_in(output)) else IncompleteType()
    call = InvokeOp(block.args[0], block.args[1:], result)
    block.add_ops([call, ReturnOp(call.result)])
    caller = FuncOp(name, (list(block.arg_types), [result]), Region(block), "private")
    names = ["function", *(f"input{number}" for number in range(len(type.inputs)))]
    caller.arg_attrs = ArrayAttr([DictionaryAttr({VALUE_NAME: StringAttr(each)}) for each in names])
    return caller
