"""`qnn-multiply-integers`: multiplies the integers of dequantised factors, and scales the sums.

A convolution or matrix product of dequantised bytes and a dequantised constant weight, possibly transposed, becomes a
product of the bytes with sums in i32, which are multiplied by both scales. Models quantised by other frameworks
dequantise the factors of each product, but CPUs multiply four bytes in the time of one float, and a weight of bytes
needs a quarter of the memory. Unlike `relay-fake-quantization-to-integer`, the pass needs no quantisation after the
product, and all other ops stay floats. The pass re-associates: the integer sums are exact, and only their product with
the scales is rounded.

Before:

    %a = relay.qnn.dequantize(%x, %sx, %zx)                          %x : tensor<4x64xui8>
    %b = relay.qnn.dequantize(%w, %sw, %zw) {axis = 0}               %w : tensor<8x64xi8>, a constant
    %y = relay.nn.dense(%a, %b)

After:

    %p = relay.nn.dense(%x, %w) {out_dtype = i32}
    %q = relay.subtract(%p, %c)                                      %c : %zx times the sums of the rows of %w
    %y = relay.multiply(relay.cast(%q) {dtype = f32}, %s)            %s : %sx times %sw

Refuses, with a remark: products that `relay-narrow-products` does not rewrite to bytes; parameters that are not
constant; zero points that are not bytes; scales that vary along the terms of a sum; sums that may exceed i32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.nn.conv import DirectConvOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.qnn.integer_rules import float_constant, known_array
from xrelay.passes.relay.narrow_products import Product, WideError, narrow


@dataclass(frozen=True)
class QnnMultiplyIntegersPass(XRelayPass):
    """Multiplies the integers of dequantised factors; see the module's docstring."""

    name = "qnn-multiply-integers"
    numerics = reassociates("sums of products are exact and scaled once")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        remarks = Remarks(self.name)
        rewrite_once(op, Product, MultiplyIntegers(remarks))
        rewrite(op, {})
        report(remarks.all)


class MultiplyIntegers(RewritePattern):
    """Replaces a product of dequantised factors by the scaled product of their integers. Re-associates.

    Before:

        %y = relay.nn.dense(relay.qnn.dequantize(%x, …), relay.qnn.dequantize(%w, …))

    After:

        %y = relay.multiply(relay.cast(relay.nn.dense(%x, %w) {out_dtype = i32}), %s)

    """

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if both factors are dequantised and their bytes can be multiplied instead."""
        if not isinstance(op, Product) or not all(is_complete(each.type) for each in (*op.operands, *op.results)):
            return
        moved = owner_of(op.operands[1], TransposeOp)
        data = owner_of(op.operands[0], DequantizeOp)
        weight = owner_of(op.operands[1] if moved is None else moved.operands[0], DequantizeOp)
        if data is None or weight is None or element_type_of(op.results[0].type) != f32:
            return
        emit = Emitter(rewriter, op)
        try:
            result = _product(op, data, weight, moved, emit)
        except WideError as refused:
            self._remarks.refused(op, str(refused))
            return
        self._remarks.applied(op, "multiplies integers")
        emit.replace(result)


def _product(
    op: Product, data: DequantizeOp, weight: DequantizeOp, moved: TransposeOp | None, emit: Emitter
) -> SSAValue:
    """Returns the scaled product of the integers; raises `WideError` if it cannot be a product of bytes.

    `moved` is a transposition of the dequantised weight, or None.
    """
    rank = len(shape_of(op.operands[1].type))
    axes = tuple(range(rank)) if moved is None else moved.permutation(rank)
    units = axes[_units_axis(op)]
    scale = _along(weight, float_constant(weight.input_scale), units) * _single(data, data.input_scale)
    zero_point = _along(weight, known_array(weight.input_zero_point), units)
    stored, offset = known_array(weight.data), int(_single(data, data.input_zero_point))
    if stored is None:
        raise WideError("its weight is not constant")
    limits = np.iinfo(numpy_dtype(element_type_of(data.data.type)))
    if not limits.min <= offset <= limits.max:
        raise WideError(f"its zero point, {offset}, is not a byte")
    whole = stored.astype(np.int64) - zero_point.reshape(-1, *[1] * (rank - 1 - units))
    sums = np.abs(whole).sum(axis=tuple(axis for axis in range(rank) if axis != units))
    if sums.size and sums.max() * (limits.max - limits.min) > np.iinfo(np.int32).max:
        raise WideError("its sums may exceed i32")
    wide = emit.call(CastOp, data.data, dtype=np.dtype(np.int32))
    if offset:
        wide = emit.call(SubtractOp, wide, emit.scalar(offset, wide.type))
    factor = emit.constant(whole.astype(np.int32).transpose(axes).copy())
    factor.name_hint = weight.data.name_hint
    product = emit.insert(type(op).typed([wide, factor], {**op.properties, "out_dtype": i32}))
    narrowed = narrow(product, emit)
    product.detach()
    product.erase()
    trailing = len(shape_of(op.results[0].type)) - 1 - _channels_axis(op)
    factors = emit.constant(scale.astype(np.float32).reshape(-1, *[1] * trailing))
    return emit.call(MultiplyOp, emit.call(CastOp, narrowed, dtype=np.dtype(np.float32)), factors)


def _units_axis(op: Product) -> int:
    """The axis of the weight along which the units or filters lie."""
    if isinstance(op, DirectConvOp):
        return op.layouts[1].index("O")
    return 1 if isinstance(op, MatmulOp) and not op.transposed[1] else 0


def _channels_axis(op: Product) -> int:
    """The axis of the result along which the units or filters lie."""
    return op.layouts[2].index("C") if isinstance(op, DirectConvOp) else len(shape_of(op.results[0].type)) - 1


def _single(data: DequantizeOp, parameter: SSAValue) -> Array:
    """Returns the scale or the zero point of the data, which must be one constant number."""
    array = known_array(parameter)
    if array is None or array.size != 1 or not np.isfinite(array).all():
        raise WideError("the scale or the zero point of its data is not one constant")
    return array.reshape(())


def _along(weight: DequantizeOp, array: Array | None, axis: int) -> Array:
    """Returns the scales or zero points of the weight: one number, or a vector along `axis`."""
    if array is None:
        raise WideError("the scale or the zero point of its weight is not constant")
    rank = len(shape_of(weight.data.type))
    if array.size != 1 and weight.axis.value.data % rank != axis:
        raise WideError("the scale or the zero point of its weight varies along the sum")
    return array.reshape(-1)
