"""Finds the `relay.fn`s that each closure may be, for `relay-lift-closures`.

The analysis is flow-insensitive and unifies: if a value may be another one, both have the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.verify import walk_ops

ClosureClasses: TypeAlias = "list[_Class | None]"
"""For each leaf of a value its equivalence class of closures, or None for other leaves."""


@dataclass(eq=False)
class _Class:
    """An equivalence class of closures: their functions, and the classes of their parameters and results."""

    parameters: list[ClosureClasses]
    result: ClosureClasses
    functions: dict[FnOp, None] = field(default_factory=dict[FnOp, None])
    into: _Class | None = None
    """The class into which this one was merged (union-find)."""

    def find(self) -> _Class:
        """Returns the root class, and compresses the path to it."""
        root = self
        while root.into is not None:
            root = root.into
        current = self
        while current.into is not None:
            current.into, current = root, current.into
        return root


class ClosureFlow:
    """The functions that each closure of a module may be."""

    def __init__(self, module: ModuleOp):
        self._functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._classes: dict[SSAValue, ClosureClasses] = {}
        self._holds: dict[int, tuple[Attribute, bool]] = {}
        for op in walk_ops(module):
            self._relate(op)

    def functions(self, closure: SSAValue) -> list[FnOp]:
        """Returns the functions that `closure` may be."""
        return [function for each in self._of(closure) if each is not None for function in each.find().functions]

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
                each.find().functions[op] = None
        self._call_of(op.result, op.parameters, yielded(op.body))
        if op.self_argument is not None:
            self._join(self._of(op.self_argument), self._of(op.result))

    def _call_of(self, closure: SSAValue, arguments: Sequence[SSAValue], result: SSAValue) -> None:
        for each in self._of(closure):
            if each is not None:
                root = each.find()
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
            kept, merged = left.find(), right.find()
            if kept is merged:
                continue
            merged.into = kept
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
