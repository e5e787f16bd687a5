"""`relay-fold-scale-axis`: moves factors per channel into the weights of convolutions and dense layers.

What: a constant factor behind a convolution, of one to three axes, or a dense layer scales the weight's out-channels
and what is added on the way (backward); a constant factor in front of one scales the weight's in-channels (forward). A
factor behind another factor joins it. Why: after `relay-simplify-inference` every batch norm is such a factor; moved
into a constant weight it costs nothing at run time. Re-associating: equal within rounding, so level 3 only.

Between the factor and the heavy op may stand values used once only: additions of constants, `nn.bias_add`, and, where
all factors are positive, `nn.relu` and maxima of windows. A scaled value that several heavy ops read, and nothing else,
scales the weights of all of them (forward).

Refuses, with a remark: factors that vary along another axis; weights that are no constants; a value used elsewhere too;
a factor that is not positive across a relu; grouped convolutions (forward); blocked layouts; integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

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
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, MultiplyOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array, WeightAttr
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, per_channel, rewrite_once

HeavyOp: TypeAlias = ConvOp | DenseOp
MaxPoolOp: TypeAlias = MaxPool1DOp | MaxPool2DOp | MaxPool3DOp
Step: TypeAlias = ConvOp | DenseOp | AddOp | BiasAddOp | ReluOp | MaxPoolOp

BACKWARD: tuple[type[Step], ...] = (AddOp, BiasAddOp, ReluOp, MaxPool1DOp, MaxPool2DOp, MaxPool3DOp)
FORWARD: tuple[type[Step], ...] = (ReluOp, MaxPool1DOp, MaxPool2DOp, MaxPool3DOp)
"""What may stand between a heavy op and a factor."""


@dataclass(frozen=True)
class RelayFoldScaleAxisPass(ModulePass):
    """Move per-channel factors into the weights of convolutions and dense layers; see the module's docstring."""

    name = "relay-fold-scale-axis"

    direction: str = field(
        default="both", metadata={"help": "backward: factors behind heavy ops; forward: those in front; both, in turn"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fold the module in place."""
        report(fold_scale_axis(op, direction=self.direction))


def fold_scale_axis(module: ModuleOp, *, direction: str = "both") -> list[Remark]:
    """Fold factors backward, then those that are left forward; says what was moved and what was refused.

    `PassError` for a direction that is not `backward`, `forward` or `both`.
    """
    remarks = Remarks("relay-fold-scale-axis")
    backward, forward = ScaleBackward(remarks), ScaleForward(remarks)
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

    def __init__(self, remarks: Remarks):
        self.remarks = remarks

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        """Walk from the factor up to the heavy op, then scale everything on the way."""
        operands = _data_and_factor(op)
        if operands is None:
            return
        data, factor = operands
        path, start = _climb(data, BACKWARD)
        try:
            top = _top_at(start)
            axis = _channel_axis(top, op)
            vector = _vector(op, factor, axis)
            _check([*path, top], vector, axis)
        except _Refused as refused:
            self.remarks.refused(op, str(refused))
            return
        for step in [*path, top]:
            if isinstance(step, HeavyOp):
                _scale_weight(rewriter, step, vector, "O")
            elif isinstance(step, AddOp | MultiplyOp):
                _scale_operand(rewriter, step, 1 if constant_of(step.rhs) is not None else 0, factor)
            elif isinstance(step, BiasAddOp):
                _scale_operand(rewriter, step, 1, vector)
        self.remarks.applied(op, f"moved into a constant of {top.name}")
        rewriter.replace(op, [], [data])


class ScaleForward(RewritePattern):
    """A factor in front of a heavy op → into its weight.

    Before:

        %m = relay.multiply(%x, %s)            %s : tensor<32x1x1xf32>, a constant
        %y = relay.nn.conv2d(%m, %w)

    After:

        %y = relay.nn.conv2d(%x, %v)           %v : %w times %s along I, a constant
    """

    KIND: ClassVar = HeavyOp
    """What the pattern starts from."""

    def __init__(self, remarks: Remarks):
        self.remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Walk from the heavy op up to a factor, as often as there is one."""
        if not isinstance(op, HeavyOp):
            return
        while self._fold_one(op, rewriter):
            pass

    def _fold_one(self, op: HeavyOp, rewriter: PatternRewriter) -> bool:
        path, top = _climb(op.data, FORWARD)
        scaled, readers = owner_of(top, MultiplyOp), _readers(op, path, top)
        operands = None if scaled is None or not readers else _data_and_factor(scaled)
        if scaled is None or operands is None:
            return False
        data, factor = operands
        try:
            vectors = [_in_channel_factors(reader, path, scaled, factor) for reader in readers]
        except _Refused as refused:
            self.remarks.refused(scaled, str(refused))
            return False
        for reader, vector in zip(readers, vectors, strict=True):
            _scale_weight(rewriter, reader, vector, "I")
        self.remarks.applied(scaled, f"moved into a constant of {' and '.join(reader.name for reader in readers)}")
        rewriter.replace(scaled, [], [data])
        return True


class _Refused(Exception):
    """A factor cannot be moved; the message says why."""


def _readers(op: HeavyOp, path: Sequence[Step], value: SSAValue) -> list[HeavyOp]:
    """The heavy ops whose data `value` alone is, `op` among them; none where something else reads it too."""
    if value.has_one_use():
        return [op]
    uses = list(value.uses)[::-1]
    readers = [use.operation for use in uses if isinstance(use.operation, HeavyOp) and use.index == 0]
    return readers if not path and len(readers) == len(uses) else []


def _in_channel_factors(op: HeavyOp, path: Sequence[Step], scaled: MultiplyOp, factor: Array) -> Array:
    """The factor in front of `op` along its in-channels; `_Refused` where it cannot be moved into the weight."""
    if isinstance(op, ConvOp) and op.groups.value.data != 1:
        raise _Refused("the convolution behind it is grouped")
    axis = _in_channel_axis(op)
    vector = _vector(scaled, factor, axis)
    _check([*path, op], vector, axis)
    return vector


def _data_and_factor(op: MultiplyOp) -> tuple[SSAValue, Array] | None:
    """The operand that is scaled and the constant that scales it; `None` for a product of another kind."""
    for data, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        array = constant_of(factor)
        if array is not None and data.type == op.result.type and constant_of(data) is None:
            return data, array
    return None


def _climb(value: SSAValue, through: tuple[type[Step], ...]) -> tuple[list[Step], SSAValue]:
    """The ops of `through` from `value` up, each used once only, and the value they start from."""
    path: list[Step] = []
    while isinstance(value, OpResult) and isinstance(value.op, through) and value.has_one_use():
        above = _above(value.op)
        if above is None:
            break
        path.append(value.op)
        value = above
    return path, value


def _above(op: Step) -> SSAValue | None:
    """The operand through which a factor may be moved up past `op`; `None` where it may not."""
    if isinstance(op, ReluOp | MaxPoolOp):
        return op.data
    if isinstance(op, BiasAddOp):
        return op.data if constant_of(op.bias) is not None else None
    if isinstance(op, AddOp):
        index = _constant_index(op)
        other = None if index is None else op.operands[1 - index]
        return other if other is not None and other.type == op.result.type else None
    return None


def _constant_index(op: AddOp) -> int | None:
    """Which operand of an addition is a constant."""
    return next((index for index in (1, 0) if constant_of(op.operands[index]) is not None), None)


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


def _check(path: Sequence[Step | MultiplyOp], vector: Array, axis: int | None) -> None:
    """Require that every op on the way lets the factor through."""
    for op in path:
        if isinstance(op, HeavyOp):
            _check_heavy(op)
        elif isinstance(op, MultiplyOp) and not isinstance(element_type_of(op.result.type), AnyFloat):
            raise _Refused("only floats are re-associated")
        elif isinstance(op, BiasAddOp) and axis_index(op.axis.value.data, len(shape_of(op.data.type))) != axis:
            raise _Refused("a bias is added along another axis than the channels")
        elif isinstance(op, MaxPoolOp) and op.layouts[0].index("C") != axis:
            raise _Refused(f"{op.name} takes the maximum along the axis that is scaled")
        elif isinstance(op, ReluOp | MaxPoolOp) and not (vector > 0).all():
            raise _Refused(f"it would pass {op.name}, and not every factor is positive")


def _check_heavy(op: HeavyOp) -> None:
    if constant_of(op.weight) is None:
        raise _Refused("the weight is no constant")
    if not isinstance(element_type_of(op.weight.type), AnyFloat) or op.out_dtype is not None:
        raise _Refused("the weight and the result must be of one float type")


def _scale_weight(rewriter: PatternRewriter, op: HeavyOp, vector: Array, letter: str) -> None:
    """Multiply the weight of `op` along its axis O (out-channels) or I (in-channels)."""
    axis = op.layouts[1].index(letter) if isinstance(op, ConvOp) else "OI".index(letter)
    shape = [1] * len(shape_of(op.weight.type))
    shape[axis] = vector.size
    _scale_operand(rewriter, op, 1, vector.reshape(shape))


def _scale_operand(rewriter: PatternRewriter, op: Operation, index: int, factor: Array) -> None:
    """Multiply the constant operand `index` by `factor`."""
    old = owner_of(op.operands[index], ConstantOp)
    if old is None:
        raise PassError(f"operand {index} of {op.name} is no constant")
    name = old.value.data.name if isinstance(old.value, WeightAttr) else "constant"
    new = Emitter(rewriter, op).insert(ConstantOp.of(old.array * factor, f"{name}.scaled"))
    new.location = old.location
    op.operands[index] = new.result
    rewriter.notify_op_modified(op)
    if old.result.first_use is None:  # else the weights of a network would be there twice when the pass ends
        rewriter.handle_operation_removal(old)
        erase_op(old)
