"""Losses of predictions and targets: `relay.nn.cross_entropy`, `nn.cross_entropy_with_logits` and `nn.nll_loss`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    Facts,
    FloatElements,
    IntegerElements,
    MixedPrecision,
    OneOf,
    RankOf,
    SameElements,
    cast_once,
    int_property,
    register_relay_op,
    shape_of,
    shape_text,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder

REDUCTIONS = ("mean", "sum", "none")


class EntropyOp(CompositeOp):
    """Base of the cross entropies of predictions and targets (rows, classes). The result is a scalar.

    Constraints shared by both:
    - C1: the elements are floats.
    - C2: both operands have the same element type.
    - C3: the predictions have rank 2.
    - C4: the targets have the shape of the predictions.
    """

    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {"C1": FloatElements(), "C2": SameElements(), "C3": RankOf(0, 2, 2)}

    TAKES_LOGARITHM: ClassVar[bool]
    """Whether the predictions are probabilities, not logarithms."""

    predictions = operand_def()
    targets = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a scalar type; checks C4."""
        own, found = facts.shape(0), facts.shape(1)
        message = f"targets of shape {shape_text(found)} for predictions of shape {shape_text(own)}"
        facts.require_equal_shapes(own, found, "C4", "extents of predictions and targets", message)
        return tensor_type((), facts.element(0))

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Returns the negated sum of the products, divided by the number of rows."""
        predictions, targets = build.operands
        logarithms = build.op("log", predictions) if self.TAKES_LOGARITHM else predictions
        products = build.op("multiply", logarithms, targets)
        return build.op("negative", build.op("mean", build.op("sum", products, axis=(1,)), axis=(0,)))

    def evaluate(self, predictions: Array, targets: Array) -> Array:
        """Computes the mean over rows in double precision."""
        wide = predictions.astype(np.float64)
        products = (np.log(wide) if self.TAKES_LOGARITHM else wide) * targets.astype(np.float64)
        return cast_once(np.asarray(-np.sum(products) / np.float64(len(wide))), predictions.dtype)


@register_relay_op
class CrossEntropyOp(EntropyOp):
    """`-sum(targets * log(predictions)) / rows`: the predictions are probabilities.

    Constraints:
    - C4: the targets have the shape of the predictions.

    Example:
    ```mlir
    %y = relay.nn.cross_entropy(%p, %t) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<f32>
    ```

    """

    name = "relay.nn.cross_entropy"
    TAKES_LOGARITHM = True


@register_relay_op
class CrossEntropyWithLogitsOp(EntropyOp):
    """`-sum(targets * predictions) / rows`: predictions are logarithms of probabilities, as from `nn.log_softmax`.

    Constraints:
    - C4: the targets have the shape of the predictions.

    Example:
    ```mlir
    %y = relay.nn.cross_entropy_with_logits(%p, %t) : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<f32>
    ```

    """

    name = "relay.nn.cross_entropy_with_logits"
    TAKES_LOGARITHM = False


@register_relay_op
class NLLLossOp(CompositeOp):
    """`-predictions[n, t, …] * weights[t]` for t = `targets[n, …]`, the class of each target.

    If t is `ignore_index`, both the loss and the weight are 0. `reduction` "sum" sums the losses, "mean" divides the
    sum by the sum of the weights, and "none" returns the losses. Classes are along the second axis of the predictions,
    or their only axis. Negative classes count from the last; the op fails if a class is out of range.

    Constraints:
    - C4: the predictions have the axes of the targets and an axis for the classes.
    - C5: there is one weight for each class.

    Example:
    ```mlir
    %y = relay.nn.nll_loss(%p, %t, %w) {reduction = "sum"}
        : (tensor<2x3x4xf32>, tensor<2x4xi32>, tensor<3xf32>) -> tensor<f32>
    ```

    """

    name = "relay.nn.nll_loss"
    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": SameElements((0, 2)),
        "C3": IntegerElements(1),
        "C6": OneOf("reduction", REDUCTIONS),
        "C7": RankOf(2, 1, 1),
    }

    predictions = operand_def()
    targets = operand_def()
    weights = operand_def()

    reduction = string_property("mean")
    ignore_index = int_property(-100)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a scalar type, or the targets' shape; checks C4 and C5."""
        (shape, element), targets, (weights,) = facts.operand(0), facts.shape(1), facts.shape(2)
        message = f"predictions of shape {shape_text(shape)} for targets of shape {shape_text(targets)}"
        facts.require(len(shape) == len(targets) + 1, "C4", message)
        axis = class_axis(len(shape))
        for lhs, rhs in zip((*shape[:axis], *shape[axis + 1 :]), targets, strict=True):
            facts.require_equal(lhs, rhs, "C4", "extents of predictions and targets", message=message)
        facts.require_equal(weights, shape[axis], "C5", "weights and classes")
        return tensor_type(targets if self.reduction.data == "none" else (), element)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The elements gathered by class, with zeros for ignored targets."""
        predictions, targets, weights = build.operands
        axis = class_axis(len(shape_of(predictions.type)))
        targets = build.op("cast", targets, dtype="int64")
        is_used = build.op("not_equal", targets, self.ignore_index.value.data)
        classes = build.op("where", is_used, targets, build.scalar(0, targets))
        places = build.op("expand_dims", classes, axis=axis)
        taken = build.op("squeeze", build.op("gather", predictions, places, axis=axis), axis=(axis,))
        factors = build.op("take", weights, classes, axis=0, mode="raise")
        zero = build.scalar(0, factors)
        losses = build.op("negative", build.op("multiply", taken, factors))
        losses, factors = (build.op("where", is_used, each, zero) for each in (losses, factors))
        if self.reduction.data == "none":
            return losses
        total = build.op("sum", losses)
        return total if self.reduction.data == "sum" else build.op("divide", total, build.op("sum", factors))

    def evaluate(self, predictions: Array, targets: Array, weights: Array) -> Array:
        """Gathers elements by class, in double precision."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        axis = 1 if targets.ndim else 0
        named = targets.astype(np.int64)
        is_used = named != self.ignore_index.value.data
        classes = checked(np.where(is_used, named, 0), predictions.shape[axis])
        places = np.expand_dims(classes, axis)
        taken = np.take_along_axis(predictions.astype(np.float64), places, axis).squeeze(axis)
        factors = np.where(is_used, weights.astype(np.float64)[classes], 0)
        result: Array = np.where(is_used, -taken * factors, 0)
        if self.reduction.data != "none":
            result = np.asarray(result.sum() / (np.float64(factors.sum()) if self.reduction.data == "mean" else 1.0))
        return cast_once(result, predictions.dtype)


def class_axis(rank: int) -> int:
    """Returns the axis of the classes of predictions of rank `rank`."""
    return min(1, rank - 1)
