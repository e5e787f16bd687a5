"""The matching rule of calls: as written, with swapped operands of a commutative operator, or re-associated.

As in Relay, `add` and `multiply` also match with swapped arguments. For products and quotients, the pattern `(a * b) /
c` also matches `a * (b / c)` and `b * (a / c)`, and `a * (b / c)` also matches `(a * b) / c`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.passes.patterns.match_state import Answer, MatchState
from xrelay.passes.patterns.nodes import CallPattern, DFPattern, ExprPattern
from xrelay.passes.patterns.terms import CallTerm, NodeT, OperatorTerm, Term, Terms

COMMUTATIVE = frozenset({"add", "multiply"})
"""The operators whose arguments may be swapped."""


def call_rule(matcher: MatchState[NodeT], pattern: CallPattern, node: NodeT) -> Answer[NodeT]:
    """Matches the callee, then the arguments; else an equivalent pattern."""
    term = matcher.terms.of(node)
    if not isinstance(term, CallTerm):
        return False
    mark = matcher.mark()
    if (yield pattern.op, term.op):
        return (yield from _match_arguments(matcher, pattern, term.args))
    matcher.forget(mark)
    for other in _reassociated(matcher.terms, pattern, term):
        if (yield other, node):
            return True
    return False


def _match_arguments(matcher: MatchState[NodeT], pattern: CallPattern, args: Sequence[NodeT]) -> Answer[NodeT]:
    if pattern.args is None:
        return True
    if (yield from _match_all(matcher, pattern.args, args)):
        return True
    if _operator_name(pattern) not in COMMUTATIVE:
        return False
    return (yield from _match_all(matcher, pattern.args[::-1], args))


def _match_all(matcher: MatchState[NodeT], patterns: Sequence[DFPattern], nodes: Sequence[NodeT]) -> Answer[NodeT]:
    if len(patterns) != len(nodes):
        return False
    mark = matcher.mark()
    for pattern, node in zip(patterns, nodes, strict=True):
        if not (yield pattern, node):
            matcher.forget(mark)
            return False
    return True


def _reassociated(terms: Terms[NodeT], pattern: CallPattern, call: CallTerm[NodeT]) -> list[CallPattern]:
    """Returns patterns equivalent to `pattern`, whose root is the operator that `call` applies."""
    name = _operator_name(pattern)
    if name not in ("divide", "multiply") or pattern.args is None or len(pattern.args) != 2:
        return []
    other = "multiply" if name == "divide" else "divide"
    if _called(terms, call) != other or name not in {_called(terms, terms.of(arg)) for arg in call.args}:
        return []
    first, second = pattern.args
    if name == "divide":
        inner = _call_of("multiply", first)
        if inner is None:
            return []
        return [
            CallPattern(inner.op, [inner.args[1 - place], CallPattern(pattern.op, [inner.args[place], second])])
            for place in (0, 1)
        ]
    for quotient, factor in ((first, second), (second, first)):
        inner = _call_of("divide", quotient)
        if inner is not None:
            return [CallPattern(inner.op, [CallPattern(pattern.op, [inner.args[0], factor]), inner.args[1]])]
    return []


class _BinaryCall:
    """A call pattern with two arguments."""

    def __init__(self, op: DFPattern, args: tuple[DFPattern, DFPattern]):
        self.op, self.args = op, args


def _call_of(name: str, pattern: DFPattern) -> _BinaryCall | None:
    """Returns `pattern` if it is a call of the operator `name` with two arguments, else None."""
    if not isinstance(pattern, CallPattern) or _operator_name(pattern) != name or pattern.args is None:
        return None
    return _BinaryCall(pattern.op, (pattern.args[0], pattern.args[1])) if len(pattern.args) == 2 else None


def _operator_name(pattern: CallPattern) -> str | None:
    """Returns the name of the operator in a call pattern, or None."""
    op = pattern.op
    return op.expr.name if isinstance(op, ExprPattern) and isinstance(op.expr, Op) else None


def _called(terms: Terms[NodeT], term: Term[NodeT]) -> str | None:
    """Returns the name of the operator that `term` applies, or None."""
    if not isinstance(term, CallTerm):
        return None
    called = terms.of(term.op)
    return called.op.name if isinstance(called, OperatorTerm) else None
