"""`relay-split-convolutions`: computes f32 convolutions with constant filters from parts of bf16, with f32 sums.

An f32 number is nearly the sum of two bf16 numbers, its high and its low part. The products high × high, high × low and
low × high of such parts, added in f32, have an error of about 4e-6 of the largest result. CPUs with an instruction on
tiles of bf16 compute them in a quarter of the time of the f32 products, which is less than Winograd's algorithm takes.
The filters are split when the program is compiled, the image by the kernel of the convolution.

Before:

    %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}

After:

    %y = relay.nn.contrib_conv2d_split(%x, %p) {data_layout = "NCHW16c", kernel_layout = "OIHW16o2i"}

`%p` is the constant with the low and the high parts of each 32 channels. Filters of zeros fill up the channels to a
multiple of 32.

A result whose window contains an infinity may be NaN, as in `relay.nn.contrib_dense_split`.

The pass does nothing without the instruction `tdpbf16ps` in `tiles` or without vectors of 16 f32. It refuses, with a
remark: filters that are not constant; groups; other element types; channels that are not in blocks of 16;
filters of 1 x 1 on images of short rows, or on data that others of 1 x 1 read, which `relay-split-products` multiplies
as matrices; convolutions that would not be at least 10 % faster; and those whose result becomes the operand of a
logarithm (`logarithms.py`).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import ceil, prod
from typing import Final

from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.size_hints import USUAL_EXTENT, size_hints
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.meaning.layouts import contiguous, from_plain
from xrelay.dialects.relay.op_definition import Array
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.split_products import ContribConv2DSplitOp, split_filters
from xrelay.dialects.shared.split_floats import CHANNELS, PAIRS
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.dialects.shared.winograd import TAPS
from xrelay.index_algebra.dims import estimate
from xrelay.index_algebra.divisors import divisors
from xrelay.passes.graph.remarks import Remark, Remarks
from xrelay.passes.graph.rewriting import Emitter, rewrite_once
from xrelay.passes.layout.apply_winograd import plain_weight
from xrelay.passes.layout.logarithms import REFUSAL, ops_before_logarithms
from xrelay.passes.layout.split_parts import (
    BLOCK,
    GAIN,
    KERNEL_CYCLES,
    ROWS,
    VECTOR_PRODUCTS,
    SplitPass,
    usual_images,
)
from xrelay.passes.types.type_solver import function_around

KERNEL: Final = f"OIHW{BLOCK}o2i"
"""The layout of the filters, with the terms innermost that an instruction adds in each lane."""

WINOGRAD_PRODUCTS: Final = 68.0
"""The f32 products per cycle of Winograd's algorithm, which is used for filters of 3 x 3 and stride 1."""

MIN_ROWS: Final = 4
"""The least number of columns of an image in a tile."""

MAX_TILES: Final = 3
"""The greatest number of tiles for the columns of an image that share the registers."""

INSTRUCTION_CYCLES: Final = 20.0
"""The cycles of an instruction with the loads of its factors."""

SPLIT_CYCLES: Final = 18.0
"""The cycles to split a vector of the image and to write both parts."""

STORE_CYCLES: Final = 80.0
"""The cycles to store a tile of sums, to load it as vectors, and to store the results."""


@dataclass(frozen=True)
class RelaySplitConvolutionsPass(SplitPass):
    """Splits convolutions into parts of bf16; see the module's docstring."""

    name = "relay-split-convolutions"

    def split(self, module: ModuleOp) -> list[Remark]:
        """Rewrites a module; returns remarks."""
        remarks = Remarks(self.name)
        rewrite_once(module, Conv2DOp, SplitConvolution(remarks, ops_before_logarithms(module)))
        return remarks.all


