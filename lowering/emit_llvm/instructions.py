"""The writers of the llvm dialect's ops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.upstream import llvm_extras as extras
from xrelay.errors import LoweringError
from xrelay.lowering.emit_llvm.functions import FunctionText, symbol, writes
from xrelay.lowering.to_llvm.ops import type_suffix

BINARY: dict[type[Operation], str] = {
    llvm.AddOp: "add",
    llvm.SubOp: "sub",
    llvm.MulOp: "mul",
    llvm.UDivOp: "udiv",
    llvm.SDivOp: "sdiv",
    llvm.URemOp: "urem",
    llvm.SRemOp: "srem",
    llvm.AndOp: "and",
    llvm.OrOp: "or",
    llvm.XOrOp: "xor",
    llvm.ShlOp: "shl",
    llvm.LShrOp: "lshr",
    llvm.AShrOp: "ashr",
    llvm.FAddOp: "fadd",
    llvm.FSubOp: "fsub",
    llvm.FMulOp: "fmul",
    llvm.FDivOp: "fdiv",
    llvm.FRemOp: "frem",
}

CASTS: dict[type[Operation], str] = {
    llvm.TruncOp: "trunc",
    llvm.ZExtOp: "zext",
    llvm.SExtOp: "sext",
    llvm.FPExtOp: "fpext",
    llvm.FPTruncOp: "fptrunc",
    llvm.SIToFPOp: "sitofp",
    extras.UIToFPOp: "uitofp",
    extras.FPToSIOp: "fptosi",
    extras.FPToUIOp: "fptoui",
    llvm.BitcastOp: "bitcast",
    llvm.PtrToIntOp: "ptrtoint",
    llvm.IntToPtrOp: "inttoptr",
}

TYPED: dict[type[Operation], str] = {
    llvm.SelectOp: "select",
    extras.SelectOp: "select",
    llvm.InsertElementOp: "insertelement",
    extras.ExtractElementOp: "extractelement",
}
"""Ops whose operands are all written with their types."""

INTRINSICS: tuple[type[Operation], ...] = (
    llvm.FAbsOp,
    llvm.FCeilOp,
    llvm.FSqrtOp,
    llvm.FFloorOp,
    llvm.FExp2Op,
    llvm.FExpOp,
    llvm.FLogOp,
    llvm.FLog2Op,
    llvm.FSinOp,
    llvm.FCosOp,
    llvm.FPowOp,
    llvm.FMAOp,
    llvm.FCopySignOp,
    llvm.VectorFMaxOp,
    llvm.VectorFMinOp,
)
"""Ops called `llvm.intr.X` for the intrinsic `llvm.X`, overloaded by their result."""

_INTRINSIC: Final = re.compile(r"llvm\.[A-Za-z0-9_.]+")


def fast_math(op: Operation) -> str:
    """Returns the fast-math flags of an op, each followed by a space."""
    flags = op.properties.get("fastmathFlags")
    if type(flags) is not llvm.FastMathAttr or not flags.data:
        return ""
    if len(flags.data) == len(FastMathFlag):
        return "fast "
    return "".join(f"{flag.value} " for flag in FastMathFlag if flag in flags.data)


def _integer_flags(op: Operation) -> str:
    """Returns the flags `nuw nsw exact disjoint` that an op has, each followed by a space."""
    text = ""
    overflow = op.properties.get("overflowFlags")
    if type(overflow) is IntegerAttr:
        text += _no_wrap(overflow.value.data)
    elif type(overflow) is llvm.OverflowAttr:
        text += _no_wrap(overflow.to_int())
    text += "exact " if "isExact" in op.properties else ""
    return text + ("disjoint " if "isDisjoint" in op.properties else "")


@cache
def _no_wrap(number: int) -> str:
    """Returns the flags `nuw nsw` of an attribute with this number."""
    flags = llvm.OverflowAttr.from_int(number).data
    names = {"nuw ": llvm.OverflowFlag.NO_UNSIGNED_WRAP, "nsw ": llvm.OverflowFlag.NO_SIGNED_WRAP}
    return "".join(name for name, flag in names.items() if flag in flags)


@writes(*BINARY)
def write_binary(op: Operation, text: FunctionText) -> None:
    """`%r = add nuw nsw i64 %a, %b`."""
    lhs, rhs = op.operands
    flags = _integer_flags(op) + fast_math(op)
    text.result(op, f"{BINARY[type(op)]} {flags}{text.typed(lhs)}, {text.name(rhs)}")


@writes(*CASTS)
def write_cast(op: Operation, text: FunctionText) -> None:
    """`%r = fptosi <8 x float> %a to <8 x i32>`."""
    flags = _integer_flags(op) + ("nneg " if "nonNeg" in op.properties else "")
    text.result(op, f"{CASTS[type(op)]} {flags}{text.typed(op.operands[0])} to {text.type_of(op.results[0].type)}")


@writes(*TYPED)
def write_typed(op: Operation, text: FunctionText) -> None:
    """`%r = select i1 %c, float %a, float %b`."""
    text.result(op, f"{TYPED[type(op)]} {fast_math(op)}{', '.join(map(text.typed, op.operands))}")


@writes(*INTRINSICS)
def write_intrinsic(op: Operation, text: FunctionText) -> None:
    """`%r = call <16 x float> @llvm.fma.v16f32(…)`."""
    name = f"llvm.{op.name.removeprefix('llvm.intr.')}.{type_suffix(op.results[0].type)}"
    text.call(op, name, op.operands, fast_math(op))


@writes(llvm.VectorReduceFAddOp, llvm.VectorReduceFMulOp)
def write_float_reduction(op: llvm.VectorReduceOperation, text: FunctionText) -> None:
    """`%r = call float @llvm.vector.reduce.fadd.v16f32(float %start, <16 x float> %v)`."""
    name = f"llvm.{op.name.removeprefix('llvm.intr.')}.{type_suffix(op.vector.type)}"
    text.call(op, name, op.operands, fast_math(op))


@writes(llvm.CallIntrinsicOp)
def write_call_intrinsic(op: llvm.CallIntrinsicOp, text: FunctionText) -> None:
    """A call of the intrinsic with the op's full name."""
    if not _INTRINSIC.fullmatch(op.intrin.data):
        raise LoweringError(f"{op.intrin.data!r} is no intrinsic of LLVM", location=describe_location(op))
    text.call(op, op.intrin.data, op.args, fast_math(op))


