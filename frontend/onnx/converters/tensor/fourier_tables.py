"""Matrices of Fourier transforms, from real and imaginary parts to real and imaginary parts.

A transform of known length has a constant matrix; otherwise the matrix is computed at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.frontend.onnx.converters.shared.numbers import Number, Numbers, unless
from xrelay.frontend.onnx.folding import evaluated
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
    (_, parts), bins, numbers = shape_of(data.type)[-2:], transform.bins(node), Numbers(node)
    dtype = numpy_dtype(element_type_of(data.type))
    extent = numbers.extent(data, len(shape_of(data.type)) - 2)
    results = transform.length if transform.real else bins
    if isinstance(extent, int) and isinstance(results, int):
        node.require_size((extent, 2, results, 2), np.dtype(np.float64).itemsize, MAX_COMPUTED_BYTES)

    def table() -> SSAValue:
        whole = _table(node, transform, *(numbers.value(number) for number in (transform.length, extent, results)))
        whole = node.emit("strided_slice", whole, begin=(0,), end=(1,), axes=(1,)) if parts == 1 else whole
        return node.emit("cast", whole, dtype=dtype)

    return _product(node, data, evaluated(node, table, "table"))


def _product(node: NodeView, data: SSAValue, table: SSAValue) -> SSAValue:
    """The product of the last two axes of the data with the table (elements, parts, results, parts of the result)."""
    lead, out_parts = (0,) * (len(shape_of(data.type)) - 2), shape_of(table.type)[-1]
    if not isinstance(out_parts, int):
        raise node.error(f"a table of {table.type} has no known number of parts")
    rows = node.emit("reshape", data, newshape=(*lead, -3))
    found = node.emit("nn.matmul", rows, node.emit("reshape", table, newshape=(-3, -3)))
    return node.emit("reshape", found, newshape=(*lead, -4, -1, out_parts))


def _table(node: NodeView, transform: Transform, length: SSAValue, elements: SSAValue, results: SSAValue) -> SSAValue:
    """The table in f64 for `elements` elements; a computed length below 1 is an error at run time.

    The products of indices are reduced modulo the length as integers, so that angles keep their precision.
    """
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
