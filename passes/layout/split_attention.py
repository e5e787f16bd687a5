"""`relay-split-attention`: computes the products of attention as three products of bf16 parts, with f32 sums.

`relay-split-products` describes the parts. Keys, values and queries are split by the kernels that bring them into the
order of tiles. The weights are split in the kernel of attention (`relay-fuse-attention`), while they are in a cache.

Before:

    %s = relay.nn.batch_matmul(%q, %k)                            %q : 12x512x64, %k : 12x512x64
    %w = relay.nn.softmax(%s)                                     with elementwise ops before, such as a mask
    %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false}      %v : 12x512x64

After:

    %a = relay.nn.contrib_split_floats(%q)
    %b = relay.nn.contrib_split_floats(relay.layout_transform(%k) {src_layout = "ANC", dst_layout = "ANC16n2c"})
    %s = relay.nn.contrib_dense_split(%a, %b)
    %w = relay.nn.softmax(%s)
    %c = relay.nn.contrib_split_floats(%w)
    %d = relay.nn.contrib_split_floats(relay.layout_transform(%v) {src_layout = "ACN", dst_layout = "ANC16n2c"})
    %y = relay.nn.contrib_dense_split(%c, %d)

The pass does nothing without the instruction `tdpbf16ps` in `tiles` or without vectors of 16 f32. It refuses, with a
remark: other element types and dynamic sizes; stacks of keys or values that broadcast; numbers of queries and of
elements of a value that are no multiples of 16; numbers of keys and of elements of a key that are no multiples of 32;
scores or weights that other ops read, too; and attention that would not be at least 10 % faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.nn.softmax import SoftmaxOp
from xrelay.dialects.relay.ops.nn.split_products import ContribDenseSplitOp, ContribSplitFloatsOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.passes.graph.remarks import Remark, Remarks
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite_once, static_shape
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
)
from xrelay.target.instructions import PAIR_TERMS

STACKS: Final = "ABDEFGH"
"""The letters of the axes of a stack in layouts."""

DEPTH: Final = STEPS * PAIR_TERMS
"""The terms that an instruction adds: keys, and the elements of a key, are a multiple."""

SOFTMAX: Final = 20.0
"""The cycles of the softmax of a vector of scores."""

SPLIT_WEIGHTS: Final = 10.0
"""The cycles to split a vector of weights."""

SPLIT_OPERANDS: Final = 20.0
"""The cycles to split a vector of queries, keys or values, and to bring it into the order of tiles."""


@dataclass(frozen=True)
class RelaySplitAttentionPass(SplitPass):
    """Splits the products of attention into parts of bf16; see the module's docstring."""

    name = "relay-split-attention"

    def split(self, module: ModuleOp) -> list[Remark]:
        """Rewrites a module; returns remarks."""
        remarks = Remarks(self.name)
        rewrite_once(module, BatchMatmulOp, SplitAttention(remarks))
        return remarks.all


class SplitAttention(RewritePattern):
    """Splits both products of attention, at the second; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchMatmulOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` and the product that computes its weights, unless they are refused."""
        softmax = owner_of(op.tensor_a, SoftmaxOp)
        scores = None if softmax is None else _product_before(softmax.data)
        if softmax is None or scores is None:
            return
        if (refusal := _refusal(scores, softmax, op)) is not None:
            self._remarks.refused(op, refusal)
            return
        self._remarks.applied(op, "the products of attention are three products of bf16 parts")
        for product in (scores, op):
            _split(product, rewriter)


def _product_before(scores: SSAValue) -> BatchMatmulOp | None:
    """Returns the product from which elementwise ops compute `scores`, if nothing else reads a value on the way."""
    while scores.has_one_use():
        op = scores.owner
        if isinstance(op, BatchMatmulOp):
            return op
        if not isinstance(op, RelayOp) or op.PATTERN not in (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST):
            return None
        computed = [each for each in op.operands if each.type == scores.type and not isinstance(each.owner, ConstantOp)]
        if len(computed) != 1:
            return None
        (scores,) = computed
    return None


def _refusal(scores: BatchMatmulOp, softmax: SoftmaxOp, result: BatchMatmulOp) -> str | None:
    """Returns why attention is not split, or None."""
    values = [value for op in (scores, result) for value in (*op.operands, *op.results)]
    if not all(is_complete(value.type) for value in values) or {element_type_of(each.type) for each in values} != {f32}:
        return "its elements are not all f32"
    shapes = [shape_of(value.type) for value in values]
    known = [extent for shape in shapes for extent in shape if isinstance(extent, int)]
    if len(known) != sum(map(len, shapes)):
        return "its sizes are dynamic"
    if len({shape[:-2] for shape in shapes}) != 1 or len(shapes[0]) - 2 > len(STACKS):
        return "keys or values broadcast along its stack"
    is_row = softmax.axis.value.data % len(shapes[0]) == len(shapes[0]) - 1
    if not is_row or not softmax.result.has_one_use() or scores.transposed[0] or result.transposed[0]:
        return "its weights are no rows that only one product reads"
    return _size_problem(scores, result)


def _size_problem(scores: BatchMatmulOp, result: BatchMatmulOp) -> str | None:
    """Returns why attention of this size is not split, or None."""
    *stack, queries, depth = static_shape(scores.tensor_a)
    keys, width = static_shape(scores.result)[-1], static_shape(result.result)[-1]
    if queries % ROWS or width % BLOCK or keys % DEPTH or depth % DEPTH:
        return f"{queries} queries, {keys} keys, and {depth} and {width} elements do not fill tiles"
    products, weights = queries * keys * (depth + width), queries * keys / BLOCK
    operands = (queries * depth + keys * depth + keys * width) / BLOCK
    direct = products / VECTOR_PRODUCTS + weights * SOFTMAX
    split = products / TILE_PRODUCTS + weights * (SOFTMAX + SPLIT_WEIGHTS) + operands * SPLIT_OPERANDS
    gains = prod(stack) * direct >= GAIN * (prod(stack) * split + 3 * KERNEL_CYCLES)
    return None if gains else "products of f32 are about as fast"


def _split(product: BatchMatmulOp, rewriter: PatternRewriter) -> None:
    """Replaces a product by that of the parts of its operands."""
    emit = Emitter(rewriter, product)
    stack = STACKS[: len(shape_of(product.tensor_b.type)) - 2]
    layout = f"{stack}NC" if product.transposed[1] else f"{stack}CN"
    packed = emit.call(LayoutTransformOp, product.tensor_b, src_layout=layout, dst_layout=f"{stack}{PACKED}")
    left, right = (emit.call(ContribSplitFloatsOp, each) for each in (product.tensor_a, packed))
    emit.replace(emit.call(ContribDenseSplitOp, left, right))
