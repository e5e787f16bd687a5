"""Residues of dimensions, given residues of their atoms: if n is even, `3 * n + 1` is odd."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import TypeAlias

from xrelay.index_algebra.dim_expressions import Atom, Dim, Operation, Polynomial, Selection

Residue: TypeAlias = tuple[int, int]
"""`(r, m)`: the values `r + m * t`. Modulus 0 means the constant `r`, modulus 1 any value."""

UNKNOWN_RESIDUE: Residue = (0, 1)


def residue_of(dim: Dim, residues: Mapping[Atom, Residue]) -> Residue:
    """The residue of `dim`."""
    if isinstance(dim, int):
        return dim, 0
    if not isinstance(dim, Polynomial):
        return UNKNOWN_RESIDUE
    total: Residue = (0, 0)
    for monomial, coefficient in dim.terms:
        total = _plus(total, monomial_residue(monomial, coefficient, residues))
    return total


def monomial_residue(monomial: tuple[Atom, ...], coefficient: int, residues: Mapping[Atom, Residue]) -> Residue:
    """The residue of a product of atoms, times `coefficient`."""
    total: Residue = (coefficient, 0)
    for atom in monomial:
        r, m = _atom_residue(atom, residues)
        total = normalized(total[0] * r, gcd(total[0] * m, r * total[1], total[1] * m))
    return total


def normalized(remainder: int, modulus: int) -> Residue:
    """The residue with its remainder in `[0, modulus)`."""
    return (remainder % modulus if modulus else remainder), modulus


def both(first: Residue, second: Residue) -> Residue | None:
    """The intersection of two residues with non-zero moduli; `None` if it is empty."""
    (r, m), (s, n) = first, second
    common = gcd(m, n)
    if (s - r) % common:
        return None
    steps = (s - r) // common * pow(m // common, -1, n // common) if n > common else 0
    return normalized(r + m * steps, m // common * n)


def solved(factor: int, residue: Residue) -> Residue | None:
    """The residue of `x` given that of `factor * x`, whose modulus is not 0; `None` if there is no `x`."""
    remainder, modulus = residue
    common = gcd(factor, modulus)
    if remainder % common:
        return None
    reduced = modulus // common
    inverse = pow(factor // common, -1, reduced) if reduced > 1 else 0
    return normalized(remainder // common * inverse, reduced)


def _plus(first: Residue, second: Residue) -> Residue:
    return normalized(first[0] + second[0], gcd(first[1], second[1]))


def _atom_residue(atom: Atom, residues: Mapping[Atom, Residue]) -> Residue:
    known = residues.get(atom)
    if known is not None:
        return known
    if isinstance(atom, Operation) and isinstance(atom.rhs, int) and atom.rhs > 0:
        remainder, modulus = residue_of(atom.lhs, residues)
        if atom.kind == "mod":
            return normalized(remainder, gcd(modulus, atom.rhs))
        return (remainder // atom.rhs, modulus // atom.rhs) if modulus % atom.rhs == 0 else UNKNOWN_RESIDUE
    if isinstance(atom, Selection):
        found = [residue_of(part, residues) for part in atom.parts]
        first = found[0][0]
        return normalized(first, gcd(*(modulus for _, modulus in found), *(rest - first for rest, _ in found)))
    return UNKNOWN_RESIDUE
