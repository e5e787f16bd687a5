"""Matrices of Fourier transforms, from real and imaginary parts to real and imaginary parts.

A transform of known length has a constant matrix; otherwise the matrix is computed at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.frontend.onnx.converters.shared.extents import extent_value
from xrelay.frontend.onnx.converters.shared.numbers import Number, Numbers, unless
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES


@dataclass(frozen=True)
class Transform:
    """A transform of `length` elements, forward or inverse, full or onesided.

    The input of a onesided inverse is the first half of a symmetric spectrum, and its result is real.
    """

    length: Number
    inverse: bool = False
    onesided: bool = False

    @property
    def real(self) -> bool:
        """Whether the result has no imaginary part."""
        return self.inverse and self.onesided

    def bins(self, node: NodeView) -> Number:
        """Returns the number of elements of a spectrum."""
        if not self.onesided:
            return self.length
        numbers = Numbers(node)
        return numbers.of("add", numbers.of("floor_divide", self.length, 2), 1)


def transformed(node: NodeView, data: SSAValue, transform: Transform) -> SSAValue:
    """Returns the transform along the second-to-last axis of `data`; for dynamic extents, missing elements are 0."""
    (found, parts), bins = shape_of(data.type)[-2:], transform.bins(node)
    if isinstance(transform.length, int) and isinstance(bins, int) and isinstance(found, int):
        known = _known_table(node, transform, transform.length, bins)[:, : 1 if parts == 1 else 2]
        return _product(node, data, node.emit_constant(known.astype(numpy_dtype(element_type_of(data.type))), "table"))
    extent = extent_value(node, data, len(shape_of(data.type)) - 2)
    results = transform.length if transform.real else bins
    numbers = Numbers(node)
    table = _computed_table(node, transform, numbers.value(transform.length), extent, numbers.value(results))
    if parts == 1:
        table = node.emit("strided_slice", table, begin=(0,), end=(1,), axes=(1,))
    return _product(node, data, node.emit("cast", table, dtype=numpy_dtype(element_type_of(data.type))))


def _product(node: NodeView, data: SSAValue, table: SSAValue) -> SSAValue:
    """The product of the last two axes of the data with the table (elements, parts, results, parts of the result)."""
    lead, out_parts = (0,) * (len(shape_of(data.type)) - 2), shape_of(table.type)[-1]
    if not isinstance(out_parts, int):
        raise node.error(f"a table of {table.type} has no known number of parts")
    rows = node.emit("reshape", data, newshape=(*lead, -3))
    found = node.emit("nn.matmul", rows, node.emit("reshape", table, newshape=(-3, -3)))
    return node.emit("reshape", found, newshape=(*lead, -4, -1, out_parts))


def _known_table(node: NodeView, transform: Transform, length: int, bins: int) -> Array:
    """The table in f64."""
    elements, results = (bins, length) if transform.real else (length, bins)
    node.require_size((elements, 2, results, 2), np.dtype(np.float64).itemsize, MAX_COMPUTED_BYTES)
    # Reduce products of indices modulo the length as integers, so that angles keep their precision.
    angle = 2 * np.pi / length * (np.outer(np.arange(elements), np.arange(results)) % length)
    cos, sin = np.cos(angle), np.sin(angle) * (-1 if transform.inverse else 1)
    table = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], 1)
    if not transform.real:
        return table / length if transform.inverse else table
    doubled = np.full((elements, 1, 1, 1), 2.0)
    doubled[0] = 1
    if length % 2 == 0:
        doubled[-1] = 1
    return (table * doubled / length)[..., :1]


def _computed_table(
    node: NodeView, transform: Transform, length: SSAValue, elements: SSAValue, results: SSAValue
) -> SSAValue:
    """The same for a length known only at run time, for `elements` elements; a length below 1 fails there."""
    length = unless(node, length, node.emit("less", length, node.emit_ints(1)))
    rows = node.emit("expand_dims", Numbers(node).arange(0, elements), axis=1)
    multiples = node.emit("floor_mod", node.emit("multiply", rows, Numbers(node).arange(0, results)), length)
    size = node.emit("cast", length, dtype="float64")
    angles = node.emit("cast", Numbers(node).arange(0, length), dtype="float64")
    angles = node.emit("divide", node.emit("multiply", angles, node.scalar(2 * pi, angles)), size)
    cos, sin = (node.emit("take", node.emit(name, angles), multiples, axis=0, mode="fast") for name in ("cos", "sin"))
    back = node.emit("negative", sin)
    falling, rising = (sin, back) if transform.inverse else (back, sin)
    pairs = [node.emit("stack", node.make_tuple(pair), axis=-1) for pair in ([cos, falling], [rising, cos])]
    table = node.emit("stack", node.make_tuple(pairs), axis=1)
    if transform.real:
        table = node.emit("strided_slice", table, begin=(0,), end=(1,), axes=(3,))
        table = node.emit("multiply", table, _weights_of_half(node, elements, length))
    return node.emit("divide", table, size) if transform.inverse else table


def _weights_of_half(node: NodeView, elements: SSAValue, length: SSAValue) -> SSAValue:
    """The multiplicity of elements of half a spectrum in the full one: 2, except for the first and the middle one."""
    places = Numbers(node).arange(0, elements)
    twice = node.emit("multiply", places, node.emit_ints(2))
    alone = node.emit("logical_or", node.emit("equal", places, node.emit_ints(0)), node.emit("equal", twice, length))
    one, two = (node.emit_constant(np.array(number), "weight") for number in (1.0, 2.0))
    return node.emit("expand_dims", node.emit("where", alone, one, two), axis=1, num_newaxis=3)
