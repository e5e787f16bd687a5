"""`relay-remove-unused-functions`: erases functions that the entry functions do not use.

The functions in `entry` and all functions that they mention, directly or through others, are kept. All other functions
are erased, including public ones, which `relay-dead-code-elimination` keeps. This is for modules of a library that
contain many functions, if a program needs only a few.

Before, with `entry=main`:

    func.func @main(…) {func.call @used(…) …}
    func.func @used(…)
    func.func @unused(…)

After:

    func.func @main(…) {func.call @used(…) …}
    func.func @used(…)

Raises `PassError` for an entry that is not a function of the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError, did_you_mean
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import erase_unmentioned


@dataclass(frozen=True)
class RelayRemoveUnusedFunctionsPass(XRelayPass):
    """Erases functions that the entry functions do not use; see the module's docstring. Exact."""

    name = "relay-remove-unused-functions"
    numerics = EXACT

    entry: tuple[str, ...] = field(default=("main",), metadata={"help": "the functions to keep with all that they use"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Removes functions in place."""
        remove_unused_functions(op, self.entry)


def remove_unused_functions(module: ModuleOp, entry: Sequence[str]) -> int:
    """Erases the functions that `entry` does not use; returns their number. Raises `PassError` for unknown entries."""
    functions = functions_of(module)
    for name in entry:
        if name not in functions:
            known = [f"@{one}" for one in functions]
            hint = did_you_mean(f"@{name}", known, f"it has {', '.join(known)}")
            raise PassError(f"relay-remove-unused-functions: no function is called @{name}", help=hint)
    return erase_unmentioned(module, entry)
