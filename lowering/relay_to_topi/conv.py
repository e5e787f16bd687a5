"""Convolutions: the named ones of topi where the layout has one, a plain compute in any other layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.named import (
    Conv1dNcwOp,
    Conv2dNchwcOp,
    Conv2dNchwcTermsOp,
    Conv2dNchwOp,
    Conv3dNcdhwOp,
    ConvPlainOp,
)
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import sides_of
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.lowering.relay_to_topi.half_precision import into_single
from xrelay.lowering.relay_to_topi.strategies import Build, implements

PLAIN: dict[type[ConvOp], type[ConvPlainOp]] = {
    Conv1DOp: Conv1dNcwOp,
    Conv2DOp: Conv2dNchwOp,
    Conv3DOp: Conv3dNcdhwOp,
}
"""Relay's convolution → topi's on plain images."""


def _is_plain(op: Operation) -> str | None:
    axes = cast(ConvOp, op).AXES
    plain = [f"NC{axes}", f"OI{axes}", f"NC{axes}"]
    layouts = [str(layout) for layout in cast(ConvOp, op).layouts]
    return None if layouts == plain else f"layouts are {', '.join(layouts)}, not {', '.join(plain)}"


def _is_blocked(op: Operation) -> str | None:
    weight = cast(ConvOp, op).layouts[1]
    return _blocks_differ(cast(ConvOp, op), f"{weight.factor('I')}i{weight.factor('O')}o")


def _is_blocked_by_terms(op: Operation) -> str | None:
    data, weight, _ = cast(ConvOp, op).layouts
    if (data.factor("C") or 0) % (weight.factor("I") or 1):
        return f"blocks of {weight} do not divide those of {data}"
    return _blocks_differ(cast(ConvOp, op), f"{weight.factor('O')}o{weight.factor('I')}i")


def _blocks_differ(op: ConvOp, wanted: str) -> str | None:
    """Why the layouts are not those of channels in blocks, with the blocks `wanted` of the weight."""
    data, weight, result = op.layouts
    if data.primal != "NCHW" or result.primal != "NCHW" or weight.primal != "OIHW":
        return f"axes are not in the order NCHW, OIHW: {data}, {weight}, {result}"
    blocks = [str(layout)[4:] for layout in (data, weight, result)]
    if not blocks[0] or not blocks[2] or blocks[1] != wanted or weight.factor("O") != result.factor("C"):
        return f"channels are not blocked alike: {data}, {weight}, {result}"
    return None


def _named(topi_op: type[ConvPlainOp | Conv2dNchwcOp | Conv2dNchwcTermsOp]) -> Build:
    """The named convolution of topi for the layouts that it stands for."""

    def build(emitter: TopiEmitter) -> Sequence[SSAValue]:
        op = cast(ConvOp, emitter.op)
        weight = emitter.operand(1)
        window = op.window(emitter.known(weight, "the weight")[2 : 2 + len(op.AXES)])
        named = topi_op(
            emitter.operand(0),
            weight,
            emitter.result_type,
            strides=[axis.stride for axis in window],
            padding=sides_of(window),
            dilation=[axis.dilation for axis in window],
            groups=op.groups.value.data,
        )
        return emitter.insert(named).results

    return build


def build_any_layout(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """A guarded compute in whatever layouts the op names: correct everywhere, fast nowhere."""
    op = cast(ConvOp, emitter.op)
    data, weight = emitter.operand(0), emitter.operand(1)
    layouts = op.layouts
    image_extents = layouts[0].primal_extents(shape_of(data))
    filter_extents = _extents(layouts[1], emitter.known(weight, "the weight"))
    per_group = filter_extents["O"] // op.groups.value.data
    element = emitter.result_type.element_type
    window = op.window([filter_extents[axis] for axis in op.AXES])

    def fill(b: Body) -> SSAValue:
        at = primal_indices(layouts[2], b.spatial)
        k, *taps = b.reduction
        places = {letter: axis.place(at[letter], tap) for letter, axis, tap in zip(op.AXES, window, taps, strict=True)}
        image = {"N": at["N"], "C": at["C"] // per_group * filter_extents["I"] + k} | places
        filters = {"O": at["C"], "I": k} | dict(zip(op.AXES, taps, strict=True))

        def product() -> SSAValue:
            a = convert_scalar(b, b.read(data, *layout_indices(layouts[0], image)), element)
            return b.times(a, convert_scalar(b, b.read(weight, *layout_indices(layouts[1], filters)), element))

        inside = b.in_bounds(list(places.values()), [image_extents[axis] for axis in op.AXES])
        return b.accumulate(b.accumulators[0], b.guard(inside, element, product, lambda: b.constant(0, element)))

    spatial = {f"i{axis}": extent for axis, extent in enumerate(emitter.result_shape)}
    reduce: dict[str, Dim] = {"k": filter_extents["I"], **{TAPS[axis]: filter_extents[axis] for axis in op.AXES}}
    return [emitter.compute(f"conv{len(op.AXES)}d", spatial, element, fill, reduce=reduce, init=[0])]


for _op, _topi_op in PLAIN.items():
    _plain = _topi_op.name.removeprefix("topi.")
    implements(_op, _plain, condition=_is_plain)(into_single(_named(_topi_op)))
    implements(_op, f"conv{len(_op.AXES)}d_any_layout", priority=5)(into_single(build_any_layout))

implements(Conv2DOp, "conv2d_nchwc", priority=15, condition=_is_blocked)(into_single(_named(Conv2dNchwcOp)))
implements(Conv2DOp, "conv2d_nchwc_terms", priority=15, condition=_is_blocked_by_terms)(
    into_single(_named(Conv2dNchwcTermsOp))
)


def _extents(layout: Layout, shape: tuple[int, ...]) -> dict[str, int]:
    extents = layout.primal_extents(shape)
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
