"""Shapes as values: `relay.shape_of` and `relay.ndarray_size`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.element_rules import wrapped
from xrelay.dialects.relay.op_definition import (
    Array,
    Elements,
    Facts,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    no_gradients,
    register_relay_op,
)
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, Shape, product

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


class ShapeValueOp(RelayOp):
    """Base of the ops whose result depends only on the shape of the data."""

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    dtype = prop_def(IntegerType | AnyFloat, default_value=i64)

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """Returns the elements of the result for data of `shape`."""
        raise NotImplementedError(f"{self.name} does not define a shape")

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of the result, None if they are floats."""
        if not isinstance(self.dtype, IntegerType):
            return None
        return tuple(wrapped(value, numpy_dtype(self.dtype)) for value in self.values(facts.shape(0)))

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class ShapeOfOp(ShapeValueOp):
    """The extents of the data, outermost first.

    Example:
    ```mlir
    %y = relay.shape_of(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    ```

    """

    name = "relay.shape_of"

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """Returns the extents."""
        return shape

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector with one number for each axis of the data."""
        return tensor_type((len(facts.shape(0)),), self.dtype)

    def evaluate(self, data: Array) -> Array:
        """Returns the extents of the array."""
        return np.array(data.shape, np.int64).astype(numpy_dtype(self.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Selects among the extents by index."""
        extents, element = build.shape(build.operand(0)), build.result_type.element_type

        def fill(b: Body) -> SSAValue:
            (place,) = b.spatial
            chosen = b.size(extents[-1], element) if extents else b.constant(0, element)
            for axis, extent in enumerate(extents[:-1]):
                is_here = b.compare(b.index(place), "eq", axis)
                chosen = b.select(is_here, b.size(extent, element), chosen)
            return chosen

        return [build.compute("shape_of", {"i": len(extents)}, element, fill)]


@register_relay_op
@irdl_op_definition
class NdarraySizeOp(ShapeValueOp):
    """The number of elements of the data.

    Example:
    ```mlir
    %y = relay.ndarray_size(%x) : (tensor<2x3xf32>) -> tensor<i64>
    ```

    """

    name = "relay.ndarray_size"

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """Returns the product of the extents."""
        return (product(shape),)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a scalar type."""
        facts.tensor(0)
        return tensor_type((), self.dtype)

    def evaluate(self, data: Array) -> Array:
        """Returns the size of the array."""
        return np.array(data.size, np.int64).astype(numpy_dtype(self.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a scalar."""
        count, element = product(build.shape(build.operand(0))), build.result_type.element_type
        return [build.compute("ndarray_size", (), element, lambda b: b.size(count, element))]
