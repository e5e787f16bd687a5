"""`ExprFunctor`, `ExprVisitor` and `ExprMutator`: a method for each kind of expression.

    class ReplaceConstant(relay.ExprMutator):
        def visit_constant(self, const):
            return relay.multiply(relay.const(3.0), const)

    func = ReplaceConstant().visit(func)

Each expression is visited once, after its parts, regardless of the calls in a method. The traversal is iterative, so
deep graphs cause no recursion. `visit` in a method returns the result for a part. Functions and closures are entered
when a method visits them. A mutator returns the same expression if nothing changed, and a new `func.func` for a
`func.func`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.call import NamedCallOp, is_call
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import IncompleteType, is_complete
from xrelay.errors import InputError, XRelayError, with_article
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, view
from xrelay.relay.function import Function, invoke
from xrelay.relay.graph import detach
from xrelay.relay.nodes import Call, Constant, GlobalVar, If, Let, Op, Tuple, TupleGetItem, op_of, parts


class NoMethodError(XRelayError, NotImplementedError):
    """A functor has no method for a kind of expression."""


class ExprFunctor:
    """Calls the method for the kind of each expression; `memo_map` holds the results.

    The methods of this class raise `NoMethodError`: a subclass defines those for the kinds that occur.
    """

    def __init__(self) -> None:
        self.memo_map: dict[Expr, Any] = {}

    def visit(self, expr: Any) -> Any:
        """Returns the result of the method for `expr`, after visiting its parts. Raises `InputError` for others."""
        if isinstance(expr, FuncOp):
            return self.visit(Function.of_func(expr))
        if isinstance(expr, Op):
            return self.visit_op(expr)
        if not isinstance(expr, Expr):
            found = with_article(type(expr).__name__)
            raise InputError(f"{found} is not an expression", help="pass an expression, or a function of a module")
        memo = self._memo()
        stack: list[tuple[Expr, bool]] = [(expr, False)]
        while stack:
            node, ready = stack.pop()
            if node in memo:
                continue
            if ready:
                memo[node] = self.dispatch(node)
            else:
                inner = [] if isinstance(node, Function) else parts(node)
                stack.append((node, True))
                stack.extend((part, False) for part in reversed(inner))
        return memo[expr]

    def _memo(self) -> dict[Expr, Any]:
        """Returns the map of results, even if a subclass does not call `__init__`."""
        return self.__dict__.setdefault("memo_map", {})

    def dispatch(self, expr: Expr) -> Any:
        """Calls the method for the kind of `expr`."""
        for kind, method in _METHODS.items():
            if isinstance(expr, kind):
                return getattr(self, method)(expr)
        raise InputError(f"{expr!r} is an expression of an unknown kind", help="use the expressions of relay")

    def visit_op(self, op: Op) -> Any:
        """Visits an operator; only called by methods."""
        raise self._lacks("visit_op")

    def visit_global_var(self, gvar: GlobalVar) -> Any:
        """Visits the name of a function of the module."""
        raise self._lacks("visit_global_var")

    def visit_var(self, var: Var) -> Any:
        """Visits a variable."""
        raise self._lacks("visit_var")

    def visit_constant(self, const: Constant) -> Any:
        """Visits a constant."""
        raise self._lacks("visit_constant")

    def visit_call(self, call: Call) -> Any:
        """Visits a call of an operator, a function or a closure."""
        raise self._lacks("visit_call")

    def visit_tuple(self, tup: Tuple) -> Any:
        """Visits a tuple."""
        raise self._lacks("visit_tuple")

    def visit_tuple_getitem(self, t: TupleGetItem) -> Any:
        """Visits the access to a field of a tuple."""
        raise self._lacks("visit_tuple_getitem")

    def visit_if(self, i: If) -> Any:
        """Visits an if."""
        raise self._lacks("visit_if")

    def visit_let(self, let: Let) -> Any:
        """Visits a let."""
        raise self._lacks("visit_let")

    def visit_function(self, fn: Function) -> Any:
        """Visits a function or a closure."""
        raise self._lacks("visit_function")

    def _lacks(self, method: str) -> NoMethodError:
        return NoMethodError(f"{type(self).__name__} has no method {method}", help="define it in the class")


class _IdentityFunctor(ExprFunctor):
    """Returns expressions without parts unchanged."""

    def visit_op(self, op: Op) -> Any:
        """Returns the operator."""
        return op

    def visit_global_var(self, gvar: GlobalVar) -> Any:
        """Returns the global variable."""
        return gvar

    def visit_var(self, var: Var) -> Any:
        """Returns the variable."""
        return var

    def visit_constant(self, const: Constant) -> Any:
        """Returns the constant."""
        return const


class ExprVisitor(_IdentityFunctor):
    """Visits all parts of an expression. Override the methods for the kinds of interest; results are optional."""

    def visit_call(self, call: Call) -> Any:
        """Visits the callee and the arguments."""
        self.visit(call.op)
        for arg in call.args:
            self.visit(arg)

    def visit_tuple(self, tup: Tuple) -> Any:
        """Visits the fields."""
        for field in tup.fields:
            self.visit(field)

    def visit_tuple_getitem(self, t: TupleGetItem) -> Any:
        """Visits the tuple."""
        self.visit(t.tuple_value)

    def visit_if(self, i: If) -> Any:
        """Visits the condition and both branches."""
        for part in parts(i):
            self.visit(part)

    def visit_let(self, let: Let) -> Any:
        """Visits the variable, the value and the body."""
        for part in parts(let):
            self.visit(part)

    def visit_function(self, fn: Function) -> Any:
        """Visits the parameters and the body."""
        for part in parts(fn):
            self.visit(part)


class ExprMutator(_IdentityFunctor):
    """Rebuilds an expression from the results for its parts. Methods return expressions, numbers or arrays."""

    def visit(self, expr: Any) -> Any:
        """Returns the expression that replaces `expr`; for a `func.func` a new one of the same name."""
        made = super().visit(expr)
        if isinstance(expr, FuncOp):
            if not isinstance(made, Function):
                raise InputError(f"@{expr.sym_name.data} became {made!r}", help="return a relay.Function")
            return made.to_func(expr.sym_name.data)
        return made

    def dispatch(self, expr: Expr) -> Any:
        """Returns the result of the method for the kind of `expr`, as an expression."""
        made = super().dispatch(expr)
        if made is None:
            raise InputError(f"{type(self).__name__} returned None for {expr!r}", help="return an expression")
        return made if isinstance(made, Expr) else view(as_value(cast(ExprLike, made)))

    def visit_call(self, call: Call) -> Any:
        """Returns a call with mapped callee and arguments."""
        op, args = self.visit(call.op), [self.visit(arg) for arg in call.args]
        return call if op == call.op and args == call.args else call_with(call, op, args)

    def visit_tuple(self, tup: Tuple) -> Any:
        """Returns a tuple of mapped fields."""
        fields = [self.visit(field) for field in tup.fields]
        return tup if fields == tup.fields else Tuple(fields)

    def visit_tuple_getitem(self, t: TupleGetItem) -> Any:
        """Returns the field of the mapped tuple."""
        tuple_value = self.visit(t.tuple_value)
        return t if tuple_value == t.tuple_value else TupleGetItem(tuple_value, t.index)

    def visit_if(self, i: If) -> Any:
        """Returns an if of mapped condition and branches."""
        made = [self.visit(part) for part in parts(i)]
        return i if made == parts(i) else If(*made)

    def visit_let(self, let: Let) -> Any:
        """Returns a let of mapped variable, value and body."""
        made = [self.visit(part) for part in parts(let)]
        return let if made == parts(let) else Let(*made)

    def visit_function(self, fn: Function) -> Any:
        """Returns a function of mapped parameters and body."""
        params, body = [self.visit(param) for param in fn.params], self.visit(fn.body)
        return fn if params == fn.params and body == fn.body else fn.with_parts(params, body)


_METHODS: dict[type[Expr], str] = {
    GlobalVar: "visit_global_var",
    Function: "visit_function",
    Var: "visit_var",
    Constant: "visit_constant",
    Tuple: "visit_tuple",
    TupleGetItem: "visit_tuple_getitem",
    If: "visit_if",
    Let: "visit_let",
    Call: "visit_call",
}


def call_with(call: Call, op: object, args: Sequence[Expr]) -> Expr:
    """Returns `call` with another callee and other arguments. The type follows from them."""
    old, values = op_of(call), [arg.ssa_value for arg in args]
    if isinstance(op, Op) and isinstance(old, RelayOp):
        made: Expr = _relay_call(old, op, values)
    elif isinstance(op, GlobalVar) and is_call(old):
        # The named dimensions of the callee are resolved from the arguments.
        types = [IncompleteType()] * len(old.results) if isinstance(old, NamedCallOp) else list(old.result_types)
        # `call` is one of several results.
        made = view(CallOp(op.name_hint, values, types).results[cast(OpResult, call.ssa_value).index])
    elif isinstance(op, Function) and isinstance(old, FusedOp):
        made = _fused_call(old, op, values)
    elif isinstance(op, Expr):
        made = op(*args) if isinstance(op, (GlobalVar, Function)) else invoke(op, *args)
    else:
        raise InputError(f"{op!r} cannot be called in place of {call.op!r}", help="pass a relay.Call instead")
    op_of(made).location = old.location
    if not isinstance(old, RelayOp | FusedOp):
        # Keep the user's attributes. Those recorded by passes follow from the arguments.
        given = {name: value for name, value in old.attributes.items() if not name.startswith(("relay.", "xrelay."))}
        op_of(made).attributes.update(given)
    return made


def _relay_call(old: RelayOp, op: Op, values: Sequence[SSAValue]) -> Expr:
    if op.kind is type(old) and [value.type for value in values] == [value.type for value in old.operands]:
        # Equal operand types imply an equal result type.
        copy = detach(old.clone())
        copy.operands = values
        return view(copy.results[0])
    kind, properties = op.kind, dict(old.properties)
    if kind.INFERS_FROM_INCOMPLETE or all(is_complete(value.type) for value in values):
        made: RelayOp = kind.typed(values, properties)
    else:
        made = kind.create(operands=values, result_types=[IncompleteType()], properties=properties)
    made.attributes.update(old.attributes)
    return view(made.results[0])


def _fused_call(old: FusedOp, function: Function, values: Sequence[SSAValue]) -> Expr:
    """Returns a group with another function, whose closure provides the region and captures nothing."""
    closure: Operation = detach(op_of(function.closure()))
    region = closure.regions[0]
    closure.detach_region(region)
    last = region.block.last_op
    result = last.operands[0].type if isinstance(last, YieldOp) else old.result.type
    made = FusedOp(old.group_name.data, values, result, region)
    made.properties.update(old.properties)
    made.attributes.update(old.attributes)
    return view(made.result)
