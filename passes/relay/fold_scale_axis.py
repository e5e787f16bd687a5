"""`relay-fold-scale-axis`: moves factors per channel into the weights of convolutions and dense layers.

What: a constant factor behind a convolution, of one to three axes, or a dense layer scales the weight's out-channels
and what is added on the way (backward); a constant factor in front of one scales the weight's in-channels (forward). A
factor behind another factor joins it. Why: after `relay-simplify-inference` every batch norm is such a factor; moved
into a constant weight it costs nothing at run time. Re-associating: equal within rounding, so level 3 only.

Between the factor and the heavy op may stand values used once only: sums and differences with constants, `nn.bias_add`,
and, where all factors are positive, `nn.relu` and maxima of windows. What is added behind a factor is divided by it
(forward). Where several heavy ops read the value in front of them, and nothing else does, the weights of all of them
are scaled (forward).

With `weights=any`, as in Relay, weights and what is added may be any values: an op scales them when the program runs,
until they are bound and folded. That pays where they will be constants; else the factor was cheaper where it was.

Refuses, with a remark: factors that vary along another axis; weights that are no constants, unless `weights` is `any`;
a value used elsewhere too; a factor that is not positive across a relu, or too small to divide by; grouped convolutions
that are not one filter for each channel (forward); blocked layouts; integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_activation import ReluOp
from xrelay.dialects.relay.ops.nn_conv import ConvOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.nn_pool import MaxPool1DOp, MaxPool2DOp, MaxPool3DOp
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import constant_of, owner_of, per_channel, rewrite_once
from xrelay.passes.relay.scale_axis import LEAST, Scaling

HeavyOp: TypeAlias = ConvOp | DenseOp
MaxPoolOp: TypeAlias = MaxPool1DOp | MaxPool2DOp | MaxPool3DOp
SumOp: TypeAlias = AddOp | SubtractOp
Step: TypeAlias = ConvOp | DenseOp | SumOp | BiasAddOp | ReluOp | MaxPoolOp

BACKWARD: tuple[type[Step], ...] = (AddOp, SubtractOp, BiasAddOp, ReluOp, MaxPool1DOp, MaxPool2DOp, MaxPool3DOp)
FORWARD: tuple[type[Step], ...] = BACKWARD
"""What may stand between a heavy op and a factor."""


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
    """

    KIND: ClassVar = MultiplyOp
    """What the pattern starts from."""

    def __init__(self, remarks: Remarks, any_value: bool = False):
        self.remarks, self.any_value = remarks, any_value

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        """Walk from the factor up to the heavy op, then scale everything on the way."""
        operands = _data_and_factor(op)
        if operands is None:
            return
        data, factor = operands
        path, start = _climb(data, BACKWARD, any_value=self.any_value)
        try:
            top = _top_at(start)
            axis = _channel_axis(top, op)
            vector = _vector(op, factor, axis)
            _check([*path, top], vector, axis, any_value=self.any_value)
        except _Refused as refused:
            self.remarks.refused(op, str(refused))
            return
        scaling = Scaling(rewriter, top, factor, vector, axis)
        for step in [*path, top]:
            if isinstance(step, HeavyOp):
                scaling.weight(step, "O")
            elif isinstance(step, SumOp | MultiplyOp):
                scaling.added(step, _side_index(step, any_value=self.any_value) or 0)
            elif isinstance(step, BiasAddOp):
                scaling.bias(step)
        self.remarks.applied(op, f"moved into {scaling.into} of {top.name}")
        rewriter.replace(op, [], [data])


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
        path, top = _climb(op.data, FORWARD, any_value=self.any_value, shared=True)
        scaled = owner_of(top, MultiplyOp)
        operands = None if scaled is None or (path and not top.has_one_use()) else _data_and_factor(scaled)
        readers = [] if operands is None else _readers(op)
        if scaled is None or operands is None or not readers:
            return False
        data, factor = operands
        try:
            found = [self._in_channel_factors(reader, path, scaled, factor) for reader in readers]
        except _Refused as refused:
            self.remarks.refused(scaled, str(refused))
            return False
        scalings = [Scaling(rewriter, scaled, factor, vector, axis) for vector, axis in found]
        for reader, scaling in zip(readers, scalings, strict=True):
            scaling.weight(reader, "O" if _is_filter_for_each(reader) else "I")
        for step in path:
            if isinstance(step, SumOp):
                scalings[0].added(step, _side_index(step, any_value=self.any_value) or 0, divide=True)
            elif isinstance(step, BiasAddOp):
                scalings[0].bias(step, divide=True)
        names = " and ".join(reader.name for reader in readers)
        self.remarks.applied(scaled, f"moved into {scalings[0].into} of {names}")
        rewriter.replace(scaled, [], [data])
        return True

    def _in_channel_factors(
        self, op: HeavyOp, path: Sequence[Step], scaled: MultiplyOp, factor: Array
    ) -> tuple[Array, int]:
        """The factor in front of `op` along its in-channels, and their axis; `_Refused` where it cannot be moved."""
        if isinstance(op, ConvOp) and op.groups.value.data != 1 and not _is_filter_for_each(op):
            raise _Refused("the convolution behind it is grouped")
        axis = _in_channel_axis(op)
        vector = _vector(scaled, factor, axis)
        _check([*path, op], vector, axis, any_value=self.any_value)
        if any(isinstance(step, SumOp | BiasAddOp) for step in path) and not (np.abs(vector) >= LEAST).all():
            raise _Refused("something is added behind it, and a factor is too small to divide by")
        return vector, axis


