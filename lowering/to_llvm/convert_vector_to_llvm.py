"""convert-vector-to-llvm: one-dimensional vectors become LLVM's vectors.

Vectors of more dimensions have no counterpart; they must be unrolled before, as the loop level does.

Accesses have only the guaranteed alignment: that of the buffer and the constant part of the index, or else of one
element. On the supported CPUs, an instruction for unaligned accesses is as fast at an aligned address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.llvm_extras import ExtractElementOp, MaskedLoadOp, MaskedStoreOp, PoisonOp
from xrelay.lowering.to_llvm.addressing import Address, element_address
from xrelay.lowering.to_llvm.convert_memref_to_llvm import load, store
from xrelay.lowering.to_llvm.ops import OneToOne, call_intrinsic, compare, constant, indices, one_result
from xrelay.lowering.to_llvm.types import lane_count, llvm_types, memory_type
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

ONE_DIMENSION = "only vectors of one dimension can be converted"
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
    assert isa(base.type, MemRefType), "the op's definition requires a memref"
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


class ConvertBroadcast(ConversionPattern[vector.BroadcastOp]):
    """`vector.broadcast %x : f32 to vector<16xf32>` → `insertelement` into lane 0 and a `shufflevector` of zeros."""

    def rewrite(self, op: vector.BroadcastOp, rewriter: ConversionRewriter) -> str | None:
        """Broadcasts the scalar, or lane 0 of a vector of one lane."""
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
    """`vector.shuffle %a, %b [0, 8]` → `llvm.shufflevector %a, %b [0, 8]`."""

    def rewrite(self, op: vector.ShuffleOp, rewriter: ConversionRewriter) -> str | None:
        """Shuffles; `shufflevector` requires two vectors of one type."""
        left, right = rewriter.operands([op.v1, op.v2])
        if lane_count(left.type) is None or left.type != right.type:
            return "only one-dimensional vectors of one type are shuffled"
        rewriter.replace(op, [_shuffle(left, list(op.mask.iter_values()), rewriter, right)])
        return None


class ConvertExtract(ConversionPattern[vector.ExtractOp]):
    """`vector.extract %v[3] : f32 from vector<16xf32>` → `llvm.extractelement %v[3]`."""

    def rewrite(self, op: vector.ExtractOp, rewriter: ConversionRewriter) -> str | None:
        """Extracts one lane."""
        lane = _lane(op.static_position, op.dynamic_position, rewriter)
        if lane is None or isinstance(op.result.type, VectorType):
            return ONE_DIMENSION
        rewriter.replace(op, rewriter.insert(ExtractElementOp(rewriter.operand(op.vector), lane)))
        return None


class ConvertInsert(ConversionPattern[vector.InsertOp]):
    """`vector.insert %x, %v[3] : f32 into vector<16xf32>` → `llvm.insertelement %x, %v[3]`."""

    def rewrite(self, op: vector.InsertOp, rewriter: ConversionRewriter) -> str | None:
        """Inserts one lane."""
        lane = _lane(op.static_position, op.dynamic_position, rewriter)
        if lane is None or isinstance(op.source.type, VectorType):
            return ONE_DIMENSION
        new = llvm.InsertElementOp(rewriter.operand(op.dest), rewriter.operand(op.source), lane)
        rewriter.replace(op, rewriter.insert(new))
        return None


class ConvertCreateMask(ConversionPattern[vector.CreateMaskOp]):
    """`vector.create_mask %n : vector<16xi1>` → `[0, 1, …, 15] < splat(%n)`."""

    def rewrite(self, op: vector.CreateMaskOp, rewriter: ConversionRewriter) -> str | None:
        """Compares lane numbers with the bound."""
        type_ = op.mask_vector.type
        if not isa(type_, VectorType) or type_.get_num_dims() != 1:
            return ONE_DIMENSION
        rewriter.replace(op, [_lanes_below(op.mask_dim_sizes[0], type_, rewriter)])
        return None


REDUCTIONS = {
    "add": "add",
    "mul": "mul",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "minsi": "smin",
    "maxsi": "smax",
    "minui": "umin",
    "maxui": "umax",
}
"""Maps a combining kind to the intrinsic `llvm.vector.reduce.…`."""


class ConvertReduction(ConversionPattern[vector.ReductionOp]):
    """`vector.reduction <minui>, %v` → `llvm.vector.reduce.umin(%v)`, of integers."""

    def rewrite(self, op: vector.ReductionOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the intrinsic."""
        operand, result = rewriter.operand(op.vector), rewriter.types.convert(op.dest.type)
        if lane_count(operand.type) is None:
            return ONE_DIMENSION
        if op.acc is not None or not isinstance(result, IntegerType) or op.kind.data.value not in REDUCTIONS:
            return "only integers are reduced, without an accumulator"
        name = f"vector.reduce.{REDUCTIONS[op.kind.data.value]}"
        rewriter.replace(op, rewriter.insert(call_intrinsic(name, [operand], result, overloads=[operand.type])))
        return None


