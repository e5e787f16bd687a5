"""Passes under Relay's names, contexts, and decorators that make passes.

    sequential = transform.Sequential([
        transform.FoldConstant(),
        transform.EliminateCommonSubexpr(),
        transform.FuseOps(fuse_opt_level=2),
    ])
    with transform.PassContext(opt_level=3):
        module = sequential(module)

Every row of `xrelay.passes.catalogue.relay_names` is a function here that makes the pass; `create_pass` makes any pass
by name. Passes of one's own are made by `@function_pass`, `@module_pass` and `@kernel_pass`. All of them give a new
module and leave the one they are given alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms import get_all_passes

from xrelay.errors import did_you_mean
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, RelayPass
from xrelay.passes.infra.config import register_config
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.layout import cpu_layout_hooks as cpu_layout_hooks  # registered first, so that others replace them
from xrelay.passes.layout.layout_hooks import alters_layout
from xrelay.passes.relay_api.decorators import function_pass, kernel_pass, module_pass
from xrelay.passes.relay_api.named_passes import (
    NamedPass,
    add_pass_table,
    create_pass,
    register_pass,
    relay_options,
    sequence_factory,
)
from xrelay.passes.relay_api.passes import FunctionPass, KernelPass, ModulePass, Pass
from xrelay.passes.relay_api.print_ir import PrintIRPass as PrintIR
from xrelay.passes.relay_api.sequential import Sequential
from xrelay.relay.expr import Expr
from xrelay.relay.graph import captured, post_order

__all__ = [
    "FunctionPass",
    "KernelPass",
    "ModulePass",
    "Pass",
    "PassContext",
    "PassInfo",
    "PrintIR",
    "Sequential",
    "alters_layout",
    "create_pass",
    "function_pass",
    "kernel_pass",
    "module_pass",
    "prim_func_pass",
    "register_config",
    "register_pass",
    "replace_each",
]

OpT = TypeVar("OpT", bound=Operation)

prim_func_pass = kernel_pass
"""Relay's name for passes on kernels."""

add_pass_table({**get_all_passes(), **pass_thunks()})

_MAKERS = {row.alias if row.alias else row.name: row for row in RELAY_PASSES}


def __getattr__(name: str) -> Callable[..., Pass]:
    """The function that makes the pass of Relay's name `name`."""
    row = _MAKERS.get(name)
    if row is None:
        hint = did_you_mean(name, [*_MAKERS, *__all__], "xrelay-opt --list-passes shows them all")
        raise AttributeError(f"module 'xrelay.transform' has no pass {name!r}; {hint}")
    return _maker(row)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MAKERS})


def _maker(row: RelayPass) -> Callable[..., Pass]:
    def make(*arguments: object, **options: object) -> Pass:
        sequence = sequence_factory(row.name)
        if sequence is not None and not arguments and not options:
            return sequence()
        return NamedPass(row, relay_options(row, arguments, options))

    make.__name__ = make.__qualname__ = row.name
    make.__doc__ = f"The {row.kind.value} pass `{row.pass_name}`; its options are arguments here."
    return make


def replace_each(func: FuncOp, kind: type[OpT], replacement: Callable[[Expr], Expr]) -> FuncOp:
    """Let `replacement(result)` stand for the result of every op of class `kind` in `func`, in place; gives `func`.

    What the replacement is built of goes behind the op, whose result it may use. An expression that several
    replacements share, such as a constant from outside, is copied to each of them.
    """
    for op in [op for op in func.walk() if isinstance(op, kind)]:
        old = op.results[0]
        uses = list(old.uses)
        new = _insert_behind(op, replacement(Expr(old)).value)
        for use in uses:
            use.operation.operands[use.index] = new
    return func


def _insert_behind(op: Operation, value: SSAValue) -> SSAValue:
    """Put the ops in no block that `value` needs behind `op`: itself those that use its result, of others a copy."""
    dependent: set[SSAValue] = {*op.results}
    copies: dict[SSAValue, SSAValue] = {}
    point = InsertPoint.after(op)
    for needed in post_order(value):
        if dependent.isdisjoint(captured(needed)):
            placed = needed.clone(copies)
        else:
            placed = needed
            dependent.update(needed.results)
            for inner in needed.walk():
                inner.operands = [copies.get(operand, operand) for operand in inner.operands]
        placed.location = op.location
        Rewriter.insert_op(placed, point)
    return copies.get(value, value)
