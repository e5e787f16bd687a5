"""Copies of expressions: into the block of a function or closure, and beside an op of a function.

An op is copied to the innermost scope that contains all its uses: the body of a function, or a branch in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import InputError
from xrelay.relay.graph import LetScopeOp, captured_values, detach, let_binding, steps


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
            for value in captured_values(op):
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
            copy = detach(op.clone(known))
        if scopes is not None and isinstance(op, IfOp):
            for old, new in zip(op.regions, copy.regions, strict=True):
                Rewriter.insert_op(inside.pop(scopes.branches[old], []), InsertPoint.at_start(new.block))
        if scopes is None or scopes.of(op) is scopes.body:
            block.add_op(copy)
        else:
            inside.setdefault(scopes.of(op), []).append(copy)
    return [known.get(value, value) for value in values]


def insert_after(op: Operation, value: SSAValue) -> SSAValue:
    """Inserts the ops in no block that `value` needs after `op`; returns the value that replaces `value` there.

    Ops that depend on results of `op` are inserted themselves, others as copies.
    """
    return _insert(op, value, InsertPoint.after(op), {*op.results}, {})


def insert_before(op: Operation, value: SSAValue, known: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """Inserts copies of the ops in no block that `value` needs before `op`; returns the copy of `value`.

    `known` maps variables to values.
    """
    return _insert(op, value, InsertPoint.before(op), set(), dict(known))


def copies_of(values: Sequence[SSAValue], known: dict[SSAValue, SSAValue]) -> list[Operation]:
    """Returns copies of the ops in no block that `values` need, in order. `known` maps values to their copies.

    Ops whose results are in `known` are not copied; copies are added to it. Raises `InputError` for a let.
    """
    made: list[Operation] = []
    for needed, _ in steps(*values):
        if isinstance(needed, LetScopeOp):
            raise InputError("the replacement of an op binds a variable", help="use the value instead")
        if needed.results[0] not in known:
            made.append(_copied(needed, known))
    return made


def _insert(
    op: Operation, value: SSAValue, point: InsertPoint, dependent: set[SSAValue], copies: dict[SSAValue, SSAValue]
) -> SSAValue:
    """Inserts the ops that `value` needs at `point`: those that use `dependent` values themselves, others as copies."""
    order = list(steps(value))
    if scopes_of_inner_lets(order, [value]) is not None:
        hint = "bind it outside of the branch, or use the value instead"
        raise InputError("the replacement of an op binds a variable in a branch", help=hint)
    for needed, done in order:
        if isinstance(needed, LetScopeOp):
            if done:
                copies[needed.result] = copies.get(needed.scope, needed.scope)
                continue
            inserted: Operation = let_binding(needed, copies.get(needed.bound, needed.bound))
            copies[needed.variable] = inserted.results[0]
        elif dependent.isdisjoint(captured_values(needed)):
            inserted = _copied(needed, copies)
        else:
            inserted = needed
            dependent.update(needed.results)
            for inner in needed.walk():
                inner.operands = [copies.get(operand, operand) for operand in inner.operands]
        inserted.location = op.location
        Rewriter.insert_op(inserted, point)
    return copies.get(value, value)


def _copied(op: Operation, copies: dict[SSAValue, SSAValue]) -> Operation:
    """Returns a copy of `op` on the copies of its operands; infers its type if only theirs are complete."""
    operands = [copies.get(operand, operand) for operand in op.operands]
    if not isinstance(op, RelayOp) or op.regions or all(map(is_complete, op.result_types)):
        return op.clone(copies)
    if not all(is_complete(operand.type) for operand in operands):
        return op.clone(copies)
    made = type(op).typed(operands, op.properties)
    made.attributes.update(op.attributes)
    copies.update(zip(op.results, made.results, strict=True))
    return made
