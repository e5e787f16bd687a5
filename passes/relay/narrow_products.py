"""`relay-narrow-products`: rewrites integer products of bytes to ui8 times i8, for which CPUs have instructions.

Quantised networks contain products in 32 bits or of i8 by i8. CPUs multiply four bytes in the time of one number of 32
bits, and weights of bytes need a quarter of the memory. The pass rewrites convolutions, dense layers and products of
matrices that add in i32, if the data are bytes or bytes minus a zero point, and the weight is constant and fits i8. The
product of the zero point and the sums of the weight is subtracted from the result. Exact: sums wrap at 32 bits in both
forms.

Before:

    %d = relay.subtract(relay.cast(%x) {dtype = i32}, %z)             %x : tensor<4x64xui8>
    %y = relay.nn.dense(%d, %w)                                       %w : tensor<8x64xi32>, a constant

After:

    %p = relay.nn.dense(%x, %v) {out_dtype = i32}                     %v : tensor<8x64xi8>
    %y = relay.subtract(%p, %c)                                       %c : %z times the sums of the rows of %v

Signed bytes become unsigned by adding 128. A weight may also be the sum of a tensor of i8 and a number; this number
times the sums of the data's rows or windows is added to the result. If a convolution pads, its data are padded with the
zero point by a separate op. The channels of a convolution, and the terms of a dense layer, are padded with zeros to a
multiple of four. The filters of a convolution, and the units of a dense layer, are padded to a multiple of eight unless
that more than doubles them; the results of the additional ones are cut off.

The pass refuses, with a remark: data that are not bytes; weights that are not constant or exceed 8 bits; depthwise
convolutions; groups whose channels are not a multiple of four, or whose weight exceeds i8; blocked channels; zero
points that vary along the sum, or within a convolution; zero points subtracted in 16 bits, where the difference may
wrap; unknown zero points of convolutions that pad, unless they are cast from the type of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i8, i32
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.attribute_values import int_attribute, ints
from xrelay.dialects.relay.ops.nn.conv import DirectConvOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.reduce import SumOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp, PadOp, TransposeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.interpreters.relay import evaluate_op
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.target.instructions import DOT_TERMS

_VECTOR = 8
"""Results are padded to a multiple of this, as blocked layouts require on most CPUs."""

Product = DirectConvOp | DenseOp | MatmulOp


@dataclass(frozen=True)
class RelayNarrowProductsPass(XRelayPass):
    """Multiplies bytes instead of numbers of 32 bits; see the module's docstring."""

    name = "relay-narrow-products"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(narrow_products(op))


def narrow_products(module: ModuleOp) -> list[Remark]:
    """Rewrites `module`; returns remarks on rewritten products, and on others with the reason."""
    remarks = Remarks(RelayNarrowProductsPass.name)
    rewrite_once(module, Product, NarrowProduct(remarks))
    return remarks.all


class NarrowProduct(RewritePattern):
    """Rewrites a product of integers that adds in i32 to ui8 times i8; see the module's docstring. Exact."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if data and weight are bytes."""
        if not isinstance(op, Product) or not _adds_integers(op):
            return
        emit = Emitter(rewriter, op)
        try:
            result = narrow(op, emit)
        except WideError as refused:
            self._remarks.refused(op, str(refused))
            return
        self._remarks.applied(op, "multiplies bytes")
        emit.replace(result)


def narrow(op: Product, emit: Emitter) -> SSAValue:
    """Emits a product of integers that adds in i32 as ui8 times i8; raises `WideError` if it cannot."""
    return _convolution(op, emit) if isinstance(op, DirectConvOp) else _matrix_product(op, emit)


def _adds_integers(op: Product) -> bool:
    """Whether `op` multiplies integers and adds in i32, and is not yet in the form that the pass produces."""
    types = [*op.operand_types, op.results[0].type]
    if not all(is_complete(type_) for type_ in types) or element_type_of(types[2]) != i32:
        return False
    data, weight = (numpy_dtype(element_type_of(type_)) for type_ in types[:2])
    is_done = (data, weight) == (np.uint8, np.int8) and _is_whole(op)
    return not is_done and all(dtype.kind in "iu" for dtype in (data, weight))


def _is_whole(op: Product) -> bool:
    """Whether the terms and the results of `op` fill whole instructions; assumed for blocked and dynamic weights."""
    shape, rows, columns, rank, has_groups = shape_of(op.operands[1].type), 0, 1, 2, False
    if isinstance(op, DirectConvOp):
        rows, columns = (op.layouts[1].index(letter) for letter in "OI")
        rank, has_groups = 2 + len(op.AXES), op.groups.value.data > 1
    elif isinstance(op, MatmulOp) and not op.transposed[1]:
        rows, columns = 1, 0
    count, depth = shape[rows], shape[columns]
    if not isinstance(count, int) or not isinstance(depth, int) or len(shape) != rank:
        return True
    return depth % DOT_TERMS == 0 and (has_groups or _missing_results(count) == 0)


