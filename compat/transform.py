"""Passes under Relay's names, contexts, and decorators that make passes.

    sequential = transform.Sequential([
        transform.FoldConstant(),
        transform.EliminateCommonSubexpr(),
        transform.FuseOps(fuse_opt_level=2),
    ])
    with transform.PassContext(opt_level=3):
        module = sequential(module)

Every row of `xrelay.passes.catalogue.relay_names` is a factory function in this module, and `create_pass` makes any
pass by name. `@function_pass`, `@module_pass` and `@kernel_pass` define new passes. Every pass returns a new module and
does not change its argument.
"""

from __future__ import annotations

from collections.abc import Callable

from xrelay.errors import did_you_mean
from xrelay.passes.catalogue.relay_names import RELAY_PASSES
from xrelay.passes.infra.config import register_config
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.layout import cpu_layout_hooks as cpu_layout_hooks  # first: later registrations replace its hooks
from xrelay.passes.layout.desired_layouts import LayoutConfig
from xrelay.passes.layout.layout_hooks import alters_layout
from xrelay.passes.relay.legalize import legalize_scope, legalizes
from xrelay.relay.pass_api.decorators import function_pass, kernel_pass, module_pass
from xrelay.relay.pass_api.named_passes import (
    SEQUENCES,
    Sequential,
    create_pass,
    pass_maker,
    register_pass,
)
from xrelay.relay.pass_api.passes import ApplyPassToFunction, FunctionPass, KernelPass, ModulePass, Pass
from xrelay.relay.pass_api.passes import PrintIRPass as PrintIR
from xrelay.relay.transform.expressions import fold_constant_expr as FoldConstantExpr  # noqa: N812 (Relay's name)
from xrelay.relay.transform.expressions import infer_type_local as InferTypeLocal  # noqa: N812 (Relay's name)
from xrelay.relay.transform.expressions import recast
from xrelay.relay.transform.expressions import to_a_normal_form_expr as ToANormalFormExpr  # noqa: N812 (Relay's name)
from xrelay.relay.transform.functions import defunctionalize, gradient, replace_each, to_cps, un_cps
from xrelay.relay.transform.shapes import ChangeBatch, FlexibleShapeDispatch

__all__ = [
    "ApplyPassToFunction",
    "ChangeBatch",
    "Defunctionalization",
    "FlexibleShapeDispatch",
    "FoldConstantExpr",
    "FunctionPass",
    "InferTypeLocal",
    "KernelPass",
    "LayoutConfig",
    "ModulePass",
    "Pass",
    "PassContext",
    "PassInfo",
    "PrintIR",
    "Sequential",
    "ToANormalFormExpr",
    "alters_layout",
    "create_pass",
    "function_pass",
    "gradient",
    "kernel_pass",
    "legalize_scope",
    "legalizes",
    "module_pass",
    "prim_func_pass",
    "recast",
    "register_config",
    "register_pass",
    "replace_each",
    "to_cps",
    "un_cps",
]

prim_func_pass = kernel_pass
"""Relay's name for passes on kernels."""

Defunctionalization = defunctionalize
"""Relay's name for `defunctionalize`, which is a function and not a pass, as in Relay."""

_PASSES_BY_NAME = {row.alias if row.alias else row.name: row for row in RELAY_PASSES}


def __getattr__(name: str) -> Callable[..., Pass]:
    """Returns the factory of the pass that Relay calls `name`."""
    row = _PASSES_BY_NAME.get(name)
    if row is None and name in SEQUENCES:
        return SEQUENCES[name]
    if row is None:
        hint = did_you_mean(name, [*_PASSES_BY_NAME, *__all__], "xrelay-opt --list-passes lists all")
        raise AttributeError(f"module 'xrelay.transform' has no pass {name!r}; {hint}")
    return pass_maker(row)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PASSES_BY_NAME, *SEQUENCES})
