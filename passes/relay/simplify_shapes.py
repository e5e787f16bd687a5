"""Patterns of `relay-simplify-expr` on ops that move elements, and on ops that only read the type of an operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.dyn.shapes import CollapseSumToOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import FullLikeOp, FullOp, OnesLikeOp, OnesOp, ZerosLikeOp, ZerosOp
from xrelay.dialects.relay.ops.tensor.like import BroadcastToLikeOp, CastLikeOp, CollapseSumLikeOp, ReshapeLikeOp
from xrelay.dialects.relay.ops.tensor.movement import BroadcastToOp
from xrelay.dialects.relay.ops.tensor.reduce import SumOp
from xrelay.dialects.relay.ops.tensor.shape import (
    BatchFlattenOp,
    ExpandDimsOp,
    ReshapeOp,
    ReshapingOp,
    ReverseReshapeOp,
    SqueezeOp,
)
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp, PadOp, TransposeOp
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of
from xrelay.passes.graph.rewriting import Emitter, constant_of, plain_owner_of, static_shape


class JoinReshapes(RewritePattern):
    """Combines reshapes, and removes reshapes to the operand's shape. Exact.

    Before:

        %a = relay.expand_dims(%x) : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
        %y = relay.reshape(%a) {newshape = [8, 3]} : (tensor<1x4x6xf32>) -> tensor<8x3xf32>

    After:

        %y = relay.reshape(%x) {newshape = [8, 3]} : (tensor<4x6xf32>) -> tensor<8x3xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its result has a static shape."""
        if not isinstance(op, ReshapingOp) or not is_static(op.results[0].type):
            return
        data = op.operands[0]
        if data.type == op.results[0].type:
            Emitter(rewriter, op).replace(data)
            return
        first = data
        while (inner := _defining_reshape(first)) is not None:
            first = inner.operands[0]
        if first.type == op.results[0].type:
            Emitter(rewriter, op).replace(first)
        elif first is not data:
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(ReshapeOp, first, newshape=static_shape(op.results[0])))


def _defining_reshape(value: SSAValue) -> ReshapingOp | None:
    """The op that defines `value`, if it is a reshape of a static shape."""
    op = plain_owner_of(value, ReshapingOp)
    return op if isinstance(op, _RESHAPES) and is_static(op.operands[0].type) else None


_RESHAPES = (ReshapeOp, ReverseReshapeOp, ExpandDimsOp, SqueezeOp, BatchFlattenOp, ReshapeLikeOp)


class JoinTransposes(RewritePattern):
    """Combines two transposes, and removes transposes that keep the order of the axes. Exact.

    Before:

        %a = relay.transpose(%x) {axes = [0, 2, 3, 1]}
        %y = relay.transpose(%a) {axes = [0, 3, 1, 2]}

    After: `%x` replaces `%y`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        """Computes the order of the axes after both transposes."""
        rank = len(shape_of(op.data.type))
        order = list(op.permutation(rank))
        inner = plain_owner_of(op.data, TransposeOp)
        data = op.data
        if inner is not None:
            first = inner.permutation(rank)
            data, order = inner.data, [first[axis] for axis in order]
        emit = Emitter(rewriter, op)
        if order == list(range(rank)):
            emit.replace(data)
        elif inner is not None:
            emit.replace(emit.call(TransposeOp, data, axes=order))


class JoinLayoutTransforms(RewritePattern):
    """Combines two layout transforms, or a layout transform and a transpose; removes both if they cancel. Exact.

    Before:

        %a = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
        %y = relay.layout_transform(%a) {src_layout = "NHWC", dst_layout = "NCHW16c"}

    After:

        %y = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}

    A transform that only permutes axes becomes a transpose. Intermediate layouts with incomplete blocks, which enlarge
    the result, are not changed.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if the inner transform yields the layout that `op` reads."""
        if isinstance(op, LayoutTransformOp) and op.src_layout == op.dst_layout:
            if op.data.type == op.result.type:
                Emitter(rewriter, op).replace(op.data)
            return
        found = _through_two(op)
        if found is None:
            return
        data, source, target = found
        emit, wanted = Emitter(rewriter, op), op.results[0].type
        if source == target and data.type == wanted:
            emit.replace(data)
        elif source != target:
            direct = _changed(data, source, target)
            if direct.results[0].type == wanted:
                emit.replace(emit.insert(direct).results[0])
            else:
                direct.erase()


def _through_two(op: Operation) -> tuple[SSAValue, str, str] | None:
    """The operand of two consecutive layout transforms, and the layouts before and after; one may be a transpose."""
    inner = plain_owner_of(op.operands[0], RelayOp)
    if isinstance(op, LayoutTransformOp) and isinstance(inner, LayoutTransformOp):
        same = inner.dst_layout == op.src_layout
        return (inner.data, inner.src_layout.data, op.dst_layout.data) if same else None
    if isinstance(op, LayoutTransformOp) and isinstance(inner, TransposeOp) and _is_plain(op.src_layout.data):
        letters = dict(zip(inner.permutation(len(op.src_layout.data)), op.src_layout.data, strict=True))
        return inner.data, "".join(letters[axis] for axis in sorted(letters)), op.dst_layout.data
    if isinstance(op, TransposeOp) and isinstance(inner, LayoutTransformOp) and _is_plain(inner.dst_layout.data):
        letters = inner.dst_layout.data
        return inner.data, inner.src_layout.data, "".join(letters[axis] for axis in op.permutation(len(letters)))
    return None


