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
    parts: Sequence[DFPattern], found: Mapping[DFPattern, Sequence[NodeT]], terms: Terms[NodeT]
) -> dict[NodeT, None]:
    """Returns the nodes matched by leaves among the `parts` of a pattern, in the order of the leaves, each once.

    A leaf is a pattern without parts, or a tuple or call pattern with any fields or arguments: these are the inputs.
    Not inputs are operators, functions, constants that the pattern requires, nodes that a dominator's parent and path
    match, and nodes inside matched functions.
    """
    inside = {node for part in parts for node in _inside(part, found, terms)}
    inputs: dict[NodeT, None] = {}
    for part in parts:
        for node in _matched_by_leaf(part, found, terms):
            term = terms.of(node)
            embedded = isinstance(term, ConstantTerm) and _asks_for_constant(part)
            if (
                node not in inside
                and not is_callable_name(term)
                and not isinstance(term, FunctionTerm)
                and not embedded
            ):
                inputs[node] = None
    return inputs


def parts_of(pattern: DFPattern) -> list[DFPattern]:
    """Returns `pattern` and all its parts in post-order, in Relay's order; iterative."""
    order: list[DFPattern] = []
    seen: set[DFPattern] = set()
    stack: list[tuple[DFPattern, bool]] = [(pattern, False)]
    while stack:
        part, ready = stack.pop()
        if ready:
            order.append(part)
        elif part not in seen:
            # Marked before its parts are visited: a wildcard may be redirected to a pattern that contains it.
            seen.add(part)
            stack.append((part, True))
            stack.extend((inner, False) for inner in reversed(part.parts))
    return order


def _inside(part: DFPattern, found: Mapping[DFPattern, Sequence[NodeT]], terms: Terms[NodeT]) -> Iterator[NodeT]:
    """Yields the nodes that a dominator's parent and path match, and those inside matched functions."""
    if isinstance(part, DominatorPattern):
        yield from found.get(part.parent, ())
        yield from found.get(part.path, ())
    if isinstance(part, FunctionPattern):
        for function in found.get(part, ()):
            term = terms.of(function)
            if isinstance(term, FunctionTerm):
                yield from below(terms, [term.body])
                yield from term.params


def _matched_by_leaf(
    part: DFPattern, found: Mapping[DFPattern, Sequence[NodeT]], terms: Terms[NodeT]
) -> Iterator[NodeT]:
    for node in found.get(part, ()):
        term = terms.of(node)
        if isinstance(part, TuplePattern) and part.fields is None and isinstance(term, TupleTerm):
            yield from term.fields
        elif isinstance(part, CallPattern) and part.args is None and isinstance(term, CallTerm):
            yield from term.args
        elif not part.parts:
            yield node


def _asks_for_constant(part: DFPattern) -> bool:
    """Returns whether a leaf requires a constant, which then belongs to the match."""
    return isinstance(part, ConstantPattern | ExprPattern)
