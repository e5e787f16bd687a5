"""Dimensions of shapes: integers, expressions over named dimensions, and Relay's Any.

`Dim = int | DimExpr`. Shape rules are written once with Python arithmetic on Dims: given integers they are static
inference, given expressions they are symbolic inference. This is what the rest of the compiler imports; the classes
and their arithmetic stand in `dim_expressions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import (
    ANY,
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
from xrelay.index_algebra.dim_text import WORDS

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
"""The largest extent, of a name and of what a kernel is handed: more elements than memory can be addressed for."""


def is_dim_name(name: str) -> bool:
    """Whether the text can show `name` as that of a dimension: letters, digits, `_`, and no word of expressions."""
    return name.isascii() and name.isidentifier() and name not in WORDS


def symbol(name: str) -> DimExpr:
    """The named dimension `name`."""
    return Polynomial((((Symbol(name),), 1),))


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape for a message: `(N, 2 * N, 16)`."""
    return f"({', '.join(map(str, shape))})"


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The number that `dim` is for `values`; `DimensionError` where it has none, or a name has no value."""
    result = dim.substitute(values) if isinstance(dim, DimExpr) else dim
    if isinstance(result, int):
        return result
    raise DimensionError(f"{dim} has no value: {', '.join(sorted(result.names)) or '?'} is not known")


def maximum(*dims: Dim) -> Dim:
    """The greatest of one or more dimensions."""
    return select("max", dims)


def minimum(*dims: Dim) -> Dim:
    """The least of one or more dimensions."""
    return select("min", dims)


def greatest(lhs: Dim, rhs: Dim) -> Dim:
    """The greater one, by itself where its form tells which that is: `n + 1` of `n + 1` and `min(n, m)`."""
    return lhs if is_nonnegative(lhs - rhs) else rhs if is_nonnegative(rhs - lhs) else maximum(lhs, rhs)


def least(lhs: Dim, rhs: Dim) -> Dim:
    """The lesser one, by itself where its form tells which that is: 0 of 0 and `n`."""
    return lhs if is_nonnegative(rhs - lhs) else rhs if is_nonnegative(lhs - rhs) else minimum(lhs, rhs)


def broadcast(*dims: Dim) -> Dim:
    """The extent to which dimensions broadcast: that of them which is not 1, or 1 where all are.

    It is taken for granted that all that are not 1 are equal, so `broadcast(n, 4)` is 4: who makes such a dimension
    requires it. Raises `DimensionError` for integers that do not broadcast.
    """
    return select("broadcast", dims)


def name_and_size(dim: Dim, extent: int) -> tuple[str, int | None] | None:
    """The name of which `dim` is a multiple plus an integer, and its size where `dim` is `extent`.

    `2 * n + 1` is 7 for n = 3. The size is `None` where none of 0 or more fits; so is the answer of other dimensions.
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
    """What `name` is where `dim`, whose other names are `known`, is `value`: `(value - 1) floordiv 2` for `2 * n + 1`.

    `None` where `dim` is no multiple of `name` plus something without it. The names of `value` and of `known` are not
    those of `dim`. That `value` is such a number is taken for granted.
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
    """`lhs floordiv rhs` for an `rhs` that is known or required to be 1 or more: `(n * m) floordiv n` is `m` then."""
    return divide(lhs, rhs, positive=True)


def remainder(lhs: Dim, rhs: Dim) -> Dim:
    """`lhs mod rhs` for an `rhs` that is known or required to be 1 or more: `(n * m) mod n` is 0 then."""
    return modulo(lhs, rhs, positive=True)


def product(dims: Sequence[Dim]) -> Dim:
    """The product of all dimensions; 1 for none."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def certainly_differ(lhs: Dim, rhs: Dim) -> bool:
    """Whether the two can never be equal: their difference is a non-zero integer.

    Dimensions that do not certainly differ are *possibly* equal, which is not enough for a decision on legality.
    """
    difference = lhs - rhs
    return isinstance(difference, int) and difference != 0


def certainly_equal(lhs: Dim, rhs: Dim) -> bool:
    """Whether the two are equal in every run: not so two extents of which nothing is known, which compare as equal."""
    return lhs == rhs and not isinstance(lhs, AnyDim)


def merge_dims(lhs: Dim, rhs: Dim) -> Dim | None:
    """What is known of an extent that is both `lhs` and `rhs`; `None` where it certainly cannot be both.

    An integer says most, an expression more than Any; of two expressions the first stays: that the second is equal is
    possible, not proven.
    """
    if certainly_differ(lhs, rhs):
        return None
    if isinstance(lhs, AnyDim) or isinstance(rhs, int):
        return rhs
    return lhs
