"""Dimensions of shapes: integers, expressions over named dimensions, and Relay's Any.

`Dim = int | DimExpr`. A shape rule is Python arithmetic on Dims: on integers it is static inference, on expressions
symbolic inference. The rest of the compiler imports this module; `dim_expressions` defines the classes and their
arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import (
    ANY,
    WORDS,
    AnyDim,
    Atom,
    Dim,
    DimExpr,
    Monomial,
    Operation,
    Polynomial,
    Selection,
    Shape,
    Symbol,
    divide,
    from_terms,
    is_nonnegative,
    is_positive,
    modulo,
    names_of,
    select,
    single_atom,
    substitute,
    terms_of,
)

__all__ = [
    "ANY",
    "MAX_EXTENT",
    "AnyDim",
    "Atom",
    "Dim",
    "DimExpr",
    "Monomial",
    "Operation",
    "Polynomial",
    "Selection",
    "Shape",
    "Symbol",
    "broadcast",
    "ceil_div",
    "certainly_differ",
    "estimate",
    "evaluate",
    "greatest",
    "is_dim_name",
    "is_nonnegative",
    "is_positive",
    "least",
    "maximum",
    "merge_dims",
    "minimum",
    "name_and_size",
    "names_of",
    "product",
    "quotient",
    "remainder",
    "shape_text",
    "single_atom",
    "solved_for",
    "substitute",
    "symbol",
]


MAX_EXTENT: Final = 1 << 47
"""The largest extent, of a named dimension or an argument of a kernel: more elements than memory can address."""


def is_dim_name(name: str) -> bool:
    """Whether `name` can be the name of a dimension: ASCII letters, digits, `_`, and no keyword of expressions."""
    return name.isascii() and name.isidentifier() and name not in WORDS


def symbol(name: str) -> DimExpr:
    """The named dimension `name`."""
    return Polynomial((((Symbol(name),), 1),))


def shape_text(shape: Sequence[Dim]) -> str:
    """The text of a shape in messages: `(N, 2 * N, 16)`."""
    return f"({', '.join(map(str, shape))})"


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The value of `dim` for `values`; raises `DimensionError` if it is undefined, or a name has no value."""
    result = dim.substitute(values) if isinstance(dim, DimExpr) else dim
    if isinstance(result, int):
        return result
    raise DimensionError(f"{dim} has no value: {', '.join(sorted(result.names)) or '?'} is not known")


def estimate(dim: Dim, sizes: Mapping[str, int], usual: int) -> int:
    """The value of `dim` for `sizes`, at least 1. Names without a size, and dimensions without a value, are `usual`."""
    try:
        return max(1, evaluate(dim, {name: sizes.get(name, usual) for name in names_of(dim)}))
    except DimensionError:
        return usual


def maximum(*dims: Dim) -> Dim:
    """The maximum of one or more dimensions."""
    return select("max", dims)


def minimum(*dims: Dim) -> Dim:
    """The minimum of one or more dimensions."""
    return select("min", dims)


def greatest(lhs: Dim, rhs: Dim) -> Dim:
    """The greater dimension, or `max(lhs, rhs)` if their form does not decide: `n + 1` for `n + 1` and `min(n, m)`."""
    return lhs if is_nonnegative(lhs - rhs) else rhs if is_nonnegative(rhs - lhs) else maximum(lhs, rhs)


def least(lhs: Dim, rhs: Dim) -> Dim:
    """The lesser dimension, or `min(lhs, rhs)` if their form does not decide: 0 for 0 and `n`."""
    return lhs if is_nonnegative(rhs - lhs) else rhs if is_nonnegative(lhs - rhs) else minimum(lhs, rhs)


def broadcast(*dims: Dim) -> Dim:
    """The extent to which dimensions broadcast: the dimension that is not 1, or 1 if all are.

    All dimensions other than 1 are assumed equal, so `broadcast(n, 4)` is 4; the caller must require it. Raises
    `DimensionError` for integers that do not broadcast.
    """
    return select("broadcast", dims)


def name_and_size(dim: Dim, extent: int) -> tuple[str, int | None] | None:
    """For `dim = a * name + b` with integers a and b: the name, and its size if `dim` is `extent`.

    `2 * n + 1` is 7 for n = 3. The size is `None` if no integer of 0 or more fits. Returns `None` for other dimensions.
    """
    if not isinstance(dim, Polynomial):
        return None
    terms = terms_of(dim)
    offset = terms.get((), 0)
    linear = [(monomial, factor) for monomial, factor in terms.items() if monomial]
    if len(linear) != 1:
        return None
    ((atom, *others), factor) = linear[0]
    if others or not isinstance(atom, Symbol):
        return None
    size, rest = divmod(extent - offset, factor)
    return atom.name, size if not rest and size >= 0 else None


def solved_for(name: str, dim: DimExpr, value: Dim, known: Mapping[str, Dim]) -> Dim | None:
    """The value of `name` if `dim` is `value`: `(value - 1) floordiv 2` for `dim = 2 * n + 1`.

    `known` has the values of the other names of `dim`; the names in `value` and `known` are independent of those of
    `dim`. Assumes that the division is exact. Returns `None` unless `dim` is a multiple of `name` plus a term without
    it.
    """
    if not isinstance(dim, Polynomial):
        return None
    terms = terms_of(dim)
    own = (Symbol(name),)
    factor = terms.get(own, 0)
    offset = from_terms({monomial: coefficient for monomial, coefficient in terms.items() if monomial != own})
    if not factor or name in names_of(offset):
        return None
    (moved,) = substitute((offset,), known)
    return (value - moved) // factor if factor > 0 else (moved - value) // -factor


def ceil_div(lhs: Dim, rhs: int) -> Dim:
    """The quotient rounded up."""
    return (lhs + (rhs - 1)) // rhs


def quotient(lhs: Dim, rhs: Dim) -> Dim:
    """`lhs floordiv rhs` for an `rhs` that is known or required to be 1 or more: `(n * m) floordiv n` is then `m`."""
    return divide(lhs, rhs, positive=True)


def remainder(lhs: Dim, rhs: Dim) -> Dim:
    """`lhs mod rhs` for an `rhs` that is known or required to be 1 or more: `(n * m) mod n` is then 0."""
    return modulo(lhs, rhs, positive=True)


def product(dims: Sequence[Dim]) -> Dim:
    """The product of all dimensions; 1 for an empty sequence."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def certainly_differ(lhs: Dim, rhs: Dim) -> bool:
    """Whether the two can never be equal: their difference is a non-zero integer.

    Dimensions that do not certainly differ are only *possibly* equal, which does not suffice to decide legality.
    """
    difference = lhs - rhs
    return isinstance(difference, int) and difference != 0


def certainly_equal(lhs: Dim, rhs: Dim) -> bool:
    """Whether the two are equal in every run. Any compares equal to Any, but two unknown extents may differ."""
    return lhs == rhs and not isinstance(lhs, AnyDim)


def merge_dims(lhs: Dim, rhs: Dim) -> Dim | None:
    """The more precise of two descriptions of one extent; `None` if they certainly differ.

    An integer is more precise than an expression, an expression more than Any. Of two expressions the first is kept:
    they may be equal, but that is not proven.
    """
    if certainly_differ(lhs, rhs):
        return None
    if isinstance(lhs, AnyDim) or isinstance(rhs, int):
        return rhs
    return lhs
