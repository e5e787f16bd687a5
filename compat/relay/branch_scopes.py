"""The scope in which each op of an expression is computed: the function body, or a branch in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, Region, SSAValue

from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.relay.graph import LetScopeOp, captured


@dataclass(frozen=True, eq=False)
class Scope:
    """The body of a function, or a branch or closure inside another scope."""

    around: Scope | None = None
    depth: int = 0

    def inner(self) -> Scope:
        """Returns a new scope inside of this one."""
        return Scope(self, self.depth + 1)

    def common(self, other: Scope) -> Scope:
        """Returns the innermost scope that contains both scopes."""
        left, right = self, other
        while left is not right:
            left, right = (left, right) if left.depth >= right.depth else (right, left)
            if left.around is None:
                raise ValueError("scopes of different functions")
            left = left.around
        return left


class BranchScopes:
    """The scope of each op of an expression: the innermost scope that contains all its uses.

    A closure counts as one op. The scope of a let is that of the let expression.
    """

    def __init__(self, steps: Sequence[tuple[Operation, bool]], roots: Sequence[SSAValue]):
        """`steps` is the result of `graph.steps` for the values `roots`."""
        self.body = Scope()
        self.branches: dict[Region, Scope] = {}
        self._scopes: dict[Operation | SSAValue, Scope] = {}
        for root in roots:
            self._need(root, self.body)
        for op, done in reversed(steps):
            scope = self._scopes[op]
            if not isinstance(op, LetScopeOp):
                self._visit(op, scope)
            elif done:
                self._need(op.scope, scope)
            else:
                # An expression may use the variable outside of the let.
                self._need(op.result, self._scopes.get(op.variable, scope))
                self._need(op.bound, self._scopes[op])

    def of(self, op: Operation) -> Scope:
        """Returns the scope in which `op` is computed."""
        return self._scopes[op]

    def _visit(self, op: Operation, scope: Scope) -> None:
        """Records the scopes that use the operands of `op`. Each branch of an if is a new scope."""
        if not isinstance(op, IfOp):
            for value in captured(op):
                self._need(value, scope)
            return
        self._need(op.condition, scope)
        for region in op.regions:
            self.branches[region] = scope.inner()
            self._need(yielded(region), self.branches[region])

    def _need(self, value: SSAValue, scope: Scope) -> None:
        key = value.op if isinstance(value, OpResult) else value
        known = self._scopes.get(key)
        self._scopes[key] = scope if known is None else known.common(scope)


def scopes_of_inner_lets(order: Sequence[tuple[Operation, bool]], values: Sequence[SSAValue]) -> BranchScopes | None:
    """Returns the scopes of ops if a let is inside a branch, else None."""
    if not any(isinstance(op, LetScopeOp) for op, _ in order) or not any(isinstance(op, IfOp) for op, _ in order):
        return None
    scopes = BranchScopes(order, values)
    return scopes if any(scopes.of(op) is not scopes.body for op, _ in order if isinstance(op, LetScopeOp)) else None