def _missing_results(count: int) -> int:
    """The number of filters or units to add for a multiple of `_VECTOR`; 0 if that more than doubles them."""
    missing = -count % _VECTOR
    return missing if missing <= count else 0


# --- dense layers


def _matrix_product(op: DenseOp | MatmulOp, emit: Emitter) -> SSAValue:
    """The dense layer on bytes, minus the contribution of the zero point."""
    flip_data, rows_first = op.transposed if isinstance(op, MatmulOp) else (False, True)
    if flip_data:
        raise WideError("its data is transposed")
    data, stored = data_bytes(op.operands[0]), weight_bytes(op.operands[1], may_rest=True)
    if data.zero_point is not None and not broadcasts_over_last(data.zero_point):
        raise WideError("its zero point varies along the sum")
    weight = stored.array if rows_first else np.ascontiguousarray(stored.array.T)
    sums = stored.sums(weight, 0)
    value = data.unsigned(emit)
    if missing := -weight.shape[1] % DOT_TERMS:
        pairs = [(0, 0)] * (len(shape_of(value.type)) - 1) + [(0, missing)]
        value = _padded(value, pairs, emit.scalar(0, value.type), emit)
        weight = np.pad(weight, [(0, 0), (0, missing)])
    units = len(weight)
    weight = np.pad(weight, [(0, _missing_results(units)), (0, 0)])
    product = emit.call(DenseOp, value, _constant(weight, op.operands[1], emit), out_dtype=np.dtype(np.int32))
    product = _first(product, units, -1, emit)
    if stored.rest:
        product = _with_rest(product, _total(value, -1, emit), stored.rest, emit)
    return _less_offset(product, data, sums, emit)


# --- convolutions


def _convolution(op: DirectConvOp, emit: Emitter) -> SSAValue:
    """The convolution on bytes, padded by a separate op, minus the contribution of the zero point."""
    image, kernel, result = op.layouts
    rank = 2 + len(op.AXES)
    if any(len(layout.axes) > rank for layout in (image, kernel, result)):
        raise WideError("its channels are in blocks")
    groups, units = op.groups.value.data, kernel.index("O")
    data, stored = data_bytes(op.data), weight_bytes(op.weight, may_rest=groups == 1)
    weight = stored.array
    depth = weight.shape[kernel.index("I")]
    if depth == 1 and groups > 1:
        raise WideError("its filters have one channel each")
    missing = -depth % DOT_TERMS
    if missing and groups > 1:
        raise WideError(f"the {depth} channels of a group are not a multiple of {DOT_TERMS}")
    if data.zero_point is not None and data.known_zero_point is None and shape_of(data.zero_point.type):
        raise WideError("its zero point is not one number")
    pads = any(ints(op.padding)) and data.known_zero_point != 0
    border = data.border(emit) if pads else emit.constant(np.zeros((), np.uint8))
    value, properties = data.unsigned(emit), {**op.properties, "out_dtype": i32}
    if pads or missing:
        pairs = [(0, 0)] * rank
        pairs[image.index("C")] = (0, missing)
        for letter, axis in zip(op.AXES, op.window(_kernel_extents(op)), strict=True):
            pairs[image.index(letter)] = (axis.before, axis.after) if pads else (0, 0)
        value = _padded(value, pairs, border, emit)
        weight = np.pad(weight, [(0, missing if axis == kernel.index("I") else 0) for axis in range(rank)])
    # The added channels consist of zero points if the data are padded with them, and of zeros otherwise.
    sums = stored.sums(weight if pads else stored.array, units)
    if pads:
        del properties["padding"]
    filters = weight.shape[units]
    more = _missing_results(filters) if groups == 1 else 0
    weight = np.pad(weight, [(0, more if axis == units else 0) for axis in range(rank)])
    own = {**properties, "channels": int_attribute(filters + more)} if more else properties
    product = emit.insert(type(op).typed([value, _constant(weight, op.weight, emit)], own)).results[0]
    channels, trailing = _first(product, filters, result.index("C"), emit), rank - 1 - result.index("C")
    if stored.rest:
        ones = np.ones(
            [weight.shape[axis] if kernel.axes[axis].letter in op.AXES else 1 for axis in range(rank)], np.int32
        )
        windows = [_total(value, image.index("C"), emit), emit.constant(ones)]
        single = {**properties, "channels": int_attribute(1)}
        total = emit.insert(type(op).typed(windows, single)).results[0]
        channels = _with_rest(channels, total, stored.rest, emit)
    return _less_offset(channels, data, sums.reshape(-1, *[1] * trailing), emit)


