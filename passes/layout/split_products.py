"""`relay-split-products`: computes f32 products as three products of bf16 parts, with f32 sums.

An f32 number is nearly the sum of two bf16 numbers, its high and its low part. The products high × high, high × low and
low × high of such parts, added in f32, have an error of about 4e-6 of the largest result. CPUs with an instruction on
tiles of bf16 compute them in less than half of the time of the f32 product. The weight keeps its size and is split when
the program is compiled. The data is split once for all products that read it.

Before:

    %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"}

After:

    %p = relay.nn.contrib_split_floats(%x)
    %v = relay.layout_transform(%w) {src_layout = "NC16n", dst_layout = "NC16n2c"}     folded later, as is %q
    %q = relay.nn.contrib_split_floats(%v)
    %y = relay.nn.contrib_dense_split(%p, %q) {weight_layout = "NC16n2c"}

A matrix that is computed at run time is packed and split by one kernel.

Before:

    %y = relay.nn.matmul(%x, %w)                                              and relay.nn.dense, with NC

After:

    %v = relay.layout_transform(%w) {src_layout = "CN", dst_layout = "NC16n2c"}
    %y = relay.nn.contrib_dense_split(%p, relay.nn.contrib_split_floats(%v)) {weight_layout = "NC16n2c"}

The low parts of numbers of bf16 that were cast to f32 are zero, so one product of bf16 has the same result.

Before:

    %a = relay.cast(%x) {dtype = f32}                              %x : bf16
    %y = relay.nn.contrib_dense_pack(%a, %w) {weight_layout = "NC16n"}

After:

    %u = relay.cast(%w) {dtype = bf16}
    %v = relay.layout_transform(%u) {src_layout = "NC16n", dst_layout = "NC16n2c"}
    %y = relay.nn.contrib_dense_pack(%x, %v) {weight_layout = "NC16n2c", out_dtype = f32}

The pixels of an image are the rows of a convolution with filters of 1 x 1. The passes over data and result that change
their layout fuse with the ops around the convolution.

Before:

    %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}

After:

    %t = relay.layout_transform(%x) {src_layout = "NCHW16c", dst_layout = "NHWC"}
    %p = relay.reshape(relay.nn.contrib_split_floats(%t))
    %r = relay.nn.contrib_dense_split(%p, %q)
    %y = relay.layout_transform(relay.reshape(%r)) {src_layout = "NHWC", dst_layout = "NCHW16c"}

A result may be NaN, not an infinity, if a factor is an infinity and the other more than 256, or if it overflows.

The pass does nothing without the instruction `tdpbf16ps` in `tiles` or without vectors of 16 f32. It refuses, with a
remark: packed weights that are not constant, and matrices that are not in blocks of 16 columns; a first matrix that is
transposed; stacks of second matrices; other element types; less than 16 rows and stacks of less than 16 matrices, by
the typical number if it is dynamic, which is 1 for a batch in a loop; sums of less than 64 or of an odd number of
terms; other filters, padding, groups and images whose rows or columns have a dynamic number; products that would not be
at least 10 % faster; and those whose result becomes the operand of a logarithm (`logarithms.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from xdsl.dialects.builtin import ModuleOp, bf16, f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import optional_int
from xrelay.dialects.relay.core.size_hints import USUAL_EXTENT, batches, size_hints
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.annotation import StopFusionOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp, DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.nn.split_products import ContribDenseSplitOp, ContribSplitFloatsOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.split_floats import PARTS
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.index_algebra.dims import Dim, estimate
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.passes.graph.op_kinds import is_constant
from xrelay.passes.graph.remarks import Remark, Remarks
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once, static_shape
from xrelay.passes.layout.logarithms import REFUSAL, ops_before_logarithms
from xrelay.passes.layout.split_parts import (
    BLOCK,
    GAIN,
    KERNEL_CYCLES,
    PACKED,
    ROWS,
    STEPS,
    TILE_PRODUCTS,
    VECTOR_PRODUCTS,
    SplitPass,
    usual_images,
)
from xrelay.passes.types.type_solver import function_around
from xrelay.target.instructions import PAIR_TERMS

MIN_DEPTH: Final = 64
"""The least number of terms of a sum: with fewer, most time is spent on the loads and stores of tiles."""

SPLIT_CYCLES: Final = 8.0
"""The cycles to split a vector of the data and to write both parts."""

PIXEL_CYCLES: Final = 20.0
"""The cycles to split a vector of an image in blocks of channels, whose parts become rows of channels."""

COPY_CYCLES: Final = 22.0
"""The cycles to copy a vector of the result to an image in blocks of channels."""

PACK_CYCLES: Final = 30.0
"""The cycles to split a vector of a matrix that is packed when the program runs."""

WEIGHT_BYTES: Final = 5.0
"""The bytes of weights that a core reads in a cycle, from the L3 cache or memory."""


@dataclass(frozen=True)
class RelaySplitProductsPass(SplitPass):
    """Splits products into parts of bf16; see the module's docstring."""

    name = "relay-split-products"

    def split(self, module: ModuleOp) -> list[Remark]:
        """Rewrites a module; returns remarks."""
        return split_products(module)


