"""`relay-legalize`: operators become what their hooks say.

What: each operator of the program is shown once to the hook that is registered for it, behind those that it uses; what
the hook makes takes its place, and is not shown to hooks again. Why: a target, or who works with it, has a form of an
operator that it takes (channels in fours, say, or another operator), and says so in a function instead of a pass. There
are no hooks but those that someone registers, with `relay.op.register_legalize` or `passes/relay/legalize_hooks.py`.
`legalize-map-attr-name` asks another list of hooks than `FTVMLegalize`. As exact as the hooks are.

Before, with a hook that doubles weights:

    %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]}

After:

    %v = relay.multiply(%w, %two)
    %y = relay.nn.conv2d(%x, %v) {padding = [1, 1, 1, 1]}

Left alone: operators without a hook, those whose hook gives `None`, and those whose types are not known yet.
`PassError`, naming hook, op and place, where a hook raises, or gives anything but a value of the type of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.rewriting import Emitter, rewrite_once
from xrelay.passes.relay.legalize_hooks import LEGALIZE, LegalizeHook, ask_hook, legalize_hooks


@dataclass(frozen=True)
class RelayLegalizePass(ModulePass):
    """Replace operators by what their hooks say; see the module's docstring."""

    name = "relay-legalize"

    legalize_map_attr_name: str = field(default=LEGALIZE, metadata={"help": "which list of hooks is asked"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Legalize in place."""
        hooks = legalize_hooks(self.legalize_map_attr_name)
        if hooks:
            rewrite_once(op, RelayOp, AskHook(hooks))


class AskHook(RewritePattern):
    """An operator → what its hook says. As exact as the hook is.

    Before:

        %y = relay.nn.relu(%x)

    After, where the hook of `nn.relu` says so:

        %z = relay.add(%zero, %x)
        %y = relay.nn.relu(%z)
    """

    def __init__(self, hooks: Mapping[type[RelayOp], LegalizeHook]):
        self._hooks = hooks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Ask the hook of its class."""
        hook = self._hooks.get(type(op)) if isinstance(op, RelayOp) else None
        if hook is None or not isinstance(op, RelayOp):
            return
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        emit = Emitter(rewriter, op)
        value = ask_hook(hook, op, emit)
        if value is not None:
            emit.replace(value)