class _Refused(Exception):
    """A factor cannot be moved; the message says why."""


def _readers(op: HeavyOp) -> list[HeavyOp]:
    """The heavy ops that read the data of `op`, itself among them; none where something else reads it too."""
    uses = list(op.data.uses)[::-1]
    readers = [use.operation for use in uses if isinstance(use.operation, HeavyOp) and use.index == 0]
    return readers if len(readers) == len(uses) else []


def _is_filter_for_each(op: HeavyOp) -> bool:
    """Whether a convolution has one filter for each channel, which gives one channel."""
    return isinstance(op, ConvOp) and op.is_depthwise


def _data_and_factor(op: MultiplyOp) -> tuple[SSAValue, Array] | None:
    """The operand that is scaled and the constant that scales it; `None` for a product of another kind."""
    for data, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        array = constant_of(factor)
        if array is not None and data.type == op.result.type and constant_of(data) is None:
            return data, array
    return None


def _climb(
    value: SSAValue, through: tuple[type[Step], ...], *, any_value: bool, shared: bool = False
) -> tuple[list[Step], SSAValue]:
    """The ops of `through` from `value` up, each used once only, and the value they start from.

    The first, `value`, may be used more often where it is `shared`.
    """
    path: list[Step] = []
    while isinstance(value, OpResult) and isinstance(value.op, through):
        if not value.has_one_use() and (path or not shared):
            break
        above = _above(value.op, any_value=any_value)
        if above is None:
            break
        path.append(value.op)
        value = above
    return path, value


def _above(op: Step, *, any_value: bool) -> SSAValue | None:
    """The operand through which a factor may be moved up past `op`; `None` where it may not."""
    if isinstance(op, ReluOp | MaxPoolOp):
        return op.data
    if isinstance(op, BiasAddOp):
        return op.data if any_value or constant_of(op.bias) is not None else None
    if isinstance(op, SumOp):
        index = _side_index(op, any_value=any_value)
        other = None if index is None else op.operands[1 - index]
        return other if other is not None and other.type == op.result.type else None
    return None


def _side_index(op: SumOp | MultiplyOp, *, any_value: bool) -> int | None:
    """Which operand is a constant, or else, with `any_value`, is smaller than the result."""
    found = next((index for index in (1, 0) if constant_of(op.operands[index]) is not None), None)
    if found is None and any_value:
        found = next((index for index in (1, 0) if op.operands[index].type != op.result.type), None)
    return found


def _top_at(value: SSAValue) -> HeavyOp | MultiplyOp:
    """The heavy op, or the other factor, that made `value` for this one use."""
    op = value.owner
    name = op.name if isinstance(op, Operation) else "a parameter"
    if not value.has_one_use():
        raise _Refused(f"the result of {name} is used elsewhere too")
    if isinstance(op, HeavyOp) or (isinstance(op, MultiplyOp) and _data_and_factor(op) is not None):
        return op
    raise _Refused(f"it scales the result of {name}")


def _channel_axis(top: HeavyOp | MultiplyOp, op: MultiplyOp) -> int | None:
    """The axis of the channels in the result of `top`; `None` where any axis will do."""
    if isinstance(top, MultiplyOp):
        return None
    if isinstance(top, DenseOp):
        return len(shape_of(op.result.type)) - 1
    return _plain_layout(top, 2).index("C")


def _in_channel_axis(op: HeavyOp) -> int:
    """The axis of the channels in the data of `op`."""
    return len(shape_of(op.data.type)) - 1 if isinstance(op, DenseOp) else _plain_layout(op, 0).index("C")


def _plain_layout(op: ConvOp, which: int) -> Layout:
    """The layout of data (0), weight (1) or result (2) of a convolution without blocks."""
    if any(layout.factor(letter) is not None for layout in op.layouts for letter in layout.primal):
        raise _Refused("the convolution works in blocked layouts")
    return op.layouts[which]


def _vector(op: MultiplyOp, factor: Array, axis: int | None) -> Array:
    """The factor as a vector along the channels, of one element where all channels share it."""
    vector = factor.reshape(-1) if axis is None else per_channel(factor, len(shape_of(op.result.type)), axis)
    if vector is None:
        raise _Refused("the factor varies along another axis than the channels")
    return vector


def _check(path: Sequence[Step | MultiplyOp], vector: Array, axis: int | None, *, any_value: bool) -> None:
    """Require that every op on the way lets the factor through."""
    for op in path:
        if isinstance(op, HeavyOp):
            _check_heavy(op, any_value=any_value)
        elif isinstance(op, MultiplyOp) and not isinstance(element_type_of(op.result.type), AnyFloat):
            raise _Refused("only floats are re-associated")
        elif isinstance(op, BiasAddOp) and axis_index(op.axis.value.data, len(shape_of(op.data.type))) != axis:
            raise _Refused("a bias is added along another axis than the channels")
        elif isinstance(op, MaxPoolOp) and op.layouts[0].index("C") != axis:
            raise _Refused(f"{op.name} takes the maximum along the axis that is scaled")
        elif isinstance(op, ReluOp | MaxPoolOp) and not (vector > 0).all():
            raise _Refused(f"it would pass {op.name}, and not every factor is positive")


def _check_heavy(op: HeavyOp, *, any_value: bool) -> None:
    if not any_value and constant_of(op.weight) is None:
        raise _Refused("the weight is no constant")
    if not isinstance(element_type_of(op.weight.type), AnyFloat) or op.out_dtype is not None:
        raise _Refused("the weight and the result must be of one float type")
