"""Copies of expressions into the block of a function or closure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.relay.branch_scopes import Scope, scopes_of_inner_lets
from xrelay.relay.graph import LetScopeOp, detached, let_binding, steps


def copy_into(block: Block, values: Sequence[SSAValue], mapping: Mapping[SSAValue, SSAValue]) -> list[SSAValue]:
    """Copies the ops that `values` need to the end of `block`; returns the copies of `values`.

    `mapping` replaces values from outside. A let inside a branch stays in the branch. Other ops are copied to `block`
    itself if there is no such let, else to the innermost block that contains all their uses.
    """
    known = dict(mapping)
    order = list(steps(*values))
    scopes = scopes_of_inner_lets(order, values)
    inside: dict[Scope, list[Operation]] = {}
    for op, done in order:
        if isinstance(op, LetScopeOp) and done:
            known[op.result] = known.get(op.scope, op.scope)
            continue
        if isinstance(op, LetScopeOp):
            copy: Operation = let_binding(op, known.get(op.bound, op.bound))
            known[op.variable] = copy.results[0]
        else:
            copy = detached(op.clone(known))
        if scopes is not None and isinstance(op, IfOp):
            for old, new in zip(op.regions, copy.regions, strict=True):
                Rewriter.insert_op(inside.pop(scopes.branches[old], []), InsertPoint.at_start(new.block))
        if scopes is None or scopes.of(op) is scopes.body:
            block.add_op(copy)
        else:
            inside.setdefault(scopes.of(op), []).append(copy)
    return [known.get(value, value) for value in values]
