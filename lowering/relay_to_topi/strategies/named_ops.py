"""Convolutions, pools and packed matrix products as named ops of topi, in the layouts of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder
from xrelay.dialects.relay.computes.widening import for_any_width, into_single
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp
from xrelay.dialects.relay.ops.nn.pool import AVG_POOLS, MAX_POOLS, WindowPoolOp
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.topi.named import (
    Conv1dNcwcOp,
    Conv1dNcwcTermsOp,
    Conv1dNcwOp,
    Conv2dNchwcOp,
    Conv2dNchwcTermsOp,
    Conv2dNchwOp,
    Conv3dNcdhwcOp,
    Conv3dNcdhwcTermsOp,
    Conv3dNcdhwOp,
    ConvBlockedOp,
    ConvPlainOp,
    ConvTermsOp,
    MatmulOp,
)
from xrelay.index_algebra.windows import sides_of
from xrelay.lowering.relay_to_topi.registry import implements

# --- convolutions

PLAIN: dict[type[ConvOp], type[ConvPlainOp]] = {
    Conv1DOp: Conv1dNcwOp,
    Conv2DOp: Conv2dNchwOp,
    Conv3DOp: Conv3dNcdhwOp,
}
"""Relay's convolution → topi's for images in NCW, NCHW and NCDHW."""

BLOCKED: dict[type[ConvOp], tuple[type[ConvBlockedOp], type[ConvTermsOp]]] = {
    Conv1DOp: (Conv1dNcwcOp, Conv1dNcwcTermsOp),
    Conv2DOp: (Conv2dNchwcOp, Conv2dNchwcTermsOp),
    Conv3DOp: (Conv3dNcdhwcOp, Conv3dNcdhwcTermsOp),
}
"""Relay's convolution → topi's for channels in blocks: all products one by one, or summed in groups of four."""


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
    """Returns why channels are not in blocks, with the blocks `wanted` of the weight, or None if they are."""
    data, weight, result = op.layouts
    image, filters = f"NC{op.AXES}", f"OI{op.AXES}"
    if data.primal != image or result.primal != image or weight.primal != filters:
        return f"axes are not in the order {image}, {filters}: {data}, {weight}, {result}"
    blocks = [str(layout)[len(image) :] for layout in (data, weight, result)]
    if not blocks[0] or not blocks[2] or blocks[1] != wanted or weight.factor("O") != result.factor("C"):
        return f"the channel blocks differ: {data}, {weight}, {result}"
    return None


def _named(topi_op: type[ConvPlainOp | ConvBlockedOp | ConvTermsOp]) -> Build:
    """Returns an implementation by a named convolution of topi, in the layouts of this op."""

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
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


for _op, _topi_op in PLAIN.items():
    implements(_op, _topi_op.name.removeprefix("topi."), condition=_is_plain)(into_single(_named(_topi_op)))

for _op, (_blocked, _terms) in BLOCKED.items():
    for _topi_op, _condition in ((_blocked, _is_blocked), (_terms, _is_blocked_by_terms)):
        _name = _topi_op.name.removeprefix("topi.")
        implements(_op, _name, priority=15, condition=_condition)(into_single(_named(_topi_op)))


# --- pools


def is_channels_first(op: Operation) -> str | None:
    """Returns why the layouts of an op are not channels-first, or None if they are."""
    pool = cast(WindowPoolOp, op)
    (layout, out_layout), plain = pool.layouts, pool.image_axes
    if layout != out_layout:
        return f"layouts {layout} and {out_layout} differ"
    is_blocked = layout.primal == plain and layout.factor("C") is not None and len(layout) == len(plain) + 1
    block = shape_of(pool.data.type)[-1]
    if is_blocked and not isinstance(block, int):
        return f"the extent {block} of its blocks has a name"
    return None if str(layout) == plain or is_blocked else f"layout {layout} is neither {plain} nor {plain}[x]c"


def build_named(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds topi's pool of the data."""
    return [cast(WindowPoolOp, build.op).build_pool(build, build.operand(0), build.result_type)]


for _pool in (*MAX_POOLS, *AVG_POOLS):
    _build = build_named if _pool in MAX_POOLS else for_any_width(build_named)
    implements(_pool, f"{_pool.relay_name()}.pool{len(_pool.AXES)}d", condition=is_channels_first)(_build)


# --- packed matrix products


def _named_block(op: Operation) -> str | None:
    """Returns why a packed weight has no `topi.matmul`, or None if it has one."""
    named = [extent for extent in shape_of(cast(ContribDensePackOp, op).weight.type)[2:] if not isinstance(extent, int)]
    return f"the extent {named[0]} of its blocks has a name" if named else None


@implements(ContribDensePackOp, "dense_pack.matmul", priority=15, condition=_named_block)
@into_single
def build_matmul(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds `topi.matmul` of the rows of the data and the packed weight."""
    return build.insert(MatmulOp(build.operand(0), build.operand(1), build.result_type)).results
