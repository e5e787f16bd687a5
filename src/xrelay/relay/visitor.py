"""`ExprFunctor`, `ExprVisitor` and `ExprMutator`: a method for each kind of expression.

    class ReplaceConstant(relay.ExprMutator):
        def visit_constant(self, const):
            return relay.multiply(relay.const(3.0), const)

    func = ReplaceConstant().visit(func)

Every expression is visited once, its parts before it, whatever a method asks for: so nothing recurses over the depth of
a graph. `visit` in a method gives what came out of a part. Functions and closures are entered when they are reached.
A mutator gives the same expression where nothing changed. Of a function of a module (`func.func`) it makes another.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError, XRelayError, with_article
from xrelay.relay.attrs import Op
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, view
from xrelay.relay.function import Function
from xrelay.relay.nodes import Call, Constant, GlobalVar, If, Let, Tuple, TupleGetItem, parts
from xrelay.relay.rebuild import call_with


class NoMethodError(XRelayError, NotImplementedError):
    """A functor has no method for a kind of expression."""


class ExprFunctor:
    """Calls the method for the kind of each expression; `memo_map` holds what came out.

    It has no method itself: a subclass says what it does with each kind that it meets, or `NoMethodError` is raised.
    """

    def __init__(self) -> None:
        self.memo_map: dict[Expr, Any] = {}

    def visit(self, expr: Any) -> Any:
        """What the method for `expr` gives, after those for its parts; `InputError` for what is no expression."""
        if isinstance(expr, FuncOp):
            return self.visit(Function.of_func(expr))
        if isinstance(expr, Op):
            return self.visit_op(expr)
        if not isinstance(expr, Expr):
            found = with_article(type(expr).__name__)
            raise InputError(f"{found} is no expression to visit", help="give an expression, or a function of a module")
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
        """The map of results, also where a subclass calls no `__init__`."""
        return self.__dict__.setdefault("memo_map", {})

    def dispatch(self, expr: Expr) -> Any:
        """What the method for the kind of `expr` gives."""
        for kind, method in _METHODS.items():
            if isinstance(expr, kind):
                return getattr(self, method)(expr)
        raise InputError(f"{expr!r} is an expression of a kind that nobody visits", help="give one made by relay")

    def visit_op(self, op: Op) -> Any:
        """An operator, where a method asks for it."""
        raise self._lacks("visit_op")

    def visit_global_var(self, gvar: GlobalVar) -> Any:
        """A function of the module, by its name."""
        raise self._lacks("visit_global_var")

    def visit_var(self, var: Var) -> Any:
        """A variable."""
        raise self._lacks("visit_var")

    def visit_constant(self, const: Constant) -> Any:
        """A constant."""
        raise self._lacks("visit_constant")

    def visit_call(self, call: Call) -> Any:
        """An operator, a function or a closure on arguments."""
        raise self._lacks("visit_call")

    def visit_tuple(self, tup: Tuple) -> Any:
        """A tuple."""
        raise self._lacks("visit_tuple")

    def visit_tuple_getitem(self, t: TupleGetItem) -> Any:
        """A field of a tuple."""
        raise self._lacks("visit_tuple_getitem")

    def visit_if(self, i: If) -> Any:
        """One of two values."""
        raise self._lacks("visit_if")

    def visit_let(self, let: Let) -> Any:
        """A binding."""
        raise self._lacks("visit_let")

    def visit_function(self, fn: Function) -> Any:
        """A function or a closure."""
        raise self._lacks("visit_function")

    def _lacks(self, method: str) -> NoMethodError:
        return NoMethodError(f"{type(self).__name__} has no method {method}", help="define it in the class")


class _KeepsLeaves(ExprFunctor):
    """What has no parts gives itself."""

    def visit_op(self, op: Op) -> Any:
        """An operator: itself."""
        return op

    def visit_global_var(self, gvar: GlobalVar) -> Any:
        """A function of the module: itself."""
        return gvar

    def visit_var(self, var: Var) -> Any:
        """A variable: itself."""
        return var

    def visit_constant(self, const: Constant) -> Any:
        """A constant: itself."""
        return const


class ExprVisitor(_KeepsLeaves):
    """Visits every part of an expression. Override the methods for the kinds of interest; they need give nothing."""

    def visit_call(self, call: Call) -> Any:
        """A call: its function and arguments."""
        self.visit(call.op)
        for arg in call.args:
            self.visit(arg)

    def visit_tuple(self, tup: Tuple) -> Any:
        """A tuple: its fields."""
        for field in tup.fields:
            self.visit(field)

    def visit_tuple_getitem(self, t: TupleGetItem) -> Any:
        """A field: the tuple."""
        self.visit(t.tuple_value)

    def visit_if(self, i: If) -> Any:
        """A branch: condition and both values."""
        for part in parts(i):
            self.visit(part)

    def visit_let(self, let: Let) -> Any:
        """A binding: variable, value and body."""
        for part in parts(let):
            self.visit(part)

    def visit_function(self, fn: Function) -> Any:
        """A function: parameters and body."""
        for part in parts(fn):
            self.visit(part)


class ExprMutator(_KeepsLeaves):
    """Builds an expression anew from what came out of its parts. Methods give expressions, numbers or arrays."""

    def visit(self, expr: Any) -> Any:
        """The expression that stands for `expr`; of a `func.func` another one of the same name."""
        made = super().visit(expr)
        if isinstance(expr, FuncOp):
            if not isinstance(made, Function):
                raise InputError(f"@{expr.sym_name.data} became {made!r}", help="visit_function gives a relay.Function")
            return made.to_func(expr.sym_name.data)
        return made

    def dispatch(self, expr: Expr) -> Any:
        """What the method for the kind of `expr` gives, as an expression."""
        made = super().dispatch(expr)
        if made is None:
            raise InputError(f"{type(self).__name__} gives nothing for {expr!r}", help="return an expression")
        return made if isinstance(made, Expr) else view(as_value(cast(ExprLike, made)))

    def visit_call(self, call: Call) -> Any:
        """The call of what became of the function, on what became of the arguments."""
        op, args = self.visit(call.op), [self.visit(arg) for arg in call.args]
        return call if op == call.op and args == call.args else call_with(call, op, args)

    def visit_tuple(self, tup: Tuple) -> Any:
        """The tuple of what became of the fields."""
        fields = [self.visit(field) for field in tup.fields]
        return tup if fields == tup.fields else Tuple(fields)

    def visit_tuple_getitem(self, t: TupleGetItem) -> Any:
        """The field of what became of the tuple."""
        tuple_value = self.visit(t.tuple_value)
        return t if tuple_value == t.tuple_value else TupleGetItem(tuple_value, t.index)

    def visit_if(self, i: If) -> Any:
        """The branch on what became of condition and values."""
        made = [self.visit(part) for part in parts(i)]
        return i if made == parts(i) else If(*made)

    def visit_let(self, let: Let) -> Any:
        """The binding of what became of the variable."""
        made = [self.visit(part) for part in parts(let)]
        return let if made == parts(let) else Let(*made)

    def visit_function(self, fn: Function) -> Any:
        """The function of what became of parameters and body."""
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
