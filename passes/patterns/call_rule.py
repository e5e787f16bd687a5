"""When a call matches: as it stands, with the operands of a commutative operator swapped, or re-associated.

As in Relay, `add` and `multiply` also match with their arguments swapped, and of products and quotients the pattern
`(a * b) / c` matches `a * (b / c)` and `b * (a / c)`, and `a * (b / c)` matches `(a * b) / c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.passes.patterns.nodes import CallPattern, DFPattern, ExprPattern
from xrelay.passes.patterns.terms import CallTerm, NodeT, OperatorTerm, Term, Terms

if TYPE_CHECKING:
    from xrelay.passes.patterns.matcher import Answer, Matcher

COMMUTATIVE = frozenset({"add", "multiply"})
"""The operators whose arguments may come in either order."""


def call_rule(matcher: Matcher[NodeT], pattern: CallPattern, node: NodeT) -> Answer[NodeT]:
    """What is called matches, then the arguments; else a pattern that means the same matches."""
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


def _match_arguments(matcher: Matcher[NodeT], pattern: CallPattern, args: Sequence[NodeT]) -> Answer[NodeT]:
    if pattern.args is None:
        return True
    if (yield from _match_all(matcher, pattern.args, args)):
        return True
    if _operator_name(pattern) not in COMMUTATIVE:
        return False
    return (yield from _match_all(matcher, pattern.args[::-1], args))


def _match_all(matcher: Matcher[NodeT], patterns: Sequence[DFPattern], nodes: Sequence[NodeT]) -> Answer[NodeT]:
    if len(patterns) != len(nodes):
        return False
    mark = matcher.mark()
    for pattern, node in zip(patterns, nodes, strict=True):
        if not (yield pattern, node):
            matcher.forget(mark)
            return False
    return True


def _reassociated(terms: Terms[NodeT], pattern: CallPattern, call: CallTerm[NodeT]) -> list[CallPattern]:
    """The patterns of the operator that `call` applies that mean the same as `pattern`, of the other operator."""
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
    """A call pattern of two arguments."""

    def __init__(self, op: DFPattern, args: tuple[DFPattern, DFPattern]):
        self.op, self.args = op, args


def _call_of(name: str, pattern: DFPattern) -> _BinaryCall | None:
    """`pattern`, where it is the call of the operator on two arguments."""
    if not isinstance(pattern, CallPattern) or _operator_name(pattern) != name or pattern.args is None:
        return None
    return _BinaryCall(pattern.op, (pattern.args[0], pattern.args[1])) if len(pattern.args) == 2 else None


def _operator_name(pattern: CallPattern) -> str | None:
    """The operator that a call pattern names."""
    op = pattern.op
    return op.expr.name if isinstance(op, ExprPattern) and isinstance(op.expr, Op) else None


def _called(terms: Terms[NodeT], term: Term[NodeT]) -> str | None:
    """The operator that a node which is `term` applies."""
    if not isinstance(term, CallTerm):
        return None
    called = terms.of(term.op)
    return called.op.name if isinstance(called, OperatorTerm) else None
