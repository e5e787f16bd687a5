"""The table of types during inference, and the worklist of ops to visit.

Each SSA value has a type that only becomes more precise (`merge_types`); so has each result of a function's signature
(its parameters are the block arguments of the body). Refining a type puts the ops that use the value on the worklist;
an op is on it at most once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from xrelay.dialects.relay.core.facts import Inference
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, dims_in, has_open_functions, merge_types
from xrelay.errors import TypeInferenceError
from xrelay.index_algebra.dims import ANY, Dim
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.types.dim_names import DimNames


@dataclass(frozen=True)
class FunctionResult:
    """Result number `index` of a function's signature."""

    func: FuncOp
    index: int


Variable: TypeAlias = SSAValue | FunctionResult
"""A value or function result, which has a type."""


class TypeSolver:
    """The types, the worklist, and the functions by name."""

    def __init__(self, ops: Iterable[Operation]):
        self.types: dict[Variable, Attribute] = {}
        self.functions: dict[str, FuncOp] = {}
        self.callers: dict[str, list[AnyCall]] = {}
        self.elements = KnownElements()
        self._names: dict[FuncOp, DimNames] = {}
        self._shown: dict[RelayOp, dict[str, Attribute]] = {}
        """Op → the result type at the time when an introduced extent got its name, by placeholder."""
        self._stale: dict[RelayOp, None] = {}
        self._queue: deque[Operation] = deque()
        self._waiting: set[Operation] = set()
        self._postponed: dict[Operation, None] = {}
        self._guesses: dict[Operation, None] = {}
        self._put_off: set[Operation] = set()
        for op in ops:
            self._enqueue(op)
            if isinstance(op, FuncOp):
                self.functions[op.sym_name.data] = op
            elif is_call(op):
                self.callers.setdefault(callee_name(op), []).append(op)
            for region in op.regions:
                self._name_arguments(region)

    def _name_arguments(self, region: Region) -> None:
        """Names each `?` of the arguments of a function or closure, except the argument for the closure itself."""
        around = region.parent_op()
        itself = around.self_argument if isinstance(around, FnOp) else None
        for argument in region.blocks.first.args if region.blocks.first is not None else ():
            if argument is itself:
                continue
            if ANY in dims_in(argument.type) or has_open_functions([argument.type]):
                self.types[argument] = self.names_around(argument.block).named(argument.type)

    def names_around(self, inside: Operation | Block) -> DimNames:
        """Returns the names of dimensions in the function around `inside`."""
        function = function_around(inside)
        if function not in self._names:
            self._names[function] = DimNames(function)
        return self._names[function]

    def inference(self, op: RelayOp, types: Sequence[Attribute]) -> Inference:
        """Applies the rule of `op` to operands of `types`, with names for the extents that it introduces."""
        inference = op.inference(types, self.elements.of_operands(op))
        placeholders = [extent.placeholder for extent in inference.extents]
        if not self._shown.get(op, {}).keys() <= set(placeholders):
            self._stale[op] = None
        if not placeholders:
            return inference
        shown = self._shown.setdefault(op, {})
        for placeholder in placeholders:
            shown.setdefault(placeholder, inference.type)
        names = self.names_around(op).of_extents(op, inference.extents, inference.type, op.results[0].type)
        return inference.renamed(names)

    def take_stale_extents(self) -> Sequence[tuple[RelayOp, Mapping[str, Attribute]]]:
        """Returns the ops that introduce fewer extents than they have names for, with their previous result types.

        Each op is returned once. The types are by placeholder.
        """
        found = [(op, self._shown[op]) for op in self._stale]
        self._stale.clear()
        return found

    def substitute(self, function: FuncOp, values: Mapping[str, Dim]) -> None:
        """Replaces names by dimensions in all types and elements of the values of `function`."""
        substitution = DimSubstitution(values)
        self.elements.substitute(lambda value: function_around(value.owner) is function, values)
        for variable, type in list(self.types.items()):
            around = variable.func if isinstance(variable, FunctionResult) else function_around(variable.owner)
            new = substitution.of(type) if around is function else type
            if new is not type:
                self.types[variable] = new
                self._notify(variable)

    def learn_elements(self, op: RelayOp, types: Sequence[Attribute]) -> None:
        """Computes the known elements of the result of `op`; notifies its users of changes."""
        if self.elements.learn(op, types, self.names_around(op).names_made_by(op)):
            self._notify(op.results[0])

    def next_op(self) -> Operation | None:
        """Returns the next op to visit, or None if no types can be refined."""
        if self._queue:
            op = self._queue.popleft()
            self._waiting.discard(op)
            return op
        for postponed in (self._postponed, self._guesses):
            op = next(iter(postponed), None)
            if op is not None:
                del postponed[op]
                return op
        return None

    def postpone(self, op: Operation, *, guesses: bool = False) -> bool:
        """Returns whether `op` has to wait. It is visited again, once, when the worklist is empty.

        An op with `guesses`, which infers operand types from its result, waits for all others.
        """
        if op in self._put_off:
            return op in self._postponed or op in self._guesses
        self._put_off.add(op)
        (self._guesses if guesses else self._postponed)[op] = None
        return True

    def type_of(self, variable: Variable) -> Attribute:
        """Returns the currently known type."""
        found = self.types.get(variable)
        if found is not None:
            return found
        if isinstance(variable, FunctionResult):
            return variable.func.function_type.outputs.data[variable.index]
        return variable.type

    def refine(self, variable: Variable, type: Attribute, at: Operation) -> None:
        """Refines the type of `variable` at the op `at`. Raises `TypeInferenceError` on a contradiction."""
        known = self.type_of(variable)
        if type == known or isinstance(type, IncompleteType):
            return
        merged = merge_types(known, type)
        if merged is None:
            raise TypeInferenceError(
                f"{at.name}: {describe(variable)} has type {known}, but must have type {type}", location=location_of(at)
            )
        if merged != known:
            self.types[variable] = merged
            self._notify(variable)

    def relate(self, lhs: Variable, rhs: Variable, at: Operation) -> None:
        """Refines both types to be equal."""
        self.refine(rhs, self.type_of(lhs), at)
        self.refine(lhs, self.type_of(rhs), at)

    def _notify(self, variable: Variable) -> None:
        if isinstance(variable, FunctionResult):
            self._enqueue_function(variable.func)
            return
        for use in variable.uses:
            user = use.operation
            self._enqueue(user)
            # A yielded value concerns the parent op of the region.
            if user.next_op is None and (parent := user.parent_op()) is not None:
                self._enqueue(parent)
        if isinstance(variable, OpResult):
            self._enqueue(variable.op)
        elif isinstance(variable, BlockArgument):
            self._enqueue_owner(variable.block)

    def _enqueue_owner(self, block: Block) -> None:
        parent = block.parent_op()
        if isinstance(parent, FuncOp):
            self._enqueue_function(parent)
        elif parent is not None:
            self._enqueue(parent)

    def _enqueue_function(self, func: FuncOp) -> None:
        self._enqueue(func)
        for call in self.callers.get(func.sym_name.data, ()):
            self._enqueue(call)

    def _enqueue(self, op: Operation) -> None:
        if op not in self._waiting:
            self._waiting.add(op)
            self._queue.append(op)


def function_around(inside: Operation | Block) -> FuncOp:
    """Returns the function that contains `inside` or is `inside`. Raises `TypeInferenceError` outside of functions."""
    current = inside if isinstance(inside, Operation) else inside.parent_op()
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    if current is None:
        raise TypeInferenceError("an op with unnamed dimensions is not in a function")
    return current


def describe(variable: Variable) -> str:
    """Returns a description of a variable for messages: its name, or its position."""
    if isinstance(variable, FunctionResult):
        return f"result #{variable.index} of @{variable.func.sym_name.data}"
    if variable.name_hint is not None:
        return f"%{variable.name_hint}"
    if isinstance(variable, OpResult):
        return f"the result of {variable.op.name}"
    if isinstance(variable, BlockArgument):
        parent = variable.block.parent_op()
        owner = f"@{parent.sym_name.data}" if isinstance(parent, FuncOp) else parent.name if parent else "a block"
        return f"argument #{variable.index} of {owner}"
    return "a value"


def returned(func: FuncOp) -> ReturnOp | None:
    """Returns the `func.return` that ends a function of one block, or None."""
    block = func.body.blocks.first
    last = None if block is None else block.last_op
    return last if isinstance(last, ReturnOp) else None
