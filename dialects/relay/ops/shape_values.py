"""Shapes as values: `relay.shape_of` and `relay.ndarray_size`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.element_rules import wrapped
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, Shape, product


class ShapeValueOp(RelayOp):
    """Base of the ops whose result the shape of the data says, whatever its elements."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    dtype = prop_def(IntegerType | AnyFloat, default_value=i64)

    def values(self, shape: Shape) -> tuple[Dim, ...]:
        """The elements of the result."""
        raise NotImplementedError(f"{self.name} says nothing of a shape")

    def infer_elements(self, facts: Facts) -> Elements | None:
        """The extents, or what is computed from them, where they are integers."""
        if not isinstance(self.dtype, IntegerType):
            return None
        return tuple(wrapped(value, numpy_dtype(self.dtype)) for value in self.values(facts.shape(0)))


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
        """The extents."""
        return shape

    def infer_type(self, facts: Facts) -> Attribute:
        """A vector of as many numbers as the data has axes."""
        return tensor_type((len(facts.shape(0)),), self.dtype)


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
        """The product of the extents."""
        return (product(shape),)

    def infer_type(self, facts: Facts) -> Attribute:
        """One number."""
        facts.tensor(0)
        return tensor_type((), self.dtype)
