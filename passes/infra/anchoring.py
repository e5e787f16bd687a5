"""Runs passes on each function of a module separately, for `func.func(…)` in pipelines.

Each function with a body is moved from the module into a module of its own, which has the attributes of the whole and
declarations of the functions that it references. All passes run on it before the next function; then the result moves
back to its place, without the declarations. So a pass sees only one body, and instruments see the module of the one
function.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.verify import walk_ops


def run_on_functions(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    *,
    context: Context,
    instruments: Sequence[PassInstrument] = (),
    required: Collection[str] = (),
) -> None:
    """Applies `passes` to each function of `module` that has a body, in place; raises the errors of `run_pipeline`.

    If a pass fails, the partial result still moves back into the module.
    """
    symbols = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for function in [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]:
        following = function.next_op
        function.detach()
        # a dictionary, for speed: main references thousands of kernels
        declared = dict.fromkeys(_declaration(symbols[name]) for name in _named(function) if name in symbols)
        own = ModuleOp([*declared, function], dict(module.attributes))
        try:
            run_pipeline(own, passes, context=context, instruments=instruments, required=required)
        finally:
            _put_back([op for op in own.ops if op not in declared], module, following)


def _named(function: FuncOp) -> list[str]:
    """Returns the other functions that `function` references, each once, in order of first reference."""
    found: dict[str, None] = {}
    for op in walk_ops(function):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, SymbolRefAttr):
                found[attribute.root_reference.data] = None
    found.pop(function.sym_name.data, None)
    return list(found)


def _declaration(function: FuncOp) -> FuncOp:
    """Returns a declaration of the function, without its attributes: a schedule is useless without a body."""
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    return FuncOp.external(function.sym_name.data, list(inputs), list(outputs))


def _put_back(ops: Sequence[Operation], module: ModuleOp, following: Operation | None) -> None:
    """Moves `ops` into `module`, before `following` or to its end."""
    for op in ops:
        op.detach()
    if following is None:
        module.body.block.add_ops(ops)
    else:
        module.body.block.insert_ops_before(ops, following)
