"""Types, constants and loop annotations as LLVM IR text.

Constants are exact: floats without an exact short decimal are written in hexadecimal. A loop annotation is one distinct
node of metadata per loop, with shared options.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import Final

from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.shared.dense_elements import is_uniform
from xrelay.dialects.upstream.llvm_extras import LLVMX86AMXType, LoopAnnotationAttr
from xrelay.errors import LoweringError

FLOATS: dict[type[Attribute], str] = {
    Float16Type: "half",
    BFloat16Type: "bfloat",
    Float32Type: "float",
    Float64Type: "double",
    Float80Type: "x86_fp80",
    Float128Type: "fp128",
}


class TypeTexts:
    """Type → text, computed once for each object."""

    def __init__(self):
        self._known: dict[int, tuple[Attribute, str]] = {}
        """Keyed by identity, which is cheaper than hashing a type; the stored type keeps its identity unique."""

    def __call__(self, type_: Attribute) -> str:
        """Returns the text of `type_`; raises `LoweringError` for a type that LLVM does not have."""
        known = self._known.get(id(type_))
        if known is None:
            known = self._known[id(type_)] = type_, self._write(type_)
        return known[1]

    def _write(self, type_: Attribute) -> str:
        if type(type_) in FLOATS:
            return FLOATS[type(type_)]
        if isinstance(type_, IntegerType):
            return f"i{type_.width.data}"
        if isinstance(type_, LLVMPointerType):
            return f"ptr addrspace({type_.addr_space.data})" if isinstance(type_.addr_space, IntAttr) else "ptr"
        if isinstance(type_, LLVMVoidType):
            return "void"
        if isinstance(type_, LLVMX86AMXType):
            return "x86_amx"
        if isa(type_, VectorType) and type_.get_num_dims() == 1:
            count = f"{type_.get_shape()[0]} x {self(type_.element_type)}"
            return f"<vscale x {count}>" if type_.get_num_scalable_dims() else f"<{count}>"
        if isinstance(type_, LLVMArrayType):
            return f"[{type_.size.data} x {self(type_.type)}]"
        if isinstance(type_, LLVMStructType):
            return "{ " + ", ".join(self(member) for member in type_.types) + " }"
        if isinstance(type_, LLVMFunctionType):
            return f"{self(type_.output)} ({self.arguments(type_)})"
        raise LoweringError(f"{type_} is no type of LLVM", help="convert the ops that use it to the llvm dialect first")

    def arguments(self, type_: LLVMFunctionType) -> str:
        """Returns the argument types of a function, separated by commas."""
        texts = [self(argument) for argument in type_.inputs]
        return ", ".join([*texts, "..."] if type_.is_variadic else texts)


# --- constants


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
        self._known: dict[tuple[int, int], tuple[Attribute, Attribute, str]] = {}
        """Keyed by identity, as in `TypeTexts`."""

    def __call__(self, value: Attribute, type_: Attribute) -> str:
        """Returns the text of `value` as a constant of `type_`, without the type."""
        key = id(value), id(type_)
        if key not in self._known:
            self._known[key] = value, type_, self._write(value, type_)
        return self._known[key][2]

    def _write(self, value: Attribute, type_: Attribute) -> str:
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
        if (len(numbers) == 1 and count > 1) or (len(numbers) > 1 and is_uniform(value)):
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


# --- metadata

FLAGS: dict[str, tuple[str, str]] = {
    "disableNonforced": ('!"llvm.disable_nonforced"', ""),
    "mustProgress": ('!"llvm.loop.mustprogress"', ""),
    "isVectorized": ('!"llvm.loop.isvectorized", i32 1', '!"llvm.loop.isvectorized", i32 0'),
    "unroll.full": ('!"llvm.loop.unroll.full"', ""),
    "unroll.disable": ('!"llvm.loop.unroll.disable"', '!"llvm.loop.unroll.enable"'),
    "unroll.runtimeDisable": ('!"llvm.loop.unroll.runtime.disable"', ""),
    "unrollAndJam.disable": ('!"llvm.loop.unroll_and_jam.disable"', '!"llvm.loop.unroll_and_jam.enable"'),
    "distribute.disable": ('!"llvm.loop.distribute.enable", i1 false', '!"llvm.loop.distribute.enable", i1 true'),
    "vectorize.disable": ('!"llvm.loop.vectorize.enable", i1 false', '!"llvm.loop.vectorize.enable", i1 true'),
    "vectorize.predicateEnable": (
        '!"llvm.loop.vectorize.predicate.enable", i1 true',
        '!"llvm.loop.vectorize.predicate.enable", i1 false',
    ),
    "vectorize.scalableEnable": (
        '!"llvm.loop.vectorize.scalable.enable", i1 true',
        '!"llvm.loop.vectorize.scalable.enable", i1 false',
    ),
}
"""Flag → its metadata if true and if false; empty for no metadata."""

COUNTS: dict[str, str] = {
    "unroll.count": "llvm.loop.unroll.count",
    "unrollAndJam.count": "llvm.loop.unroll_and_jam.count",
    "interleave.count": "llvm.loop.interleave.count",
    "vectorize.width": "llvm.loop.vectorize.width",
}
"""Count → the metadata that contains it."""


class Metadata:
    """The numbered metadata nodes of a module."""

    def __init__(self):
        self._lines: list[str] = []
        self._options: dict[str, int] = {}

    def loop(self, annotation: LoopAnnotationAttr) -> str:
        """Adds a node for a loop with these options; returns its reference, as `!3`."""
        options = [f"!{self._option(text)}" for text in _option_texts(annotation)]
        number = len(self._lines)
        self._lines.append(f"!{number} = distinct !{{{', '.join([f'!{number}', *options])}}}")
        return f"!{number}"

    def nontemporal(self) -> str:
        """Returns the node that marks nontemporal stores."""
        return f"!{self._option('i32 1')}"

    def _option(self, text: str) -> int:
        if text not in self._options:
            self._options[text] = len(self._lines)
            self._lines.append(f"!{len(self._lines)} = !{{{text}}}")
        return self._options[text]

    def text(self) -> str:
        """Returns all nodes, one per line."""
        return "".join(line + "\n" for line in self._lines)


@lru_cache(maxsize=256)
def _option_texts(annotation: LoopAnnotationAttr) -> tuple[str, ...]:
    flat: dict[str, Attribute] = {}
    for key, value in annotation.options.data.items():
        if isinstance(value, DictionaryAttr):
            flat.update({f"{key}.{name}": option for name, option in value.data.items()})
        else:
            flat[key] = value
    texts: list[str] = []
    for name, option in flat.items():
        assert isa(option, IntegerAttr), "the attribute's verifier has checked this"
        number = option.value.data
        if name in COUNTS:
            texts.append(f'!"{COUNTS[name]}", i32 {number}')
        elif text := FLAGS[name][0 if number else 1]:
            texts.append(text)
    return tuple(texts)
