"""Functions that call what `@main` gives, where that is a closure: entries of their own for who gets one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.attribute_names import VALUE_NAME
from xrelay.dialects.locations import location_of
from xrelay.dialects.relay.core.types import IncompleteType, dims_in
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.errors import PassError
from xrelay.passes.graph.tuple_leaves import leaf_types, take_apart
from xrelay.passes.relay.closure_flow import ClosureFlow

MAIN: Final = "main"
"""The function that others get closures from."""
Callers: TypeAlias = Mapping[str, Mapping[int, str]]
"""For an entry, by its name, and the number of each of its results that is a closure: the function that calls that."""


@dataclass
class AddedCallers:
    """What was added to a module."""

    names: dict[str, dict[int, str]] = field(default_factory=dict[str, dict[int, str]])
    pairs: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])
    """The closures that entries give, and the parameters of their callers."""

    def tell(self, flow: ClosureFlow) -> None:
        """Let `flow` know that each caller gets what an entry gives."""
        for given, taken in self.pairs:
            flow.join(given, taken)


def add_callers(module: ModuleOp) -> AddedCallers:
    """Add to `module` a private function for each closure that `@main` gives, and for those that such functions give.

    It takes the closure and its arguments, and gives what the closure gives. Tuples with closures that are given are
    taken apart.
    """
    added = AddedCallers()
    taken = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}
    pending = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == MAIN]
    while pending:
        entry = pending.pop()
        last = entry.body.block.last_op if entry.body.blocks else None
        if not isinstance(last, ReturnOp):
            continue
        for number, value in enumerate(_closures_apart(entry, last)):
            if isinstance(value.type, FunctionType):
                _refuse_functions(value.type, entry)
                name = f"{entry.sym_name.data}_result{number}"
                while name in taken:
                    name += "_"
                taken.add(name)
                caller = _caller(name, value.type)
                caller.location = entry.location
                module.body.block.add_op(caller)
                added.names.setdefault(entry.sym_name.data, {})[number] = name
                added.pairs.append((value, caller.body.block.args[0]))
                pending.append(caller)
    return added


def _refuse_functions(type: FunctionType, entry: FuncOp) -> None:
    """`PassError` where who calls a closure would have to give it one."""
    if any(isinstance(leaf, FunctionType) for leaf in leaf_types(type.inputs.data)):
        raise PassError(
            f"relay-lift-closures: @{MAIN} gives a function that takes functions, {type}",
            location=location_of(entry),
            help="a function that is compiled takes no functions from outside; interpret the program",
        )


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
