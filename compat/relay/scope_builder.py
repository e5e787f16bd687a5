"""`ScopeBuilder`: builds lets and branches statement by statement.

sb = relay.ScopeBuilder()
y = sb.let("y", relay.exp(x))
with sb.if_scope(cond):
sb.ret(y)
with sb.else_scope():
sb.ret(x)
func = relay.Function([cond, x], sb.get())
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Attribute

from xrelay.errors import InputError
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, view
from xrelay.relay.nodes import If, Let
from xrelay.relay.types import TypeView


class _Scope:
    """The bindings of a scope and its result."""

    def __init__(self) -> None:
        self.bindings: list[tuple[Var, Expr]] = []
        self.result: Expr | None = None
        self.branch: tuple[Expr, Expr] | None = None

    def expression(self) -> Expr:
        if self.result is None:
            missing = "else_scope" if self.branch is not None else "ret"
            raise InputError(f"a scope has no result: {missing} is missing", help="end every scope with ret(value)")
        result = self.result
        for var, value in reversed(self.bindings):
            result = Let(var, value, result)
        return result


class ScopeBuilder:
    """Collects bindings and returns the resulting expression. Raises `InputError` for scopes in the wrong order."""

    def __init__(self) -> None:
        self._scopes = [_Scope()]

    def let(self, var: Var | str | tuple[str, Attribute | TypeView], value: ExprLike) -> Var:
        """Binds `value` to a variable, or to a new variable of a name, or of a name and a type; returns it."""
        scope = self._open()
        bound = view(as_value(value))
        name, type = var if isinstance(var, tuple) else (var, bound.type)
        variable = Var(name, type) if isinstance(name, str) else name
        scope.bindings.append((variable, bound))
        return variable

    def ret(self, value: ExprLike) -> None:
        """Sets the result of the scope."""
        self._open().result = view(as_value(value))

    @contextmanager
    def if_scope(self, cond: ExprLike) -> Generator[None]:
        """Opens the scope that computes the enclosing result if `cond` is true; `else_scope` must follow."""
        outer = self._open()
        yield from self._nested()
        outer.branch = (view(as_value(cond)), self._scopes.pop().expression())

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """Opens the scope that computes the enclosing result if the condition is false."""
        outer = self._scopes[-1]
        if outer.branch is None:
            raise InputError("else_scope without if_scope", help="write `with sb.if_scope(cond):` before")
        branch, outer.branch = outer.branch, None
        yield from self._nested()
        outer.result = If(*branch, self._scopes.pop().expression())

    def get(self) -> Expr:
        """Returns the expression built so far."""
        return self._scopes[0].expression()

    def _nested(self) -> Generator[None]:
        self._scopes.append(_Scope())
        depth = len(self._scopes)
        try:
            yield
        except BaseException:
            del self._scopes[depth - 1 :]
            raise

    def _open(self) -> _Scope:
        scope = self._scopes[-1]
        if scope.result is not None or scope.branch is not None:
            raise InputError("the scope has a result already", help="bind before ret and if_scope")
        return scope
