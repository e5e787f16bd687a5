"""`relay-fold-scale-axis`: folds factors per channel into the weights of convolutions and dense layers.

Backward: a constant factor after a convolution (1D to 3D) or a dense layer scales the weight's out-channels, and
constants that are added between the two. Forward: a constant factor before such a *heavy op* scales the weight's
in-channels, and constants that are added between the two are divided by it. A factor after another factor is merged
into it. `relay-simplify-inference` turns every batch norm into such a factor; in a constant weight it costs nothing at
run time. Not exact: results differ by rounding, so the pass belongs to opt level 3.

Between the factor and the heavy op there may be sums and differences with constants and `nn.bias_add`, and `nn.relu`
and max pools if all factors are positive. Each of these values may have only one use. Forward, several heavy ops may
read the scaled value if no other op does; the weights of all are scaled. Backward, the value may be a sum or a
difference of two tensors; the weights on both sides are scaled. Channels may be blocked (`NCHW16c`).

With `weights=any`, as in Relay, weights and added values need not be constants: an op scales them at run time, until
they are bound and folded. This pays only for values that become constants later.

The pass refuses, with a remark: factors that vary along another axis; weights that are not constant, unless `weights`
is `any`; values with other uses; factors that are not positive, if a relu or a max pool is in between; factors too
small to divide by; constants whose scaled values do not fit their type; grouped convolutions that are not depthwise
(forward); blocks of other axes; integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.scale_axis import (
    LEAST,
    Axes,
    HeavyOp,
    MaxPoolOp,
    Refused,
    Scaling,
    Segment,
    Step,
    SumOp,
    axes_of,
    channel_vector,
    constant_operand_index,
    data_and_factor,
    first_of_all,
    path_above,
    segments_above,
    stays_in_range,
)


@dataclass(frozen=True)
class RelayFoldScaleAxisPass(XRelayPass):
    """Folds per-channel factors into the weights of convolutions and dense layers; see the module's docstring."""

    name = "relay-fold-scale-axis"
    numerics = reassociates("factors move from activations into weights")
    per_function = True

    direction: str = field(
        default="both",
        metadata={
            "help": "backward: factors after heavy ops; forward: factors before them; both: backward, then forward"
        },
    )

    weights: str = field(
        default="constant", metadata={"help": "constant: only constant weights are scaled; any: all weights are"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Folds the module in place."""
        report(fold_scale_axis(op, direction=self.direction, weights=self.weights))


def fold_scale_axis(module: ModuleOp, *, direction: str = "both", weights: str = "constant") -> list[Remark]:
    """Folds factors backward, then the remaining ones forward; returns remarks on folded and refused factors.

    Raises `PassError` unless `direction` is `backward`, `forward` or `both`, and `weights` is `constant` or `any`.
    """
    if weights not in ("constant", "any"):
        raise PassError(f"relay-fold-scale-axis: weights is {weights!r}", help="it is constant or any")
    if direction not in ("backward", "both", "forward"):
        raise PassError(
            f"relay-fold-scale-axis: direction is {direction!r}", help="it is one of backward, both, forward"
        )
    remarks = Remarks("relay-fold-scale-axis")
    if direction != "forward":
        rewrite_once(module, MultiplyOp, ScaleBackward(remarks, weights == "any"))
    if direction != "backward":
        rewrite_once(module, HeavyOp, ScaleForward(remarks, weights == "any"))
    return remarks.all


class _FoldScale(RewritePattern):
    def __init__(self, remarks: Remarks, any_value: bool):
        self.remarks, self.any_value = remarks, any_value


class ScaleBackward(_FoldScale):
    """Folds a factor after a heavy op into its weight and into the constants added between the two.

    Before:

        %c = relay.nn.conv2d(%x, %w)
        %b = relay.add(%c, %bias)
        %y = relay.multiply(%b, %s)            %s : tensor<64x1x1xf32>, a constant

    After:

        %c = relay.nn.conv2d(%x, %v)           %v : %w times %s along O, a constant
        %y = relay.add(%c, %d)                 %d : %bias times %s, a constant

    A factor after a sum of two tensors is folded into the weights of both.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        """Finds the heavy ops from the factor upwards, then scales their weights and the constants between."""
        operands = data_and_factor(op)
        if operands is None:
            return
        data, factor = operands
        try:
            segments = segments_above(data, any_value=self.any_value)
            axes = _channel_axes([segment.top for segment in segments], op)
            vector = _vector(op, factor, axes)
            for segment in segments:
                _check(segment.scaled, vector, axes, any_value=self.any_value)
                _check_range(segment.scaled, vector)
        except Refused as refused:
            self.remarks.refused(op, str(refused))
            return
        first = first_of_all(segments)
        shared = None if first is None else Scaling(rewriter, first, factor, vector, axes)
        into = [
            self._scale(segment, shared or Scaling(rewriter, segment.top, factor, vector, axes)) for segment in segments
        ]
        self.remarks.applied(op, f"moved into {' and '.join(text for text in into if text)}")
        Emitter(rewriter, op).replace(data)

    def _scale(self, segment: Segment, scaling: Scaling) -> str:
        """Scales the constants in a segment and the weight of its heavy op.

        Returns a description of the scaled weight for remarks; it is empty if the segment starts from a sum.
        """
        for step in segment.scaled:
            if isinstance(step, HeavyOp):
                scaling.weight(step, "O")
            elif isinstance(step, SumOp | MultiplyOp):
                scaling.added(step, constant_operand_index(step, any_value=self.any_value) or 0)
            elif isinstance(step, BiasAddOp):
                scaling.bias(step)
        return "" if segment.joins else f"{scaling.into} of {segment.top.name}"


class ScaleForward(_FoldScale):
    """Folds a factor before a heavy op into its weight; divides the constants added between the two by the factor.

    Before:

        %m = relay.multiply(%x, %s)            %s : tensor<32x1x1xf32>, a constant
        %b = relay.add(%m, %bias)
        %y = relay.nn.conv2d(%b, %w)

    After:

        %b = relay.add(%x, %d)                 %d : %bias divided by %s, a constant
        %y = relay.nn.conv2d(%b, %v)           %v : %w times %s along I, a constant
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Folds factors that precede the heavy op until there are no more."""
        if not isinstance(op, HeavyOp):
            return
        while self._fold_one(op, rewriter):
            pass

    def _fold_one(self, op: HeavyOp, rewriter: PatternRewriter) -> bool:
        path, top = path_above(op.data, any_value=self.any_value, shared=True)
        scaled = owner_of(top, MultiplyOp)
        operands = None if scaled is None or (path and not top.has_one_use()) else data_and_factor(scaled)
        readers = [] if operands is None else _readers(op)
        if scaled is None or operands is None or not readers:
            return False
        data, factor = operands
        try:
            found = [self._in_channel_factors(reader, path, scaled, factor) for reader in readers]
        except Refused as refused:
            self.remarks.refused(scaled, str(refused))
            return False
        scalings = [Scaling(rewriter, scaled, factor, vector, axes) for vector, axes in found]
        for reader, scaling in zip(readers, scalings, strict=True):
            scaling.weight(reader, "O" if _is_filter_for_each(reader) else "I")
        for step in path:
            if isinstance(step, SumOp):
                scalings[0].added(step, constant_operand_index(step, any_value=self.any_value) or 0, divide=True)
            elif isinstance(step, BiasAddOp):
                scalings[0].bias(step, divide=True)
        names = " and ".join(reader.name for reader in readers)
        self.remarks.applied(scaled, f"moved into {scalings[0].into} of {names}")
        Emitter(rewriter, scaled).replace(data)
        return True

    def _in_channel_factors(
        self, op: HeavyOp, path: Sequence[Step], scaled: MultiplyOp, factor: Array
    ) -> tuple[Array, Axes]:
        """The factor before `op` along its in-channels, and their axes; raises `Refused` if it cannot be folded."""
        if isinstance(op, ConvOp) and op.groups.value.data != 1 and not _is_filter_for_each(op):
            raise Refused("the convolution that reads it is grouped")
        axes = _in_channel_axes(op)
        vector = _vector(scaled, factor, axes)
        _check([*path, op], vector, axes, any_value=self.any_value)
        if any(isinstance(step, SumOp | BiasAddOp) for step in path) and not (np.abs(vector) >= LEAST).all():
            raise Refused("a constant is added to the product, and a factor is too small to divide by")
        _check_range([op], vector)
        if path:
            _check_range(path, 1 / vector)
        return vector, axes


def _readers(op: HeavyOp) -> list[HeavyOp]:
    """The heavy ops that read the data of `op`, including `op`; empty if another op reads it too."""
    uses = list(op.data.uses)[::-1]
    readers = [use.operation for use in uses if isinstance(use.operation, HeavyOp) and use.index == 0]
    return readers if len(readers) == len(uses) else []


def _is_filter_for_each(op: HeavyOp) -> bool:
    """Whether `op` is a depthwise convolution."""
    return isinstance(op, ConvOp) and op.is_depthwise


def _channel_axes(tops: Sequence[HeavyOp | MultiplyOp | SumOp], op: MultiplyOp) -> Axes | None:
    """The channel axes in the results of `tops`; `None` if there is no heavy op, so that any axis is allowed."""
    found = {_out_channel_axes(top, op) for top in tops if isinstance(top, HeavyOp)}
    if len(found) > 1:
        raise Refused("the operands of a sum have their channels along different axes")
    return next(iter(found), None)


def _out_channel_axes(top: HeavyOp, op: MultiplyOp) -> Axes:
    """The channel axes in the result of `top`."""
    return (len(shape_of(op.result.type)) - 1,) if isinstance(top, DenseOp) else _axes_in(top, 2)


def _in_channel_axes(op: HeavyOp) -> Axes:
    """The channel axes in the data of `op`."""
    return (len(shape_of(op.data.type)) - 1,) if isinstance(op, DenseOp) else _axes_in(op, 0)


def _axes_in(op: ConvOp, which: int) -> Axes:
    """The channel axes in the data (0) or the result (2) of a convolution; raises `Refused` for other blocked axes."""
    data, weight, out = op.layouts
    whole = [(layout, letter) for layout in (data, out) for letter in op.image_axes if letter != "C"]
    if any(layout.factor(letter) for layout, letter in (*whole, *((weight, letter) for letter in op.AXES))):
        raise Refused("a layout of the convolution has blocks of other axes than the channels")
    return axes_of(op.layouts[which], "C")


def _vector(op: MultiplyOp, factor: Array, axes: Axes | None) -> Array:
    """The factor as a vector along the channels, with one element if it is the same for all channels."""
    vector = factor.reshape(-1) if axes is None else channel_vector(factor, shape_of(op.result.type), axes)
    if vector is None:
        raise Refused("the factor varies along another axis than the channels")
    return vector


def _check(path: Sequence[Step | MultiplyOp], vector: Array, axes: Axes | None, *, any_value: bool) -> None:
    """Raises `Refused` unless the factor can be moved past, or into, every op of `path`."""
    for op in path:
        if isinstance(op, HeavyOp):
            _check_heavy(op, any_value=any_value)
        elif isinstance(op, MultiplyOp) and not isinstance(element_type_of(op.result.type), AnyFloat):
            raise Refused("products of integers are not re-associated")
        elif isinstance(op, BiasAddOp) and (axis_index(op.axis.value.data, len(shape_of(op.data.type))),) != axes:
            raise Refused("a bias is added along another axis than the channels")
        elif isinstance(op, MaxPoolOp) and axes_of(op.layouts[0], "C") != axes:
            raise Refused(f"the windows of {op.name} extend along the scaled axis")
        elif isinstance(op, ReluOp | MaxPoolOp) and not (vector > 0).all():
            raise Refused(f"{op.name} is on the path, and not every factor is positive")


def _check_range(path: Sequence[Step | MultiplyOp], vector: Array) -> None:
    """Raises `Refused` unless the scaled constants of the ops of `path` fit their types."""
    for op in path:
        for operand in [op.weight] if isinstance(op, HeavyOp) else op.operands:
            constant = constant_of(operand)
            if constant is not None and not stays_in_range(constant, vector):
                raise Refused(f"{element_type_of(operand.type)} does not hold a constant of {op.name} times the factor")


def _check_heavy(op: HeavyOp, *, any_value: bool) -> None:
    if not any_value and constant_of(op.weight) is None:
        raise Refused("the weight is not a constant")
    if not isinstance(element_type_of(op.weight.type), AnyFloat) or op.out_dtype is not None:
        raise Refused("the weight and the result must be of one float type")