def split_products(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns remarks on rewritten products, and on others with the reason."""
    remarks = Remarks(RelaySplitProductsPass.name)
    rewrite_once(module, ContribDensePackOp, MultiplyHalves(remarks))
    rewrite_once(module, Product, SplitProduct(remarks, ops_before_logarithms(module)))
    return remarks.all


Matrices = MatmulOp | DenseOp
Product = ContribDensePackOp | Conv2DOp | Matrices


class SplitProduct(RewritePattern):
    """Splits a product of matrices, or a convolution with a constant weight; see the module's docstring."""

    def __init__(self, remarks: Remarks, exact: AbstractSet[Operation]):
        """The products in `exact` are not split."""
        self._remarks, self._exact = remarks, exact
        self._parts: dict[tuple[SSAValue, tuple[int, ...], Block | None], SSAValue] = {}

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Product, rewriter: PatternRewriter) -> None:
        """Rewrites `op` unless it is refused."""
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        size = _size_of(op)
        refusal = size if isinstance(size, str) else _refusal(op, size)
        if refusal is None and op in self._exact:
            refusal = REFUSAL
        if refusal is not None:
            self._remarks.refused(op, refusal)
            return
        self._remarks.applied(op, "three products of bf16 parts")
        emit = Emitter(rewriter, op)
        emit.replace(self._result(op, emit))

    def _result(self, op: Product, emit: Emitter) -> SSAValue:
        """Emits the product of parts."""
        if isinstance(op, Conv2DOp):
            return self._conv(op, emit)
        return self._dense(op, emit) if isinstance(op, ContribDensePackOp) else self._matrices(op, emit)

    def _matrices(self, op: Matrices, emit: Emitter) -> SSAValue:
        """Emits the product of two matrices; the program packs the second one when it runs."""
        parts, layout = self._split(op, emit), "NC" if _transposed(op)[1] else "CN"
        weight = emit.call(LayoutTransformOp, op.operands[1], src_layout=layout, dst_layout=PACKED)
        return _product(emit, parts, weight, None)

    def _dense(self, op: ContribDensePackOp, emit: Emitter) -> SSAValue:
        """Emits the product of a dense layer."""
        parts = self._split(op, emit)
        weight = emit.call(LayoutTransformOp, op.weight, src_layout=str(op.layout), dst_layout=PACKED)
        return _product(emit, parts, weight, optional_int(op.units))

    def _conv(self, op: Conv2DOp, emit: Emitter) -> SSAValue:
        """Emits the product of the pixels of an image, as rows of channels, and the filters."""
        data, kernel, out = op.layouts
        filters = emit.call(LayoutTransformOp, op.weight, src_layout=str(kernel), dst_layout="OIHW")
        matrix = emit.call(ReshapeOp, filters, newshape=static_shape(filters)[:2])
        weight = emit.call(LayoutTransformOp, matrix, src_layout="NC", dst_layout=PACKED)
        parts = self._split(op, emit, str(data))
        units, channels = static_shape(matrix)
        rows = emit.call(ReshapeOp, parts, newshape=(PARTS, -1, channels))
        sums = _product(emit, rows, weight, units)
        image = [extent if isinstance(extent, int) else -1 for extent in shape_of(parts.type)[1:-1]]
        pixels = emit.call(ReshapeOp, sums, newshape=[*image, units])
        return emit.call(LayoutTransformOp, pixels, src_layout="NHWC", dst_layout=str(out))

    def _split(self, op: Product, emit: Emitter, layout: str = "") -> SSAValue:
        """Returns the parts of the data, of an image in NHWC, which products in the same block share."""
        strides = ints(op.strides) if isinstance(op, Conv2DOp) else ()
        key = op.operands[0], tuple(strides), op.parent
        if key not in self._parts:
            value = op.operands[0]
            if layout and _moves_elements(value):
                value = emit.call(StopFusionOp, value)
            if layout:
                value = emit.call(LayoutTransformOp, value, src_layout=layout, dst_layout="NHWC")
            if set(strides) - {1}:
                end = [extent for extent in shape_of(value.type)[1:3] if isinstance(extent, int)]
                value = emit.call(StridedSliceOp, value, begin=(0, 0), end=end, strides=strides, axes=(1, 2))
            self._parts[key] = emit.call(ContribSplitFloatsOp, value)
        return self._parts[key]


