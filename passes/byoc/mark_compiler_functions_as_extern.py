"""`relay-mark-compiler-functions-as-extern`: functions for compilers from outside are marked as compiled elsewhere.

What: a function of the module with the attribute `Compiler` loses all of its attributes and gets `Extern`; with
`compiler-filter` only where it is for the compiler of that name. Why: a code generator has made its code, so that
nobody else is to generate any; the body stays, as what the function means.

Before:

    func.func private @mine_0(%a: T) -> T attributes {Compiler = "mine", Primitive = 1, global_symbol = "mine_0"} {…}

After:

    func.func private @mine_0(%a: T) -> T attributes {Extern = 1} {…}

Passes on functions leave such a function alone. As no code generator but the project's own is here, a compilation takes
the body: `relay-dissolve-compiler-regions` removes the mark. `relay.form` stays, which says how the body is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xrelay.dialects.attribute_names import EXTERN, FORM
from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.passes.byoc.outline_compiler_functions import is_for


@dataclass(frozen=True)
class RelayMarkCompilerFunctionsAsExternPass(ModulePass):
    """Mark functions for compilers from outside as compiled elsewhere; see the module's docstring. Exact."""

    name = "relay-mark-compiler-functions-as-extern"

    compiler_filter: str = field(default="", metadata={"help": "the compiler whose functions are meant; all without"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark functions in place."""
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and is_for(function, self.compiler_filter):
                form = function.attributes.get(FORM)
                function.attributes.clear()
                function.attributes[EXTERN] = int_attribute(1)
                if form is not None:
                    function.attributes[FORM] = form
