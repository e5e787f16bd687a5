"""Constants of the llvm dialect, as scalars or splat vectors."""

from __future__ import annotations

from functools import lru_cache
from math import copysign

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_making import make
from xrelay.errors import LoweringError


def number_attribute(value: float, type_: Attribute) -> Attribute:
    """Returns `value` as an attribute of scalar or vector `type_`; an index becomes an i64. Results are cached."""
    return _number_attribute(value, copysign(1.0, value), type_)


@lru_cache(maxsize=4096)
def _number_attribute(value: float, _sign: float, type_: Attribute) -> Attribute:
    """Implements `number_attribute`; the sign distinguishes -0.0 from 0.0, which compare equal."""
    if isa(type_, VectorType):
        element = i64 if isinstance(type_.element_type, IndexType) else type_.element_type
        vector = VectorType(element, type_.shape, type_.scalable_dims)
        if isa(vector, VectorType[IntegerType] | VectorType[IndexType]):
            return DenseIntOrFPElementsAttr.from_list(vector, [int(value)])
        if is_attribute(vector, VectorType[AnyFloat]):
            return DenseIntOrFPElementsAttr.from_list(vector, [float(value)])
    if isinstance(type_, IndexType):
        return IntegerAttr(int(value), 64)
    if isa(type_, IntegerType):
        return IntegerAttr(int(value), type_)
    if isa(type_, AnyFloat):
        return FloatAttr(float(value), type_)
    raise LoweringError(f"there are no constants of type {type_}")


def constant(value: float, type_: Attribute) -> llvm.ConstantOp:
    """Returns `llvm.mlir.constant(value) : type_`, a splat for a vector; an index becomes an i64."""
    attribute = number_attribute(value, type_)
    if isinstance(attribute, IntegerAttr):
        result = attribute.type
    else:
        assert isinstance(attribute, DenseIntOrFPElementsAttr | FloatAttr), "number_attribute makes these three kinds"
        result = attribute.get_type()
    return make(llvm.ConstantOp, result_types=(result,), properties={"value": attribute})
