"""Loads and stores of vectors, for `convert-vector-to-llvm`.

Accesses have only the guaranteed alignment: that of the buffer and the constant part of the index, or else of one
element. On the CPUs we generate code for, an unaligned access to an aligned address costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, IndexType, MemRefType, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.arith_extras import with_element
from xrelay.dialects.upstream.llvm_extras import MaskedLoadOp, MaskedStoreOp
from xrelay.lowering.to_llvm.addressing import Address, element_address
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.convert_memref_to_llvm import load, store
from xrelay.lowering.to_llvm.types import memory_type
from xrelay.lowering.to_llvm.vector_lanes import ONE_DIMENSION, lane_count, lanes_below, splat
from xrelay.passes.infra.conversion import AnyPattern, ConversionPattern, ConversionRewriter

CONTIGUOUS = "vectors are loaded and stored along a dimension of stride 1"


class ConvertLoad(ConversionPattern[vector.LoadOp]):
    """`vector.load %m[%i] : memref<64xf32>, vector<16xf32>` → `llvm.load` of a vector."""

    def rewrite(self, op: vector.LoadOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and loads."""
        address = _vector_address(op.base, op.indices, op.result.type, rewriter)
        if isinstance(address, str):
            return address
        rewriter.replace(op, [load(address, op.result.type, rewriter)])
        return None