def _moves_elements(data: SSAValue) -> bool:
    """Whether ops that would fuse with the split of an image move elements, as a concatenation does.

    The channels of a pixel would then be read one by one. Ops that other ops read, too, do not fuse.
    """
    pending = [data]
    while pending:
        op = pending.pop().owner
        if isinstance(op, RelayOp) and not isinstance(op, LayoutTransformOp):
            if op.PATTERN is OpPatternKind.INJECTIVE:
                return True
            if op.PATTERN in (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST):
                pending += [operand for operand in op.operands if operand.has_one_use()]
    return False


def _product(emit: Emitter, data: SSAValue, weight: SSAValue, units: int | None) -> SSAValue:
    """Emits the product of parts of the data and of a packed weight, which is split, too."""
    options = {} if units is None else {"units": units}
    return emit.call(ContribDenseSplitOp, data, emit.call(ContribSplitFloatsOp, weight), **options)


@dataclass(frozen=True)
class Size:
    """The extents of a product of matrices.

    `rows_of_tiles` are the rows of whole tiles. `split`, `copy` and `pack` are the cycles for a vector of its data, of
    its result and of its weight.
    """

    rows: int
    rows_of_tiles: int
    columns: int
    depth: int
    split: float = SPLIT_CYCLES
    copy: float = 0
    pack: float = 0


def _size_of(op: Product) -> Size | str:
    """Returns the size of a product, or why it is not split."""
    if isinstance(op, Conv2DOp):
        return _size_of_conv(op)
    return _size_of_dense(op) if isinstance(op, ContribDensePackOp) else _size_of_matrices(op)


def _size_of_dense(op: ContribDensePackOp) -> Size | str:
    """Returns the size of a dense layer, or why it is not split."""
    if op.layout != Layout.parse(f"NC{BLOCK}n"):
        return f"its weight is in {op.layout}, not in NC{BLOCK}n"
    (*outer, depth), blocks = shape_of(op.data.type), shape_of(op.weight.type)[0]
    if not isinstance(depth, int) or not isinstance(blocks, int):
        return "the size of its weight is dynamic"
    rows = _usual_rows(op, outer)
    return rows if isinstance(rows, str) else Size(*rows, blocks * BLOCK, depth)


