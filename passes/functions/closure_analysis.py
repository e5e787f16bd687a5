"""Analyses of closures for `relay-lift-closures`: the functions that a closure may be, and the values it captures.

The flow of closures is computed without regard to the order of ops, by unification: if a value may be another one, both
have the same functions.

A known closure gets its captured values from each caller, so the caller captures them too, and so does a function
around the closure. Constants are not captured, because each function can have its own. If the body or the type of a
captured value names an extent that no captured value has, the closure also captures a value that has it: the first one
in the function, because an op that names an extent needs the op that makes it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import defined_values, region_arguments
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import dims_in
from xrelay.errors import PassError
from xrelay.index_algebra.dims import solved_for, symbol
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.digraph import DisjointSets
from xrelay.passes.infra.verify import walk_ops

ClosureClasses: TypeAlias = "list[_Class | None]"
"""For each leaf of a value its equivalence class of closures, or None for other leaves."""


@dataclass(eq=False)
class _Class:
    """An equivalence class of closures: their functions, and the classes of their parameters and results."""

    parameters: list[ClosureClasses]
    result: ClosureClasses
    functions: dict[FnOp, None] = field(default_factory=dict[FnOp, None])


class ClosureFlow:
    """The functions that each closure of a module may be."""

    def __init__(self, module: ModuleOp):
        self._functions = functions_of(module)
        self._classes: dict[SSAValue, ClosureClasses] = {}
        self._sets = DisjointSets[_Class]()
        self._holds: dict[int, tuple[Attribute, bool]] = {}
        for op in walk_ops(module):
            self._relate(op)

    def functions(self, closure: SSAValue) -> list[FnOp]:
        """Returns the functions that `closure` may be."""
        return [
            function for each in self._of(closure) if each is not None for function in self._sets.root(each).functions
        ]

    def join(self, some: SSAValue, other: SSAValue) -> None:
        """Merges the classes of two values."""
        self._join(self._of(some), self._of(other))

    def has_closures(self, type: Attribute) -> bool:
        """Whether `type` is or contains a function type."""
        known = self._holds.get(id(type))
        if known is None:
            known = self._holds[id(type)] = type, any(isinstance(leaf, FunctionType) for leaf in leaf_types([type]))
        return known[1]

    def _of(self, value: SSAValue) -> ClosureClasses:
        if not self.has_closures(value.type):
            return []
        if value not in self._classes:
            self._classes[value] = _classes_of(value.type)
        return self._classes[value]

    def _relate(self, op: Operation) -> None:
        """Merges the classes of values between which `op` passes closures."""
        match op:
            case FnOp():
                self._function(op)
            case InvokeOp():
                self._call_of(op.callee, op.arguments, op.result)
            case LetOp():
                self._join(self._of(op.value), self._of(op.result))
            case TupleOp():
                self._join(
                    [each for value in op.fields for each in self._all_of(value)],
                    self._all_of(op.result),
                )
            case TupleGetItemOp():
                self._field(op)
            case IfOp():
                for region in op.regions:
                    self._join(self._of(yielded(region)), self._of(op.result))
            case LoopOp():
                self._loop(op)
            case _ if is_call(op):
                self._call(op)
            case _:
                pass

    def _function(self, op: FnOp) -> None:
        for each in self._of(op.result):
            if each is not None:
                self._sets.root(each).functions[op] = None
        self._call_of(op.result, op.parameters, yielded(op.body))
        if op.self_argument is not None:
            self._join(self._of(op.self_argument), self._of(op.result))

    def _call_of(self, closure: SSAValue, arguments: Sequence[SSAValue], result: SSAValue) -> None:
        for each in self._of(closure):
            if each is not None:
                root = self._sets.root(each)
                for argument, parameter in zip(arguments, root.parameters, strict=True):
                    self._join(self._of(argument), parameter)
                self._join(self._of(result), root.result)

    def _field(self, op: TupleGetItemOp) -> None:
        if not self.has_closures(op.result.type):
            return
        classes, types = self._of(op.result), op.data.type.types.data if isinstance(op.data.type, TupleType) else ()
        first = len(leaf_types(types[: op.index.value.data]))
        self._join(self._of(op.data)[first : first + len(classes)], classes)

    def _loop(self, op: LoopOp) -> None:
        if not self.has_closures(op.result.type):
            return
        results, ends = self._all_of(op.result), self._all_of(yielded(op.body))
        self._join(ends[len(ends) - len(results) :], results)
        first = 0
        for initial, carried in zip(op.initial, op.carried, strict=True):
            classes = self._all_of(carried)
            self._join(self._all_of(initial), classes)
            self._join(classes, results[first : first + len(classes)])
            first += len(classes)

    def _call(self, op: AnyCall) -> None:
        function = self._functions.get(callee_name(op))
        last = function.body.block.last_op if function is not None and function.body.blocks else None
        if function is None or not isinstance(last, ReturnOp):
            return
        for argument, parameter in zip(op.arguments, function.body.block.args, strict=True):
            self._join(self._of(argument), self._of(parameter))
        for result, value in zip(op.results, last.arguments, strict=True):
            self._join(self._of(value), self._of(result))

    def _all_of(self, value: SSAValue) -> ClosureClasses:
        """Returns an entry for each leaf of a value, also for a value without closures."""
        return self._of(value) or [None] * len(leaf_types([value.type]))

    def _join(self, some: ClosureClasses, others: ClosureClasses) -> None:
        """Merges the classes of two values, and those of their parameters and results."""
        pending = list(zip(some, others, strict=bool(some and others)))
        while pending:
            left, right = pending.pop()
            if left is None or right is None:
                continue
            kept, merged = self._sets.root(left), self._sets.root(right)
            if kept is merged:
                continue
            self._sets.merge(merged, kept)
            kept.functions |= merged.functions
            pending += zip(kept.result, merged.result, strict=True)
            for own, other in zip(kept.parameters, merged.parameters, strict=True):
                pending += zip(own, other, strict=True)


def _classes_of(type: Attribute) -> ClosureClasses:
    """Returns new classes for the leaves of a type; recursive to the depth of nested function types."""
    return [
        _Class([_classes_of(each) for each in leaf.inputs], [each for out in leaf.outputs for each in _classes_of(out)])
        if isinstance(leaf, FunctionType)
        else None
        for leaf in leaf_types([type])
    ]


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
        self._bound = {extent.name for op in walk_ops(function) for extent in new_extents(op)}
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
        return next((value for value in _visible_values(self._function) if name in names_supplied_by(value)), None)


def names_supplied_by(value: SSAValue) -> set[str]:
    """Returns the names whose sizes follow from a single extent of the value."""
    dims = [dim for dim in dims_in(value.type) if len(dim.names) == 1]
    return {name for dim in dims for name in dim.names if solved_for(name, dim, symbol("%size"), {}) is not None}


def _visible_values(function: FnOp) -> Iterator[SSAValue]:
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
