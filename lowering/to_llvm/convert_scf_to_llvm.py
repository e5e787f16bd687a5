"""convert-scf-to-llvm: from scf, memref, vector, amx, arith, math and func to the llvm dialect in one traversal.

It has the patterns and rules of several passes (`STEPS` in `pipelines.py`) and produces the same text. Run in sequence,
those passes erase each other's ops and insert casts between converted and unconverted ops. In one traversal, each op of
the llvm dialect is created once. Calls, assertions and returns are left for the calling convention
(`convert_func_to_llvm.py`), which converts the functions afterwards.

A function that already has several blocks, or has ops without a pattern, is converted pass by pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects import cf, func, llvm
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, Region

from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.shared.op_lists import ops_in
from xrelay.dialects.upstream.func_extras import ConstantOp
from xrelay.lowering.to_llvm import convert_amx_to_llvm as amx_step
from xrelay.lowering.to_llvm import convert_arith_to_llvm as arith_step
from xrelay.lowering.to_llvm import convert_cf_to_llvm as cf_step
from xrelay.lowering.to_llvm import convert_math_to_llvm as math_step
from xrelay.lowering.to_llvm import convert_memref_to_llvm as memref_step
from xrelay.lowering.to_llvm import convert_vector_to_llvm as vector_step
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.convert_func_to_llvm import convert_functions
from xrelay.lowering.to_llvm.convert_scf_to_branches import convert_to_branches
from xrelay.lowering.to_llvm.structured import RULES, TERMINATORS, BlockWriter, ControlFlowOps
from xrelay.lowering.to_llvm.types import llvm_types
from xrelay.passes.infra.conversion import PatternTable, RebuildingRewriter, dispose
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

_LLVM = ControlFlowOps(
    annotation="loop_annotation",
    compare=ops.compare,
    advance=lambda index, step: ops.overflowing(llvm.AddOp, index, step, ops.NO_SIGNED_WRAP),
    branch=ops.branch,
    choose=ops.choose,
)
"""The ops of the llvm dialect for control flow."""

PATTERNS = (
    *memref_step.PATTERNS,
    *vector_step.PATTERNS,
    *amx_step.PATTERNS,
    *arith_step.PATTERNS,
    *math_step.PATTERNS,
)
"""The patterns of all steps."""
_TABLE = PatternTable(PATTERNS)
CONVENTION_OPS = (func.CallOp, func.ReturnOp, ConstantOp, cf.AssertOp)
"""The ops that the calling convention converts."""


@dataclass(frozen=True)
class ConvertScfToLLVMPass(XRelayPass):
    """Converts scf, memref, vector, amx, arith, math and func to the llvm dialect in one traversal.

    The output text and the errors are those of these passes, run in sequence: `convert-scf-to-branches`,
    `convert-memref-to-llvm`, `convert-vector-to-llvm`, `convert-amx-to-llvm`, `convert-arith-to-llvm`,
    `convert-math-to-llvm`, `convert-cf-to-llvm`, `convert-func-to-llvm`.

    ```
    scf.for %i = %lb to %ub step %s {        →    llvm.br ^header(%lb)
      %x = memref.load %m[%i]                   ^header(%i): …
      …                                         ^body:
    }                                             %p = llvm.getelementptr inbounds %m[%i]
                                                  %x = llvm.load %p
                                                  …
    ```
    """

    name = "convert-scf-to-llvm"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the body of each function, then the functions."""
        memref_step.announce_memory(op)
        for each in tuple(op.ops):
            if isinstance(each, func.FuncOp) and each.body.blocks:
                _convert_body(each)
        convert_functions(op)


def _convert_body(function: func.FuncOp) -> None:
    """Converts the body of a function, in one traversal if possible."""
    body = function.body
    if body.first_block is body.last_block and all(_is_known(op) for op in ops_in(body)):
        _rebuild(function)
    else:
        _convert_by_steps(function)


def _rebuild(function: func.FuncOp) -> None:
    rewriter, source = RebuildingRewriter(llvm_types()), function.body.block
    moved: list[Operation] = []

    def visit(op: Operation, block: Block) -> None:
        if type(op) is UnrealizedConversionCastOp and not _is_between_memrefs(op):
            rewriter.look_through(op)
        elif _is_legal(type(op)):
            rewriter.keep(op, block)
            moved.append(op)
        else:
            rewriter.begin(op)
            _TABLE.convert(op, rewriter)
            rewriter.take_inserted()

    writer = BlockWriter(rewriter, _LLVM, visit)
    entry = writer.with_arguments(source.args)
    for old_argument, argument in zip(source.args, entry.args, strict=True):
        argument.location = old_argument.location
    rewriter.blocks[source], body = entry, Region(entry)
    writer.write(source, entry)
    old = function.detach_region(function.body)
    function.add_region(body)
    if any(op.results for op in moved):
        for op in ops_in(old):
            op.operands = ()  # Some operands are results of ops that have moved.
    dispose(old)


def _is_between_memrefs(cast: UnrealizedConversionCastOp) -> bool:
    """Whether `cast` is between memrefs, and so has a pattern; casts between types of two levels are removed."""
    return all(isinstance(value.type, MemRefType) for value in (*cast.operands, *cast.results))


def _is_known(op: Operation) -> bool:
    """Whether an op has a rule or pattern, and its regions have single blocks."""
    kind = type(op)
    if kind is UnrealizedConversionCastOp:
        inputs, outputs = ([llvm_types().convert(value.type) for value in side] for side in (op.operands, op.results))
        return inputs == outputs
    return _is_convertible(kind) and all(region.first_block is region.last_block for region in op.regions)


@cache
def _is_convertible(kind: type[Operation]) -> bool:
    return kind in RULES or kind in TERMINATORS or _is_legal(kind) or bool(_TABLE.get(kind))


@cache
def _is_legal(kind: type[Operation]) -> bool:
    return kind in CONVENTION_OPS or level_of_class(kind) == llvm.LLVM.name


def _convert_by_steps(function: func.FuncOp) -> None:
    """Converts a body pass by pass."""
    convert_to_branches(function)
    for step in (memref_step, vector_step, amx_step, arith_step, math_step, cf_step):
        step.convert(function)
