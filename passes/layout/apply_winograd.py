"""`relay-apply-winograd`: computes convolutions of stride 1 with 3×3 filters by Winograd's algorithm.

A tile of m×m results takes (m + 2)² products for each channel instead of 9 m²: 4 times less for m = 4, 2.25 times less
for m = 2. The weight is transformed when the program is compiled. It is up to 4 times larger then, so it must be used
for enough tiles: the pass estimates the cycles of both tiles and of the direct convolution, and chooses the least.

Before:

    %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}

After:

    %y = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %u) {tile_size = 4, padding = [1, 1, 1, 1],
        data_layout = "NCHW16c", kernel_layout = "OHWI16o"}

`%u` is the constant `relay.nn.contrib_conv2d_winograd_weight_transform(%w)` in its layout.

Rounding errors differ from those of the direct convolution; they are about as large (`docs/winograd.md`). An inf or NaN
that one result of a tile reads makes all results of the tile NaN.

The pass refuses, with a remark: other strides, dilations, filters, groups and element types; weights that are not
constant; channels that are not in blocks of at least 8; and convolutions that would not be at least 10 % faster. If the
height or width of the image is dynamic, named dimensions have their typical size, or 512, and tiles must save more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.op_definition import Array
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.conv_winograd import (
    ContribConv2DWinogradWithoutWeightTransformOp,
    transform_weight,
)
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.dialects.shared.winograd import PAIRS, TAPS
from xrelay.errors import PassError
from xrelay.index_algebra.dims import estimate
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import Numerics, XRelayPass
from xrelay.passes.types.type_solver import function_around
from xrelay.target.cpus import MIN_POSITIONS, UNITS, WINOGRAD_TRANSFORM

RTOL: Final = 1e-4
"""The fraction of the largest result by which results may change; a convolution changes by about 2e-6."""

USUAL_SIZE: Final = 512
"""The assumed size of named dimensions without a typical size: the rows and columns of the images of detectors."""

PEAK: Final = 0.85
"""The share of the multiply-add units that a tile of products in registers keeps busy."""

WEIGHT_BYTES: Final = 5.0
"""The bytes of weights that a core reads in a cycle, from the L3 cache or memory."""

GAIN: Final = 1.1
"""The least ratio of the time of the direct convolution to that of Winograd's algorithm."""

MAX_CHANNELS: Final = 256
"""The maximum number of channels in tiles of 4×4.

With more, the data of few tiles fills the L2 cache, so the weight, which is 4 times larger, is read too often.
"""

DYNAMIC_GAIN: Final = 1.6
"""The least ratio if height or width is dynamic: images may be small, and kernels take longer to compile."""

DYNAMIC_CHANNELS: Final = 128
"""The maximum number of channels in tiles of 4×4 if height or width is dynamic.

With more, the weight is too large for images of few tiles. The size of tiles does not depend on that of the image, so
that layers share kernels.
"""

COPIED: Final = 2.5
"""The cycles to copy a vector of the data or of the result if height or width is dynamic."""

MIN_BLOCK: Final = 8
"""The minimum number of channels in a block: the transforms have a channel in each lane."""


