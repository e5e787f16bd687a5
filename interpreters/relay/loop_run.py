"""The state of a running `relay.loop`: carried values, stacks and termination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.relay.structure.call import too_many_calls
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.attribute_names import RECURSION
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, Value, shape_of, tensor_type
from xrelay.environment import call_limit
from xrelay.errors import DimensionError, InterpreterError
from xrelay.index_algebra.dims import ANY, DimExpr, evaluate
from xrelay.interpreters.relay.registry import describe, matches


@dataclass(eq=False)
class LoopRun:
    """The state of a loop between iterations."""

    op: LoopOp
    limit: int | None
    continues: bool
    carried: tuple[Value, ...]
    number: int = 0
    stacks: list[tuple[Value, ...]] = field(default_factory=list[tuple["Value", ...]])
    """The values to stack, for each iteration."""

    @staticmethod
    def start(op: LoopOp, operands: list[Value]) -> LoopRun:
        """Returns the state before the first iteration, for operand values of `op`."""
        pending = list(operands)
        limit = None if op.trip_count is None else int(cast(Array, pending.pop(0)))
        continues = op.condition is None or bool(cast(Array, pending.pop(0)))
        return LoopRun(op, limit, continues, tuple(pending))

    @property
    def arguments(self) -> tuple[Value, ...] | None:
        """The arguments of the body for the next iteration, or None if the loop has ended."""
        if not self.continues or (self.limit is not None and self.number >= self.limit):
            return None
        check_calls(self.op, self.number)
        return np.array(self.number, np.int64), *self.carried

    def take(self, value: Value) -> None:
        """Updates the state with the values yielded by the body."""
        fields = list(value) if isinstance(value, tuple) else []
        self.continues = self.op.condition is None or bool(cast(Array, fields.pop(0)))
        count = len(self.carried)
        self.carried = tuple(fields[:count])
        self.stacks.append(tuple(fields[count:]))
        self.number += 1

    def result(self, sizes: Mapping[str, int]) -> Value:
        """Returns the carried values and the stacks. Raises `InterpreterError` if they do not match the loop's type."""
        type = self.op.result.type
        stacks = [self._stacked(index, each, sizes) for index, each in enumerate(self._stack_types())]
        value = (*self.carried, *stacks)
        if not matches(value, type):
            raise InterpreterError(
                f"{self.op.name} returned {describe(value)}, its type is {type}", location=location_of(self.op)
            )
        return value

    def _stack_types(self) -> Sequence[Attribute]:
        """Returns a type for each stack; before type inference, they are derived from the yielded values."""
        type = self.op.result.type
        if isinstance(type, TupleType):
            return type.types.data[len(self.carried) :]
        if self.stacks:
            return [IncompleteType()] * len(self.stacks[0])
        yielded = self.op.body.block.last_op
        made = None if yielded is None else yielded.operands[0].owner
        if not isinstance(made, TupleOp):
            raise InterpreterError(f"{self.op.name} has no type: infer types first", location=location_of(self.op))
        first = len(self.carried) + (self.op.condition is not None)
        return [_stack_of(stacked.type) for stacked in made.operands[first:]]

    def _stacked(self, index: int, type: Attribute, sizes: Mapping[str, int]) -> Array:
        if self.stacks:
            try:
                return np.stack([cast(Array, each[index]) for each in self.stacks])
            except MemoryError as error:
                text = f"{self.op.name}: {len(self.stacks)} stacked values need more memory than is available"
                raise InterpreterError(text, location=location_of(self.op)) from error
            except ValueError as error:
                shapes = ", ".join(sorted({describe(each[index]) for each in self.stacks}))
                raise InterpreterError(
                    f"{self.op.name}: values of {shapes} cannot be stacked", location=location_of(self.op)
                ) from error
        if not isinstance(type, TensorType):
            raise InterpreterError(
                f"{self.op.name} cannot stack 0 values of type {type}", location=location_of(self.op)
            )
        try:
            known = [_size(dim, sizes) if isinstance(dim, DimExpr) else dim for dim in shape_of(type)[1:]]
        except DimensionError as error:
            raise InterpreterError(f"{self.op.name}: {error.message}", location=location_of(self.op)) from error
        return np.zeros((0, *known), numpy_dtype(type.element_type))


def _stack_of(type: Attribute) -> Attribute:
    return tensor_type([ANY, *shape_of(type)], type.element_type) if isinstance(type, TensorType) else type


def check_calls(op: LoopOp, number: int) -> None:
    """Raises `InterpreterError` if `op` replaces a recursion and iteration `number` exceeds the call limit."""
    function = op.attributes.get(RECURSION)
    if isinstance(function, StringAttr) and number >= (limit := call_limit()):
        raise InterpreterError(too_many_calls(f"@{function.data}", limit), location=location_of(op))


def _size(dim: DimExpr, sizes: Mapping[str, int]) -> int:
    """Returns the size of an extent; 0 if it is known only within an iteration."""
    return evaluate(dim, sizes) if dim.names and dim.names <= sizes.keys() else 0
