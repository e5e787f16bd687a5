"""Boolean operators and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    BooleanElements,
    Constraints,
    MixedPrecision,
    no_gradients,
    register_relay_op,
)
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarBinaryOp, ScalarUnaryOp
from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


class LogicalOp(ScalarBinaryOp):
    """Base of the binary boolean operators."""

    CONSTRAINTS: ClassVar[Constraints] = {**ScalarBinaryOp.CONSTRAINTS, "C3": BooleanElements()}

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class LogicalAndOp(LogicalOp):
    """Logical and, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_and(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_and"
    ON_ARRAYS = np.logical_and

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits the op on two elements."""
        return b.logical_and(x, y)


@register_relay_op
@irdl_op_definition
class LogicalOrOp(LogicalOp):
    """Logical or, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_or(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_or"
    ON_ARRAYS = np.logical_or

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits the op on two elements."""
        return b.logical_or(x, y)


@register_relay_op
@irdl_op_definition
class LogicalXorOp(LogicalOp):
    """Logical exclusive or, elementwise with numpy's broadcasting.

    Example:
    ```mlir
    %z = relay.logical_xor(%x, %y) : (tensor<4x8xi1>, tensor<8xi1>) -> tensor<4x8xi1>
    ```

    """

    name = "relay.logical_xor"
    ON_ARRAYS = np.logical_xor

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Emits the op on two elements."""
        from xdsl.dialects import arith

        return b.add(arith.XOrIOp(x, y))


@register_relay_op
@irdl_op_definition
class LogicalNotOp(ScalarUnaryOp):
    """Logical not, elementwise.

    Example:
    ```mlir
    %y = relay.logical_not(%x) : (tensor<4xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.logical_not"
    CONSTRAINTS = {"C1": BooleanElements()}
    ON_ARRAYS = np.logical_not

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Emits an exclusive or with true."""
        from xdsl.dialects import arith

        return b.add(arith.XOrIOp(x, b.constant(1, x.type)))

    gradient = no_gradients


class LogicalReduceOp(ReduceOp):
    """Base of the reductions of booleans."""

    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": AxisOf(), "C2": BooleanElements()}

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class AllOp(LogicalReduceOp):
    """Whether all elements over `axis` are true; true if there are no elements.

    Example:
    ```mlir
    %y = relay.all(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.all"

    def evaluate(self, data: Array) -> Array:
        """Calls numpy."""
        return self.reduced_by(np.all, data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds over the reduced axes."""
        from xrelay.dialects.relay.computes.reduction import all_true

        return [all_true(build)]


@register_relay_op
@irdl_op_definition
class AnyOp(LogicalReduceOp):
    """Whether any element over `axis` is true; false if there are no elements.

    Example:
    ```mlir
    %y = relay.any(%x) {axis = [1]} : (tensor<4x8xi1>) -> tensor<4xi1>
    ```

    """

    name = "relay.any"

    def evaluate(self, data: Array) -> Array:
        """Calls numpy."""
        return self.reduced_by(np.any, data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds over the reduced axes."""
        from xrelay.dialects.relay.computes.reduction import any_true

        return [any_true(build)]