def _lane(
    static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue], rewriter: ConversionRewriter
) -> SSAValue | None:
    """Returns the position of an extract or insert as a value; None unless there is exactly one."""
    if len(static) != 1:
        return None
    (number,) = static.iter_values()
    if number == DYNAMIC_INDEX:
        return rewriter.operand(dynamic[0])
    return rewriter.insert(constant(number, i64)).result


def _lanes_below(bound: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """Returns the mask whose lane k is `k < bound`, signed."""
    lanes = lane_count(type_)
    assert lanes is not None, "masks have one dimension"
    numbers = VectorType(i64, [lanes])
    ascending = DenseIntOrFPElementsAttr.from_list(numbers, list(range(lanes)))
    steps = rewriter.insert(one_result(llvm.ConstantOp, (), numbers, {"value": ascending})).results[0]
    limit = _splat(bound, numbers, rewriter)
    return rewriter.insert(compare("slt", steps, limit)).results[0]


def _splat(scalar: SSAValue, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """Returns a vector of `type_` with `scalar` in every lane."""
    wide = rewriter.types.convert(type_)
    lanes = lane_count(wide)
    assert lanes is not None, "checked by the caller"
    nothing = rewriter.insert(one_result(PoisonOp, (), wide)).results[0]
    zero = rewriter.insert(constant(0, i64)).results[0]
    first = rewriter.insert(one_result(llvm.InsertElementOp, (nothing, rewriter.operand(scalar), zero), wide)).results[
        0
    ]
    return _shuffle(first, [0] * lanes, rewriter, nothing)


def _shuffle(
    left: SSAValue, mask: Sequence[int], rewriter: ConversionRewriter, right: SSAValue | None = None
) -> SSAValue:
    """Returns the lanes of `left` and `right` that `mask` selects; -1 is poison."""
    assert isa(left.type, VectorType), "vectors are shuffled"
    result = VectorType(left.type.element_type, [len(mask)])
    lanes = {"mask": indices(tuple(mask))}
    operands = (left, left if right is None else right)
    return rewriter.insert(one_result(llvm.ShuffleVectorOp, operands, result, lanes)).results[0]


PATTERNS: tuple[AnyPattern, ...] = (
    ConvertLoad(),
    ConvertStore(),
    ConvertMaskedLoad(),
    ConvertMaskedStore(),
    ConvertBroadcast(),
    ConvertShuffle(),
    ConvertExtract(),
    ConvertInsert(),
    ConvertCreateMask(),
    ConvertReduction(),
    OneToOne(vector.FMAOp, lambda _, operands, __: llvm.FMAOp(operands[0], operands[1], operands[2])),
    OneToOne(vector.BitcastOp, lambda _, operands, type_: llvm.BitcastOp(operands[0], type_)),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertVectorToLLVMPass(XRelayPass):
    """Converts one-dimensional vectors to the llvm dialect.

    Refuses vectors of several dimensions, accesses along a stride other than 1, transfers, and reductions of floats.
    """

    name = "convert-vector-to-llvm"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every vector op in the module."""
        convert(op)


def convert(top: Operation) -> None:
    """Converts every vector op in `top`."""
    apply_conversion(top, PATTERNS, is_legal=legal_outside("vector"), types=llvm_types())