@writes(extras.MaskedLoadOp)
def write_masked_load(op: extras.MaskedLoadOp, text: FunctionText) -> None:
    """`%r = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %p, <8 x i1> %mask, <8 x float> %else)`."""
    type_ = text.type_of(op.res.type)
    name = f"llvm.masked.load.{type_suffix(op.res.type)}.p0"
    text.module.declare(name, type_, ("ptr", text.type_of(op.mask.type), type_))
    pointer = f"ptr align {op.alignment.value.data} {text.name(op.data)}"
    text.result(op, f"call {type_} @{name}({pointer}, {text.typed(op.mask)}, {text.typed(op.pass_thru)})")


@writes(extras.MaskedStoreOp, llvm.MaskedStoreOp)
def write_masked_store(op: extras.MaskedStoreOp | llvm.MaskedStoreOp, text: FunctionText) -> None:
    """`call void @llvm.masked.store.v8f32.p0(<8 x float> %v, ptr align 4 %p, <8 x i1> %mask)`."""
    name = f"llvm.masked.store.{type_suffix(op.value.type)}.p0"
    text.module.declare(name, "void", (text.type_of(op.value.type), "ptr", text.type_of(op.mask.type)))
    pointer = f"ptr align {op.alignment.value.data} {text.name(op.data)}"
    text.line(f"call void @{name}({text.typed(op.value)}, {pointer}, {text.typed(op.mask)})")


@writes(llvm.ConstantOp, llvm.UndefOp, llvm.ZeroOp, llvm.AddressOfOp, extras.PoisonOp, extras.ZeroOp)
def write_constant(op: Operation, text: FunctionText) -> None:
    """Writes nothing: constants are written as operands."""


_PREDICATES = {flag.to_int(): flag.value for flag in llvm.ICmpPredicateFlag}


@writes(llvm.ICmpOp)
def write_icmp(op: llvm.ICmpOp, text: FunctionText) -> None:
    """`%r = icmp slt i64 %a, %b`."""
    lhs, rhs = op.operands
    text.result(op, f"icmp {_PREDICATES[op.predicate.value.data]} {text.typed(lhs)}, {text.name(rhs)}")


@writes(llvm.FCmpOp)
def write_fcmp(op: llvm.FCmpOp, text: FunctionText) -> None:
    """`%r = fcmp olt float %a, %b`."""
    predicate = llvm.FCmpPredicateFlag.from_int(op.predicate.value.data).value.removeprefix("_")
    text.result(op, f"fcmp {fast_math(op)}{predicate} {text.typed(op.lhs)}, {text.name(op.rhs)}")


@writes(llvm.FNegOp)
def write_fneg(op: llvm.FNegOp, text: FunctionText) -> None:
    """`%r = fneg float %a`."""
    text.result(op, f"fneg {fast_math(op)}{text.typed(op.arg)}")


@writes(llvm.GEPOp)
def write_gep(op: llvm.GEPOp, text: FunctionText) -> None:
    """`%r = getelementptr inbounds float, ptr %p, i64 %i`."""
    pointer, *values = op.operands
    dynamic = iter(values)
    indices = [
        text.typed(next(dynamic)) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}"
        for index in op.rawConstantIndices.iter_values()
    ]
    flags = "inbounds " if "inbounds" in op.properties else ""
    element = text.type_of(op.elem_type)
    text.result(op, f"getelementptr {flags}{', '.join([element, text.typed(pointer), *indices])}")


@writes(llvm.AllocaOp)
def write_alloca(op: llvm.AllocaOp, text: FunctionText) -> None:
    """`%r = alloca [28 x <16 x float>], i64 1, align 64`."""
    parts = [text.type_of(op.elem_type), text.typed(op.size)]
    text.result(op, f"alloca {', '.join(parts)}{_align(op.alignment)}")


