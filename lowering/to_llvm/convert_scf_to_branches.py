"""convert-scf-to-branches: structured control flow becomes blocks and branches, and loops keep their annotations.

The corresponding passes of upstream and xDSL drop the loop annotation, or put it on another op than the branch of the
back edge, from which LLVM reads the metadata of a loop. `structured.py` has the rules; ops are moved to their new
blocks one by one, so that the cost is linear.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION
from xrelay.dialects.shared.levels import level_of
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import LoweringError
from xrelay.lowering.to_llvm.structured import BlockWriter, ControlFlowOps
from xrelay.passes.infra.conversion import NO_TYPE_CHANGES, ConversionRewriter
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

_NO_WRAP = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))
_UPSTREAM = ControlFlowOps(
    annotation=LOOP_ANNOTATION,
    compare=lambda predicate, lhs, rhs: arith.CmpiOp(lhs, rhs, predicate),
    advance=lambda index, step: arith.AddiOp(index, step, overflow=_NO_WRAP),
    branch=lambda target, values: cf.BranchOp(target, *values),
    choose=cf.ConditionalBranchOp,
)
"""The ops of cf and arith for control flow."""


@dataclass(frozen=True)
class ConvertScfToBranchesPass(XRelayPass):
    """Converts `scf.for`, `scf.while` and `scf.if` to cf, with annotations.

    Refuses `scf.parallel` (run `convert-scf-parallel-to-calls` first) and other ops of scf.
    """

    name = "convert-scf-to-branches"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the control flow of every function."""
        convert_to_branches(op)


def convert_to_branches(top: Operation) -> None:
    """Converts the control flow in `top`."""
    around: list[Operation] = [top]

    def move(op: Operation, block: Block) -> None:
        level = level_of(op)
        if level in ("loop", "scf"):
            help = "run convert-loop-to-scf before" if level == "loop" else None
            message = f"failed to convert {op.name}: no pattern converts the op"
            raise LoweringError(message, location=describe_location(op), help=help)
        op.detach()
        block.add_op(op)
        if op.regions:
            around.append(op)

    writer = BlockWriter(ConversionRewriter(NO_TYPE_CHANGES), _UPSTREAM, move)
    while around:
        for region in around.pop().regions:
            for block in tuple(region.blocks):
                writer.write(block, block)
