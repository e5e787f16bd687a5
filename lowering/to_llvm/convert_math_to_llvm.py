"""convert-math-to-llvm: lowers the math ops that `math-expand` leaves to intrinsics.

Square root, absolute value, rounding, copysign and fma are instructions of every CPU we generate code for. The others
(sin, pow, …) are intrinsics that LLVM lowers to slow scalar calls of the C library, one per lane of a vector. Functions
without an intrinsic (erf, cbrt, …) are called by name, lane by lane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import starmap

from xdsl.context import Context
from xdsl.dialects import llvm, math
from xdsl.dialects.builtin import ModuleOp, VectorType, f32, f64, i1, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.arith_extras import element_type
from xrelay.dialects.upstream.llvm_extras import ExtractElementOp, PoisonOp
from xrelay.lowering.to_llvm.ops import OneToOne, call_intrinsic, constant, fast_math, floating, intrinsic
from xrelay.lowering.to_llvm.types import lane_count, llvm_types
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


class ConvertRsqrt(ConversionPattern[math.RsqrtOp]):
    """`math.rsqrt %x` → `1 / sqrt(%x)`, with two correct roundings."""

    def rewrite(self, op: math.RsqrtOp, rewriter: ConversionRewriter) -> str | None:
        """Divides one by the square root."""
        flags = fast_math(op)
        root = rewriter.insert(llvm.FSqrtOp(rewriter.operand(op.operand), flags))
        one = rewriter.insert(constant(1.0, op.result.type))
        rewriter.replace(op, rewriter.insert(llvm.FDivOp(one, root, flags)))
        return None


_WithFlag = math.AbsIOp | math.CountLeadingZerosOp | math.CountTrailingZerosOp


class ConvertIntegerWithFlag(ConversionPattern[_WithFlag]):
    """`math.absi %x` → `llvm.abs(%x, false)`, and ctlz and cttz.

    The flag `false` defines the result for the least integer, or for zero, which would else be poison.
    """

    def rewrite(self, op: _WithFlag, rewriter: ConversionRewriter) -> str | None:
        """Calls the intrinsic with its poison flag off."""
        operand = rewriter.operand(op.operand)
        name = "abs" if isinstance(op, math.AbsIOp) else op.name.removeprefix("math.")
        no = rewriter.insert(constant(0, i1))
        call = call_intrinsic(name, [operand, no.result], operand.type, overloads=[operand.type])
        rewriter.replace(op, rewriter.insert(call))
        return None


_Library = math.ErfOp | math.CbrtOp | math.ExpM1Op | math.Log1pOp | math.AsinhOp | math.AcoshOp | math.AtanhOp


class CallLibrary(ConversionPattern[_Library]):
    """`math.erf %x : f64` → `llvm.call @erf(%x)`, for f32 `@erff`; lane by lane for a vector."""

    def rewrite(self, op: _Library, rewriter: ConversionRewriter) -> str | None:
        """Declares the function, and calls it for each number."""
        type_ = op.result.type
        element, lanes = element_type(type_), lane_count(type_)
        suffix = _SUFFIXES.get(element)
        if suffix is None or (isa(type_, VectorType) and lanes is None):
            return f"the C library has no such function on {type_}"
        name = op.name.removeprefix("math.") + suffix
        _declare(op, name, llvm.LLVMFunctionType([element], element))
        operand = rewriter.operand(op.operand)
        if lanes is None:
            rewriter.replace(op, rewriter.insert(llvm.CallOp(name, operand, return_type=element)))
            return None
        result = rewriter.insert(PoisonOp(type_)).res
        for lane in range(lanes):
            index = rewriter.insert(constant(lane, i64)).result
            number = rewriter.insert(ExtractElementOp(operand, index)).res
            value = rewriter.insert(llvm.CallOp(name, number, return_type=element)).results[0]
            result = rewriter.insert(llvm.InsertElementOp(result, value, index)).res
        rewriter.replace(op, [result])
        return None


def _declare(op: Operation, name: str, type_: llvm.LLVMFunctionType) -> None:
    """Declares a function of the C library at the end of the module, once; declarations are sorted by name."""
    module: Operation | None = op
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    assert isinstance(module, ModuleOp), "passes run on modules"
    block = module.body.block
    last, behind = block.last_op, None
    while isinstance(last, llvm.FuncOp) and not last.body.blocks:
        if last.sym_name.data == name:
            return
        behind = last if name < last.sym_name.data else behind
        last = last.prev_op
    function = llvm.FuncOp(name, type_, llvm.LinkageAttr("external"))
    if behind is None:
        block.add_op(function)
    else:
        block.insert_op_before(function, behind)


_SUFFIXES: Mapping[Attribute, str] = {f64: "", f32: "f"}
"""Maps a type to the suffix of its functions in the C library."""

_FLOATING: Mapping[type[Operation], type[Operation]] = {
    math.FmaOp: llvm.FMAOp,
    math.SqrtOp: llvm.FSqrtOp,
    math.AbsFOp: llvm.FAbsOp,
    math.CeilOp: llvm.FCeilOp,
    math.FloorOp: llvm.FFloorOp,
    math.CopySignOp: llvm.FCopySignOp,
    math.ExpOp: llvm.FExpOp,
    math.Exp2Op: llvm.FExp2Op,
    math.LogOp: llvm.FLogOp,
    math.Log2Op: llvm.FLog2Op,
    math.SinOp: llvm.FSinOp,
    math.CosOp: llvm.FCosOp,
    math.PowFOp: llvm.FPowOp,
}
_INTRINSICS = (
    math.RoundEvenOp,
    math.RoundOp,
    math.TruncOp,
    math.Log10Op,
    math.TanOp,
    math.AtanOp,
    math.AsinOp,
    math.AcosOp,
    math.SinhOp,
    math.CoshOp,
    math.TanhOp,
    math.Atan2Op,
    math.CtPopOp,
)
"""Ops with the name of an intrinsic."""
PATTERNS: tuple[AnyPattern, ...] = (
    *starmap(floating, _FLOATING.items()),
    *(OneToOne(op, intrinsic) for op in _INTRINSICS),
    ConvertRsqrt(),
    ConvertIntegerWithFlag(),
    CallLibrary(),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertMathToLLVMPass(XRelayPass):
    """Converts math to intrinsics of the llvm dialect.

    Refuses ops that are neither an intrinsic nor a function of the C library (erf on f16, fpowi, …).
    """

    name = "convert-math-to-llvm"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every math op in the module."""
        convert(op)


def convert(top: Operation) -> None:
    """Converts every math op in `top`."""
    apply_conversion(top, PATTERNS, is_legal=legal_outside("math"), types=llvm_types())
