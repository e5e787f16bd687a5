"""Lanes of one-dimensional vectors in the llvm dialect: splats, shuffles, masks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.llvm_extras import PoisonOp
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.ops import compare, indices, one_result
from xrelay.passes.infra.conversion import ConversionRewriter

ONE_DIMENSION = "only vectors of one dimension can be converted"


def lane_count(type_: Attribute) -> int | None:
    """Returns the number of lanes of a one-dimensional vector; None for any other type."""
    if not isa(type_, VectorType) or type_.get_num_dims() != 1 or type_.get_num_scalable_dims():
        return None
    return type_.get_shape()[0]


def lanes_below(bound: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """Returns the mask whose lane k is `k < bound`, signed."""
    lanes = lane_count(type_)
    assert lanes is not None, "masks have one dimension"
    numbers = VectorType(i64, [lanes])
    ascending = DenseIntOrFPElementsAttr.from_list(numbers, list(range(lanes)))
    steps = rewriter.insert(one_result(llvm.ConstantOp, (), numbers, {"value": ascending})).results[0]
    limit = splat(bound, numbers, rewriter)
    return rewriter.insert(compare("slt", steps, limit)).results[0]


def splat(scalar: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """Returns a vector of `type_` with `scalar` in every lane."""
    wide = rewriter.types.convert(type_)
    lanes = lane_count(wide)
    assert lanes is not None, "checked by the caller"
    nothing = rewriter.insert(one_result(PoisonOp, (), wide)).results[0]
    zero = rewriter.insert(constant(0, i64)).results[0]
    first = rewriter.insert(one_result(llvm.InsertElementOp, (nothing, rewriter.operand(scalar), zero), wide)).results[
        0
    ]
    return shuffle(first, [0] * lanes, rewriter, nothing)


def shuffle(
    left: SSAValue, mask: Sequence[int], rewriter: ConversionRewriter, right: SSAValue | None = None
) -> SSAValue:
    """Returns the lanes of `left` and `right` that `mask` selects; -1 is poison."""
    assert isa(left.type, VectorType), "vectors are shuffled"
    result = VectorType(left.type.element_type, [len(mask)])
    lanes = {"mask": indices(tuple(mask))}
    operands = (left, left if right is None else right)
    return rewriter.insert(one_result(llvm.ShuffleVectorOp, operands, result, lanes)).results[0]
