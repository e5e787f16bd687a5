"""Arithmetic on integers of which some are known at import and others are values of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, mul, sub
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.types import MAX_AXES, shape_of
from xrelay.frontend.onnx.converters.extents import extent_value
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES, check_size

Number: TypeAlias = int | SSAValue
"""A known integer, or a tensor of rank 0 of i64."""

_OPS: dict[str, Callable[[int, int], int]] = {
    "add": add,
    "subtract": sub,
    "multiply": mul,
    "floor_divide": lambda lhs, rhs: lhs // rhs,
    "maximum": max,
}


@dataclass(frozen=True)
class Numbers:
    """Numbers for a node: what is known is computed, and the rest emitted."""

    node: NodeView

    def of(self, op: str, first: Number, *others: Number) -> Number:
        """The relay op `op` on the numbers, one after the other."""
        total = first
        for other in others:
            if isinstance(total, int) and isinstance(other, int):
                total = _OPS[op](total, other)
            else:
                total = self.node.emit(op, self.value(total), self.value(other))
        return total

    def value(self, number: Number) -> SSAValue:
        """The number as a value."""
        return self.node.emit_ints(number, "number") if isinstance(number, int) else number

    def input(self, index: int) -> list[Number] | None:
        """The numbers of a list that is an input of the node; `None` where its length is not known, or is no rank."""
        known, shape = self.node.known_ints(index), self.node.shape(index)
        if known is not None:
            return list(known)
        if len(shape) != 1 or not isinstance(shape[0], int) or shape[0] > MAX_AXES:
            return None
        wide = self.node.emit("cast", self.node.input(index), dtype="int64")
        places = (self.value(place) for place in range(shape[0]))
        return [self.node.emit("take", wide, place, axis=0, mode="fast") for place in places]

    def arange(self, start: Number, stop: Number) -> SSAValue:
        """The numbers from `start` to before `stop`."""
        return self.node.emit("arange", self.value(start), self.value(stop), self.value(1))

    def extent(self, value: SSAValue, axis: int) -> Number:
        """An extent of `value`; an error if it has no such axis."""
        shape = shape_of(value.type)
        if axis < len(shape) and isinstance(known := shape[axis], int):
            return known
        return extent_value(self.node, value, axis)

    def places_of_parts(self, length: Number, size: Number, step: Number) -> SSAValue:
        """For each part of `size` elements of `length` ones, each `step` behind the one before, where its elements are.

        Constant where all three are known. There are none where a part is longer; a step of 0 is an error of the run.
        """
        if isinstance(length, int) and isinstance(size, int) and isinstance(step, int):
            count = max(0, (length - size) // step + 1)
            problem = check_size((count, size), np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
            if problem is not None:
                raise self.node.error(problem)
            # One part begins at 0, and the step to the next may be more than numpy takes.
            starts = np.arange(count) * (step if count > 1 else 0)
            return self.node.emit_constant(starts[:, None] + np.arange(size), "places")
        stop = self.of("add", self.of("subtract", length, size), 1)
        starts = self.node.emit("arange", self.value(0), self.value(stop), self.value(step))
        return self.node.emit("add", self.node.emit("expand_dims", starts, axis=1), self.arange(0, size))

    def repeated(self, value: SSAValue, count: int, length: Number) -> SSAValue:
        """The `count` elements of a list, each repeated as often as the others, so that they are `length` in all."""
        times = self.of("floor_divide", length, count)
        if isinstance(times, int):
            return self.node.emit("repeat", value, repeats=times, axis=0)
        places = self.node.emit("floor_divide", self.arange(0, length), times)
        return self.node.emit("take", value, places, axis=0)

    def reshaped(self, value: SSAValue, extents: Sequence[Number]) -> SSAValue:
        """`value` in a shape of which one extent may be -1, which is what is left, and 0 is what was there."""
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) == len(extents):
            return self.node.emit("reshape", value, newshape=tuple(known))
        return self.node.emit("dyn.reshape", value, self.stacked(extents), allowzero=False)

    def shaped(self, value: SSAValue, extents: Sequence[Number]) -> SSAValue:
        """`value` in the shape of these extents, of which any may be 0."""
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) == len(extents):
            return self.node.reshape(value, known)
        return self.node.emit("dyn.reshape", value, self.stacked(extents), allowzero=True)

    def stacked(self, numbers: Sequence[Number]) -> SSAValue:
        """The numbers as a list."""
        return self.node.emit("stack", self.node.make_tuple([self.value(number) for number in numbers]), axis=0)