class SplitConvolution(RewritePattern):
    """Splits a convolution with constant filters; see the module's docstring."""

    def __init__(self, remarks: Remarks, exact: AbstractSet[Operation]):
        """The convolutions in `exact` are not split."""
        self._remarks, self._exact = remarks, exact

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2DOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` unless it is refused."""
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        size = REFUSAL if op in self._exact else _size(op)
        if isinstance(size, str):
            self._remarks.refused(op, size)
            return
        weight = plain_weight(op)
        if weight is None:
            self._remarks.refused(op, "its weight is not constant")
            return
        self._remarks.applied(op, "three products of bf16 parts")
        _replace(op, Emitter(rewriter, op), weight)


def _replace(op: Conv2DOp, emit: Emitter, weight: Array) -> None:
    """Replaces `op` by a convolution with filters in parts."""
    constant = emit.constant(contiguous(from_plain(split_filters(weight), "OIHW", Layout.parse(KERNEL))))
    constant.name_hint = op.weight.name_hint
    value = emit.call(
        ContribConv2DSplitOp,
        op.data,
        constant,
        strides=ints(op.strides),
        padding=ints(op.padding),
        dilation=ints(op.dilation),
        data_layout=str(op.layouts[0]),
        kernel_layout=KERNEL,
        out_layout=str(op.layouts[2]),
    )
    emit.replace(value)


@dataclass(frozen=True)
class Size:
    """The extents of a convolution: images, rows, columns and channels of the data and of the result, and the taps.

    The numbers of images, rows and columns are typical ones if they are dynamic.
    """

    images: int
    data: tuple[int, int, int]
    """The rows, columns and channels of the data."""
    result: tuple[int, int, int]
    """The rows, columns and channels of the result."""
    taps: tuple[int, int]
    is_dynamic: bool
    """Whether the number of columns is dynamic."""

    @property
    def products(self) -> int:
        """The number of products of f32."""
        return self.images * prod(self.result) * self.data[2] * prod(self.taps)

    @property
    def tiles(self) -> int | None:
        """The number of tiles for a row of the result, or None if it is too short."""
        columns = self.result[1]
        if self.is_dynamic:
            return ceil(columns / ROWS)
        widths = [width for width in divisors(columns) if MIN_ROWS <= width <= MAX_TILES * ROWS]
        counts = [columns // width * ceil(width / ROWS) for width in widths]
        return min(counts, default=None)


def _size(op: Conv2DOp) -> Size | str:
    """Returns the size of a convolution, or why it is not split."""
    layouts, types = op.layouts, [*op.operand_types, *op.result_types]
    if {element_type_of(type) for type in types} != {f32}:
        return "its elements are not all f32"
    blocked = f"NCHW{BLOCK}c"
    if op.groups.value.data != 1 or (str(layouts[0]), str(layouts[2])) != (blocked, blocked):
        return f"it has groups, or channels that are not in blocks of {BLOCK}: {layouts[0]}, {layouts[2]}"
    data, filters, result = (layout.primal_extents(shape_of(type)) for layout, type in zip(layouts, types, strict=True))
    extents = [data["C"], result["C"], filters["H"], filters["W"]]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) != len(extents):
        return "the number of its channels is not known"
    c, o, *taps = known
    usual = {name: hint.usual for name, hint in size_hints(function_around(op)).items()}
    h, w, oh, ow = (estimate(image[axis], usual, USUAL_EXTENT) for image in (data, result) for axis in "HW")
    is_dynamic = not isinstance(result["W"], int)
    size = Size(usual_images(op, data["N"]), (h, w, c), (oh, ow, o), (taps[0], taps[1]), is_dynamic)
    if isinstance(result["H"], int) and not is_dynamic and _shares_rows(op):
        return "other filters of 1 x 1 read its data: the parts of its pixels are shared"
    return _refusal(size, is_winograd=set(ints(op.strides)) | set(ints(op.dilation)) == {1}) or size


def _shares_rows(op: Conv2DOp) -> bool:
    """Whether several convolutions with filters of 1 x 1 and the same strides read the data."""
    readers = [use.operation for use in op.data.uses]
    convs = [each for each in readers if isinstance(each, Conv2DOp) and _has_one_tap(each)]
    return _has_one_tap(op) and sum(ints(each.strides) == ints(op.strides) for each in convs) > 1


def _has_one_tap(op: Conv2DOp) -> bool:
    """Whether the filters are of 1 x 1."""
    extents = op.layouts[1].primal_extents(shape_of(op.weight.type))
    return [extents[axis] for axis in op.AXES] == [1, 1]


def _refusal(size: Size, *, is_winograd: bool) -> str | None:
    """Returns why a convolution of this size is not split, or None."""
    if size.tiles is None:
        return f"rows of {size.result[1]} columns are too short for tiles, or cannot be divided into them"
    if size.taps == (1, 1) and size.result[1] // size.tiles < ROWS // 2:
        return "filters of 1 x 1 on rows that fill less than half of a tile are a product of matrices"
    is_winograd = is_winograd and size.taps == (TAPS, TAPS)
    direct = size.products / (WINOGRAD_PRODUCTS if is_winograd else VECTOR_PRODUCTS)
    return None if direct >= GAIN * _cycles(size, size.tiles) else "the convolution in f32 is about as fast"


def _cycles(size: Size, tiles: int) -> float:
    """Returns the estimated cycles of a convolution by parts: instructions, stores of sums, and the split."""
    rows, _, filters = size.result
    sums = size.images * rows * tiles * ceil(filters / BLOCK)
    groups = ceil(size.data[2] / CHANNELS)
    instructions = sums * groups * prod(size.taps) * len(PAIRS)
    vectors = size.images * size.data[0] * size.data[1] * groups * CHANNELS // BLOCK
    return instructions * INSTRUCTION_CYCLES + sums * STORE_CYCLES + vectors * SPLIT_CYCLES + KERNEL_CYCLES
