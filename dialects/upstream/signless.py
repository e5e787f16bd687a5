"""Signless integers, which arith and MLIR compute with.

Relay's unsigned tensors keep their type as tensors and buffers down to the loop level, because interfaces and
interpreters need the signedness. A scalar that is read from such a tensor is signless, and ops specify the signedness
(`arith.divui`, `arith.extui`): at the topi and loop levels, `read` and `load` return the signless type of an element,
and `yield` and `store` take it. From scf on, buffers are signless too.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from xrelay.dialects.shared.op_lists import all_ops, defined_values
from xrelay.dialects.shared.types import function_type

Number: TypeAlias = FloatAttr[AnyFloat] | IntegerAttr[IntegerType | IndexType]


def signless(type_: Attribute) -> Attribute:
    """The type of a scalar of an element type: signless for integers, any other type unchanged."""
    if type(type_) is IntegerType and type_.signedness.data != Signedness.SIGNLESS:
        return IntegerType(type_.width.data)
    return type_


def signless_number(number: Number) -> Number:
    """An integer as a signless integer with the same bits; other numbers unchanged."""
    if isinstance(number.type, IntegerType) and number.type.signedness.data != Signedness.SIGNLESS:
        value = number.value.data
        return IntegerAttr(int(value), IntegerType(number.type.width.data), truncate_bits=True)
    return number


def make_scalars_signless(top: Operation) -> None:
    """Makes the types of all scalars in `top` signless, including constants and block arguments.

    Bitcasts that only changed the signedness are erased.
    """
    for op in all_ops(top):
        if isinstance(op, arith.ConstantOp) and isa(op.value, IntegerAttr):
            op.value = signless_number(op.value)
        for scalar in defined_values(op):
            _retype(scalar, signless(scalar.type))
        if isinstance(op, arith.BitcastOp) and op.input.type == op.result.type:
            op.result.replace_all_uses_with(op.input)
            op.detach()
            op.erase()


def make_buffers_signless(function: FuncOp) -> None:
    """Makes the types of all buffers of a function signless, including those in its signature."""
    for op in all_ops(function):
        for value in defined_values(op):
            if type(value.type) is MemRefType:
                _retype(value, _signless_buffer(value.type))
    inputs, outputs = function.function_type.inputs, function.function_type.outputs
    function.function_type = function_type(list(map(_signless_buffer, inputs)), list(map(_signless_buffer, outputs)))


def _signless_buffer(type_: Attribute) -> Attribute:
    if isinstance(type_, MemRefType) and (element := signless(type_.element_type)) is not type_.element_type:
        return MemRefType(element, type_.shape, type_.layout, type_.memory_space)
    return type_


def _retype(value: SSAValue, type_: Attribute) -> None:
    if value.type != type_:
        Rewriter.replace_value_with_new_type(value, type_)
