"""The matching rules for each kind of pattern.

A rule is a generator: it yields the queries (pattern, node) that it depends on, and returns its result.
"""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.passes.patterns.call_rule import call_rule
from xrelay.passes.patterns.comparisons import has_dtype, has_shape, has_type, same_attribute
from xrelay.passes.patterns.dominator_rule import dominator_rule
from xrelay.passes.patterns.match_state import Answer, MatchState
from xrelay.passes.patterns.nodes import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    NarrowedPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)
from xrelay.passes.patterns.terms import (
    CallTerm,
    ConstantTerm,
    FieldTerm,
    FunctionTerm,
    IfTerm,
    LetTerm,
    NodeT,
    OperatorTerm,
    TupleTerm,
    VarTerm,
)


def rule(matcher: MatchState[NodeT], pattern: DFPattern, node: NodeT) -> Answer[NodeT]:
    """Returns whether `pattern` matches `node`, regardless of previous matches of the pattern."""
    match pattern:
        case CallPattern():
            return (yield from call_rule(matcher, pattern, node))
        case WildcardPattern():
            return pattern.pattern is None or (yield pattern.pattern, node)
        case ExprPattern():
            return matcher.terms.is_same(node, pattern.expr)
        case AltPattern():
            return (yield pattern.left, node) or (yield pattern.right, node)
        case AttrPattern():
            return (yield pattern.pattern, node) and _has_attributes(matcher, pattern, node)
        case TypePattern() | ShapePattern() | DataTypePattern():
            return _has_type(matcher, pattern, node) and (yield pattern.pattern, node)
        case DominatorPattern():
            return (yield from dominator_rule(matcher, pattern, node))
        case ConstantPattern():
            return isinstance(matcher.terms.of(node), ConstantTerm)
        case VarPattern():
            term = matcher.terms.of(node)
            return isinstance(term, VarTerm) and pattern.name in ("", term.name)
        case _:
            return (yield from _subpatterns_match(matcher, pattern, node))


def _subpatterns_match(matcher: MatchState[NodeT], pattern: DFPattern, node: NodeT) -> Answer[NodeT]:
    """Returns whether `node` has the kind of the pattern and its parts match, in order."""
    nodes = _operands_of(matcher, pattern, node)
    if nodes is None or len(nodes) != len(pattern.subpatterns):
        return False
    for subpattern, inner in zip(pattern.subpatterns, nodes, strict=True):
        if not (yield subpattern, inner):
            return False
    return True


def _operands_of(matcher: MatchState[NodeT], pattern: DFPattern, node: NodeT) -> Sequence[NodeT] | None:
    """Returns the nodes to match with the parts of `pattern`; None if `node` has another kind."""
    match pattern, matcher.terms.of(node):
        case TuplePattern(), TupleTerm(fields):
            return () if pattern.fields is None else fields
        case TupleGetItemPattern(), FieldTerm(value, index):
            return (value,) if pattern.index in (-1, index) else None
        case FunctionPattern(), FunctionTerm(params, body, _):
            return (body,) if pattern.params is None else (*params, body)
        case IfPattern(), IfTerm(cond, true_branch, false_branch):
            return (cond, true_branch, false_branch)
        case LetPattern(), LetTerm(var, value, body):
            return (var, value, body)
        case _:
            return None


def _has_attributes(matcher: MatchState[NodeT], pattern: AttrPattern, node: NodeT) -> bool:
    """Returns whether an operator, a call or a function has all attributes."""
    if not isinstance(matcher.terms.of(node), OperatorTerm | CallTerm | FunctionTerm):
        return False
    return all(same_attribute(value, matcher.terms.attribute(node, name)) for name, value in pattern.attrs.items())


def _has_type(matcher: MatchState[NodeT], pattern: NarrowedPattern, node: NodeT) -> bool:
    type = matcher.terms.type(node)
    match pattern:
        case TypePattern():
            return has_type(type, pattern.type)
        case ShapePattern():
            return has_shape(type, pattern.shape)
        case DataTypePattern():
            return has_dtype(type, pattern.dtype)
        case _:
            return False
