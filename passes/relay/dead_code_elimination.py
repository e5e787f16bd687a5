"""`relay-dead-code-elimination`: erases ops whose results have no use, and unreferenced private functions.

Every op without side effects whose results have no use is erased, including closures and branches. One reverse walk is
enough, because users follow the ops that they use. An op that names an extent, as the requirements after inlining do,
is a user of the op that introduces the extent. xDSL's `dce` walks until nothing changes, and does not support calls. A
call has no side effects if no op of the called function has any.

Before:

    %a = relay.exp(%x)
    %b = relay.sigmoid(%a)          no use
    func.return %x

After:

    func.return %x

With `inline-once`, a `relay.let` with one use is replaced by its value.

Left alone: calls of functions without a body, which may have any effect, and of functions with such calls. With
`ignore-impurity` they have no side effects.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import FORM
from xrelay.passes.graph.calls import functions_of, mentioned_symbols
from xrelay.passes.graph.effects import PureFunctions, side_effect_free_ops
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import NameUses
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.type_upkeep import update_signatures

PRIVATE = StringAttr("private")


@dataclass(frozen=True)
class RelayDeadCodeEliminationPass(XRelayPass):
    """Erases ops whose results have no use, and unreferenced private functions. Exact."""

    name = "relay-dead-code-elimination"
    numerics = EXACT

    inline_once: bool = field(default=False, metadata={"help": "replace a let with one use by its value"})

    ignore_impurity: bool = field(
        default=False, metadata={"help": "also erase calls of functions that may have side effects"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        if self.inline_once:
            inline_lets(op)
            update_signatures(op)
        eliminate_dead_code(op, ignore_impurity=self.ignore_impurity)


def inline_lets(module: ModuleOp) -> None:
    """Replaces each `relay.let` with a single use, in its own block, by its value.

    A function in A-normal form is in basic block normal form afterwards.
    """
    for function in module.body.block.ops:
        lets = [op for op in walk_ops(function) if isinstance(op, LetOp) and _is_used_once(op)]
        for op in lets:
            op.result.replace_all_uses_with(op.value)
            erase_op(op)
        if lets and function.attributes.get(FORM) == StringAttr("anf"):
            function.attributes[FORM] = StringAttr("bbnf")


def _is_used_once(op: LetOp) -> bool:
    uses = list(op.result.uses)
    return len(uses) == 1 and uses[0].operation.parent is op.parent


def eliminate_dead_code(module: ModuleOp, *, ignore_impurity: bool = False) -> int:
    """Erases ops and functions without uses; returns their number.

    With `ignore_impurity`, no call has side effects.
    """
    functions = functions_of(module)
    pure_calls = None if ignore_impurity else PureFunctions(module)
    erased = sum(_clean(function, side_effect_free_ops(function, pure_calls)) for function in functions.values())
    public = [name for name, function in functions.items() if function.sym_visibility != PRIVATE]
    return erased + erase_unmentioned(module, public)


def _clean(function: FuncOp, free: Container[Operation]) -> int:
    erased, names = 0, NameUses(function)
    # The next op in each block, innermost block last: the ops in regions of an op are visited before the ops above it.
    pending: list[Operation | None] = [block.last_op for block in function.body.blocks]
    while pending:
        op = pending.pop()
        if op is None:
            continue
        pending.append(op.prev_op)
        is_used = any(result.first_use for result in op.results) or op.has_trait(IsTerminator)
        if op in free and not is_used and not names.of(op):
            erase_op(op)
            erased += 1
        else:
            pending.extend(block.last_op for nested in op.regions for block in nested.blocks)
    return erased


def erase_unmentioned(module: ModuleOp, kept: Sequence[str]) -> int:
    """Erases functions that are not reachable by symbols from the functions `kept` or other ops of the module."""
    functions, pending = functions_of(module), list(kept)
    others = [op for op in module.body.block.ops if not isinstance(op, FuncOp)]
    pending += {name for op in others for name in mentioned_symbols(op) if name in functions} - set(pending)
    reached = set(pending)
    while pending:
        for name in mentioned_symbols(functions[pending.pop()]):
            if name in functions and name not in reached:
                reached.add(name)
                pending.append(name)
    for name in functions.keys() - reached:
        erase_op(functions[name])
    return len(functions) - len(reached)
