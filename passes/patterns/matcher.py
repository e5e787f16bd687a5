"""Matches a pattern with a node, with the semantics of Relay's matcher.

Order is significant: the left alternative is tried first, and the arguments of a commutative call first as written. A
pattern that has matched a node matches no other node afterwards, except on the paths of a dominator. Matches of the
parts of a pattern that fails are discarded. There is no backtracking into a part that has matched.

As in Relay, `add` and `multiply` also match with swapped arguments. For products and quotients, the pattern `(a * b) /
c` also matches `a * (b / c)` and `b * (a / c)`, and `a * (b / c)` also matches `(a * b) / c`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Generic, TypeAlias, cast

from numpy.typing import DTypeLike
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import to_python
from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import ANY, symbol
from xrelay.passes.patterns.graph import NodeGraph
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
    Term,
    TupleTerm,
    VarTerm,
    needs,
)

COMMUTATIVE = frozenset({"add", "multiply"})
"""The operators whose arguments may be swapped."""

Answer: TypeAlias = "Generator[tuple[DFPattern, NodeT], bool, bool]"
"""Yields the queries (pattern, node) that a match depends on, receives their results, and returns its own result."""


class Matcher(Generic[NodeT]):
    """Matches patterns with nodes of a graph.

    Each query, whether a pattern matches a node, is a generator; a loop resolves the queries that it depends on. So
    neither patterns redirected to themselves nor deep graphs cause recursion.
    """

    def __init__(self, graph: NodeGraph[NodeT]):
        self._graph, self._terms = graph, graph.terms
        self.found: dict[DFPattern, list[NodeT]] = {}
        """The nodes that each pattern matched in the last match."""
        self._order: list[DFPattern] = []
        """The patterns in the order of their matches."""
        self._binds_once = True
        """Whether a pattern that has matched a node matches no other node."""

    def match(self, pattern: DFPattern, node: NodeT) -> bool:
        """Returns whether `pattern` matches `node`; `found` then has the nodes that its parts matched."""
        self.found, self._order, self._binds_once = {}, [], True
        stack = [self._answer(pattern, node)]
        answer: bool | None = None
        while stack:
            try:
                # A generator has to be started with None.
                query = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as end:
                stack.pop()
                answer = bool(end.value)
            else:
                stack.append(self._answer(*query))
                answer = None
        return bool(answer)

    def _answer(self, pattern: DFPattern, node: NodeT) -> Answer[NodeT]:
        if self._binds_once and pattern in self.found:
            return self.found[pattern][0] == node
        mark = len(self._order)
        matched = yield from self._matches(pattern, node)
        if matched:
            self.found.setdefault(pattern, []).append(node)
            self._order.append(pattern)
        else:
            self._forget(mark)
        return matched

    def _forget(self, mark: int) -> None:
        """Discards the matches after the first `mark`."""
        for pattern in self._order[mark:]:
            self.found.pop(pattern, None)
        del self._order[mark:]

    def _matches(self, pattern: DFPattern, node: NodeT) -> Answer[NodeT]:
        """Returns whether `pattern` matches `node`, regardless of previous matches of the pattern."""
        match pattern:
            case CallPattern():
                return (yield from self._matches_call(pattern, node))
            case WildcardPattern():
                return pattern.pattern is None or (yield pattern.pattern, node)
            case ExprPattern():
                return self._terms.is_same(node, pattern.expr)
            case AltPattern():
                return (yield pattern.left, node) or (yield pattern.right, node)
            case AttrPattern():
                return (yield pattern.pattern, node) and self._has_attributes(pattern, node)
            case NarrowedPattern():
                return _has_type(pattern, self._terms.type(node)) and (yield pattern.pattern, node)
            case DominatorPattern():
                return (yield from self._dominates(pattern, node))
            case ConstantPattern():
                return isinstance(self._terms.of(node), ConstantTerm)
            case VarPattern():
                term = self._terms.of(node)
                return isinstance(term, VarTerm) and pattern.name in ("", term.name)
            case _:
                return (yield from self._match_all(pattern.subpatterns, _parts(pattern, self._terms.of(node))))

    def _match_all(self, patterns: Sequence[DFPattern], nodes: Sequence[NodeT] | None) -> Answer[NodeT]:
        """Returns whether the patterns match the nodes, in order."""
        if nodes is None or len(patterns) != len(nodes):
            return False
        mark = len(self._order)
        for pattern, node in zip(patterns, nodes, strict=True):
            if not (yield pattern, node):
                self._forget(mark)
                return False
        return True

    def _has_attributes(self, pattern: AttrPattern, node: NodeT) -> bool:
        """Returns whether an operator, a call or a function has all attributes."""
        if not isinstance(self._terms.of(node), OperatorTerm | CallTerm | FunctionTerm):
            return False
        return all(_plain(value) == _plain(self._terms.attribute(node, name)) for name, value in pattern.attrs.items())

    # --- calls

    def _matches_call(self, pattern: CallPattern, node: NodeT) -> Answer[NodeT]:
        """Matches the callee, then the arguments; else an equivalent pattern."""
        term = self._terms.of(node)
        if not isinstance(term, CallTerm):
            return False
        mark = len(self._order)
        if (yield pattern.op, term.op):
            return (yield from self._match_arguments(pattern, term.args))
        self._forget(mark)
        for other in self._reassociated(pattern, term):
            if (yield other, node):
                return True
        return False

    def _match_arguments(self, pattern: CallPattern, args: Sequence[NodeT]) -> Answer[NodeT]:
        if pattern.args is None:
            return True
        if (yield from self._match_all(pattern.args, args)):
            return True
        if _operator_name(pattern) not in COMMUTATIVE:
            return False
        return (yield from self._match_all(pattern.args[::-1], args))

    def _reassociated(self, pattern: CallPattern, call: CallTerm[NodeT]) -> Iterator[CallPattern]:
        """Yields patterns equivalent to `pattern`, whose root is the operator that `call` applies."""
        name, args = _operator_name(pattern), pattern.args
        if name not in ("divide", "multiply") or args is None or len(args) != 2:
            return
        other = "multiply" if name == "divide" else "divide"
        if self._called(call) != other or name not in {self._called(self._terms.of(arg)) for arg in call.args}:
            return
        for inner, last in ((args[0], args[1]), (args[1], args[0]))[: 1 if name == "divide" else 2]:
            if not isinstance(inner, CallPattern) or inner.args is None or len(inner.args) != 2:
                continue
            left, right = inner.args
            if _operator_name(inner) == other == "multiply":
                yield CallPattern(inner.op, [right, CallPattern(pattern.op, [left, last])])
                yield CallPattern(inner.op, [left, CallPattern(pattern.op, [right, last])])
            elif _operator_name(inner) == other:
                yield CallPattern(inner.op, [CallPattern(pattern.op, [left, last]), right])
                return

    def _called(self, term: Term[NodeT]) -> str | None:
        """Returns the name of the operator that `term` applies, or None."""
        called = self._terms.of(term.op) if isinstance(term, CallTerm) else None
        return called.op.name if isinstance(called, OperatorTerm) else None

    # --- dominators

    def _dominates(self, pattern: DominatorPattern, node: NodeT) -> Answer[NodeT]:
        """Matches the child, then all paths up to the parent. The child has to post-dominate the parent."""
        if not (yield pattern.child, node):
            return False
        reached = yield from self._all_paths_reach(pattern, node)
        self._binds_once = True
        return reached and self._graph.dominates(node, self.found[pattern.parent][0])

    def _all_paths_reach(self, pattern: DominatorPattern, child: NodeT) -> Answer[NodeT]:
        """Matches the operands of `child`, transitively, with the parent or the path; each operand is visited once.

        The parent is one node; the path pattern and its parts match any number of nodes.
        """
        operands = self._operands_on_paths(child)
        pending = [iter(operands)]
        passed: set[NodeT] = set()
        while operands and pending:
            current = next(pending[-1], None)
            if current is None:
                pending.pop()
                continue
            if current in passed:
                continue
            self._binds_once = True
            if (yield pattern.parent, current):
                continue
            self._binds_once = False
            if not (yield pattern.path, current):
                return False
            passed.add(current)
            operands = self._operands_on_paths(current)
            pending.append(iter(operands))
        return bool(operands)

    def _operands_on_paths(self, node: NodeT) -> Sequence[NodeT]:
        """Returns the operands of `node`; for a call the arguments without variables and constants."""
        term = self._terms.of(node)
        if not isinstance(term, CallTerm):
            return needs(self._terms, node)
        return [arg for arg in term.args if not isinstance(self._terms.of(arg), VarTerm | ConstantTerm)]


def _parts(pattern: DFPattern, term: Term[NodeT]) -> Sequence[NodeT] | None:
    """Returns the nodes to match with the parts of `pattern`; None if the node has another kind."""
    match pattern, term:
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


def _operator_name(pattern: CallPattern) -> str | None:
    """Returns the name of the operator in a call pattern, or None."""
    op = pattern.op
    return op.expr.name if isinstance(op, ExprPattern) and isinstance(op.expr, Op) else None


def _has_type(pattern: NarrowedPattern, type: Attribute | None) -> bool:
    """Returns whether a node of this type fits the restriction of `pattern`.

    A shape has numbers, expressions, names, or None for unknown; an element type is a name, a numpy dtype or an MLIR
    type.
    """
    if isinstance(pattern, TypePattern):
        return type is not None and type == pattern.type
    if not isinstance(type, TensorType):
        return False
    if isinstance(pattern, ShapePattern):
        return shape_of(type) == tuple(map(_extent, pattern.shape))
    if not isinstance(pattern, DataTypePattern):
        return False
    dtype = pattern.dtype
    return type.element_type == (dtype if isinstance(dtype, Attribute) else element_type(cast(DTypeLike, dtype)))


def _extent(extent: object) -> object:
    if extent is None:
        return ANY
    return symbol(extent) if isinstance(extent, str) else extent


def _plain(value: object) -> object:
    """Returns a value for comparisons: lists equal tuples, and MLIR attributes their Python values."""
    if isinstance(value, Attribute):
        value = to_python(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return value
