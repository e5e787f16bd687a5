"""`relay-dissolve-compiler-regions`: merges regions for external compilers back into the graph.

Removes the annotations `relay.annotation.compiler_begin` and `compiler_end`, and turns functions for external compilers
into ordinary functions. xrelay has no external code generators, so it compiles these functions itself; later passes
inline and fuse them.

Before:
    %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
    %y = func.call @tvmgen_default_ccompiler_main_0(%b)
    …
    func.func private @tvmgen_default_ccompiler_main_0(…) attributes {Compiler = "ccompiler", Primitive = 1, …}

After:
    %y = func.call @tvmgen_default_ccompiler_main_0(%x)
    …
    func.func private @tvmgen_default_ccompiler_main_0(…)

The same applies to functions with the attribute `Extern`, which `relay-mark-compiler-functions-as-extern` sets. Left
alone: functions with the attribute `global_symbol` but without `Compiler`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.ops.annotation import CompilerAnnotationOp
from xrelay.dialects.shared.attribute_names import COMPILER, COMPILER_INLINE, COMPILER_PRIMITIVE, EXTERN, GLOBAL_SYMBOL
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.type_upkeep import update_signatures

MARKS = (COMPILER, COMPILER_PRIMITIVE, COMPILER_INLINE, GLOBAL_SYMBOL)
"""The attributes of a function for an external compiler."""


@dataclass(frozen=True)
class RelayDissolveCompilerRegionsPass(XRelayPass):
    """Removes the marks of regions for external compilers; see the module's docstring. Exact."""

    name = "relay-dissolve-compiler-regions"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        remove_annotations(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                function.attributes.pop(EXTERN, None)
                for mark in MARKS if COMPILER in function.attributes else ():
                    function.attributes.pop(mark, None)
        update_signatures(op)


def remove_annotations(module: ModuleOp, compiler: str | None = None) -> None:
    """Replaces annotations by their values, only those for `compiler` if given."""
    annotations = [
        op for op in walk_ops(module) if isinstance(op, CompilerAnnotationOp) and compiler in (None, op.compiler.data)
    ]
    values = Replacements()
    for op in annotations:
        values.add(op.result, op.data)
    values.apply()
    for op in annotations:
        erase_op(op)
