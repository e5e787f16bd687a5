"""`relay-fold-scale-axis`: moves factors per channel into the weights of convolutions and dense layers.

What: a constant factor behind a convolution, of one to three axes, or a dense layer scales the weight's out-channels
and what is added on the way (backward); a constant factor in front of one scales the weight's in-channels (forward). A
factor behind another factor joins it. Why: after `relay-simplify-inference` every batch norm is such a factor; moved
into a constant weight it costs nothing at run time. Re-associating: equal within rounding, so level 3 only.

Between the factor and the heavy op may stand values used once only: sums and differences with constants, `nn.bias_add`,
and, where all factors are positive, `nn.relu` and maxima of windows. What is added behind a factor is divided by it
(forward). Where several heavy ops read the value in front of them, and nothing else does, the weights of all of them
are scaled (forward); so are those of both sides of a sum or a difference (backward). Channels may stand in blocks.

With `weights=any`, as in Relay, weights and what is added may be any values: an op scales them when the program runs,
until they are bound and folded. That pays where they will be constants; else the factor was cheaper where it was.

Refuses, with a remark: factors that vary along another axis; weights that are no constants, unless `weights` is `any`;
a value used elsewhere too; a factor that is not positive across a relu, or too small to divide by; constants whose
products with it their type does not hold; grouped convolutions that are not one filter for each channel (forward);
blocks of other axes; integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn_activation import ReluOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once
from xrelay.passes.relay.scale_axis import LEAST, Axes, Scaling, axes_of, channel_vector, stays_in_range
from xrelay.passes.relay.scale_ways import (
    HeavyOp,
    MaxPoolOp,
    Refused,
    Segment,
    Step,
    SumOp,
    climb,
    data_and_factor,
    first_of_all,
    segments_behind,
    side_index,
)


@dataclass(frozen=True)
class RelayFoldScaleAxisPass(ModulePass):
    """Move per-channel factors into the weights of convolutions and dense layers; see the module's docstring."""

    name = "relay-fold-scale-axis"

    direction: str = field(
        default="both", metadata={"help": "backward: factors behind heavy ops; forward: those in front; both, in turn"}
    )

    weights: str = field(
        default="constant", metadata={"help": "constant: weights that are constants are scaled; any: others too"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fold the module in place."""
        report(fold_scale_axis(op, direction=self.direction, weights=self.weights))


def fold_scale_axis(module: ModuleOp, *, direction: str = "both", weights: str = "constant") -> list[Remark]:
    """Fold factors backward, then those that are left forward; says what was moved and what was refused.

    `PassError` for another direction than `backward`, `forward` and `both`, and other weights than `constant` or `any`.
    """
    if weights not in ("constant", "any"):
        raise PassError(f"relay-fold-scale-axis: weights is {weights!r}", help="it is constant or any")
    remarks, any_value = Remarks("relay-fold-scale-axis"), weights == "any"
    backward, forward = ScaleBackward(remarks, any_value), ScaleForward(remarks, any_value)
    patterns: dict[str, tuple[ScaleBackward | ScaleForward, ...]] = {
        "backward": (backward,),
        "forward": (forward,),
        "both": (backward, forward),
    }
    if direction not in patterns:
        raise PassError(
            f"relay-fold-scale-axis: direction is {direction!r}", help=f"it is one of {', '.join(sorted(patterns))}"
        )
    for pattern in patterns[direction]:
        rewrite_once(module, pattern.KIND, pattern)
    return remarks.all


class ScaleBackward(RewritePattern):
    """A factor behind a heavy op → into its weight, and into what is added between the two.

    Before:

        %c = relay.nn.conv2d(%x, %w)
        %b = relay.add(%c, %bias)
        %y = relay.multiply(%b, %s)            %s : tensor<64x1x1xf32>, a constant

    After:

        %c = relay.nn.conv2d(%x, %v)           %v : %w times %s along O, a constant
        %y = relay.add(%c, %d)                 %d : %bias times %s, a constant

    Behind a sum of two tensors it goes into the weights of both.
    """

    KIND: ClassVar = MultiplyOp
    """What the pattern starts from."""

    def __init__(self, remarks: Remarks, any_value: bool = False):
        self.remarks, self.any_value = remarks, any_value

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        """Walk from the factor up to the heavy op, then scale everything on the way."""
        operands = data_and_factor(op)
        if operands is None:
            return
        data, factor = operands
        try:
            segments = segments_behind(data, any_value=self.any_value)
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
        """Scale all that is added in a segment and the weight that it begins with; says what, if that is a heavy op."""
        for step in segment.scaled:
            if isinstance(step, HeavyOp):
                scaling.weight(step, "O")
            elif isinstance(step, SumOp | MultiplyOp):
                scaling.added(step, side_index(step, any_value=self.any_value) or 0)
            elif isinstance(step, BiasAddOp):
                scaling.bias(step)
        return "" if segment.joins else f"{scaling.into} of {segment.top.name}"


class ScaleForward(RewritePattern):
    """A factor in front of a heavy op → into its weight; what is added between the two is divided by it.

    Before:

        %m = relay.multiply(%x, %s)            %s : tensor<32x1x1xf32>, a constant
        %b = relay.add(%m, %bias)
        %y = relay.nn.conv2d(%b, %w)

    After:

        %b = relay.add(%x, %d)                 %d : %bias divided by %s, a constant
        %y = relay.nn.conv2d(%b, %v)           %v : %w times %s along I, a constant
    """

    KIND: ClassVar = HeavyOp
    """What the pattern starts from."""

    def __init__(self, remarks: Remarks, any_value: bool = False):
        self.remarks, self.any_value = remarks, any_value

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Walk from the heavy op up to a factor, as often as there is one."""
        if not isinstance(op, HeavyOp):
            return
        while self._fold_one(op, rewriter):
            pass

    def _fold_one(self, op: HeavyOp, rewriter: PatternRewriter) -> bool:
        path, top = climb(op.data, any_value=self.any_value, shared=True)
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
                scalings[0].added(step, side_index(step, any_value=self.any_value) or 0, divide=True)
            elif isinstance(step, BiasAddOp):
                scalings[0].bias(step, divide=True)
        names = " and ".join(reader.name for reader in readers)
        self.remarks.applied(scaled, f"moved into {scalings[0].into} of {names}")
        Emitter(rewriter, scaled).replace(data)
        return True

    def _in_channel_factors(
        self, op: HeavyOp, path: Sequence[Step], scaled: MultiplyOp, factor: Array
    ) -> tuple[Array, Axes]:
        """The factor in front of `op` along its in-channels, and their axes; `Refused` where it cannot be moved."""
        if isinstance(op, ConvOp) and op.groups.value.data != 1 and not _is_filter_for_each(op):
            raise Refused("the convolution behind it is grouped")
        axes = _in_channel_axes(op)
        vector = _vector(scaled, factor, axes)
        _check([*path, op], vector, axes, any_value=self.any_value)
        if any(isinstance(step, SumOp | BiasAddOp) for step in path) and not (np.abs(vector) >= LEAST).all():
            raise Refused("something is added behind it, and a factor is too small to divide by")
        _check_range([op], vector)
        if path:
            _check_range(path, 1 / vector)
        return vector, axes


def _readers(op: HeavyOp) -> list[HeavyOp]:
    """The heavy ops that read the data of `op`, itself among them; none where something else reads it too."""
    uses = list(op.data.uses)[::-1]
    readers = [use.operation for use in uses if isinstance(use.operation, HeavyOp) and use.index == 0]
    return readers if len(readers) == len(uses) else []


def _is_filter_for_each(op: HeavyOp) -> bool:
    """Whether a convolution has one filter for each channel, which gives one channel."""
    return isinstance(op, ConvOp) and op.is_depthwise


def _channel_axes(tops: Sequence[HeavyOp | MultiplyOp | SumOp], op: MultiplyOp) -> Axes | None:
    """The axes of the channels in what all of `tops` give; `None` where any axis will do."""
    found = {_out_channel_axes(top, op) for top in tops if isinstance(top, HeavyOp)}
    if len(found) > 1:
        raise Refused("what is added has its channels along different axes")
    return next(iter(found), None)


def _out_channel_axes(top: HeavyOp, op: MultiplyOp) -> Axes:
    """The axes of the channels in the result of `top`."""
    return (len(shape_of(op.result.type)) - 1,) if isinstance(top, DenseOp) else _axes_in(top, 2)


def _in_channel_axes(op: HeavyOp) -> Axes:
    """The axes of the channels in the data of `op`."""
    return (len(shape_of(op.data.type)) - 1,) if isinstance(op, DenseOp) else _axes_in(op, 0)


def _axes_in(op: ConvOp, which: int) -> Axes:
    """The axes of the channels in the data (0) or the result (2) of a convolution, whose other axes are whole."""
    data, weight, out = op.layouts
    whole = [(layout, letter) for layout in (data, out) for letter in op.image_axes if letter != "C"]
    if any(layout.factor(letter) for layout, letter in (*whole, *((weight, letter) for letter in op.AXES))):
        raise Refused("the convolution works in blocks of other axes than channels")
    return axes_of(op.layouts[which], "C")


def _vector(op: MultiplyOp, factor: Array, axes: Axes | None) -> Array:
    """The factor as a vector along the channels, of one element where all channels share it."""
    vector = factor.reshape(-1) if axes is None else channel_vector(factor, shape_of(op.result.type), axes)
    if vector is None:
        raise Refused("the factor varies along another axis than the channels")
    return vector


def _check(path: Sequence[Step | MultiplyOp], vector: Array, axes: Axes | None, *, any_value: bool) -> None:
    """Require that every op on the way lets the factor through."""
    for op in path:
        if isinstance(op, HeavyOp):
            _check_heavy(op, any_value=any_value)
        elif isinstance(op, MultiplyOp) and not isinstance(element_type_of(op.result.type), AnyFloat):
            raise Refused("only floats are re-associated")
        elif isinstance(op, BiasAddOp) and (axis_index(op.axis.value.data, len(shape_of(op.data.type))),) != axes:
            raise Refused("a bias is added along another axis than the channels")
        elif isinstance(op, MaxPoolOp) and axes_of(op.layouts[0], "C") != axes:
            raise Refused(f"{op.name} takes the maximum along the axis that is scaled")
        elif isinstance(op, ReluOp | MaxPoolOp) and not (vector > 0).all():
            raise Refused(f"it would pass {op.name}, and not every factor is positive")


def _check_range(path: Sequence[Step | MultiplyOp], vector: Array) -> None:
    """Require that the constants on the way hold what they are multiplied by."""
    for op in path:
        for operand in [op.weight] if isinstance(op, HeavyOp) else op.operands:
            constant = constant_of(operand)
            if constant is not None and not stays_in_range(constant, vector):
                raise Refused(f"{element_type_of(operand.type)} does not hold a constant of {op.name} times the factor")


def _check_heavy(op: HeavyOp, *, any_value: bool) -> None:
    if not any_value and constant_of(op.weight) is None:
        raise Refused("the weight is no constant")
    if not isinstance(element_type_of(op.weight.type), AnyFloat) or op.out_dtype is not None:
        raise Refused("the weight and the result must be of one float type")
