"""`relay-inline-compiler-functions-bound-to`: inlines functions for external compilers into their callers.

Replaces calls of the functions in `global-vars` by their bodies, inlines the composite functions in these bodies, and
erases the functions. A user inlines a function for which the external compiler turns out to be no faster than xrelay.

Before, with `global-vars=mine_0`:

    %r = func.call @mine_0(%x)
    …
    func.func private @mine_0(%a: T) -> T attributes {Compiler = "mine", …} {
      %f = relay.fn(%p: T) -> T attributes {Composite = "mine.exp"} {
        %y = relay.exp(%p)
        relay.yield %y
      }
      %y = relay.invoke %f(%a)
      func.return %y
    }

After:

    %r = relay.exp(%x)

A function is kept unchanged if another function for a compiler calls it, or if `relay-inline` would keep a call of it.

Refuses (`PassError`) a name that no function has, and a function without the attribute `Compiler`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from xrelay.dialects.shared.attribute_names import COMPILER, INLINE
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import PassError, did_you_mean
from xrelay.passes.functions.inline import MAX_OPS, ClosureInliner, inline_calls
from xrelay.passes.graph.calls import functions_of, mentioned_symbols
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

PASS_NAME = "relay-inline-compiler-functions-bound-to"


@dataclass(frozen=True)
class RelayInlineCompilerFunctionsBoundToPass(XRelayPass):
    """Inlines the named functions for external compilers; see the module's docstring. Exact."""

    name = PASS_NAME
    numerics = EXACT

    global_vars: tuple[str, ...] = field(default=(), metadata={"help": "the functions to inline"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        functions = functions_of(op)
        for name in self.global_vars:
            _check(name, functions)
        others = {
            name: function.attributes.pop(INLINE)
            for name, function in functions.items()
            if INLINE in function.attributes and name not in self.global_vars
        }
        saved: dict[str, dict[str, Attribute]] = {}
        for name in dict.fromkeys(self.global_vars):
            saved[name] = dict(functions[name].attributes)
            del functions[name].attributes[COMPILER]
            functions[name].attributes[INLINE] = UnitAttr()
            ClosureInliner(MAX_OPS).expand(functions[name])
        inline_calls(op, marked=True)
        _restore(op, saved, others)


def _restore(module: ModuleOp, saved: dict[str, dict[str, Attribute]], others: dict[str, Attribute]) -> None:
    """Erases inlined functions, and restores the attributes of the others."""
    mentioned = {name for op in module.body.block.ops for name in mentioned_symbols(op)}
    for name, function in functions_of(module).items():
        if name in saved and name not in mentioned:
            Rewriter.erase_op(function)
        elif name in saved:
            function.attributes.clear()
            function.attributes.update(saved[name])
        elif name in others:
            function.attributes[INLINE] = others[name]


def _check(name: str, functions: dict[str, FuncOp]) -> None:
    """Raises `PassError` unless there is a function for a compiler called `name`."""
    if name not in functions:
        hint = did_you_mean(f"@{name}", [f"@{one}" for one in functions], "pass names of functions of the module")
        raise PassError(f"{PASS_NAME}: the module has no function @{name}", help=hint)
    if COMPILER not in functions[name].attributes:
        raise PassError(
            f"{PASS_NAME}: @{name} is not for an external compiler",
            location=location_of(functions[name]),
            help=f"relay-inline inlines functions without the attribute {COMPILER}",
        )