@writes(llvm.LoadOp)
def write_load(op: llvm.LoadOp, text: FunctionText) -> None:
    """`%r = load float, ptr %p, align 4`."""
    _refuse_atomic(op, op.ordering)
    type_ = text.type_of(op.results[0].type)
    text.result(op, f"load {type_}, {text.typed(op.operands[0])}{_align(op.alignment)}")


@writes(llvm.StoreOp)
def write_store(op: llvm.StoreOp, text: FunctionText) -> None:
    """`store float %v, ptr %p, align 4`."""
    _refuse_atomic(op, op.ordering)
    volatile = "volatile " if op.volatile_ is not None else ""
    hint = f", !nontemporal {text.module.metadata.nontemporal()}" if op.nontemporal is not None else ""
    value, pointer = map(text.typed, op.operands)
    text.line(f"store {volatile}{value}, {pointer}{_align(op.alignment)}{hint}")


def _align(alignment: IntegerAttr | None) -> str:
    return "" if alignment is None else f", align {alignment.value.data}"


def _refuse_atomic(op: Operation, ordering: IntegerAttr | None) -> None:
    if ordering is not None and ordering.value.data != 0:
        raise LoweringError(f"atomic {op.name} cannot be written", location=describe_location(op))


@writes(extras.CmpXchgOp)
def write_cmpxchg(op: extras.CmpXchgOp, text: FunctionText) -> None:
    """`%r = cmpxchg ptr %p, i32 %a, i32 %b monotonic monotonic`."""
    text.result(op, f"cmpxchg {', '.join(map(text.typed, op.operands))} monotonic monotonic")


@writes(llvm.ExtractValueOp)
def write_extract_value(op: llvm.ExtractValueOp, text: FunctionText) -> None:
    """`%r = extractvalue { i32, i1 } %s, 0`."""
    text.result(op, f"extractvalue {text.typed(op.container)}, {_position(op.position.iter_values())}")


@writes(llvm.InsertValueOp)
def write_insert_value(op: llvm.InsertValueOp, text: FunctionText) -> None:
    """`%r = insertvalue { i32, i1 } %s, i32 %v, 0`."""
    place = _position(op.position.iter_values())
    text.result(op, f"insertvalue {text.typed(op.container)}, {text.typed(op.value)}, {place}")


def _position(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


@writes(llvm.ShuffleVectorOp)
def write_shuffle(op: llvm.ShuffleVectorOp, text: FunctionText) -> None:
    """`%r = shufflevector <16 x float> %a, <16 x float> %b, <2 x i32> <i32 0, i32 17>`; lane -1 is poison."""
    lanes = list(op.mask.iter_values())
    if all(lane == 0 for lane in lanes):
        mask = "zeroinitializer"
    else:
        mask = f"<{', '.join('i32 poison' if lane < 0 else f'i32 {lane}' for lane in lanes)}>"
    text.result(op, f"shufflevector {text.typed(op.v1)}, {text.typed(op.v2)}, <{len(lanes)} x i32> {mask}")


@writes(llvm.CallOp)
def write_call(op: llvm.CallOp, text: FunctionText) -> None:
    """`%r = call i32 @k(ptr %ctx, ptr %x)`; without a callee, the first operand is the function."""
    arguments: Sequence[SSAValue] = op.args
    if op.callee is not None:
        callee = symbol(op.callee.string_value())
    else:
        callee, arguments = text.name(arguments[0]), arguments[1:]
    type_ = "void" if op.returned is None else text.type_of(op.returned.type)
    if op.var_callee_type is not None:
        type_ = text.type_of(op.var_callee_type)
    convention = "" if op.CConv.cconv_name == "ccc" else f"{op.CConv.cconv_name} "
    tail = "" if op.TailCallKind.data == llvm.TailCallKind.NONE else f"{op.TailCallKind.data.value} "
    written = f"{tail}call {fast_math(op)}{convention}{type_} {callee}({', '.join(map(text.typed, arguments))})"
    if op.returned is None:
        text.line(written)
    else:
        text.result(op, written)


@writes(llvm.BrOp)
def write_branch(op: llvm.BrOp, text: FunctionText) -> None:
    """`br label %body`."""
    (target,) = op.successors
    text.line(f"br {text.label(target)}{text.loop_metadata(op)}")


@writes(llvm.CondBrOp)
def write_conditional_branch(op: llvm.CondBrOp, text: FunctionText) -> None:
    """`br i1 %c, label %then, label %else`."""
    targets = ", ".join(map(text.label, op.successors))
    text.line(f"br {text.typed(op.operands[0])}, {targets}{text.loop_metadata(op)}")


@writes(llvm.ReturnOp)
def write_return(op: llvm.ReturnOp, text: FunctionText) -> None:
    """`ret i32 %status`."""
    text.line("ret void" if op.arg is None else f"ret {text.typed(op.arg)}")


@writes(llvm.UnreachableOp)
def write_unreachable(op: llvm.UnreachableOp, text: FunctionText) -> None:
    """`unreachable`."""
    text.line("unreachable")
