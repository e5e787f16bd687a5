"""Graph functions with control flow: the ops between their calls are already at the scf level.

Each iteration of a loop polls whether the run has been cancelled:

    scf.while … do {                      scf.while … do {
    ^bb0(%i: index):                  →   ^bb0(%i: index):
      func.call @k(…)                       %goes_on = func.call @xrelay_poll() : () -> i1
                                            cf.assert %goes_on, "cancelled"
                                            func.call @k(…)

A module with many calls of kernels also polls before each of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr, UnrealizedConversionCastOp, i1
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from xrelay.dialects.shared.attribute_names import GRAPH_FUNCTION, LOOP_KERNEL, POLLS, STRAIGHT
from xrelay.dialects.shared.levels import level_of
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.upstream.signless import make_scalars_signless
from xrelay.passes.graph.calls import calls_in
from xrelay.passes.infra.digraph import cyclic_components

_SAME_BUFFER = (
    memref.ReinterpretCastOp,
    memref.CastOp,
    memref.ViewOp,
    memref.SubviewOp,
    arith.SelectOp,
    UnrealizedConversionCastOp,
)
_TAKES_OVER = (memref.DeallocOp, scf.YieldOp, scf.ConditionOp, scf.WhileOp, scf.ForOp, func.ReturnOp)
POLL: Final = "xrelay_poll"
"""The function that returns whether the run continues."""
CANCELLED: Final = "cancelled"
"""The runtime's failure reason of that name (`to_llvm/failures.py`)."""
FEW_KERNELS: Final = 16
"""With at most this many calls of kernels, a module does not poll between them: polling adds microseconds to a run."""


def is_graph_function(function: func.FuncOp) -> bool:
    """Whether `function` does more with buffers than pass them on, and contains no ops of the loop level.

    It branches, allocates, frees a callee's buffer, or returns buffers.
    """
    if LOOP_KERNEL in function.attributes or any(level_of(op) == "loop" for op in all_ops(function)):
        return False
    return bool(function.function_type.outputs.data) or any(
        op.regions or isinstance(op, memref.AllocOp | memref.DeallocOp) for op in function.body.block.ops
    )


def finish_graph_function(function: func.FuncOp) -> None:
    """Marks a function that allocates or frees, and adds polls to its loops.

    A buffer that is neither freed nor passed on is freed at the end of its block.
    """
    make_scalars_signless(function)
    for op in ops_of(function, scf.WhileOp):
        _poll(InsertPoint.at_start(op.after_region.block))
    buffer_ops = ops_of(function, memref.AllocOp, memref.DeallocOp)
    if buffer_ops:
        function.attributes[GRAPH_FUNCTION] = UnitAttr()
    for op in (op for op in buffer_ops if isinstance(op, memref.AllocOp)):
        if op.parent is not None and not _is_freed_or_passed_on(op.memref):
            Rewriter.insert_op(memref.DeallocOp.get(op.memref), InsertPoint.before(_end(op.parent)))


def declare_poll(module: ModuleOp, called: Collection[str]) -> None:
    """Declares the poll function if it is called, and records in the module that runs can be cancelled."""
    if POLL in called:
        module.body.block.add_op(func.FuncOp.external(POLL, [], [i1]))
        module.attributes[POLLS] = UnitAttr()


def poll_recursions(module: ModuleOp) -> None:
    """Adds a poll to the entry of functions that may call themselves."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks}
    for group in cyclic_components({name: calls_in(function, functions) for name, function in functions.items()}):
        for name in group:
            _poll(InsertPoint.at_start(functions[name].body.block))


def poll_between_kernels(module: ModuleOp) -> None:
    """Adds a poll before each kernel call if there are more than `FEW_KERNELS`.

    Marks modules that poll, and whose sizes determine which kernels run how often.
    """
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    kernels = {op.sym_name.data for op in functions if LOOP_KERNEL in op.attributes}
    around = [op for op in functions if op.body.blocks and LOOP_KERNEL not in op.attributes]
    calls = [call for each in around for call in ops_of(each, func.CallOp) if call.callee.string_value() in kernels]
    has_loops = any(True for each in around for _ in ops_of(each, scf.WhileOp))
    if (has_loops or len(calls) > FEW_KERNELS) and all(_is_straight(each, {*kernels, POLL}) for each in around):
        module.attributes[STRAIGHT] = UnitAttr()
    if len(calls) > FEW_KERNELS:
        for call in calls:
            _poll(InsertPoint.before(call))


def _is_straight(function: func.FuncOp, callees: Collection[str]) -> bool:
    """Whether a function consists of calls of `callees` and counted loops, on memory that it does not allocate."""
    if GRAPH_FUNCTION in function.attributes:
        return False
    nested = [op for op in all_ops(function) if op.regions and op is not function]
    return all(isinstance(op, scf.WhileOp) and _is_counted(op) for op in nested) and all(
        call.callee.string_value() in callees for call in ops_of(function, func.CallOp)
    )


def _is_counted(loop: scf.WhileOp) -> bool:
    """Whether the condition of a loop depends only on constants and sizes, not on elements of buffers."""
    condition = loop.before_region.block.last_op
    assert isinstance(condition, scf.ConditionOp), "the terminator of this region"
    pending, seen = [condition.condition], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            pending += _sources(value)
        elif isinstance(value.owner, Operation) and not value.owner.regions and is_side_effect_free(value.owner):
            pending += value.owner.operands
        else:
            return False
    return True


def _sources(argument: BlockArgument) -> list[SSAValue]:
    """Returns the values that an argument of a loop's region takes; none for an argument of a function."""
    loop = argument.block.parent_op()
    if not isinstance(loop, scf.WhileOp):
        return []
    condition, end = (region.block.last_op for region in (loop.before_region, loop.after_region))
    assert condition is not None, "a region of a loop has a terminator"
    if argument.block is loop.after_region.block:
        return [condition.operands[1 + argument.index]]
    assert end is not None, "a region of a loop has a terminator"
    return [loop.arguments[argument.index], end.operands[argument.index]]


def _poll(place: InsertPoint) -> None:
    goes_on = func.CallOp(POLL, [], [i1])
    goes_on.results[0].name_hint = "goes_on"
    Rewriter.insert_op([goes_on, cf.AssertOp(goes_on.results[0], CANCELLED)], place)


def _is_freed_or_passed_on(buffer: SSAValue) -> bool:
    """Whether a buffer, or a view of it, is freed, yielded, returned or carried."""
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, _TAKES_OVER):
                return True
            if isinstance(op, _SAME_BUFFER):
                pending.append(op.results[0])
    return False


def _end(block: Block) -> Operation:
    """Returns the first deallocation at the end of a block, or the terminator: the newest buffers are freed first."""
    assert block.last_op is not None, "a block has a terminator"
    end = block.last_op
    while isinstance(end.prev_op, memref.DeallocOp):
        end = end.prev_op
    return end
