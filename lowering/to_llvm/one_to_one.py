"""One-to-one patterns, which replace an op with one op on the same operands, for most of arith and math."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import FixedBitwidthType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.op_lists import is_kind
from xrelay.lowering.to_llvm.ops import EXACT, intrinsic_call
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter

Builder = Callable[[Any, Sequence[SSAValue], Attribute], Operation]
"""Creates the new op from the old one, its converted operands and its converted result type."""


class OneToOne(ConversionPattern[Operation]):
    """`%r = <source> %operands` → `%r = <result of build> %operands`, with converted types."""

    def __init__(self, source: type[Operation], build: Builder):
        self.source, self.build = source, build

    def handles(self, op_type: type[Operation]) -> bool:
        """Whether `op_type` is the source class or derived from it."""
        return is_kind(op_type, (self.source,))

    def rewrite(self, op: Operation, rewriter: ConversionRewriter) -> str | None:
        """Replaces `op` with the new op."""
        new = self.build(op, rewriter.operands(op.operands), rewriter.types.convert(op.results[0].type))
        rewriter.replace(op, rewriter.insert(new))
        return None


def fast_math(op: Operation) -> llvm.FastMathAttr:
    """Returns the fast-math flags of an arith, math or vector op, for an llvm op."""
    flags = op.properties.get("fastmath")
    return _fast_math(flags) if isinstance(flags, FastMathFlagsAttr) else EXACT


@lru_cache(maxsize=256)
def _fast_math(flags: FastMathFlagsAttr) -> llvm.FastMathAttr:
    return llvm.FastMathAttr(flags.data)


def type_suffix(type_: Attribute) -> str:
    """Returns the suffix for a type in the name of an overloaded intrinsic, as in `llvm.fma.v16f32`."""
    if isinstance(type_, llvm.LLVMPointerType):
        return "p0"
    if isinstance(type_, VectorType):
        shape = type_.get_shape()
        return f"v{shape[0]}{type_suffix(type_.element_type)}"
    assert isinstance(type_, FixedBitwidthType), f"{type_} does not overload an intrinsic"
    return str(type_)


def call_intrinsic(
    name: str,
    operands: Sequence[SSAValue],
    result: Attribute | None,
    *,
    overloads: Sequence[Attribute],
    fast: llvm.FastMathAttr | None = None,
) -> llvm.CallIntrinsicOp:
    """Returns `llvm.call_intrinsic "llvm.<name>.<overloads>"(operands)`."""
    suffix = "".join(f".{type_suffix(type_)}" for type_ in overloads)
    return intrinsic_call(f"llvm.{name}{suffix}", operands, result, EXACT if fast is None else fast)


def intrinsic(name: str) -> Builder:
    """Returns a builder of the intrinsic `name`, overloaded by its result type."""

    def build(op: Operation, operands: Sequence[SSAValue], result: Attribute) -> Operation:
        return call_intrinsic(name, operands, result, overloads=[result], fast=fast_math(op))

    return build