def _usual_rows(op: Product, outer: Sequence[Dim]) -> tuple[int, int] | str:
    """Returns the typical number of rows of a stack of matrices, and of rows of tiles; or why no axis fills tiles.

    The rows of a tile run along the rows of a matrix, or along the longest axis of the stack. In a loop, such as that
    over the steps of a recurrent layer, a batch without a typical size is one row: `topi-add-versions` adds a product
    of f32 for one row, which takes half of the time of a tile.
    """
    function = function_around(op)
    usual = {name: hint.usual for name, hint in size_hints(function).items()}
    if _is_repeated(op):
        usual = dict.fromkeys(batches(function), 1) | usual
    *stack, rows = [estimate(extent, usual, USUAL_EXTENT) for extent in outer] or [1]
    axes = [axis for axis in (rows, max(stack, default=1)) if axis >= ROWS]
    if not axes:
        return f"its matrices have {rows} rows, a tile has {ROWS}"
    count = rows * prod(stack)
    return count, min(count // axis * _whole_tiles(axis) for axis in axes)


def _is_repeated(op: Operation) -> bool:
    """Whether an op is in a loop."""
    around = op.parent_op()
    while around is not None and not isinstance(around, LoopOp):
        around = around.parent_op()
    return around is not None


def _whole_tiles(rows: int) -> int:
    """Returns the number of rows of the tiles that cover `rows` rows."""
    return -(-rows // ROWS) * ROWS


def _transposed(op: Matrices) -> tuple[bool, bool]:
    """Whether the first and the second matrices are transposed."""
    return op.transposed if isinstance(op, MatmulOp) else (False, True)


def _size_of_matrices(op: Matrices) -> Size | str:
    """Returns the size of a product of two matrices, or why it is not split."""
    (*outer, depth), columns = shape_of(op.operand_types[0]), shape_of(op.result_types[0])[-1]
    if _transposed(op)[0]:
        return "its first matrix is transposed"
    if not isinstance(depth, int) or not isinstance(columns, int) or columns % BLOCK:
        return f"its second matrix is {depth} x {columns}, not of static size with blocks of {BLOCK} columns"
    rows = _usual_rows(op, outer)
    return rows if isinstance(rows, str) else Size(*rows, columns, depth, pack=PACK_CYCLES)


def _size_of_conv(op: Conv2DOp) -> Size | str:
    """Returns the size of the product of a convolution, or why it is not one."""
    data, kernel, out = op.layouts
    taps, image = kernel.primal_extents(shape_of(op.weight.type)), out.primal_extents(shape_of(op.result.type))
    if [taps[axis] for axis in op.AXES] != [1, 1] or op.groups.value.data != 1 or any(ints(op.padding)):
        return "only filters of 1 x 1 without padding and groups are a product of matrices"
    extents = [image["H"], image["W"], image["C"], data.primal_extents(shape_of(op.data.type))["C"]]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) != len(extents):
        return "the size of its image is not known"
    h, w, filters, channels = known
    pixels = usual_images(op, image["N"]) * h * w
    return Size(pixels, _whole_tiles(pixels), filters, channels, PIXEL_CYCLES, COPY_CYCLES)


def _refusal(op: Product, size: Size) -> str | None:
    """Returns why a product of this size is not split, or None."""
    if {element_type_of(type) for type in (*op.operand_types, *op.result_types)} != {f32}:
        return "its elements are not all f32"
    owner = _before_packing(op.operands[1]).owner
    if not isinstance(op, Matrices) and (isinstance(owner, Block) or not is_constant(owner)):
        return "its weight is not constant"
    if (problem := _size_problem(size)) is not None:
        return problem
    return None if _is_faster(size) else "the product of f32 is about as fast"


def _size_problem(size: Size) -> str | None:
    """Returns why a product of this size does not fill tiles, or None."""
    if size.depth < MIN_DEPTH or size.depth % PAIR_TERMS:
        return f"its sums have {size.depth} terms, not an even number of at least {MIN_DEPTH}"
    return f"it has {size.rows} rows, a tile has {ROWS}" if size.rows < ROWS else None


def _before_packing(weight: SSAValue) -> SSAValue:
    """Returns a weight as it is before its layout transform, if it has one."""
    change = owner_of(weight, LayoutTransformOp)
    return weight if change is None else change.operands[0]


def _is_faster(size: Size) -> bool:
    """Whether parts take less time, by the estimated cycles of products, of passes over data, and of the weight."""
    weight = 4 * size.columns * size.depth / WEIGHT_BYTES
    direct = size.rows * size.columns * size.depth / VECTOR_PRODUCTS
    steps = largest_divisor(size.depth // PAIR_TERMS, STEPS)
    tiles = size.rows_of_tiles * size.columns * size.depth / TILE_PRODUCTS * STEPS / steps
    passes = size.rows * (size.depth * size.split + size.columns * size.copy) + size.depth * size.columns * size.pack
    kernels = KERNEL_CYCLES * (2 if size.pack else 1)
    return direct + weight >= GAIN * (tiles + passes / BLOCK + weight + kernels)


class MultiplyHalves(RewritePattern):
    """Multiplies numbers of bf16 as they are, without their extension to f32; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContribDensePackOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if both factors are numbers of bf16, and tiles have enough rows and steps."""
        cast = owner_of(op.data, CastOp)
        if cast is None or element_type_of(cast.operands[0].type) != bf16 or not _is_in_bf16(op.weight):
            return
        size = _size_of_dense(op)
        if isinstance(size, str) or not _fills_tiles(size) or element_type_of(op.result.type) != f32:
            return
        self._remarks.applied(op, "one product of bf16")
        emit, units = Emitter(rewriter, op), optional_int(op.units)
        weight = emit.call(CastOp, op.weight, dtype=numpy_dtype(bf16))
        packed = emit.call(LayoutTransformOp, weight, src_layout=str(op.layout), dst_layout=PACKED)
        options = {"weight_layout": PACKED, "out_dtype": numpy_dtype(f32)} | ({} if units is None else {"units": units})
        emit.replace(emit.call(ContribDensePackOp, cast.operands[0], packed, **options))


def _is_in_bf16(weight: SSAValue) -> bool:
    """Whether a weight is a constant of f32 whose numbers are all numbers of bf16, or a layout transform of one."""
    array = constant_of(_before_packing(weight))
    return array is not None and array.dtype == np.float32 and not (array.view(np.uint32) & 0xFFFF).any()


def _fills_tiles(size: Size) -> bool:
    """Whether a product has the rows of a tile, and sums that fill at least a quarter of an instruction."""
    return _size_problem(size) is None and 4 * largest_divisor(size.depth // PAIR_TERMS, STEPS) >= STEPS
