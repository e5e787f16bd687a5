"""`relay-dissolve-compiler-regions`: lets regions for compilers from outside be parts of the graph again.

What: the annotations `relay.annotation.compiler_begin` and `compiler_end` go, and functions for compilers from outside
become functions like any others. Why: the compiler has no code generators but its own, so it takes what was put
aside for others itself; the passes behind this one inline and fuse it.

Before:

    %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
    %y = func.call @tvmgen_default_ccompiler_main_0(%b)
    …
    func.func private @tvmgen_default_ccompiler_main_0(…) attributes {Compiler = "ccompiler", Primitive = 1, …}

After:

    %y = func.call @tvmgen_default_ccompiler_main_0(%x)
    …
    func.func private @tvmgen_default_ccompiler_main_0(…)

So do functions with the attribute `Extern`, which `relay-mark-compiler-functions-as-extern` sets.
Left alone: functions with the attribute `global_symbol` but without `Compiler`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xrelay.dialects.attribute_names import COMPILER, COMPILER_INLINE, COMPILER_PRIMITIVE, EXTERN, GLOBAL_SYMBOL
from xrelay.passes.byoc.compiler_annotations import remove_annotations
from xrelay.passes.types.type_upkeep import update_signatures

MARKS = (COMPILER, COMPILER_PRIMITIVE, COMPILER_INLINE, GLOBAL_SYMBOL)
"""The attributes of a function for a compiler from outside."""


@dataclass(frozen=True)
class RelayDissolveCompilerRegionsPass(ModulePass):
    """Take back what marks regions for compilers from outside; see the module's docstring. Exact."""

    name = "relay-dissolve-compiler-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        remove_annotations(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                function.attributes.pop(EXTERN, None)
                for mark in MARKS if COMPILER in function.attributes else ():
                    function.attributes.pop(mark, None)
        update_signatures(op)
