"""Runs passes on every function of a module on its own, as `func.func(…)` asks.

Each function that has a body is taken out of the module, put into one of its own that has the attributes of the whole,
and taken through all of the passes before the next function is; then whatever they left of it goes back to its place.
So a pass meets no other function, and instruments see the module of the one function.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_pipeline


def run_on_functions(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    *,
    context: Context,
    instruments: Sequence[PassInstrument] = (),
    required: Collection[str] = (),
) -> None:
    """Applies `passes` to each function of `module` that has a body, in place; raises what `run_pipeline` raises.

    Where a pass fails, what it left goes back into the module all the same.
    """
    block = module.body.block
    for function in [op for op in block.ops if isinstance(op, FuncOp) and not op.is_declaration]:
        behind = function.next_op
        function.detach()
        own = ModuleOp([function], dict(module.attributes))
        try:
            run_pipeline(own, passes, context=context, instruments=instruments, required=required)
        finally:
            _put_back(own, module, behind)


def _put_back(own: ModuleOp, module: ModuleOp, behind: Operation | None) -> None:
    """Moves the ops of `own` into `module`, before `behind` or to its end."""
    block = module.body.block
    ops = list(own.body.block.ops)
    for op in ops:
        op.detach()
    if behind is None:
        block.add_ops(ops)
    else:
        block.insert_ops_before(ops, behind)
