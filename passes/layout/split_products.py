"""`relay-split-products`: computes f32 products with a constant weight as three products of bf16 parts, with f32 sums.

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

The low parts of numbers of bf16 that were cast to f32 are zero, so one product of bf16 has the same result.

Before:

    %a = relay.cast(%x) {dtype = f32}                              %x : bf16
    %y = relay.nn.contrib_dense_pack(%a, %w) {weight_layout = "NC16n"}

After:

    %u = relay.cast(%w) {dtype = bf16}
    %v = relay.layout_transform(%u) {src_layout = "NC16n", dst_layout = "NC16n2c"}
    %y = relay.nn.contrib_dense_pack(%x, %v) {weight_layout = "NC16n2c", out_dtype = f32}

A result is NaN if one of its factors is an infinity, or a number that bf16 rounds to one.

The pass does nothing without the instruction `tdpbf16ps` in `tiles` or without vectors of 16 f32. It refuses, with a
remark: weights that are not constant or not in blocks of 16 columns; other element types; less than 16 rows, or rows
of dynamic number; sums of less than 64 or of an odd number of terms; and products that would not be at least 10 %
faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Final

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f32
from xdsl.ir import Block, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.properties import optional_int
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp
from xrelay.dialects.relay.ops.nn.split_products import ContribDenseSplitOp, ContribSplitFloatsOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.passes.graph.op_kinds import is_constant
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import Numerics, XRelayPass
from xrelay.target.instructions import PAIR_TERMS

RTOL: Final = 1e-4
"""The fraction of the largest result by which results may change; a product changes by about 4e-6."""

INSTRUCTION: Final = "tdpbf16ps"
"""The instruction on tiles that multiplies parts."""

BLOCK: Final = 16
"""The number of columns of a tile, of a block of the weight, and of f32 in a vector."""

ROWS: Final = 16
"""The number of rows of a tile, and the least number of rows of a product."""

STEPS: Final = 16
"""The maximum number of pairs of terms that an instruction adds; it is a divisor of those of a sum."""

MIN_DEPTH: Final = 64
"""The least number of terms of a sum: with fewer, most time is spent on the loads and stores of tiles."""

PACKED: Final = f"NC{BLOCK}n{PAIR_TERMS}c"
"""The layout of the weight, with the terms innermost that an instruction adds in each lane."""

VECTOR_PRODUCTS: Final = 27.0
"""The f32 products that vectors compute in a cycle: 85 % of two units."""

TILE_PRODUCTS: Final = 64.0
"""The f32 products that tiles compute in a cycle from three products of parts."""

SPLIT_CYCLES: Final = 8.0
"""The cycles to split a vector of the data and to write both parts."""

KERNEL_CYCLES: Final = 6000.0
"""The cycles to call the kernel that splits the data."""

WEIGHT_BYTES: Final = 5.0
"""The bytes of weights that a core reads in a cycle, from the L3 cache or memory."""

GAIN: Final = 1.1
"""The least ratio of the time of the f32 product to that of the split one."""


@dataclass(frozen=True)
class RelaySplitProductsPass(XRelayPass):
    """Splits products into parts of bf16; see the module's docstring."""

    name = "relay-split-products"
    numerics = Numerics(f"approximating: other rounding errors; results within {RTOL:g} of the largest value", RTOL)
    per_function = True

    vector_lanes: int = field(default=BLOCK, metadata={"help": "the number of f32 in a vector of the target"})
    tiles: tuple[str, ...] = field(default=(), metadata={"help": "the target's instructions on tiles"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place, if the target has the instruction and vectors of 16 f32."""
        if INSTRUCTION in self.tiles and self.vector_lanes == BLOCK:
            report(split_products(op))


def split_products(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns remarks on rewritten products, and on others with the reason."""
    remarks = Remarks(RelaySplitProductsPass.name)
    rewrite_once(module, ContribDensePackOp, MultiplyHalves(remarks))
    rewrite_once(module, ContribDensePackOp, SplitDense(remarks))
    return remarks.all


class SplitDense(RewritePattern):
    """Splits a dense layer with a constant weight; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks
        self._parts: dict[tuple[SSAValue, Block | None], SSAValue] = {}

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContribDensePackOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` unless it is refused."""
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        size = _size(op)
        refusal = size if isinstance(size, str) else _refusal(op, size)
        if refusal is not None:
            self._remarks.refused(op, refusal)
            return
        self._remarks.applied(op, "three products of bf16 parts")
        emit = Emitter(rewriter, op)
        parts, units = self._split(op, emit), optional_int(op.units)
        packed = emit.call(LayoutTransformOp, op.weight, src_layout=str(op.layout), dst_layout=PACKED)
        weight, options = emit.call(ContribSplitFloatsOp, packed), {} if units is None else {"units": units}
        emit.replace(emit.call(ContribDenseSplitOp, parts, weight, **options))

    def _split(self, op: ContribDensePackOp, emit: Emitter) -> SSAValue:
        """Returns the parts of the data, which products in the same block share."""
        key = op.data, op.parent
        if key not in self._parts:
            self._parts[key] = emit.call(ContribSplitFloatsOp, op.data)
        return self._parts[key]


@dataclass(frozen=True)
class Size:
    """The extents of a product of matrices."""

    rows: int
    columns: int
    depth: int


def _size(op: ContribDensePackOp) -> Size | str:
    """Returns the size of a dense layer, or why it is not split."""
    if op.layout != Layout.parse(f"NC{BLOCK}n"):
        return f"its weight is in {op.layout}, not in NC{BLOCK}n"
    extents = (*shape_of(op.data.type), shape_of(op.weight.type)[0])
    *outer, depth, blocks = (extent for extent in extents if isinstance(extent, int))
    if len(outer) + 2 < len(extents):
        return "the number of its rows is dynamic"
    return Size(prod(outer), blocks * BLOCK, depth)


def _refusal(op: ContribDensePackOp, size: Size) -> str | None:
    """Returns why a product of this size is not split, or None."""
    if {element_type_of(type) for type in (*op.operand_types, *op.result_types)} != {f32}:
        return "its elements are not all f32"
    if not _is_constant(op.weight):
        return "its weight is not constant"
    if size.depth < MIN_DEPTH or size.depth % PAIR_TERMS:
        return f"its sums have {size.depth} terms, not an even number of at least {MIN_DEPTH}"
    if size.rows < ROWS:
        return f"it has {size.rows} rows, a tile has {ROWS}"
    return None if _is_faster(size) else "the product of f32 is about as fast"


def _is_constant(value: SSAValue) -> bool:
    """Whether a weight is a constant, or the result of a layout transform of one."""
    change = owner_of(value, LayoutTransformOp)
    owner = value.owner if change is None else change.operands[0].owner
    return not isinstance(owner, Block) and is_constant(owner)


def _is_faster(size: Size) -> bool:
    """Whether parts take less time, by the estimated cycles of products, of passes over data, and of the weight."""
    weight = 4 * size.columns * size.depth / WEIGHT_BYTES
    direct = size.rows * size.columns * size.depth / VECTOR_PRODUCTS
    steps = largest_divisor(size.depth // PAIR_TERMS, STEPS)
    tiles = -(-size.rows // ROWS) * ROWS * size.columns * size.depth / TILE_PRODUCTS * STEPS / steps
    split = size.rows / BLOCK * size.depth * SPLIT_CYCLES + KERNEL_CYCLES
    return direct + weight >= GAIN * (tiles + split + weight)


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
        size = _size(op)
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
    change = owner_of(weight, LayoutTransformOp)
    array = constant_of(weight if change is None else change.operands[0])
    return array is not None and array.dtype == np.float32 and not (array.view(np.uint32) & 0xFFFF).any()


def _fills_tiles(size: Size) -> bool:
    """Whether a product has the rows of a tile, and sums that fill at least a quarter of an instruction."""
    is_deep = size.depth >= MIN_DEPTH and size.depth % PAIR_TERMS == 0
    return size.rows >= ROWS and is_deep and 4 * largest_divisor(size.depth // PAIR_TERMS, STEPS) >= STEPS
