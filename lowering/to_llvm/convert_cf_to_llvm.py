"""convert-cf-to-llvm: branches, with their loop annotations.

`cf.assert` stays: its failure is part of the calling convention (`convert-func-to-llvm`).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION
from xrelay.lowering.to_llvm.ops import branch, choose
from xrelay.lowering.to_llvm.types import llvm_types
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


class ConvertBranch(ConversionPattern[cf.BranchOp]):
    """`cf.br ^b(%i : index) {llvm.loop_annotation = #a}` → `llvm.br ^b(%i : i64) {loop_annotation = #a}`."""

    def rewrite(self, op: cf.BranchOp, rewriter: ConversionRewriter) -> str | None:
        """Converts the operands and the arguments of the target block."""
        rewriter.convert_block_arguments(op.successor)
        _keep_annotation(op, rewriter.insert(branch(op.successor, rewriter.operands(op.arguments))))
        rewriter.erase(op)
        return None


class ConvertConditionalBranch(ConversionPattern[cf.ConditionalBranchOp]):
    """`cf.cond_br %c, ^a(…), ^b(…)` → `llvm.cond_br %c, ^a(…), ^b(…)`."""

    def rewrite(self, op: cf.ConditionalBranchOp, rewriter: ConversionRewriter) -> str | None:
        """Converts the operands and the arguments of both target blocks."""
        for block in (op.then_block, op.else_block):
            rewriter.convert_block_arguments(block)
        new = choose(
            op.cond,
            op.then_block,
            rewriter.operands(op.then_arguments),
            op.else_block,
            rewriter.operands(op.else_arguments),
        )
        _keep_annotation(op, rewriter.insert(new))
        rewriter.erase(op)
        return None


def _keep_annotation(old: Operation, new: Operation) -> None:
    annotation = old.attributes.get(LOOP_ANNOTATION)
    if annotation is not None:
        new.attributes["loop_annotation"] = annotation


PATTERNS: tuple[AnyPattern, ...] = (ConvertBranch(), ConvertConditionalBranch())
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertCfToLLVMPass(XRelayPass):
    """Converts branches to the llvm dialect; refuses `cf.switch`, which `convert-scf-to-branches` never emits."""

    name = "convert-cf-to-llvm"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every branch in the module."""
        convert(op)


def convert(top: Operation) -> None:
    """Converts every branch in `top`."""
    outside = legal_outside("cf")
    apply_conversion(top, PATTERNS, is_legal=lambda op: isinstance(op, cf.AssertOp) or outside(op), types=llvm_types())
