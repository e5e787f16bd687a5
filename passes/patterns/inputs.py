"""The inputs of a match: the arguments of the function outlined from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xrelay.passes.patterns.graph import below
from xrelay.passes.patterns.nodes import (
    CallPattern,
    ConstantPattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    TuplePattern,
)
from xrelay.passes.patterns.terms import (
    CallTerm,
    ConstantTerm,
    FunctionTerm,
    NodeT,
    Terms,
    TupleTerm,
    is_callable_name,
)


def inputs_of(
    subpatterns: Sequence[DFPattern], found: Mapping[DFPattern, Sequence[NodeT]], terms: Terms[NodeT]
) -> dict[NodeT, None]:
    """Returns the nodes matched by leaves among the `subpatterns` of a pattern, in the order of the leaves, each once.

    A leaf is a pattern without parts, or a tuple or call pattern with any fields or arguments: these are the inputs.
    Not inputs are operators, functions, constants that the pattern requires, nodes that a dominator's parent and path
    match, and nodes inside matched functions.
    """
    inside = {node for subpattern in subpatterns for node in _inside(subpattern, found, terms)}
    inputs: dict[NodeT, None] = {}
    for subpattern in subpatterns:
        for node in _matched_by_leaf(subpattern, found, terms):
            term = terms.of(node)
            embedded = isinstance(term, ConstantTerm) and _requires_constant(subpattern)
            if (
                node not in inside
                and not is_callable_name(term)
                and not isinstance(term, FunctionTerm)
                and not embedded
            ):
                inputs[node] = None
    return inputs


def subpatterns_of(pattern: DFPattern) -> list[DFPattern]:
    """Returns `pattern` and all its parts in post-order, in Relay's order; iterative."""
    order: list[DFPattern] = []
    seen: set[DFPattern] = set()
    stack: list[tuple[DFPattern, bool]] = [(pattern, False)]
    while stack:
        subpattern, ready = stack.pop()
        if ready:
            order.append(subpattern)
        elif subpattern not in seen:
            # Marked before its parts are visited: a wildcard may be redirected to a pattern that contains it.
            seen.add(subpattern)
            stack.append((subpattern, True))
            stack.extend((inner, False) for inner in reversed(subpattern.subpatterns))
    return order


def _inside(subpattern: DFPattern, found: Mapping[DFPattern, Sequence[NodeT]], terms: Terms[NodeT]) -> Iterator[NodeT]:
    """Yields the nodes that a dominator's parent and path match, and those inside matched functions."""
    if isinstance(subpattern, DominatorPattern):
        yield from found.get(subpattern.parent, ())
        yield from found.get(subpattern.path, ())
    if isinstance(subpattern, FunctionPattern):
        for function in found.get(subpattern, ()):
            term = terms.of(function)
            if isinstance(term, FunctionTerm):
                yield from below(terms, [term.body])
                yield from term.params


def _matched_by_leaf(
    subpattern: DFPattern, found: Mapping[DFPattern, Sequence[NodeT]], terms: Terms[NodeT]
) -> Iterator[NodeT]:
    for node in found.get(subpattern, ()):
        term = terms.of(node)
        if isinstance(subpattern, TuplePattern) and subpattern.fields is None and isinstance(term, TupleTerm):
            yield from term.fields
        elif isinstance(subpattern, CallPattern) and subpattern.args is None and isinstance(term, CallTerm):
            yield from term.args
        elif not subpattern.subpatterns:
            yield node


def _requires_constant(subpattern: DFPattern) -> bool:
    """Returns whether a leaf requires a constant, which then belongs to the match."""
    return isinstance(subpattern, ConstantPattern | ExprPattern)
