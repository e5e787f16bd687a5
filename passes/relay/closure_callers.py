"""Functions that call what `@main` gives, where that is a closure: entries of their own for who gets one.

Who has closures may give them back, to those entries that take functions. `@main` takes none: nobody has one before it
has run.
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
"""The function that others get closures from."""


@dataclass(frozen=True)
class Exchange:
    """The functions that an entry gives to who calls it, and takes from there."""

    callers: Mapping[int, str]
    """For the number of each result that is a closure: the function that calls that."""
    given: Sequence[FunctionType]
    """The types of these closures."""
    taken: Sequence[Sequence[FunctionType]]
    """For each parameter that is a function, in order: the types of the closures that may be given for it."""


Exchanges: TypeAlias = Mapping[str, Exchange]
"""What entries exchange, by their names; nothing for an entry that exchanges no functions."""


class AddedCallers:
    """The functions that are added to a module, and what they and `@main` exchange."""

    def __init__(self, module: ModuleOp):
        """Nothing yet."""
        self._module = module
        self._symbols = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._given: dict[str, dict[int, tuple[str, SSAValue]]] = {}
        """For each entry, and the number of each closure that it gives: its caller, and the closure."""
        self._taken: dict[str, list[tuple[SSAValue, list[SSAValue]]]] = {}
        """For each entry its parameters that are functions, and the closures that may come to them."""

    def add(self) -> None:
        """Add a private function for each closure that `@main` gives, and for those that such functions give.

        It takes the closure and its arguments, and gives what the closure gives. Tuples with closures that are given
        are taken apart. `PassError` for a function that an entry takes, where none that is given may be it.
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
        """Let `flow` know which closures come to which parameters."""
        for parameters in self._taken.values():
            for parameter, closures in parameters:
                for closure in closures:
                    flow.join(closure, parameter)

    def exchanges(self) -> Exchanges:
        """What the entries exchange; to be asked before closures are data."""
        found: dict[str, Exchange] = {}
        for name, parameters in self._taken.items():
            given = self._given.get(name, {})
            taken = [list({_type_of(closure): None for closure in closures}) for _, closures in parameters]
            callers = {number: caller for number, (caller, _) in given.items()}
            found[name] = Exchange(callers, [_type_of(closure) for _, closure in given.values()], taken)
        return found

    def _add_callers(self, entry: FuncOp) -> list[tuple[FuncOp, SSAValue | None]]:
        """The functions that call the closures which `entry` gives, each with its closure."""
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
        """Let each parameter get whatever closures fit, except the first of a caller, which gets its own."""
        given = [closure for each in self._given.values() for _, closure in each.values()]
        for entry in entries:
            for parameter, closures in self._taken[entry.sym_name.data]:
                if not closures:
                    closures += [closure for closure in given if compatible(closure.type, parameter.type)]
                if not closures:
                    raise _nothing_fits(entry, parameter)


def _parameters(entry: FuncOp) -> Sequence[SSAValue]:
    """The parameters of an entry; `PassError` for a tuple in which there are functions."""
    found = entry.body.block.args if entry.body.blocks else ()
    for parameter in found:
        leaves = leaf_types([parameter.type]) if isinstance(parameter.type, TupleType) else ()
        if any(isinstance(leaf, FunctionType) for leaf in leaves):
            raise PassError(
                f"relay-lift-closures: {_name(parameter)} is a tuple with functions, {parameter.type}",
                location=location_of(entry),
                help="let each function be a parameter of its own",
            )
    return found


def _nothing_fits(entry: FuncOp, parameter: SSAValue) -> PassError:
    return PassError(
        f"relay-lift-closures: {_name(parameter)} is a function, {parameter.type}, and none that @{MAIN} gives is one",
        location=location_of(entry),
        help="a compiled program takes the functions that it gave alone; let it give one, or interpret it",
    )


def _name(parameter: SSAValue) -> str:
    """A parameter of a caller in words."""
    assert isinstance(parameter, BlockArgument), "parameters are"
    return f"parameter #{parameter.index - 1} of a function that @{MAIN} gives"


def _type_of(closure: SSAValue) -> FunctionType:
    assert isinstance(closure.type, FunctionType), "closures are data later"
    return closure.type


def _closures_apart(entry: FuncOp, last: ReturnOp) -> list[SSAValue]:
    """What `entry` returns; where closures are among that, no tuples."""
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
    """A function that calls a closure of this type."""
    block = Block(arg_types=[type, *type.inputs])
    (output,) = type.outputs
    known = set(names_in(type.inputs))
    # An extent that only the closure knows is one that its call makes.
    result: Attribute = output if all(dim.names <= known for dim in dims_in(output)) else IncompleteType()
    call = InvokeOp(block.args[0], block.args[1:], result)
    block.add_ops([call, ReturnOp(call.result)])
    caller = FuncOp(name, (list(block.arg_types), [result]), Region(block), "private")
    names = ["function", *(f"input{number}" for number in range(len(type.inputs)))]
    caller.arg_attrs = ArrayAttr([DictionaryAttr({VALUE_NAME: StringAttr(each)}) for each in names])
    return caller
