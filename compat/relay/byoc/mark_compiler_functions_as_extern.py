"""`relay-mark-compiler-functions-as-extern`: marks functions for external compilers as compiled elsewhere.

In functions with the attribute `Compiler`, replaces all attributes except `relay.form` by `Extern`; with
`compiler-filter`, only in functions for the compiler of that name. A code generator that has compiled a function marks
it, so that no other compiles it. The body stays, as its semantics.

Before:

    func.func private @mine_0(%a: T) -> T attributes {Compiler = "mine", Primitive = 1, global_symbol = "mine_0"} {…}

After:

    func.func private @mine_0(%a: T) -> T attributes {Extern = 1} {…}

Passes on functions skip such a function. `xrelay.compile` compiles the body: `relay-dissolve-compiler-regions` removes
the mark.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.shared.attribute_names import EXTERN, FORM
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.relay.byoc.outline_compiler_functions import is_for


@dataclass(frozen=True)
class RelayMarkCompilerFunctionsAsExternPass(XRelayPass):
    """Marks functions for external compilers as compiled elsewhere; see the module's docstring. Exact."""

    name = "relay-mark-compiler-functions-as-extern"
    numerics = EXACT

    compiler_filter: str = field(default="", metadata={"help": "the compiler of the functions (default: all)"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Marks functions in place."""
        for function in functions_of(op).values():
            if is_for(function, self.compiler_filter):
                form = function.attributes.get(FORM)
                function.attributes.clear()
                function.attributes[EXTERN] = int_attribute(1)
                if form is not None:
                    function.attributes[FORM] = form