def _is_plain(layout: str) -> bool:
    """Whether a layout has no split axes."""
    return layout.isalpha()


def _changed(data: SSAValue, source: str, target: str) -> RelayOp:
    """The op that transforms `data` from one layout to another."""
    if _is_plain(source) and _is_plain(target):
        return TransposeOp.call(data, axes=[source.index(letter) for letter in target])
    return LayoutTransformOp.call(data, src_layout=source, dst_layout=target)


class JoinPads(RewritePattern):
    """Combines two pads with the same constant. Exact.

    Before:

        %a = relay.nn.pad(%x, %zero) {pad_width = [0, 1]}
        %y = relay.nn.pad(%a, %zero) {pad_width = [2, 0]}

    After:

        %y = relay.nn.pad(%x, %zero) {pad_width = [2, 1]}
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PadOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if both pads have the same value or equal constants."""
        inner = plain_owner_of(op.data, PadOp)
        if inner is None or op.pad_mode.data != "constant" or inner.pad_mode.data != "constant":
            return
        own, other = constant_of(op.pad_value), constant_of(inner.pad_value)
        equal = own is not None and other is not None and own.tobytes() == other.tobytes()
        if equal or op.pad_value is inner.pad_value:
            widths = [sum(pair) for pair in zip(ints(op.pad_width), ints(inner.pad_width), strict=True)]
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(PadOp, inner.data, op.pad_value, pad_width=widths))


class UseStaticType(RewritePattern):
    """Replaces an op that only reads the type of an operand by an op with this type as attribute. Exact.

    Before:

        %y = relay.reshape_like(%x, %z) : (tensor<24xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>

    After:

        %y = relay.reshape(%x) {newshape = [4, 6]} : (tensor<24xf32>) -> tensor<4x6xf32>

    `zeros_like`, `ones_like`, `full_like`, `cast_like`, `broadcast_to_like`, `collapse_sum_like` and `collapse_sum_to`
    of a known shape are replaced similarly. An op that introduces extents is not changed, because it checks its
    computed shape at run time.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its shape is static; `cast_like` always."""
        result = op.results[0]
        emit = Emitter(rewriter, op)
        if isinstance(op, CastLikeOp):
            emit.replace(emit.call(CastOp, op.data, dtype=element_type_of(result.type)))
            return
        if not is_static(result.type) or new_extents(op):
            return
        shape, dtype = static_shape(result), element_type_of(result.type)
        if isinstance(op, ReshapeLikeOp):
            emit.replace(emit.call(ReshapeOp, op.operands[0], newshape=shape))
        elif isinstance(op, ZerosLikeOp | OnesLikeOp):
            emit.replace(emit.call(ZerosOp if isinstance(op, ZerosLikeOp) else OnesOp, shape=shape, dtype=dtype))
        elif isinstance(op, FullLikeOp):
            emit.replace(emit.call(FullOp, op.fill_value, shape=shape, dtype=dtype))
        elif isinstance(op, BroadcastToLikeOp):
            emit.replace(emit.call(BroadcastToOp, op.data, shape=shape))
        elif isinstance(op, CollapseSumLikeOp | CollapseSumToOp):
            _collapse(emit, op, shape)


def _collapse(emit: Emitter, op: CollapseSumLikeOp | CollapseSumToOp, shape: Sequence[int]) -> None:
    """Replaces `op` by a sum over the axes that are missing, or have extent 1, in the result."""
    extents = shape_of(op.data.type)
    missing = len(extents) - len(shape)
    if not is_static(op.data.type) or missing < 0:
        return
    pairs = zip(extents[missing:], shape, strict=True)
    axes = [*range(missing), *(missing + axis for axis, (old, new) in enumerate(pairs) if new == 1 and old != 1)]
    total = emit.call(SumOp, op.data, axis=axes, keepdims=True) if axes else op.data
    emit.replace(emit.call(ReshapeOp, total, newshape=shape) if missing else total)


SHAPE_PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    **dict.fromkeys((ReshapeOp, ReverseReshapeOp, ExpandDimsOp, SqueezeOp, BatchFlattenOp), (JoinReshapes(),)),
    TransposeOp: (JoinTransposes(), JoinLayoutTransforms()),
    LayoutTransformOp: (JoinLayoutTransforms(),),
    PadOp: (JoinPads(),),
    **dict.fromkeys(
        (
            *(ReshapeLikeOp, CastLikeOp, ZerosLikeOp, OnesLikeOp, FullLikeOp, BroadcastToLikeOp),
            *(CollapseSumLikeOp, CollapseSumToOp),
        ),
        (UseStaticType(),),
    ),
}
"""The patterns of this file, by the class of their root op."""
