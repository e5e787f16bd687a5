"""convert-arith-to-llvm: elementwise arithmetic on scalars and vectors.

Almost every op has an instruction. Four families do not: rounding divisions (`floordivsi`, `ceildivsi`, `ceildivui`)
become a division and a correction, integer minimum and maximum become intrinsics, casts between index and integers
become an extension, a truncation or nothing, and constants change form. Fast-math and overflow flags are preserved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap

from xdsl.context import Context
from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.upstream.arith_extras import IndexCastUIOp, RemFOp, element_type, with_element
from xrelay.dialects.upstream.llvm_extras import FCmpOp, FPToSIOp, FPToUIOp, SelectOp, UIToFPOp
from xrelay.lowering.to_llvm.ops import (
    WRAPS,
    OneToOne,
    call_intrinsic,
    compare,
    constant,
    fast_math,
    floating,
    number_attribute,
    one_result,
    overflowing,
    plain,
)
from xrelay.lowering.to_llvm.types import llvm_types
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


class ConvertConstant(ConversionPattern[arith.ConstantOp]):
    """`arith.constant 4 : index` → `llvm.mlir.constant(4 : i64) : i64`.

    An index beyond 64 bits wraps like the machine's arithmetic. It is part of an address in a buffer larger than any
    memory, so it is never used.
    """

    def rewrite(self, op: arith.ConstantOp, rewriter: ConversionRewriter) -> str | None:
        """Converts the value to its type in the llvm dialect."""
        type_, value = rewriter.types.convert(op.result.type), op.value
        if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
            value = number_attribute((value.value.data + 2**63) % 2**64 - 2**63, i64)
        elif isinstance(value, DenseIntOrFPElementsAttr) and is_attribute(type_, VectorType[IntegerType]):
            value = DenseIntOrFPElementsAttr(type_, value.data)  # Stored as these integers already.
        elif isinstance(value, FloatAttr) and isa(type_, IntegerType):
            value = IntegerAttr(_bfloat_bits(value.value.data), type_)
        rewriter.replace(op, rewriter.insert(one_result(llvm.ConstantOp, (), type_, {"value": value})))
        return None


class ConvertIndexCast(ConversionPattern[arith.IndexCastOp | IndexCastUIOp]):
    """`arith.index_cast %i : index to i32` → `llvm.trunc %i : i64 to i32`; wider: `sext` (`zext`); i64: nothing."""

    def rewrite(self, op: arith.IndexCastOp | IndexCastUIOp, rewriter: ConversionRewriter) -> str | None:
        """Extends or truncates between i64 and the integer type."""
        operand, target = rewriter.operand(op.input), rewriter.types.convert(op.result.type)
        source_bits, target_bits = _bits(operand.type), _bits(target)
        if source_bits == target_bits:
            rewriter.replace(op, [operand])
            return None
        if target_bits < source_bits:
            new = llvm.TruncOp(operand, target)
        else:
            new = (llvm.ZExtOp if isinstance(op, IndexCastUIOp) else llvm.SExtOp)(operand, target)
        rewriter.replace(op, rewriter.insert(new))
        return None


class ConvertRoundingDivision(ConversionPattern[arith.FloorDivSIOp | arith.CeilDivSIOp | arith.CeilDivUIOp]):
    """Rounding divisions → a truncating division and a correction.

    `floordivsi %a, %b` → `%q - ((%a rem %b != 0) && (sign of remainder != sign of %b))`, where `%q = %a sdiv %b`;
    `ceildivsi` adds one if the signs agree; `ceildivui` adds one if there is a remainder.
    """

    def rewrite(
        self, op: arith.FloorDivSIOp | arith.CeilDivSIOp | arith.CeilDivUIOp, rewriter: ConversionRewriter
    ) -> str | None:
        """Divides, tests the remainder, and corrects by one."""
        lhs, rhs = rewriter.operands(op.operands)
        unsigned = isinstance(op, arith.CeilDivUIOp)
        insert = rewriter.insert
        quotient = insert((llvm.UDivOp if unsigned else llvm.SDivOp)(lhs, rhs))
        remainder = insert((llvm.URemOp if unsigned else llvm.SRemOp)(lhs, rhs))
        zero = insert(constant(0, lhs.type))
        correct = insert(compare("ne", remainder.res, zero.result)).res
        if not unsigned:
            signs = insert(llvm.XOrOp(remainder.res, rhs))
            comparison = "slt" if isinstance(op, arith.FloorDivSIOp) else "sge"
            correct = insert(llvm.AndOp(correct, insert(compare(comparison, signs.res, zero.result)).res)).res
        one = insert(llvm.ZExtOp(correct, lhs.type))
        combine = llvm.SubOp if isinstance(op, arith.FloorDivSIOp) else llvm.AddOp
        rewriter.replace(op, insert(combine(quotient.res, one.res)))
        return None


def _bfloat_bits(value: float) -> int:
    """Returns the bits of a number as bf16, as an integer."""
    import numpy as np  # not imported at module level: compilation workers run without numpy

    from xrelay.dialects.shared.numerics import BFLOAT16, cast_once

    (bits,) = cast_once(np.array([value]), BFLOAT16).view(np.int16).tolist()
    return bits


def _bits(type_: Attribute) -> int:
    element = element_type(type_)
    assert isinstance(element, FixedBitwidthType), "index has been converted to i64"
    return element.bitwidth


def _overflowing(source: type[Operation], target: type[llvm.ArithmeticBinOpOverflow]) -> AnyPattern:
    def build(op: Operation, operands: Sequence[SSAValue], _: Attribute) -> Operation:
        flags = op.properties.get("overflowFlags")
        known = _overflow(flags) if isinstance(flags, arith.IntegerOverflowAttr) else WRAPS
        return overflowing(target, operands[0], operands[1], known)

    return OneToOne(source, build)


@lru_cache(maxsize=16)
def _overflow(flags: arith.IntegerOverflowAttr) -> IntegerAttr[IntegerType]:
    known = llvm.OverflowAttr(tuple(llvm.OverflowFlag(name.value) for name in flags.data))
    return IntegerAttr(known.to_int(), 32)


def _truncate(_: Operation, operands: Sequence[SSAValue], type_: Attribute) -> Operation:
    return one_result(llvm.TruncOp, operands, type_, {"overflowFlags": llvm.OverflowAttr(None)})


def _compare_integers(op: arith.CmpiOp, operands: Sequence[SSAValue], _: Attribute) -> Operation:
    type_ = with_element(operands[0].type, i1)
    return one_result(llvm.ICmpOp, operands, type_, {"predicate": op.predicate})


def _compare_floats(op: arith.CmpfOp, operands: Sequence[SSAValue], _: Attribute) -> Operation:
    type_ = with_element(operands[0].type, i1)
    return one_result(FCmpOp, operands, type_, {"predicate": op.predicate, "fastmathFlags": fast_math(op)})


def _integer_choice(op: Operation, operands: Sequence[SSAValue], type_: Attribute) -> Operation:
    """Returns the intrinsic of an integer minimum or maximum: `arith.minsi` → `llvm.smin`, and so on."""
    kind, sign = op.name[len("arith.") :][:3], op.name[-2]
    return call_intrinsic(f"{sign}{kind}", operands, type_, overloads=[type_])


def _float_choice(op: Operation, operands: Sequence[SSAValue], type_: Attribute) -> Operation:
    """Returns the intrinsic of a float minimum or maximum that propagates NaNs: `arith.minimumf` → `llvm.minimum`."""
    return call_intrinsic(op.name[len("arith.") : -1], operands, type_, overloads=[type_], fast=fast_math(op))


_PLAIN: Mapping[type[Operation], type[Operation]] = {
    arith.DivUIOp: llvm.UDivOp,
    arith.DivSIOp: llvm.SDivOp,
    arith.RemUIOp: llvm.URemOp,
    arith.RemSIOp: llvm.SRemOp,
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.ShRSIOp: llvm.AShrOp,
    arith.SelectOp: SelectOp,
    arith.BitcastOp: llvm.BitcastOp,
    arith.ExtFOp: llvm.FPExtOp,
    arith.TruncFOp: llvm.FPTruncOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    arith.SIToFPOp: llvm.SIToFPOp,
    arith.UIToFPOp: UIToFPOp,
    arith.FPToSIOp: FPToSIOp,
    arith.FPToUIOp: FPToUIOp,
}
_OVERFLOWING: Mapping[type[Operation], type[llvm.ArithmeticBinOpOverflow]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
    arith.ShLIOp: llvm.ShlOp,
}
_FLOATING: Mapping[type[Operation], type[Operation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
    RemFOp: llvm.FRemOp,
    arith.NegfOp: llvm.FNegOp,
    arith.MaxnumfOp: llvm.VectorFMaxOp,
    arith.MinnumfOp: llvm.VectorFMinOp,
}
PATTERNS: tuple[AnyPattern, ...] = (
    ConvertConstant(),
    ConvertRoundingDivision(),
    ConvertIndexCast(),
    *starmap(plain, _PLAIN.items()),
    *starmap(_overflowing, _OVERFLOWING.items()),
    *starmap(floating, _FLOATING.items()),
    *(OneToOne(op, _integer_choice) for op in (arith.MinUIOp, arith.MaxUIOp, arith.MinSIOp, arith.MaxSIOp)),
    *(OneToOne(op, _float_choice) for op in (arith.MaximumfOp, arith.MinimumfOp)),
    OneToOne(arith.CmpiOp, _compare_integers),
    OneToOne(arith.CmpfOp, _compare_floats),
    OneToOne(arith.TruncIOp, _truncate),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertArithToLLVMPass(XRelayPass):
    """Converts arith to the llvm dialect, both scalars and vectors.

    Refuses the extended multiplications and additions, which no lowering of xrelay emits.
    """

    name = "convert-arith-to-llvm"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every arith op in the module."""
        convert(op)


def convert(top: Operation) -> None:
    """Converts every arith op in `top`."""
    apply_conversion(top, PATTERNS, is_legal=legal_outside("arith"), types=llvm_types())
