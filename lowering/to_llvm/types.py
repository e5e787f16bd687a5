"""Converts types of the scf level to types of the llvm level.

- `index` is `i64`, also inside vectors.
- `bf16` is `i16`: computations on it have become integer arithmetic, and LLVM would convert a `bfloat` to f32 and back
  even if it is only moved.
- A memref is the bare pointer to its element (0, …, 0). The pointer includes the offset of a strided layout, and the
  type contains the strides. A memref with a stride that depends on a `?` size has no such representation.
- A function as a value is a pointer.
- A tile is `!llvm.x86_amx`, whatever its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    FunctionType,
    IndexType,
    MemRefType,
    VectorType,
    bf16,
    i1,
    i8,
    i16,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.amx import TileType
from xrelay.dialects.upstream.llvm_extras import LLVMX86AMXType
from xrelay.errors import LoweringError
from xrelay.passes.infra.conversion import TypeConverter

PTR = LLVMPointerType()
BUFFER_ALIGNMENT = 64
"""The alignment in bytes of buffers that the compiler places: a cache line, and the widest vector."""


_SCALARS: Mapping[Attribute, Attribute] = {IndexType(): i64, bf16: i16}
"""Maps number types without a safe counterpart to their replacements."""


def to_llvm_type(type_: Attribute) -> Attribute | None:
    """Returns the converted type; None for a type that stays."""
    if (scalar := _SCALARS.get(type_)) is not None:
        return scalar
    if isa(type_, VectorType) and (scalar := _SCALARS.get(type_.element_type)) is not None:
        return VectorType(scalar, type_.shape, type_.scalable_dims)
    if isinstance(type_, MemRefType | FunctionType):
        return PTR
    if isinstance(type_, TileType):
        return LLVMX86AMXType()
    return None


_CONVERTER = TypeConverter(to_llvm_type)


def llvm_types() -> TypeConverter:
    """Returns the cached converter to the types of the llvm dialect."""
    return _CONVERTER


@lru_cache(maxsize=1024)
def memory_type(type_: Attribute) -> Attribute:
    """Returns the type of a value in memory: `i1` is a byte of 0 or 1, other types as converted."""
    if isa(type_, VectorType):
        return VectorType(memory_type(type_.element_type), type_.shape, type_.scalable_dims)
    if type_ == i1:
        return i8
    return _SCALARS.get(type_, type_)


@lru_cache(maxsize=1024)
def byte_size(type_: Attribute) -> int:
    """Returns the size of a value of `type_` in memory in bytes; raises `LoweringError` for a type without a size."""
    stored = memory_type(type_)
    if isa(stored, VectorType):
        count = 1
        for extent in stored.get_shape():
            count *= extent
        return count * byte_size(stored.element_type)
    if isinstance(stored, FixedBitwidthType):
        return max(1, (stored.bitwidth + 7) // 8)
    raise LoweringError(f"values of type {type_} have no size in memory")


@lru_cache(maxsize=1024)
def scalar_alignment(type_: Attribute) -> int:
    """Returns the alignment in bytes of every pointer to a value of `type_`: the size of its scalar element."""
    return byte_size(type_.element_type if isa(type_, VectorType) else type_)


@lru_cache(maxsize=1024)
def static_strides(type_: MemRefType[Attribute]) -> tuple[int, ...] | None:
    """Returns the strides of a memref in elements, or None if they are not all static."""
    strides = type_.get_strides()
    if strides is None or any(stride is None or stride == DYNAMIC_INDEX for stride in strides):
        return None
    return tuple(stride for stride in strides if stride is not None)


def element_count(type_: MemRefType[Attribute]) -> int | None:
    """Returns the number of elements of a memref, or None if it is not static."""
    count = 1
    for extent in type_.get_shape():
        if extent == DYNAMIC_INDEX:
            return None
        count *= extent
    return count


def is_contiguous(type_: MemRefType[Attribute]) -> bool:
    """Whether the elements of a memref are contiguous in row-major order."""
    strides, shape = static_strides(type_), type_.get_shape()
    if strides is None:
        return False
    expected = 1
    for stride, extent in zip(reversed(strides), reversed(shape), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def storage_type(type_: MemRefType[Attribute], count: int) -> LLVMArrayType:
    """Returns the array type that holds `count` elements of a memref of type `type_`."""
    return LLVMArrayType(count, memory_type(type_.element_type))


def lane_count(type_: Attribute) -> int | None:
    """Returns the number of lanes of a one-dimensional vector; None for any other type."""
    if not isa(type_, VectorType) or type_.get_num_dims() != 1 or type_.get_num_scalable_dims():
        return None
    return type_.get_shape()[0]
