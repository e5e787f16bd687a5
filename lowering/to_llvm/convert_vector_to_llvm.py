"""convert-vector-to-llvm: one-dimensional vectors become LLVM's vectors, accesses to memory through the same addresses.

Accesses claim no more alignment than is certain: what the buffer and the constant part of the index give, else that of
one element. On the CPUs we generate code for an unaligned access that happens to be aligned costs nothing.

Vectors of more dimensions have no counterpart; whoever makes them unrolls them, as `loop` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xrelay.dialects.arith_extras import with_element
from xrelay.dialects.llvm_extras import ExtractElementOp, MaskedLoadOp, MaskedStoreOp, PoisonOp
from xrelay.lowering.to_llvm.addressing import Address, element_address
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.convert_memref_to_llvm import load, store
from xrelay.lowering.to_llvm.one_to_one import OneToOne, call_intrinsic, fast_math
from xrelay.lowering.to_llvm.types import llvm_types, memory_type
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)

CONTIGUOUS = "vectors are loaded and stored along a dimension of stride 1"
ONE_DIMENSION = "only vectors of one dimension can be converted"


class ConvertLoad(ConversionPattern[vector.LoadOp]):
    """`vector.load %m[%i] : memref<64xf32>, vector<16xf32>` → `llvm.load` of a vector."""

    def rewrite(self, op: vector.LoadOp, rewriter: ConversionRewriter) -> str | None:
        """Compute the address and load."""
        address = _vector_address(op.base, op.indices, op.result.type, rewriter)
        if isinstance(address, str):
            return address
        rewriter.replace(op, [load(address, op.result.type, rewriter)])
        return None


class ConvertStore(ConversionPattern[vector.StoreOp]):
    """`vector.store %v, %m[%i] : memref<64xf32>, vector<16xf32>` → `llvm.store` of a vector."""

    def rewrite(self, op: vector.StoreOp, rewriter: ConversionRewriter) -> str | None:
        """Compute the address and store."""
        address = _vector_address(op.base, op.indices, op.vector.type, rewriter)
        if isinstance(address, str):
            return address
        store(op.vector, address, rewriter, nontemporal=op.nontemporal.value.data != 0)
        rewriter.erase(op)
        return None


class ConvertMaskedLoad(ConversionPattern[vector.MaskedLoadOp]):
    """`vector.maskedload %m[%i], %mask, %else` → `llvm.masked.load`; lanes that are off touch no memory."""

    def rewrite(self, op: vector.MaskedLoadOp, rewriter: ConversionRewriter) -> str | None:
        """Compute the address, which may lie outside, and load the lanes that are on."""
        address = _vector_address(op.base, op.indices, op.result.type, rewriter, in_bounds=False)
        if isinstance(address, str):
            return address
        rewriter.replace(op, [_masked_load(address, rewriter.operand(op.mask), op.pass_thru, rewriter)])
        return None


class ConvertMaskedStore(ConversionPattern[vector.MaskedStoreOp]):
    """`vector.maskedstore %m[%i], %mask, %v` → `llvm.masked.store`; lanes that are off touch no memory."""

    def rewrite(self, op: vector.MaskedStoreOp, rewriter: ConversionRewriter) -> str | None:
        """Compute the address, which may lie outside, and store the lanes that are on."""
        address = _vector_address(op.base, op.indices, op.value_to_store.type, rewriter, in_bounds=False)
        if isinstance(address, str):
            return address
        _masked_store(op.value_to_store, address, rewriter.operand(op.mask), rewriter)
        rewriter.erase(op)
        return None


class ConvertTransferRead(ConversionPattern[vector.TransferReadOp]):
    """`vector.transfer_read %m[%i], %pad : memref<60xf32>, vector<16xf32>` → a load, masked unless in bounds."""

    def rewrite(self, op: vector.TransferReadOp, rewriter: ConversionRewriter) -> str | None:
        """Load the lanes inside the memref and the mask; the others get the padding."""
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
        padding = _splat(op.padding, op.result.type, rewriter)
        rewriter.replace(op, [_masked_load(address, mask, padding, rewriter)])
        return None


class ConvertTransferWrite(ConversionPattern[vector.TransferWriteOp]):
    """`vector.transfer_write %v, %m[%i] : vector<16xf32>, memref<60xf32>` → a store, masked unless in bounds."""

    def rewrite(self, op: vector.TransferWriteOp, rewriter: ConversionRewriter) -> str | None:
        """Store the lanes inside the memref and the mask."""
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


class ConvertBroadcast(ConversionPattern[vector.BroadcastOp]):
    """`vector.broadcast %x : f32 to vector<16xf32>` → `insertelement` into lane 0 and a `shufflevector` of zeros."""

    def rewrite(self, op: vector.BroadcastOp, rewriter: ConversionRewriter) -> str | None:
        """Splat the scalar, or lane 0 of a vector of one."""
        type_ = op.vector.type
        if type_.get_num_dims() != 1:
            return ONE_DIMENSION
        source = op.source
        if isinstance(source.type, VectorType):
            if source.type == type_:
                rewriter.replace(op, [source])
                return None
            if source.type.get_shape() != (1,):
                return ONE_DIMENSION
            wide = _shuffle(rewriter.operand(source), [0] * type_.get_shape()[0], rewriter)
            rewriter.replace(op, [wide])
            return None
        rewriter.replace(op, [_splat(source, type_, rewriter)])
        return None


class ConvertShuffle(ConversionPattern[vector.ShuffleOp]):
    """`vector.shuffle %a, %b [0, 8]` → `llvm.shufflevector %a, %b [0, 8]`, widths made equal first."""

    def rewrite(self, op: vector.ShuffleOp, rewriter: ConversionRewriter) -> str | None:
        """Shuffle; `shufflevector` wants two vectors of one type."""
        left, right = rewriter.operands([op.v1, op.v2])
        if _lanes(left.type) is None or _lanes(right.type) is None:
            return ONE_DIMENSION
        n, m = _lanes(left.type) or 0, _lanes(right.type) or 0
        width = max(n, m)
        left, right = (
            side if lanes == width else _shuffle(side, [i if i < lanes else -1 for i in range(width)], rewriter)
            for side, lanes in ((left, n), (right, m))
        )
        mask = [lane if lane < n else lane - n + width for lane in op.mask.iter_values()]
        rewriter.replace(op, [_shuffle(left, mask, rewriter, right)])
        return None


class ConvertExtract(ConversionPattern[vector.ExtractOp]):
    """`vector.extract %v[3] : f32 from vector<16xf32>` → `llvm.extractelement %v[3]`."""

    def rewrite(self, op: vector.ExtractOp, rewriter: ConversionRewriter) -> str | None:
        """Extract one lane."""
        lane = _lane(op.static_position, op.dynamic_position, rewriter)
        if lane is None or isinstance(op.result.type, VectorType):
            return ONE_DIMENSION
        rewriter.replace(op, rewriter.insert(ExtractElementOp(rewriter.operand(op.vector), lane)))
        return None


class ConvertInsert(ConversionPattern[vector.InsertOp]):
    """`vector.insert %x, %v[3] : f32 into vector<16xf32>` → `llvm.insertelement %x, %v[3]`."""

    def rewrite(self, op: vector.InsertOp, rewriter: ConversionRewriter) -> str | None:
        """Insert one lane."""
        lane = _lane(op.static_position, op.dynamic_position, rewriter)
        if lane is None or isinstance(op.source.type, VectorType):
            return ONE_DIMENSION
        new = llvm.InsertElementOp(rewriter.operand(op.dest), rewriter.operand(op.source), lane)
        rewriter.replace(op, rewriter.insert(new))
        return None


class ConvertCreateMask(ConversionPattern[vector.CreateMaskOp]):
    """`vector.create_mask %n : vector<16xi1>` → `[0, 1, …, 15] < splat(%n)`."""

    def rewrite(self, op: vector.CreateMaskOp, rewriter: ConversionRewriter) -> str | None:
        """Compare lane numbers with the bound."""
        type_ = op.mask_vector.type
        if not isa(type_, VectorType) or type_.get_num_dims() != 1:
            return ONE_DIMENSION
        rewriter.replace(op, [_lanes_below(op.mask_dim_sizes[0], type_, rewriter)])
        return None


REDUCTIONS = {
    "add": ("add", "fadd"),
    "mul": ("mul", "fmul"),
    "and": ("and", ""),
    "or": ("or", ""),
    "xor": ("xor", ""),
    "minsi": ("smin", ""),
    "maxsi": ("smax", ""),
    "minui": ("umin", ""),
    "maxui": ("umax", ""),
    "minnumf": ("", "fmin"),
    "maxnumf": ("", "fmax"),
    "minimumf": ("", "fminimum"),
    "maximumf": ("", "fmaximum"),
}
"""Combining kind → the intrinsic `llvm.vector.reduce.…` on integers and on floats."""

COMBINERS = {
    "add": llvm.AddOp,
    "mul": llvm.MulOp,
    "and": llvm.AndOp,
    "or": llvm.OrOp,
    "xor": llvm.XOrOp,
}
"""Combining kind → the op that adds the accumulator to an integer reduction."""


class ConvertReduction(ConversionPattern[vector.ReductionOp]):
    """`vector.reduction <add>, %v, %acc fastmath<reassoc>` → `llvm.vector.reduce.fadd(%acc, %v)`.

    Without `reassoc` floats are added in order, lane after lane, as the op says: slow. Kinds other than add and mul
    reduce the vector first and then combine with the accumulator.
    """

    def rewrite(self, op: vector.ReductionOp, rewriter: ConversionRewriter) -> str | None:
        """Reduce, then combine with the accumulator if there is one."""
        kind = op.kind.data.value
        operand, result = rewriter.operand(op.vector), rewriter.types.convert(op.dest.type)
        if _lanes(operand.type) is None:
            return ONE_DIMENSION
        integer = isinstance(result, IntegerType)
        name = REDUCTIONS[kind][0 if integer else 1]
        if not name:
            return f"{kind} does not reduce {result}"
        flags = fast_math(op)
        acc = None if op.acc is None else rewriter.operand(op.acc)
        operands = [operand]
        if name in ("fadd", "fmul"):
            neutral = -0.0 if name == "fadd" else 1.0
            operands = [acc if acc is not None else rewriter.insert(constant(neutral, result)).result, operand]
            acc = None
        call = call_intrinsic(f"vector.reduce.{name}", operands, result, overloads=[operand.type], fast=flags)
        value = rewriter.insert(call).results[0]
        if acc is not None:
            value = _combine(kind, name, value, acc, flags, rewriter)
        rewriter.replace(op, [value])
        return None


def _combine(
    kind: str, name: str, value: SSAValue, acc: SSAValue, flags: llvm.FastMathAttr, rewriter: ConversionRewriter
) -> SSAValue:
    """The accumulator combined with a reduced vector."""
    combiner = COMBINERS.get(kind)
    if combiner is not None:
        return rewriter.insert(combiner(value, acc)).results[0]
    scalar = {"fmin": "minnum", "fmax": "maxnum", "fminimum": "minimum", "fmaximum": "maximum"}.get(name, name)
    return rewriter.insert(
        call_intrinsic(scalar, [value, acc], value.type, overloads=[value.type], fast=flags)
    ).results[0]


def _vector_address(
    base: SSAValue,
    indices: Sequence[SSAValue],
    type_: Attribute,
    rewriter: ConversionRewriter,
    *,
    in_bounds: bool = True,
) -> Address | str:
    """The address of a vector of `type_` that begins at `base[indices]`."""
    if _lanes(type_) is None:
        return ONE_DIMENSION
    assert isa(base.type, MemRefType), "the op's definition says that this is a memref"
    strides = base.type.get_strides()
    if strides and strides[-1] != 1:
        return CONTIGUOUS
    return element_address(base, indices, rewriter, in_bounds=in_bounds)


def _masked_load(address: Address, mask: SSAValue, otherwise: SSAValue, rewriter: ConversionRewriter) -> SSAValue:
    """The lanes that `mask` has on from memory, the others from `otherwise`; booleans lie in memory as bytes."""
    fallback = rewriter.operand(otherwise)
    type_, stored = fallback.type, memory_type(fallback.type)
    if stored != type_:
        fallback = rewriter.insert(llvm.ZExtOp(fallback, stored)).res
    loaded = rewriter.insert(MaskedLoadOp(address.pointer, mask, fallback, address.alignment)).res
    return loaded if stored == type_ else rewriter.insert(llvm.TruncOp(loaded, type_)).res


def _masked_store(value: SSAValue, address: Address, mask: SSAValue, rewriter: ConversionRewriter) -> None:
    """Store the lanes that `mask` has on; booleans lie in memory as bytes."""
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
    """The lanes a transfer touches: None for all, or why it cannot be converted."""
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
    inside = _lanes_below(left, with_element(type_, i1), rewriter)
    return inside if lanes is None else rewriter.insert(llvm.AndOp(inside, lanes)).res


def _lanes_below(bound: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """The mask whose lane k is `k < bound`, signed."""
    lanes = _lanes(type_)
    assert lanes is not None, "masks have one dimension"
    numbers = VectorType(i64, [lanes])
    steps = rewriter.insert(
        llvm.ConstantOp(DenseIntOrFPElementsAttr.from_list(numbers, list(range(lanes))), numbers)
    ).result
    limit = _splat(bound, numbers, rewriter)
    return rewriter.insert(llvm.ICmpOp(steps, limit, IntegerAttr(llvm.ICmpPredicateFlag.SLT.to_int(), i64))).res


def _splat(scalar: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """A vector of `type_` with `scalar` in every lane."""
    wide = rewriter.types.convert(type_)
    lanes = _lanes(wide)
    assert lanes is not None, "checked by the caller"
    nothing = rewriter.insert(PoisonOp(wide)).res
    zero = rewriter.insert(constant(0, i64)).result
    first = rewriter.insert(llvm.InsertElementOp(nothing, rewriter.operand(scalar), zero)).res
    return _shuffle(first, [0] * lanes, rewriter, nothing)


def _shuffle(
    left: SSAValue, mask: Sequence[int], rewriter: ConversionRewriter, right: SSAValue | None = None
) -> SSAValue:
    assert isa(left.type, VectorType), "vectors are shuffled"
    result = VectorType(left.type.element_type, [len(mask)])
    second = left if right is None else right
    return rewriter.insert(llvm.ShuffleVectorOp(left, second, DenseArrayBase.from_list(i32, mask), result)).res


def _lane(
    static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue], rewriter: ConversionRewriter
) -> SSAValue | None:
    """The one position of an extract or insert, as a value; None for more or fewer than one."""
    if len(static) != 1:
        return None
    (number,) = static.iter_values()
    if number == DYNAMIC_INDEX:
        return rewriter.operand(dynamic[0])
    return rewriter.insert(constant(number, i64)).result


def _lanes(type_: Attribute) -> int | None:
    """The number of lanes of a vector of one dimension; None for any other type."""
    if not isa(type_, VectorType) or type_.get_num_dims() != 1 or type_.get_num_scalable_dims():
        return None
    return type_.get_shape()[0]


def _fma(_: Operation, operands: Sequence[SSAValue], __: Attribute) -> Operation:
    return llvm.FMAOp(operands[0], operands[1], operands[2])


PATTERNS: tuple[AnyPattern, ...] = (
    ConvertLoad(),
    ConvertStore(),
    ConvertMaskedLoad(),
    ConvertMaskedStore(),
    ConvertTransferRead(),
    ConvertTransferWrite(),
    ConvertBroadcast(),
    ConvertShuffle(),
    ConvertExtract(),
    ConvertInsert(),
    ConvertCreateMask(),
    ConvertReduction(),
    OneToOne(vector.FMAOp, _fma),
    OneToOne(vector.BitcastOp, lambda _, operands, type_: llvm.BitcastOp(operands[0], type_)),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertVectorToLLVMPass(ModulePass):
    """Convert vectors of one dimension to the llvm dialect.

    Refuses vectors of several dimensions, accesses along a stride other than 1, transfers with a permutation.
    """

    name = "convert-vector-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert every vector op in the module."""
        apply_conversion(op, PATTERNS, is_legal=legal_outside("vector"), types=llvm_types())
