"""The values that each `relay.fn` captures from around it, for `relay-lift-closures`.

A known closure gets its captured values from each caller, so the caller captures them too, and so does a function
around the closure. Constants are not captured, because each function can have its own. If the body or the type of a
captured value names an extent that no captured value has, the closure also captures a value that has it: the first one
in the function, because an op that names an extent needs the op that makes it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import defined_values, region_arguments
from xrelay.dialects.shared.requirements import made_extents
from xrelay.dialects.shared.types import dims_in
from xrelay.errors import PassError
from xrelay.index_algebra.dims import solved_for, symbol
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.infra.verify import walk_ops

Captures: TypeAlias = Mapping[FnOp, Sequence[SSAValue]]


def function_of(value: SSAValue) -> FnOp | None:
    """Returns the function that `value` certainly is: that of a `relay.fn`, or of its self argument in its body."""
    if isinstance(value, OpResult):
        return value.op if isinstance(value.op, FnOp) else None
    around = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    return around if isinstance(around, FnOp) and value is around.self_argument else None


def captures_of(functions: Sequence[FnOp]) -> Captures:
    """Returns the captured values of each function, in the order of their first uses."""
    found: dict[FnOp, dict[SSAValue, None]] = {}
    needed: dict[FnOp, dict[FnOp, None]] = {}
    """The functions that each function calls directly or contains. It also needs their captured values."""
    inside: dict[FnOp, set[SSAValue]] = {}
    names = {function: _Names(function) for function in functions}
    for function in functions:
        inside[function] = {value for op in walk_ops(function) for value in defined_values(op)} - {function.result}
        found[function], needed[function] = {}, {}
        for op in walk_ops(function):
            if isinstance(op, FnOp) and op is not function:
                needed[function][op] = None
            for index, value in enumerate(op.operands):
                known = function_of(value) if isinstance(op, InvokeOp) and index == 0 else None
                if known is not None:
                    needed[function][known] = None
                elif value not in inside[function] and not isinstance(value.owner, ConstantOp):
                    found[function][value] = None
    changed = True
    while changed:
        changed = False
        # Inner functions come first, because functions around them also capture the values that supply their extents.
        for function, values in reversed(found.items()):
            count = len(values)
            values |= {
                value: None for other in needed[function] for value in found[other] if value not in inside[function]
            }
            values |= dict.fromkeys(names[function].suppliers(values))
            changed = changed or len(values) > count
    return {function: list(values) for function, values in found.items()}


class _Names:
    """The names of extents in the body of a function."""

    def __init__(self, function: FnOp):
        self._function = function
        self._used = dict.fromkeys(dim_names_in(function))
        own = [argument for op in walk_ops(function) for argument in region_arguments(op)]
        self._bound = {extent.name for op in walk_ops(function) for extent in made_extents(op)}
        self._bound |= {name for argument in own for name in names_supplied_by(argument)}

    def suppliers(self, captured: Iterable[SSAValue]) -> list[SSAValue]:
        """Returns values from around the function that supply the missing names of its body and of `captured`.

        Raises `PassError` if no value supplies a name.
        """
        captured = list(captured)
        bound = self._bound.union(*(names_supplied_by(value) for value in captured))
        types = (name for value in captured for dim in dims_in(value.type) for name in sorted(dim.names))
        found: list[SSAValue] = []
        for name in dict.fromkeys([*self._used, *types]):
            if name in bound:
                continue
            supplier = self._supplier(name)
            if supplier is None:
                raise PassError(
                    f"relay-lift-closures: no value has the extent {name}, which an escaping closure uses",
                    location=location_of(self._function),
                    help="add a parameter of this extent to the function around it",
                )
            found.append(supplier)
            bound |= names_supplied_by(supplier)
        return found

    def _supplier(self, name: str) -> SSAValue | None:
        """Returns the first value in the function from whose extents the size of `name` follows, or None."""
        return next((value for value in _around(self._function) if name in names_supplied_by(value)), None)


def names_supplied_by(value: SSAValue) -> set[str]:
    """Returns the names whose sizes follow from a single extent of the value."""
    dims = [dim for dim in dims_in(value.type) if len(dim.names) == 1]
    return {name for dim in dims for name in dim.names if solved_for(name, dim, symbol("%size"), {}) is not None}


def _around(function: FnOp) -> Iterator[SSAValue]:
    """Yields the values that `function` may use, in the order of the text."""
    ancestors: list[Operation] = []
    op: Operation | None = function
    while op is not None and not isinstance(op, FuncOp):
        ancestors.append(op)
        op = op.parent_op()
    for ancestor in reversed(ancestors):
        block = ancestor.parent
        if block is not None:
            yield from block.args
            for before in takewhile(lambda each, ancestor=ancestor: each is not ancestor, block.ops):
                yield from before.results
