"""Constants as exact LLVM IR text: floats without an exact short decimal are written in hexadecimal."""

from __future__ import annotations

import math
import struct
from typing import Final

from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.errors import LoweringError
from xrelay.lowering.emit_llvm.types import TypeTexts


def float_text(value: float, type_: Attribute) -> str:
    """Returns `value`, rounded to `type_`, in a form that LLVM reads without loss; supports infinities and NaNs."""
    if isinstance(type_, Float16Type):
        return f"0xH{_bits(value, 'e'):04X}"
    if isinstance(type_, BFloat16Type):
        return f"0xR{_bfloat_bits(value):04X}"
    if isinstance(type_, Float32Type):
        (value,) = struct.unpack("<f", struct.pack("<I", _bits(value, "f")))
    elif not isinstance(type_, Float64Type):
        raise LoweringError(f"constants of type {type_} cannot be written")
    decimal = f"{value:e}"
    if math.isfinite(value) and float(decimal) == value:
        return decimal
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


_INTEGERS: Final = {"e": "<H", "f": "<I"}
"""Format of a float in `struct` → format of the unsigned integer of the same size."""


def _bits(value: float, code: str) -> int:
    """Returns the bits of `value` as a float of `struct`, rounded to nearest even; overflow gives infinity."""
    try:
        data = struct.pack("<" + code, value)
    except OverflowError:
        data = struct.pack("<" + code, math.copysign(math.inf, value))
    (bits,) = struct.unpack(_INTEGERS[code], data)
    return bits


def _bfloat_bits(value: float) -> int:
    """Returns the bits of `value` rounded to bfloat16, to nearest even."""
    bits = _bits(value, "f")
    if math.isnan(value):
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def integer_text(value: int, type_: IntegerType) -> str:
    """Returns `value` as an integer constant; an i1 as `true` or `false`."""
    if type_.width.data == 1:
        return "true" if value else "false"
    return str(value)


class ConstantTexts:
    """Converts the values of `llvm.mlir.constant` and `llvm.mlir.global` to text."""

    def __init__(self, types: TypeTexts):
        self._types = types

    def __call__(self, value: Attribute, type_: Attribute) -> str:
        """Returns the text of `value` as a constant of `type_`, without the type."""
        if isinstance(value, IntegerAttr):
            return self._number(value.value.data, type_)
        if isinstance(value, FloatAttr):
            return float_text(value.value.data, type_)
        if isinstance(value, StringAttr):
            return _string_text(value.data.encode())
        if isinstance(value, DenseIntOrFPElementsAttr) and (isinstance(type_, LLVMArrayType) or isa(type_, VectorType)):
            return self._elements(value, type_)
        raise LoweringError(f"{value} cannot be written as a constant of type {type_}")

    def _number(self, value: float, type_: Attribute) -> str:
        if isinstance(type_, IntegerType):
            return integer_text(int(value), type_)
        return float_text(value, type_)

    def _elements(self, value: DenseIntOrFPElementsAttr, type_: LLVMArrayType | VectorType[Attribute]) -> str:
        if not any(byte for byte in _raw_bytes(value)):
            return "zeroinitializer"
        element = type_.element_type if isinstance(type_, VectorType) else type_.type
        count = type_.get_shape()[0] if isinstance(type_, VectorType) else type_.size.data
        numbers = [number for number in value.iter_values() if isinstance(number, int | float)]
        if (len(numbers) == 1 and count > 1) or (len(numbers) > 1 and value.is_splat()):
            if isinstance(type_, VectorType):
                return f"splat ({self._types(element)} {self._number(numbers[0], element)})"
            numbers = numbers[:1] * count
        prefix = self._types(element)
        text = ", ".join(f"{prefix} {self._number(number, element)}" for number in numbers)
        return f"<{text}>" if isinstance(type_, VectorType) else f"[{text}]"


def _raw_bytes(value: DenseIntOrFPElementsAttr) -> bytes:
    data = value.data
    assert isinstance(data, BytesAttr), "elements are stored as bytes"
    return data.data


def _string_text(data: bytes) -> str:
    shown = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data)
    return f'c"{shown}"'
