"""Random expressions over named dimensions as trees, and their evaluation on integers without `Dim`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from hypothesis import strategies as st

from xrelay.index_algebra.dims import Dim, broadcast, maximum, minimum, symbol

Tree: TypeAlias = "int | str | tuple[str, Tree, Tree]"

DIVISORS = (1, 2, 3, 4, 6, -2, -3)


class NoValueError(Exception):
    """The expression divides by zero, or its extents do not broadcast."""


def _divided(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def apply(lhs: int, rhs: int) -> int:
        if rhs == 0:
            raise NoValueError
        return function(lhs, rhs)

    return apply


def _broadcast(lhs: int, rhs: int) -> int:
    if lhs != rhs and 1 not in (lhs, rhs):
        raise NoValueError
    return rhs if lhs == 1 else lhs


_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": lambda lhs, rhs: lhs + rhs,
    "-": lambda lhs, rhs: lhs - rhs,
    "*": lambda lhs, rhs: lhs * rhs,
    "//": _divided(lambda lhs, rhs: lhs // rhs),
    "%": _divided(lambda lhs, rhs: lhs % rhs),
    "max": max,
    "min": min,
    "broadcast": _broadcast,
}

_ON_DIMS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": lambda lhs, rhs: lhs + rhs,
    "-": lambda lhs, rhs: lhs - rhs,
    "*": lambda lhs, rhs: lhs * rhs,
    "//": lambda lhs, rhs: lhs // rhs,
    "%": lambda lhs, rhs: lhs % rhs,
    "max": maximum,
    "min": minimum,
    "broadcast": broadcast,
}


def value_of(tree: Tree, values: Mapping[str, int]) -> int:
    """Evaluates `tree` on integers; raises `NoValueError` if it is undefined."""
    if isinstance(tree, tuple):
        kind, lhs, rhs = tree
        return _ON_NUMBERS[kind](value_of(lhs, values), value_of(rhs, values))
    return values[tree] if isinstance(tree, str) else tree


def dim_of(tree: Tree) -> Dim:
    """Builds the dimension of `tree`."""
    if isinstance(tree, tuple):
        kind, lhs, rhs = tree
        return _ON_DIMS[kind](dim_of(lhs), dim_of(rhs))
    return symbol(tree) if isinstance(tree, str) else tree


def trees(names: Sequence[str] = ("n", "m"), leaves: int = 8) -> st.SearchStrategy[Tree]:
    """Expressions over `names` and small integers; half of the divisors are integers other than 0."""
    atoms = st.sampled_from([*names, *names, 0, 1, 2, 3, 5, 12])

    def combined(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        plain = st.tuples(st.sampled_from(["+", "-", "*", "max", "min", "broadcast", "//", "%"]), inner, inner)
        divided = st.tuples(st.sampled_from(["//", "%"]), inner, st.sampled_from(DIVISORS))
        return st.one_of(plain, plain, divided)

    return st.recursive(atoms, combined, max_leaves=leaves)
