"""Expressions as nodes for pattern matching, and expressions rebuilt with other subexpressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import Attribute, OpResult

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.patterns.ir_terms import is_same, op_attribute, operator_attribute
from xrelay.passes.patterns.terms import (
    MISSING,
    CallTerm,
    ConstantTerm,
    FieldTerm,
    FunctionTerm,
    GlobalTerm,
    IfTerm,
    LetTerm,
    OperatorTerm,
    OtherTerm,
    Term,
    TupleTerm,
    VarTerm,
    is_callable_name,
)
from xrelay.relay.expr import Expr, Var, view
from xrelay.relay.function import Function
from xrelay.relay.graph import captured_values, detach
from xrelay.relay.nodes import Call, Constant, GlobalVar, If, Let, Op, Tuple, TupleGetItem, op_of
from xrelay.relay.transform.expressions import InferredTypes
from xrelay.relay.visitor import call_with

ExprNode: TypeAlias = "Expr | Op"
"""An expression or an operator."""


class ExprTerms:
    """The terms of expressions. A called function is one node, created once."""

    def __init__(self) -> None:
        self._known: dict[ExprNode, Term[ExprNode]] = {}
        self._functions: dict[Expr, Expr] = {}
        self._types = InferredTypes()

    def of(self, node: ExprNode) -> Term[ExprNode]:
        """Returns the term of an expression or an operator."""
        if isinstance(node, Op):
            return OperatorTerm(node)
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._term(node)
        return known

    def attribute(self, node: ExprNode, name: str) -> object:
        """Returns an attribute of an operator, a call or a function as a Python value."""
        if isinstance(node, Op):
            return operator_attribute(node, name)
        if isinstance(node, Function):
            return node.attrs.get(name, MISSING)
        return op_attribute(op_of(node), name) if isinstance(node, Call) else MISSING

    def type(self, node: ExprNode) -> Attribute | None:
        """Returns the type of an expression, inferred if unknown; None if it cannot be inferred."""
        if isinstance(node, Op):
            return None
        if is_complete(node.type) or isinstance(node, Function | GlobalVar):
            return node.type if is_complete(node.type) else None
        return self._types.of(node.ssa_value)

    def is_same(self, node: ExprNode, expr: object) -> bool:
        """Returns whether the expression has the same structure as another one, or is the operator."""
        return is_same(node, expr)

    def _term(self, node: Expr) -> Term[ExprNode]:
        match node:
            case GlobalVar():
                return GlobalTerm(node.name_hint)
            case Function():
                itself = () if node.itself is None else (node.itself,)
                return FunctionTerm(tuple(node.params), node.body, itself)
            case Var():
                return VarTerm(node.name)
            case Constant():
                return ConstantTerm()
            case Call() if not isinstance(op_of(node), FusedOp):
                op = node.op
                called = self._functions.setdefault(op, op) if isinstance(op, Function) else op
                return CallTerm(called, tuple(node.args))
            case Tuple():
                return TupleTerm(tuple(node.fields))
            case TupleGetItem():
                return FieldTerm(node.tuple_value, node.index)
            case If():
                return IfTerm(node.cond, node.true_branch, node.false_branch)
            case Let():
                return LetTerm(node.var, node.value, node.body)
            case _:
                return _other_term(node)

    def rebuilt(self, node: Expr, of: Callable[[ExprNode], ExprNode]) -> Expr:
        """Returns `node` with each subexpression mapped by `of`, or `node` itself if none changes."""
        term = self.of(node)
        match term:
            case CallTerm(op, args):
                called = op if is_callable_name(self.of(op)) else of(op)
                given = [_expr(of(arg)) for arg in args]
                same = called == op and given == list(args)
                return node if same or not isinstance(node, Call) else call_with(node, called, given)
            case FunctionTerm(params, body, _) if isinstance(node, Function):
                made = _expr(of(body))
                return node if made == body else node.with_parts([_var(param) for param in params], made)
            case TupleTerm(fields):
                given = [_expr(of(field)) for field in fields]
                return node if given == list(fields) else Tuple(given)
            case FieldTerm(value, index):
                return node if of(value) == value else TupleGetItem(_expr(of(value)), index)
            case IfTerm() | LetTerm() | OtherTerm():
                return self._rebuilt_scope(node, of)
            case _:
                return node

    def _rebuilt_scope(self, node: Expr, of: Callable[[ExprNode], ExprNode]) -> Expr:
        match self.of(node):
            case IfTerm(cond, chosen, other):
                made = [_expr(of(part)) for part in (cond, chosen, other)]
                return node if made == [cond, chosen, other] else If(*made)
            case LetTerm(var, value, body):
                bound, rest = _expr(of(value)), _expr(of(body))
                return node if [bound, rest] == [value, body] else Let(_var(var), bound, rest)
            case OtherTerm(_, needed):
                made = {part: of(part) for part in needed}
                if all(old == new for old, new in made.items()):
                    return node
                values = {_expr(old).ssa_value: _expr(new).ssa_value for old, new in made.items()}
                return view(detach(op_of(node).clone(values)).results[0])
            case _:
                return node


def _other_term(node: Expr) -> Term[ExprNode]:
    """Returns the term of an op without an expression in Relay: a group, a loop, or an op of another dialect."""
    value = node.ssa_value
    if not isinstance(value, OpResult):
        return VarTerm(value.name_hint if value.name_hint is not None else "")
    return OtherTerm(value.op.name.removeprefix("relay."), tuple(view(needed) for needed in captured_values(value.op)))


def _expr(node: ExprNode) -> Expr:
    """Returns `node`, which must not be an operator."""
    if isinstance(node, Op):
        raise TypeError(f"{node} is not an expression")
    return node


def _var(node: ExprNode) -> Var:
    """Returns `node`, which must be a variable."""
    if not isinstance(node, Var):
        raise TypeError(f"{node!r} is not a variable")
    return node