def _kernel_extents(op: DirectConvOp) -> Sequence[int]:
    kernel, shape = op.layouts[1], shape_of(op.weight.type)
    return [extent for axis in op.AXES if isinstance(extent := shape[kernel.index(axis)], int)]


# --- both


def _padded(value: SSAValue, pairs: Sequence[tuple[int, int]], border: SSAValue, emit: Emitter) -> SSAValue:
    return emit.call(PadOp, value, border, pad_width=[each for pair in pairs for each in pair])


def _total(value: SSAValue, axis: int, emit: Emitter) -> SSAValue:
    """The sums of bytes along an axis."""
    return emit.call(SumOp, emit.call(CastOp, value, dtype=np.dtype(np.int32)), axis=[axis], keepdims=True)


def _with_rest(product: SSAValue, total: SSAValue, rest: int, emit: Emitter) -> SSAValue:
    """The product plus the sums of the data times a number that is part of each element of the weight."""
    return emit.call(AddOp, product, emit.call(MultiplyOp, total, emit.scalar(rest, total.type)))


def _first(value: SSAValue, count: int, axis: int, emit: Emitter) -> SSAValue:
    """The first `count` elements along an axis."""
    if shape_of(value.type)[axis] == count:
        return value
    return emit.call(StridedSliceOp, value, begin=[0], end=[count], axes=[axis])


def _constant(array: Array, source: SSAValue, emit: Emitter) -> SSAValue:
    """A constant with the name of `source`, which it replaces."""
    constant = emit.constant(array)
    constant.name_hint = source.name_hint
    return constant


def _less_offset(product: SSAValue, data: Bytes, sums: Array, emit: Emitter) -> SSAValue:
    """The product minus the zero point times the sums of the weight."""
    known = data.known_zero_point
    if known is not None:
        if known == 0:
            return product
        with np.errstate(over="ignore"):
            constant = emit.constant(sums * np.int32(known))
        return emit.call(SubtractOp, product, constant)
    offset = data.zero_point
    if offset is None:
        return product
    if data.has_sign:
        offset = emit.call(AddOp, offset, emit.scalar(SHIFT, offset.type))
    constant = emit.constant(sums)
    return emit.call(SubtractOp, product, emit.call(MultiplyOp, offset, constant))


SHIFT = 128
"""The number that is added to signed bytes to make them unsigned."""

_MAX_ZERO_POINT = 1 << 14
"""The greatest magnitude of a zero point for which differences from bytes surely fit 16 bits."""

_KNOWN = (CastOp, SubtractOp, TransposeOp, ExpandDimsOp, ReshapeOp, LayoutTransformOp, TakeOp)
"""Ops between the stored weight and the product; constant folding keeps them if the result is much larger."""

_STEPS = 8
"""The maximum number of such ops."""


class WideError(Exception):
    """A product cannot use bytes; the message is the reason."""


@dataclass(frozen=True)
class Bytes:
    """A factor `value - zero_point` of a product."""

    value: SSAValue
    """A tensor of ui8 or i8."""
    zero_point: SSAValue | None
    """A tensor of i32, or a single constant of 16 bits; `None` for 0."""

    @property
    def has_sign(self) -> bool:
        """Whether the bytes are signed, so that `SHIFT` must be added."""
        return element_type_of(self.value.type) == i8

    @property
    def known_zero_point(self) -> int | None:
        """The zero point of the unsigned bytes, if it is a single constant; it wraps at 32 bits, as sums do."""
        if self.zero_point is None:
            return SHIFT * self.has_sign
        array = constant_of(self.zero_point)
        if array is None or array.size != 1:
            return None
        moved = array.reshape(-1)[:1].astype(np.int64) + SHIFT * self.has_sign
        return int(moved.astype(np.int32)[0])

    def unsigned(self, emit: Emitter) -> SSAValue:
        """The bytes as unsigned bytes."""
        if not self.has_sign:
            return self.value
        wide = emit.call(CastOp, self.value, dtype=np.dtype(np.int16))
        return emit.call(CastOp, emit.call(AddOp, wide, emit.scalar(SHIFT, wide.type)), dtype=np.dtype(np.uint8))

    def border(self, emit: Emitter) -> SSAValue:
        """The zero point as an unsigned byte, which pads the bytes; raises `WideError` if it may be none."""
        known = self.known_zero_point
        if known is not None:
            if not 0 <= known <= np.iinfo(np.uint8).max:
                raise WideError(f"it pads, and its zero point for unsigned bytes, {known}, is not a byte")
            return emit.constant(np.array(known, np.uint8))
        wide = None if self.zero_point is None else owner_of(self.zero_point, CastOp)
        if wide is None or element_type_of(wide.operands[0].type) != element_type_of(self.value.type):
            raise WideError("it pads, and its zero point may exceed the data's type")
        return Bytes(wide.operands[0], None).unsigned(emit)


