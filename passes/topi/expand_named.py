"""`topi-expand-named`: replaces named operations by computes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnknownLoc

from xrelay.dialects.shared.attribute_names import EXPANDED_FROM
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi import ComputeOp, NamedOp
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass


@dataclass(frozen=True)
class TopiExpandNamedPass(XRelayPass):
    """Replaces every named operation by its expansion.

    Before → after:

    ```
    %r = topi.matmul(%x, %w) : (…) -> T    →    %r = topi.compute "matmul" [%i : 4, %j : 32] reduce [%k : 8] … {…}
    ```

    The computes get the attribute `topi.expanded_from = "topi.matmul"`, so that schedules can recognise them, and the
    location of the op. The expansion is defined by the op (`NamedOp.expand`), so ops of other packages are expanded
    too.
    """

    name = "topi-expand-named"
    numerics = REORDERS_SUMS
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expands in place, until no named op is left."""
        pending = ops_of(op, NamedOp)
        while pending:
            pending.extend(expand(pending.pop()))


def expand(op: NamedOp) -> list[NamedOp]:
    """Replaces one named op by its expansion; returns the named ops in the expansion."""
    expansion = op.expand()
    block = op.parent_block()
    if block is None:
        return []
    block.insert_ops_before(expansion.ops, op)
    for new in expansion.ops:
        if isinstance(new.location, UnknownLoc):
            new.location = op.location
        if isinstance(new, ComputeOp):
            new.attributes.setdefault(EXPANDED_FROM, StringAttr(op.name))
    for old, value in zip(op.results, expansion.results, strict=True):
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    op.detach()
    op.erase()
    return [new for new in expansion.ops if isinstance(new, NamedOp)]
