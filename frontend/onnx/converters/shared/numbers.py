"""Arithmetic on integers, each either known at import or a value of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import add, mul, sub
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import MAX_AXES, shape_of
from xrelay.frontend.onnx.converters.shared.extents import extent_value
from xrelay.frontend.onnx.folding import evaluate_formula
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES

Number: TypeAlias = int | SSAValue
"""A known integer, or an i64 tensor of rank 0."""
Integers: TypeAlias = tuple[int, ...] | SSAValue
"""A known list of integers, or an i64 tensor of rank 1."""

_OPS: dict[str, Callable[[int, int], int]] = {
    "add": add,
    "subtract": sub,
    "multiply": mul,
    "divide": lambda lhs, rhs: lhs // rhs if lhs * rhs >= 0 else -(-lhs // rhs),
    "floor_divide": lambda lhs, rhs: lhs // rhs,
    "maximum": max,
    "minimum": min,
}


@dataclass(frozen=True)
class Numbers:
    """Arithmetic for a node: folds known numbers, and emits ops for others."""

    node: NodeView

    def of(self, op: str, first: Number, *others: Number) -> Number:
        """Returns the left-associative combination of the numbers by relay op `op`."""
        total = first
        for other in others:
            if isinstance(total, int) and isinstance(other, int):
                total = _OPS[op](total, other)
            else:
                total = self.node.emit(op, self.value(total), self.value(other))
        return total

    def each(self, op: str, lists: Integers, other: Integers | int) -> Integers:
        """Returns the elementwise combination of a list with a list or a number by relay op `op`."""
        if isinstance(lists, SSAValue) or isinstance(other, SSAValue):
            return self.node.emit(op, self.value(lists), self.value(other))
        return tuple(map(_OPS[op], lists, repeat(other) if isinstance(other, int) else other))

    def value(self, number: Number | Integers) -> SSAValue:
        """Returns the number or the list as a value."""
        return number if isinstance(number, SSAValue) else self.node.emit_ints(number, "number")

    def input(self, index: int) -> list[Number] | None:
        """Returns the numbers in a list input; `None` if its length is not known, or exceeds the maximum rank."""
        known, shape = self.node.known_ints(index), self.node.shape(index)
        if known is not None:
            return list(known)
        if len(shape) != 1 or not isinstance(shape[0], int) or shape[0] > MAX_AXES:
            return None
        wide = self.node.emit("cast", self.node.input(index), dtype="int64")
        places = (self.value(place) for place in range(shape[0]))
        return [self.node.emit("take", wide, place, axis=0, mode="fast") for place in places]

    def scalar_input(self, index: int, what: str) -> Number:
        """Returns input `index`, which must be one number; `what` describes it in the error."""
        node = self.node
        if node.shape(index) not in ((), (1,)):
            raise node.error(f"{what} is {node.input(index).type}; it must be one number")
        known = node.known_ints(index)
        if known is not None:
            return known[0]
        if node.constant(index) is not None:
            return node.required_int(index, what)
        return node.emit("cast", scalar_input(node, index), dtype="int64")

    def arange(self, start: Number, stop: Number) -> SSAValue:
        """Returns the numbers from `start` to before `stop`."""
        return self.node.emit("arange", self.value(start), self.value(stop), self.value(1))

    def extent(self, value: SSAValue, axis: int) -> Number:
        """Returns an extent of `value`; raises an error if the axis does not exist."""
        shape = shape_of(value.type)
        if axis < len(shape) and isinstance(known := shape[axis], int):
            return known
        return extent_value(self.node, value, axis)

    def places_of_parts(self, length: Number, size: Number, step: Number) -> SSAValue:
        """Returns the indices of the elements of each window of `size` elements among `length`, `step` apart.

        Constant if all three are known. There are no windows if `size` exceeds `length`; a step of 0 is an error at run
        time.
        """
        if isinstance(length, int) and isinstance(size, int) and isinstance(step, int):
            count = max(0, (length - size) // step + 1)
            self.node.require_size((count, size), np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
            # A larger step, which may need more than 64 bits, has the same windows.
            step = min(step, max(1, length - size + 1))

        def places() -> SSAValue:
            stop = self.of("add", self.of("subtract", length, size), 1)
            starts = self.node.emit("arange", self.value(0), self.value(stop), self.value(step))
            return self.node.emit("add", self.node.emit("expand_dims", starts, axis=1), self.arange(0, size))

        return evaluate_formula(self.node, places, "places")

    def repeated(self, value: SSAValue, count: int, length: Number) -> SSAValue:
        """Returns the `count` elements of a list, each repeated equally often, to a total of `length`."""
        times = self.of("floor_divide", length, count)
        if isinstance(times, int):
            return self.node.emit("repeat", value, repeats=times, axis=0)
        places = self.node.emit("floor_divide", self.arange(0, length), times)
        return self.node.emit("take", value, places, axis=0)

    def reshaped(self, value: SSAValue, extents: Sequence[Number]) -> SSAValue:
        """Returns `value` in a new shape; an extent of -1 is inferred, and 0 keeps the old extent."""
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) == len(extents):
            return self.node.emit("reshape", value, newshape=tuple(known))
        return self.node.emit("dyn.reshape", value, self.stacked(extents), allowzero=False)

    def shaped(self, value: SSAValue, extents: Sequence[Number]) -> SSAValue:
        """Returns `value` in the shape of these extents; each may be 0."""
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) == len(extents):
            return self.node.reshape(value, known)
        return self.node.emit("dyn.reshape", value, self.stacked(extents), allowzero=True)

    def filled(self, element: Array, extents: Sequence[Number], suffix: str) -> SSAValue:
        """Returns a tensor of these extents filled with `element`: a constant if they are known."""
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) == len(extents):
            return self.node.emit_filled(element, known, suffix)
        return self.node.emit("dyn.full", self.node.emit_constant(element, suffix), self.stacked(extents))

    def stacked(self, numbers: Sequence[Number]) -> SSAValue:
        """Returns the numbers as a list."""
        return self.node.emit("stack", self.node.make_tuple([self.value(number) for number in numbers]), axis=0)


def padded(
    node: NodeView,
    data: SSAValue,
    sides: tuple[Integers, Integers],
    value: SSAValue | None = None,
    mode: str = "constant",
) -> SSAValue:
    """Returns `data` with padding of these widths before and after each axis.

    Without a `value` the padding is 0, and nothing is emitted for widths that are all known to be 0.
    """
    before, after = sides
    if isinstance(before, SSAValue) or isinstance(after, SSAValue):
        widths = node.emit("stack", node.make_tuple([Numbers(node).value(side) for side in sides]), axis=1)
        return node.emit("dyn.nn.pad", data, widths, node.scalar(0, data) if value is None else value, pad_mode=mode)
    widths = [width for pair in zip(before, after, strict=True) for width in pair]
    if value is None and not any(widths):
        return data
    filler = node.scalar(0, data) if value is None else value
    return node.emit("nn.pad", data, filler, pad_width=widths, pad_mode=mode)


def scalar_input(node: NodeView, index: int) -> SSAValue:
    """Returns input `index`, a tensor of one element, in rank 0."""
    return node.reshape(node.input(index), ()) if node.shape(index) else node.input(index)


def unless(node: NodeView, value: SSAValue, fault: SSAValue) -> SSAValue:
    """Returns `value`; if `fault` holds, an index out of range ends the run at this node."""
    only = node.emit_constant(np.zeros(1, np.int64), "only")
    zero = node.emit("take", only, node.emit("cast", fault, dtype="int64"), axis=0, mode="raise")
    return node.emit("add", value, zero)
