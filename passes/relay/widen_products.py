"""`relay-widen-products`: computes products of half precision, and of small integers, by a constant weight in f32.

CPUs multiply and add in f32, so a kernel of f16 or bf16 converts each factor in its inner loop, and convolutions and
dense layers of f32 have faster layouts. The pass converts the weight and casts the data.
The results are those of the operator, which adds up in f32 and rounds once; only the order of its sums may change.

Before:

    %y = relay.nn.conv2d(%x, %w)                  %x, %w, %y : f16, %w a constant

After:

    %a = relay.cast(%x) {dtype = f32}
    %c = relay.nn.conv2d(%a, %v)                  %v : f32, the numbers of %w
    %y = relay.cast(%c) {dtype = f16}

A depthwise convolution of integers is rewritten, too, if f32 represents all its sums: no instruction adds up its bytes,
and a product of integers of 32 bits takes longer than one of floats. Its results are the same.

The pass refuses, with a remark: weights that are not constant; matrix products with fewer than 8 rows, or an unknown
number of them, which read each weight so rarely that its size in memory counts most; integers without a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.nn.conv import DirectConvOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.tensor.arithmetic import SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

Product = DirectConvOp | DenseOp | MatmulOp

MIN_ROWS = 8
"""The minimum number of rows of a matrix product that is widened."""

EXACT = 1 << 24
"""The greatest number up to which f32 represents all integers."""


@dataclass(frozen=True)
class RelayWidenProductsPass(XRelayPass):
    """Multiplies in f32 instead of half precision; see the module's docstring."""

    name = "relay-widen-products"
    numerics = reassociates("the terms of a product may be added up in another order")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(widen_products(op))


def widen_products(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns remarks on rewritten products, and on others with the reason."""
    remarks = Remarks(RelayWidenProductsPass.name)
    rewrite_once(module, Product, WidenProduct(remarks))
    return remarks.all


class WidenProduct(RewritePattern):
    """Rewrites a product of half precision or integers by a constant; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if that is faster."""
        if not isinstance(op, Product) or not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        elements = [element_type_of(type_) for type_ in (*op.operand_types, *op.result_types)]
        adds_integers = all(element == i32 for element in elements)
        if not adds_integers and not all(map(is_half, elements[:2])):
            return
        if adds_integers and not (isinstance(op, DirectConvOp) and op.is_depthwise):
            return
        array = constant_of(op.operands[1])
        refusal = "its weight is not constant" if array is None else _why_not(op, array)
        if array is None or refusal is not None:
            self._remarks.refused(op, str(refusal))
            return
        emit = Emitter(rewriter, op)
        data = emit.call(CastOp, op.operands[0], dtype=np.dtype(np.float32))
        weight = emit.constant(array.astype(np.float32))
        weight.name_hint = op.operands[1].name_hint
        properties = {name: value for name, value in op.properties.items() if name != "out_dtype"}
        value = emit.insert(type(op).typed([data, weight], properties)).results[0]
        if elements[2] != element_type_of(value.type):
            value = emit.call(CastOp, value, dtype=numpy_dtype(elements[2]))
        self._remarks.applied(op, "multiplies in f32")
        emit.replace(value)


def _why_not(op: Product, weight: Array) -> str | None:
    """Returns why a product by a constant weight is not rewritten, or None."""
    if isinstance(op, DirectConvOp) and weight.dtype.kind == "i":
        return _why_not_exact(op, weight)
    return _why_not_slower(op)


def _why_not_slower(op: Product) -> str | None:
    """Returns why a product by a constant in half precision is not slower than in f32, or None if it is slower."""
    if isinstance(op, DirectConvOp):
        return None
    extents = shape_of(op.results[0].type)[:-1]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents):
        return "its number of rows is not known"
    return f"it has fewer than {MIN_ROWS} rows" if prod(known) < MIN_ROWS else None


def _why_not_exact(op: DirectConvOp, weight: Array) -> str | None:
    """Returns why f32 may not represent a sum of a depthwise convolution of integers, or None if it does."""
    data = op.operands[0]
    distance = owner_of(data, SubtractOp)
    bounds = [_bound(value) for value in ([data] if distance is None else distance.operands)]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return "its integers have no bound"
    terms, largest = weight.size // op.groups.value.data, _largest(weight)
    return None if sum(known) * terms * largest <= EXACT else "its sums may be too large for f32"


def _bound(value: SSAValue) -> int | None:
    """Returns the greatest absolute value of a constant, or of an integer of few bits that is cast; None for others."""
    array, cast = constant_of(value), owner_of(value, CastOp)
    if array is not None:
        return _largest(array)
    dtype = None if cast is None else numpy_dtype(element_type_of(cast.operands[0].type))
    return int(np.iinfo(dtype).max) + 1 if dtype is not None and dtype.kind in "iu" and dtype.itemsize < 4 else None


def _largest(array: Array) -> int:
    """Returns the greatest absolute value of an array of integers, 0 if it is empty."""
    return int(np.abs(array.astype(np.int64)).max(initial=0))
