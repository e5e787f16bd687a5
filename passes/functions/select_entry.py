"""`relay-select-entry`: extracts the program of one entry from a module with several.

A module whose `@main` returned closures has an entry for each of them (`relay.callers`), and each entry becomes a
program of its own. The option `entry` names the function that becomes `@main`. Functions that it does not use are
erased, and so are the attributes `relay.callers` and `relay.takes` of all functions.

Before, with `entry=main_result0`:

    func.func @main(%x: T) -> !relay.closure attributes {relay.callers = [{caller = @main_result0, …}]} {…}
    func.func private @main_result0(%function: !relay.closure, %input0: T) -> T attributes {relay.takes = […]} {…}

After:

    func.func @main(%function: !relay.closure, %input0: T) -> T {…}

Types are inferred again: captured values introduce extents that other entries introduced before.

A module without entries besides `@main` is not changed. Raises `PassError` if `entry` is not an entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.attribute_names import CALLERS, TAKES
from xrelay.errors import PassError, did_you_mean
from xrelay.passes.functions.add_callers import MAIN, returned_closures
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE, eliminate_dead_code
from xrelay.passes.types.infer_type import infer_types


@dataclass(frozen=True)
class RelaySelectEntryPass(XRelayPass):
    """Extracts the program of one entry; see the module's docstring. Exact."""

    name = "relay-select-entry"
    numerics = EXACT

    entry: str = field(default=MAIN, metadata={"help": "the entry that becomes @main"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Extracts the program in place."""
        select_entry(op, self.entry)


def select_entry(module: ModuleOp, entry: str) -> None:
    """Makes `entry` the `@main` of `module`; see the module's docstring."""
    functions = functions_of(module)
    entries = [closure.caller for function in functions.values() for closure in returned_closures(function)]
    if entry != MAIN:
        if entry not in entries or entry not in functions:
            hint = did_you_mean(f"@{entry}", [f"@{each}" for each in entries], "relay.callers lists the entries")
            raise PassError(f"relay-select-entry: no entry is called @{entry}", help=hint)
        _exchange(module, functions, entry)
    elif not entries:
        return
    for function in functions.values():
        function.attributes.pop(CALLERS, None)
        function.attributes.pop(TAKES, None)
    eliminate_dead_code(module)
    infer_types(module)


def _exchange(module: ModuleOp, functions: dict[str, FuncOp], entry: str) -> None:
    """Renames `entry` to `@main`, and a former `@main` to a private function, which the program may still call."""
    names = {entry: MAIN}
    main = functions.get(MAIN)
    if main is not None:
        names[MAIN] = fresh_name(MAIN, set(functions))
        main.sym_name, main.sym_visibility = StringAttr(names[MAIN]), PRIVATE
    functions[entry].sym_name, functions[entry].sym_visibility = StringAttr(MAIN), None
    for op in walk_ops(module):
        if is_call(op) and callee_name(op) in names:
            op.callee = SymbolRefAttr(names[callee_name(op)])