class ConvertStore(ConversionPattern[vector.StoreOp]):
    """`vector.store %v, %m[%i] : memref<64xf32>, vector<16xf32>` → `llvm.store` of a vector."""

    def rewrite(self, op: vector.StoreOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and stores."""
        address = _vector_address(op.base, op.indices, op.vector.type, rewriter)
        if isinstance(address, str):
            return address
        store(op.vector, address, rewriter, nontemporal=op.nontemporal.value.data != 0)
        rewriter.erase(op)
        return None


class ConvertMaskedLoad(ConversionPattern[vector.MaskedLoadOp]):
    """`vector.maskedload %m[%i], %mask, %else` → `llvm.masked.load`; masked-off lanes touch no memory."""

    def rewrite(self, op: vector.MaskedLoadOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address, which may be out of bounds, and loads the active lanes."""
        address = _vector_address(op.base, op.indices, op.result.type, rewriter, in_bounds=False)
        if isinstance(address, str):
            return address
        rewriter.replace(op, [_masked_load(address, rewriter.operand(op.mask), op.pass_thru, rewriter)])
        return None


class ConvertMaskedStore(ConversionPattern[vector.MaskedStoreOp]):
    """`vector.maskedstore %m[%i], %mask, %v` → `llvm.masked.store`; masked-off lanes touch no memory."""

    def rewrite(self, op: vector.MaskedStoreOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address, which may be out of bounds, and stores the active lanes."""
        address = _vector_address(op.base, op.indices, op.value_to_store.type, rewriter, in_bounds=False)
        if isinstance(address, str):
            return address
        _masked_store(op.value_to_store, address, rewriter.operand(op.mask), rewriter)
        rewriter.erase(op)
        return None


class ConvertTransferRead(ConversionPattern[vector.TransferReadOp]):
    """`vector.transfer_read %m[%i], %pad : memref<60xf32>, vector<16xf32>` → a load, masked unless in bounds."""

    def rewrite(self, op: vector.TransferReadOp, rewriter: ConversionRewriter) -> str | None:
        """Loads the lanes inside the memref and the mask; the others get the padding."""
        if not isa(op.source.type, MemRefType):
            return "only memrefs are read"
        type_ = op.result.type
        assert isa(type_, VectorType), "the op reads a vector"
        mask = _transfer_mask(op, op.source.type, type_, op.mask, rewriter)
        if isinstance(mask, str):
            return mask
        address = _vector_address(op.source, op.indices, op.result.type, rewriter, in_bounds=mask is None)
        if isinstance(address, str):
            return address
        if mask is None:
            rewriter.replace(op, [load(address, op.result.type, rewriter)])
            return None
        padding = splat(op.padding, op.result.type, rewriter)
        rewriter.replace(op, [_masked_load(address, mask, padding, rewriter)])
        return None


class ConvertTransferWrite(ConversionPattern[vector.TransferWriteOp]):
    """`vector.transfer_write %v, %m[%i] : vector<16xf32>, memref<60xf32>` → a store, masked unless in bounds."""

    def rewrite(self, op: vector.TransferWriteOp, rewriter: ConversionRewriter) -> str | None:
        """Stores the lanes inside the memref and the mask."""
        if not isa(op.source.type, MemRefType):
            return "only memrefs are written"
        type_ = op.vector.type
        assert isa(type_, VectorType), "the op writes a vector"
        mask = _transfer_mask(op, op.source.type, type_, op.mask, rewriter)
        if isinstance(mask, str):
            return mask
        address = _vector_address(op.source, op.indices, op.vector.type, rewriter, in_bounds=mask is None)
        if isinstance(address, str):
            return address
        if mask is None:
            store(op.vector, address, rewriter)
        else:
            _masked_store(op.vector, address, mask, rewriter)
        rewriter.erase(op)
        return None


def _vector_address(
    base: SSAValue,
    indices: Sequence[SSAValue],
    type_: Attribute,
    rewriter: ConversionRewriter,
    *,
    in_bounds: bool = True,
) -> Address | str:
    """Returns the address of a vector of `type_` that begins at `base[indices]`."""
    if lane_count(type_) is None:
        return ONE_DIMENSION
    assert isa(base.type, MemRefType), "the op's definition says that this is a memref"
    strides = base.type.get_strides()
    if strides and strides[-1] != 1:
        return CONTIGUOUS
    return element_address(base, indices, rewriter, in_bounds=in_bounds)


def _masked_load(address: Address, mask: SSAValue, otherwise: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """Loads the lanes in `mask`, and takes the others from `otherwise`; booleans are bytes in memory."""
    fallback = rewriter.operand(otherwise)
    type_, stored = fallback.type, memory_type(fallback.type)
    if stored != type_:
        fallback = rewriter.insert(llvm.ZExtOp(fallback, stored)).res
    loaded = rewriter.insert(MaskedLoadOp(address.pointer, mask, fallback, address.alignment)).res
    return loaded if stored == type_ else rewriter.insert(llvm.TruncOp(loaded, type_)).res


def _masked_store(value: SSAValue, address: Address, mask: SSAValue, rewriter: ConversionRewriter) -> None:
    """Stores the lanes in `mask`; booleans are bytes in memory."""
    converted = rewriter.operand(value)
    stored = memory_type(converted.type)
    if stored != converted.type:
        converted = rewriter.insert(llvm.ZExtOp(converted, stored)).res
    rewriter.insert(MaskedStoreOp(converted, address.pointer, mask, address.alignment))


def _transfer_mask(
    op: vector.TransferReadOp | vector.TransferWriteOp,
    memory: MemRefType[Attribute],
    type_: VectorType[Attribute],
    mask: SSAValue | None,
    rewriter: ConversionRewriter,
) -> SSAValue | str | None:
    """Returns the mask of a transfer: None for all lanes, or the reason why it cannot be converted."""
    if type_.get_num_dims() != 1 or memory.get_num_dims() == 0:
        return ONE_DIMENSION
    if not op.permutation_map.data.is_minor_identity():
        return "only transfers along the last dimension can be converted"
    lanes = None if mask is None else rewriter.operand(mask)
    if all(isa(flag, BoolAttr) and flag.value.data != 0 for flag in op.in_bounds):
        return lanes
    extent = memory.get_shape()[-1]
    if extent == DYNAMIC_INDEX:
        return f"the size of {memory} along the transfer is not known when compiling"
    size = rewriter.insert(constant(extent, IndexType())).result
    left = rewriter.insert(llvm.SubOp(size, rewriter.operand(op.indices[-1]))).res
    inside = lanes_below(left, with_element(type_, i1), rewriter)
    return inside if lanes is None else rewriter.insert(llvm.AndOp(inside, lanes)).res


MEMORY_PATTERNS: tuple[AnyPattern, ...] = (
    ConvertLoad(),
    ConvertStore(),
    ConvertMaskedLoad(),
    ConvertMaskedStore(),
    ConvertTransferRead(),
    ConvertTransferWrite(),
)
"""The patterns of `convert-vector-to-llvm` that access memory."""
