"""`relay.nn.conv2d`: the named convolutions of topi where the layout has one, a plain compute in any other layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_conv import Conv2DOp
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.named import Conv2dNchwcOp, Conv2dNchwOp
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.lowering.relay_to_topi.half_precision import into_single
from xrelay.lowering.relay_to_topi.strategies import Build, implements


def _is_plain(op: Operation) -> str | None:
    layouts = [str(layout) for layout in cast(Conv2DOp, op).layouts]
    return None if layouts == ["NCHW", "OIHW", "NCHW"] else f"layouts are {', '.join(layouts)}, not NCHW, OIHW, NCHW"


def _is_blocked(op: Operation) -> str | None:
    data, weight, result = cast(Conv2DOp, op).layouts
    if data.primal != "NCHW" or result.primal != "NCHW" or weight.primal != "OIHW":
        return f"axes are not in the order NCHW, OIHW: {data}, {weight}, {result}"
    blocks = [str(layout)[4:] for layout in (data, weight, result)]
    wanted = f"{weight.factor('I')}i{weight.factor('O')}o"
    if not blocks[0] or not blocks[2] or blocks[1] != wanted or weight.factor("O") != result.factor("C"):
        return f"channels are not blocked alike: {data}, {weight}, {result}"
    return None


def _named(topi_op: type[Conv2dNchwOp | Conv2dNchwcOp]) -> Build:
    """The named convolution of topi for the layouts that it stands for."""

    def build(emitter: TopiEmitter) -> Sequence[SSAValue]:
        op = cast(Conv2DOp, emitter.op)
        named = topi_op(
            emitter.operand(0),
            emitter.operand(1),
            emitter.result_type,
            strides=op.stride_pair,
            padding=op.pads,
            dilation=op.dilation_pair,
            groups=op.groups.value.data,
        )
        return emitter.insert(named).results

    return build


implements(Conv2DOp, "conv2d_nchwc", priority=15, condition=_is_blocked)(into_single(_named(Conv2dNchwcOp)))
implements(Conv2DOp, "conv2d_nchw", condition=_is_plain)(into_single(_named(Conv2dNchwOp)))


@implements(Conv2DOp, "conv2d_any_layout", priority=5)
@into_single
def build_conv2d_any_layout(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """A guarded compute in whatever layouts the op names: correct everywhere, fast nowhere."""
    op = cast(Conv2DOp, emitter.op)
    data, weight = emitter.operand(0), emitter.operand(1)
    layouts = op.layouts
    data_extents = _extents(layouts[0], data)
    weight_extents = _extents(layouts[1], weight)
    per_group = weight_extents["O"] // op.groups.value.data
    element = emitter.result_type.element_type
    top, left, _, _ = op.pads
    (stride_h, stride_w), (dilation_h, dilation_w) = op.stride_pair, op.dilation_pair

    def fill(b: Body) -> SSAValue:
        at = primal_indices(layouts[2], b.spatial)
        k, y, x = b.reduction
        row = at["H"] * stride_h + y * dilation_h - top
        column = at["W"] * stride_w + x * dilation_w - left
        channel = at["C"] // per_group * weight_extents["I"] + k
        image = {"N": at["N"], "C": channel, "H": row, "W": column}
        filters = {"O": at["C"], "I": k, "H": y, "W": x}

        def product() -> SSAValue:
            a = convert_scalar(b, b.read(data, *layout_indices(layouts[0], image)), element)
            return b.times(a, convert_scalar(b, b.read(weight, *layout_indices(layouts[1], filters)), element))

        inside = b.in_bounds([row, column], [data_extents["H"], data_extents["W"]])
        return b.accumulate(b.accumulators[0], b.guard(inside, element, product, lambda: b.constant(0, element)))

    spatial = {f"i{axis}": extent for axis, extent in enumerate(emitter.result_shape)}
    reduce = {"k": weight_extents["I"], "y": weight_extents["H"], "x": weight_extents["W"]}
    return [emitter.compute("conv2d", spatial, element, fill, reduce=reduce, init=[0])]


def _extents(layout: Layout, value: SSAValue) -> dict[str, int]:
    extents = layout.primal_extents(shape_of(value))
    return {letter: extent for letter, extent in extents.items() if isinstance(extent, int)}


def primal_indices(layout: Layout, indices: Sequence[AffineExpr]) -> dict[str, AffineExpr]:
    """The index along each primal axis of the element at `indices` of a tensor in `layout`."""
    found: dict[str, AffineExpr] = {}
    for axis, index in zip(layout.axes, indices, strict=True):
        if axis.factor is None:
            found[axis.letter] = index * (layout.factor(axis.letter) or 1)
    for axis, index in zip(layout.axes, indices, strict=True):
        if axis.factor is not None:
            found[axis.letter] = found[axis.letter] + index
    return found


def layout_indices(layout: Layout, primal: dict[str, AffineExpr]) -> list[IndexLike]:
    """The indices in a tensor of `layout` of the element at `primal`."""
    missing = [letter for letter in layout.primal if letter not in primal]
    if missing:
        raise LoweringError(f"layout {layout} has the axis {missing[0]}, which the other layout lacks")
    result: list[IndexLike] = []
    for axis in layout.axes:
        factor = layout.factor(axis.letter)
        whole = primal[axis.letter]
        if axis.factor is not None:
            result.append(whole % axis.factor)
        else:
            result.append(whole if factor is None else whole // factor)
    return result
