"""`relay-legalize`: replaces operators by the results of hooks.

The pass calls the registered hook of each operator once, after those of its operands. The result of the hook replaces
the operator; hooks are not called on new ops. With a hook, a target can require another form of an operator (channels
in multiples of four, say, or another operator) without a pass of its own. There are no predefined hooks:
`relay.op.register_legalize` and `passes/relay/legalize_hooks.py` register them. `legalize-map-attr-name` selects
another list of hooks than `FTVMLegalize`. The pass is exact if the hooks are.

Before, with a hook that doubles weights:

    %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]}

After:

    %v = relay.multiply(%w, %two)
    %y = relay.nn.conv2d(%x, %v) {padding = [1, 1, 1, 1]}

Operators without a hook, operators whose hook returns `None`, and operators whose types are not inferred yet are not
changed. Raises `PassError` with hook, op and location if a hook raises, or returns anything else than a value of the
result's type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.rewriting import Emitter, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.legalize_hooks import LEGALIZE, LegalizeHook, apply_hook, legalize_hooks


@dataclass(frozen=True)
class RelayLegalizePass(XRelayPass):
    """Replaces operators by the results of their hooks; see the module's docstring."""

    name = "relay-legalize"
    numerics = reassociates("the ops that a hook returns may round differently")
    per_function = True

    legalize_map_attr_name: str = field(default=LEGALIZE, metadata={"help": "the name of the list of hooks"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Legalizes in place."""
        hooks = legalize_hooks(self.legalize_map_attr_name)
        if hooks:
            rewrite_once(op, RelayOp, ApplyHook(hooks))


class ApplyHook(RewritePattern):
    """Replaces an operator by the result of its hook. Exact if the hook is.

    Before:

        %y = relay.nn.relu(%x)

    After, with such a hook for `nn.relu`:

        %z = relay.add(%zero, %x)
        %y = relay.nn.relu(%z)
    """

    def __init__(self, hooks: Mapping[type[RelayOp], LegalizeHook]):
        self._hooks = hooks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Calls the hook for the class of `op`, if there is one."""
        hook = self._hooks.get(type(op)) if isinstance(op, RelayOp) else None
        if hook is None or not isinstance(op, RelayOp):
            return
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        emit = Emitter(rewriter, op)
        value = apply_hook(hook, op, emit)
        if value is not None:
            emit.replace(value)