@dataclass(frozen=True)
class RelayApplyWinogradPass(XRelayPass):
    """Computes convolutions by Winograd's algorithm; see the module's docstring."""

    name = "relay-apply-winograd"
    numerics = Numerics(f"approximating: other rounding errors; results within {RTOL:g} of the largest value", RTOL)
    per_function = True

    tile_size: int = field(default=0, metadata={"help": "the rows of a tile, 2 or 4; 0 chooses for each convolution"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place. Raises `PassError` for another size of tiles."""
        report(apply_winograd(op, tile_size=self.tile_size))


def apply_winograd(module: ModuleOp, *, tile_size: int = 0) -> list[Remark]:
    """Rewrites `module`; returns remarks on rewritten convolutions, and on others with the reason.

    With a `tile_size` other than 0, all possible convolutions are rewritten. Raises `PassError` unless it is 0, 2 or 4.
    """
    if tile_size not in (0, *PAIRS):
        raise PassError(f"relay-apply-winograd: tile-size is {tile_size}, it must be 0, 2 or 4")
    remarks = Remarks(RelayApplyWinogradPass.name)
    rewrite_once(module, Conv2DOp, ApplyWinograd(remarks, tile_size))
    return remarks.all


class ApplyWinograd(RewritePattern):
    """Rewrites a convolution by a constant; see the module's docstring."""

    def __init__(self, remarks: Remarks, tile_size: int):
        self._remarks, self._tile_size = remarks, tile_size

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2DOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` unless it is refused."""
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        refusal = _refusal(op)
        if refusal is not None:
            self._remarks.refused(op, refusal)
            return
        weight = plain_weight(op)
        if weight is None:
            self._remarks.refused(op, "its weight is not constant")
            return
        tile = self._tile_size or _best_tile(op)
        if tile is None:
            self._remarks.refused(op, "the direct convolution is about as fast")
            return
        self._remarks.applied(op, f"tiles of {tile} x {tile} results")
        _replace(op, Emitter(rewriter, op), weight, tile)


def _replace(op: Conv2DOp, emit: Emitter, weight: Array, tile: int) -> None:
    """Replaces `op` by Winograd's algorithm with tiles of `tile` rows."""
    layout = Layout.parse(f"OHWI{op.layouts[2].factor('C')}o")
    constant = emit.constant(np.ascontiguousarray(from_plain(transform_weight(weight, tile), "HWOI", layout)))
    constant.name_hint = op.weight.name_hint
    value = emit.call(
        ContribConv2DWinogradWithoutWeightTransformOp,
        op.data,
        constant,
        tile_size=tile,
        padding=ints(op.padding),
        data_layout=str(op.layouts[0]),
        kernel_layout=str(layout),
        out_layout=str(op.layouts[2]),
    )
    emit.replace(value)


def _refusal(op: Conv2DOp) -> str | None:
    """Returns why Winograd's algorithm does not apply, or None."""
    data, weight, result = op.layouts
    blocks = [layout.factor("C") or 0 for layout in (data, result)]
    filters = weight.primal_extents(shape_of(op.weight.type))
    steps = [*ints(op.strides), *ints(op.dilation), op.groups.value.data]
    types = {element_type_of(type) for type in (*op.operand_types, *op.result_types)}
    if [filters[axis] for axis in op.AXES] != [TAPS, TAPS] or set(steps) != {1}:
        return "only filters of 3 x 3 with strides, dilation and groups of 1 have such an algorithm"
    if types != {f32}:
        return "its elements are not all f32"
    texts = [f"NC{op.AXES}{block}c" for block in blocks]
    if [str(data), str(result)] != texts or min(blocks) < MIN_BLOCK:
        return f"channels are not in blocks of at least {MIN_BLOCK}: {data}, {result}"
    return None


def plain_weight(op: Conv2DOp) -> Array | None:
    """Returns the weight (O, I, H, W) if it is a constant, or the result of a layout transform of one."""
    value, layout = op.weight, op.layouts[1]
    change = owner_of(value, LayoutTransformOp)
    if change is not None:
        value, layout = change.operands[0], Layout.parse(change.src_layout.data)
    array = constant_of(value)
    extents = op.layouts[1].primal_extents(shape_of(op.weight.type))
    plain = None if array is None else to_plain(array, layout, "OIHW")
    return plain if plain is not None and plain.shape == tuple(extents[axis] for axis in "OIHW") else None


def _best_tile(op: Conv2DOp) -> int | None:
    """Returns the size of tiles that takes the least time; None for the direct convolution."""
    shape = shape_of(op.result.type)
    is_dynamic = not all(isinstance(extent, int) for extent in shape[2:4])
    sizes = {name: hint.usual for name, hint in size_hints(function_around(op)).items()}
    extents = [*shape, op.layouts[0].primal_extents(shape_of(op.data.type))["C"]]
    _, filters, height, width, lanes, channels = (estimate(extent, sizes, USUAL_SIZE) for extent in extents)
    direct = _products(TAPS**2, height * width, channels, filters, lanes)
    costs: dict[int | None, float] = {None: direct / (DYNAMIC_GAIN if is_dynamic else GAIN)}
    for tile in _tiles(channels, is_dynamic=is_dynamic):
        points, tiles = (tile + TAPS - 1) ** 2, ceil(height / tile) * ceil(width / tile)
        transforms = points * tiles * (channels / lanes + filters) * WINOGRAD_TRANSFORM
        copies = tiles * (points * channels / lanes + tile**2 * filters) * COPIED if is_dynamic else 0
        costs[tile] = _products(points, tiles, channels, filters, lanes) + transforms + copies
    return min(costs, key=lambda tile: costs[tile])


def _tiles(channels: int, *, is_dynamic: bool) -> Sequence[int]:
    """Returns the sizes of tiles to choose from, for images of static or dynamic height and width."""
    if not is_dynamic:
        return list(PAIRS) if channels <= MAX_CHANNELS else [2]
    return [4 if channels <= DYNAMIC_CHANNELS else 2]


def _products(points: int, positions: int, channels: int, filters: int, lanes: int) -> float:
    """Returns the cycles of products at some points: `positions` times `channels` times `filters` vectors.

    The weights are read once. With few positions, each weight is used too rarely to keep the units busy.
    """
    share = PEAK * min(1.0, positions / MIN_POSITIONS)
    pairs = points * channels * filters
    return pairs * (positions / UNITS / share + 4 * lanes / WEIGHT_BYTES)