def data_bytes(value: SSAValue) -> Bytes:
    """The bytes and the zero point whose difference is `value`; raises `WideError` for other values."""
    if _is_byte(value):
        return Bytes(value, None)
    zero_point: SSAValue | None = None
    difference = owner_of(value, SubtractOp)
    if difference is not None:
        value, zero_point = difference.operands
    wide = owner_of(value, CastOp)
    if wide is None or not is_complete(wide.operands[0].type) or not _is_byte(wide.operands[0]):
        raise WideError("its data are neither bytes nor bytes minus a zero point")
    if not np.can_cast(_dtype(wide.operands[0]), _dtype(value)):
        raise WideError(f"its data are signed bytes, cast to the unsigned type {element_type_of(value.type)}")
    if difference is not None and shape_of(difference.result.type) != shape_of(wide.result.type):
        raise WideError("its zero point changes the shape of its data")
    if zero_point is not None and not _keeps_differences(zero_point):
        raise WideError(f"its zero point is subtracted in {element_type_of(value.type)}, which may wrap")
    return Bytes(wide.operands[0], zero_point)


def _keeps_differences(zero_point: SSAValue) -> bool:
    """Whether bytes minus `zero_point` have no overflow in its type: it is of i32, or a single small constant."""
    if element_type_of(zero_point.type) == i32:
        return True
    array = constant_of(zero_point)
    return array is not None and array.size == 1 and bool(abs(int(array.reshape(-1)[0])) <= _MAX_ZERO_POINT)


def _dtype(value: SSAValue) -> np.dtype:
    return numpy_dtype(element_type_of(value.type))


def _is_byte(value: SSAValue) -> bool:
    return _dtype(value).kind in "iu" and _dtype(value).itemsize == 1


@dataclass(frozen=True)
class ByteWeight:
    """A weight `array + rest`, the sum of a tensor of i8 and a number."""

    array: Array
    rest: int
    """It wraps at 32 bits, as sums do, because it may exceed i32 for weights close to the greatest number."""

    def sums(self, array: Array, axis: int) -> Array:
        """The sums over all axes but one, if `array` is transposed or padded with zeros from that of the weight."""
        others = tuple(other for other in range(array.ndim) if other != axis)
        terms = prod(array.shape[other] for other in others)
        return (array.sum(axis=others, dtype=np.int64) + self.rest * terms).astype(np.int32)


def weight_bytes(value: SSAValue, *, may_rest: bool = False) -> ByteWeight:
    """A constant weight of integers as i8, plus a number if `may_rest` is set; raises `WideError` for others."""
    array = _known_array(value)
    if array is None:
        raise WideError("its weight is not constant")
    limits = np.iinfo(np.int8)
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if limits.min <= least and most <= limits.max:
        return ByteWeight(array.astype(np.int8), 0)
    if most - least > limits.max - limits.min or not may_rest:
        raise WideError(f"its weight ranges from {least} to {most}, which exceeds i8")
    rest = least - limits.min
    return ByteWeight((array.astype(np.int64) - rest).astype(np.int8), int(np.int64(rest).astype(np.int32)))


def _known_array(value: SSAValue) -> Array | None:
    """The elements of a value that is computed from constants in at most `_STEPS` ops; else `None`."""
    order: list[OpResult] = []
    known: dict[SSAValue, Array] = {}
    pending = [value]
    while pending:
        current = pending.pop()
        if (constant := constant_of(current)) is not None:
            known[current] = constant
            continue
        if not isinstance(current, OpResult) or not isinstance(current.op, _KNOWN) or len(order) == _STEPS:
            return None
        order.append(current)
        pending += current.op.operands
    for result in reversed(order):
        known[result] = np.asarray(evaluate_op(result.op, [known[operand] for operand in result.op.operands]))
    return known[value]


def broadcasts_over_last(value: SSAValue) -> bool:
    """Whether a value broadcasts along the last axis."""
    shape = shape_of(value.type)
    return not shape or shape[-1] == 1
