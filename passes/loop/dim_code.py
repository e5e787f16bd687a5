"""Code for dimensions: emits arith ops on `index` for a `Dim` over names, given the values of the names.

Common parts are computed once. No emitted op traps: a divisor that may be 0 is replaced by another value. The
conditions under which the emitted values equal the dimensions are collected as checks: divisors are not 0, extents
broadcast, and values fit in 64 bits.

A name may become known at the op that binds it, or only inside a region. Each such place is an `EmissionPoint`, and a
value is emitted at the first point where all of its names are known. With `within`, code that may fail is emitted in
the branch that needs it, so that no other branch fails.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from math import prod
from typing import Final, TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop.extents import MAX_EXTENT
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, IndexCastOp, SelectOp, SIToFPOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.dim_expressions import as_dim
from xrelay.index_algebra.dim_intervals import Interval, interval_of
from xrelay.index_algebra.dims import Atom, Dim, Monomial, Polynomial, Selection, Symbol, names_of, single_atom, symbol
from xrelay.index_algebra.dims import Operation as Division
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Requirement

_Key = TypeVar("_Key", bound=Hashable)

_OVERFLOW_LIMIT: Final = 1 << 62
"""If the estimate of a sum of products in f64 is below this value, the sum fits in 64 bits."""


@dataclass(frozen=True)
class Check:
    """`holds` is an `i1`, `text` describes the condition, `requirement` is set if it relates two dimensions."""

    holds: SSAValue
    text: str
    requirement: Requirement | None = None


@dataclass(eq=False)
class EmissionPoint:
    """An insertion point, and the checks of the values emitted there, by their texts."""

    builder: Builder
    depth: int = 0
    is_open: bool = True
    """Whether the names defined here are still known."""
    names: list[str] = field(default_factory=list[str])
    """The names that became known here."""
    checks_by_text: dict[str, Check] = field(default_factory=dict[str, Check])

    @property
    def checks(self) -> list[Check]:
        """The checks of the values emitted here, without duplicates; a check precedes those that use it."""
        return list(self.checks_by_text.values())


class DimCode:
    """Emits the values of dimensions over names; the value of a name is between 0 and `MAX_EXTENT`."""

    def __init__(self, names: Mapping[str, SSAValue], builder: Builder):
        """Emits at the insertion point of `builder`; `names` are values of type `index`."""
        self.first = EmissionPoint(builder)
        """The point of the values that depend on no names, or on names that are known from the start."""
        self._intervals: dict[Atom, Interval] = {}
        self._points: dict[SSAValue, EmissionPoint] = {}
        """Maps values to their points. A value may have a point before it is the value of a name."""
        self._named: dict[str, EmissionPoint] = {}
        """Maps names to the places where they became known."""
        self._values: dict[Dim, SSAValue] = {}
        self._atoms: dict[Atom, SSAValue] = {}
        self._products: dict[Monomial, SSAValue] = {}
        self._depth = 0
        self._floor = self.first
        """The earliest point for code that may fail."""
        self._learn(names, self.first)

    @property
    def checks(self) -> list[Check]:
        """The conditions on the values emitted at the first place."""
        return self.first.checks

    def add_names(self, names: Mapping[str, SSAValue]) -> None:
        """Adds `names` to the names known at the first place."""
        self._learn(names, self.first)

    @contextmanager
    def within(self, point: EmissionPoint | None) -> Generator[None]:
        """Emits and checks code that may fail at `point` or later, even if its names were known before.

        Such values become unknown when `point` is left. `None` changes nothing.
        """
        before, self._floor = self._floor, self._floor if point is None else point
        try:
            yield
        finally:
            self._floor = before

    def is_known(self, name: str) -> bool:
        """Whether the value of a name is known."""
        return self._emitted_value(self._atoms, Symbol(name)) is not None

    def enter(
        self, names: Mapping[str, SSAValue], builder: Builder, values: Mapping[Dim, SSAValue] | None = None
    ) -> EmissionPoint:
        """Opens a point at `builder`, where `names` are known in addition to the names known before.

        `values` maps dimensions over these names to their values, if the values of the names are not known; no
        dimension is a sum.
        """
        self._depth += 1
        point = EmissionPoint(builder, self._depth)
        self._learn(names, point)
        known = dict(values) if values is not None else dict[Dim, SSAValue]()
        for dim, value in known.items():
            atom = single_atom(dim)
            assert atom is not None, "a dimension with a given value is an atom"
            self._values[dim] = self._atoms[atom] = value
            self._record_point(value, point)
        return point

    def leave(self, point: EmissionPoint) -> None:
        """Closes the newest open point: its names, and values that depend on them, are no longer known."""
        self._depth -= 1
        point.is_open = False
        for name in point.names:
            if self._named.get(name) is point:
                del self._named[name], self._atoms[Symbol(name)], self._values[symbol(name)]

    def point_of(self, names: Iterable[str]) -> EmissionPoint:
        """The first place where all of `names` are known; raises `LoweringError` for an unknown name."""
        return max(map(self._point_of_name, names), key=_depth, default=self.first)

    def value(self, dim: Dim) -> SSAValue:
        """The value of `dim`, an `index`; raises `LoweringError` if it is open or has an unknown name."""
        known = self._emitted_value(self._values, dim)
        if known is None:
            if isinstance(dim, int):
                known = self._add(arith.ConstantOp(IntegerAttr(dim, IndexType())))
            elif isinstance(dim, Polynomial):
                known = self._sum(dim)
            else:
                raise LoweringError(f"the extent {dim} is open", help="name the dimension")
            self._values[dim] = known
        return known

    def extent(self, dim: Dim) -> SSAValue:
        """The value of `dim`, with checks that it is between 0 and `MAX_EXTENT`."""
        value = self.value(dim)
        low, high = self._interval(dim)
        if low is None or low < 0:
            self.require(AtLeast(dim, 0))
        if high is None or high > MAX_EXTENT:
            self.require(AtLeast(MAX_EXTENT, dim))
        return value

    def may_fail(self, dim: Dim) -> bool:
        """Whether `dim` is negative or undefined for some sizes of its names; sizes that overflow are ignored."""
        low, _ = self._interval(dim)
        return low is None or low < 0 or self.may_lack_value(dim)

    def may_lack_value(self, dim: Dim) -> bool:
        """Whether `dim` is undefined for some sizes: it divides by 0, or its extents do not broadcast."""
        atoms = {atom for monomial, _ in dim.terms for atom in monomial} if isinstance(dim, Polynomial) else ()
        for atom in atoms:
            match atom:
                case Symbol():
                    continue
                case Selection(kind=kind, parts=parts):
                    lacks = kind == "broadcast" or any(map(self.may_lack_value, parts))
                case Division(lhs=lhs, rhs=rhs):
                    low, _ = self._interval(rhs)
                    lacks = low is None or low < 1 or self.may_lack_value(lhs) or self.may_lack_value(rhs)
            if lacks:
                return True
        return False

    def require(self, requirement: Requirement) -> None:
        """Adds a requirement to the checks."""
        point = self._checked_at(requirement.names)
        if requirement.text not in point.checks_by_text:
            self._note(requirement.text, Check(self.holds(requirement), requirement.text, requirement), point)

    def holds(self, requirement: Requirement) -> SSAValue:
        """Emits an `i1` that is true if `requirement` holds."""
        lhs, rhs = requirement.lhs, requirement.rhs
        match requirement:
            case Divides():
                nonzero = self._compare("ne", lhs, 0)
                divisor = self._add(SelectOp(nonzero, self.value(lhs), self.value(1)))
                rest = self._add(arith.RemSIOp(self.value(rhs), divisor))
                return self._add(arith.AndIOp(nonzero, self._add(CmpiOp(rest, self.value(0), "eq"))))
            case Broadcasts():
                either = [self._compare("eq", *pair) for pair in ((lhs, rhs), (lhs, 1), (rhs, 1))]
                return reduce(lambda some, other: self._add(arith.OrIOp(some, other)), either)
            case _:
                return self._compare("sge" if isinstance(requirement, AtLeast) else "eq", lhs, rhs)

    # --- sums and products

    def _sum(self, dim: Polynomial) -> SSAValue:
        """Emits a sum: first the terms that are added, then those that are subtracted."""
        self._check_size(dim)
        low, _ = self._interval(dim)
        may_fail = low is None or low < 0
        terms = sorted(dim.terms, key=lambda term: term[1] < 0)
        total = self.value(0) if terms[0][1] < 0 else None
        for monomial, coefficient in terms:
            term = self._term(monomial, abs(coefficient))
            combine = arith.SubiOp if coefficient < 0 else arith.AddiOp
            total = term if total is None else self._add(combine(total, term), may_fail=may_fail)
        assert total is not None, "a polynomial has a term"
        return total

    def _term(self, monomial: Monomial, factor: int) -> SSAValue:
        if not monomial:
            return self.value(factor)
        product = self._product(monomial)
        return product if factor == 1 else self._add(arith.MuliOp(product, self.value(factor)))

    def _product(self, monomial: Monomial) -> SSAValue:
        """The product of the atoms from left to right; products with a common prefix share it."""
        value = self._atom(monomial[0])
        for end in range(2, len(monomial) + 1):
            part = monomial[:end]
            known = self._emitted_value(self._products, part)
            if known is None:
                known = self._products[part] = self._add(arith.MuliOp(value, self._atom(part[-1])))
            value = known
        return value

    def _check_size(self, dim: Polynomial) -> None:
        """Adds the check that every part of the sum fits in 64 bits, unless the bounds of its atoms prove it."""
        terms = [(abs(factor), [self._interval(as_dim(atom)) for atom in atoms]) for atoms, factor in dim.terms]
        sizes = [[_magnitude(interval) for interval in intervals] for _, intervals in terms]
        bounded = [prod(size for size in row if size is not None) for row in sizes if None not in row]
        if (
            len(bounded) == len(terms)
            and sum(f * b for (f, _), b in zip(terms, bounded, strict=True)) < _OVERFLOW_LIMIT
        ):
            return
        parts = [self._real_term(atoms, abs(factor)) for atoms, factor in dim.terms]
        total = reduce(lambda some, other: self._add(arith.AddfOp(some, other)), parts)
        fits = self._add(CmpfOp(total, self._real(_OVERFLOW_LIMIT), "olt"))
        self._note(f"{dim} fits", Check(fits, f"{dim} fits in 64 bits"), self.point_of(names_of(dim)))

    def _real_term(self, monomial: Monomial, factor: int) -> SSAValue:
        """The absolute value of a term in f64."""
        value = self._real(factor)
        for atom in monomial:
            number = self._add(SIToFPOp(self._add(IndexCastOp(self._atom(atom), i64)), f64))
            size = self._add(arith.MaximumfOp(number, self._add(arith.NegfOp(number))))
            value = self._add(arith.MulfOp(value, size))
        return value

    def _real(self, number: int) -> SSAValue:
        return self._add(arith.ConstantOp(FloatAttr(float(number), f64)))

    # --- quotients, remainders and selections

    def _atom(self, atom: Atom) -> SSAValue:
        known = self._emitted_value(self._atoms, atom)
        if known is None:
            match atom:
                case Symbol(name=name):
                    raise LoweringError(
                        f"the extent {name} is not known here", help="use the name in the type of an input"
                    )
                case Selection():
                    known = self._selection(atom)
                case Division(kind="floordiv", lhs=lhs, rhs=rhs):
                    known = self._quotient(lhs, rhs)
                case Division(lhs=lhs, rhs=rhs):
                    known = self._remainder(lhs, rhs)
            self._atoms[atom] = known
        return known

    def _quotient(self, lhs: Dim, rhs: Dim) -> SSAValue:
        divide = arith.DivUIOp if self._is_nonnegative(lhs, rhs) else arith.FloorDivSIOp
        return self._add(divide(self.value(lhs), self._divisor(rhs)))

    def _remainder(self, lhs: Dim, rhs: Dim) -> SSAValue:
        dividend, divisor = self.value(lhs), self._divisor(rhs)
        if self._is_nonnegative(lhs, rhs):
            return self._add(arith.RemUIOp(dividend, divisor))
        whole = self._add(arith.MuliOp(self._atom(Division("floordiv", lhs, rhs)), divisor))
        return self._add(arith.SubiOp(dividend, whole))

    def _divisor(self, dim: Dim) -> SSAValue:
        """The value of `dim`, replaced by another value if it is 0; a check excludes this case."""
        value, (low, _) = self.value(dim), self._interval(dim)
        if isinstance(dim, int) or (low is not None and low > 0):
            return value
        if low is not None and low >= 0:
            self.require(AtLeast(dim, 1))
            return self._add(arith.MaxSIOp(value, self.value(1)), may_fail=True)
        nonzero = self._compare("ne", dim, 0)
        self._note(f"{dim} != 0", Check(nonzero, f"{dim} is not 0"), self._checked_at(names_of(dim)))
        return self._add(SelectOp(nonzero, value, self.value(1)), may_fail=True)

    def _selection(self, atom: Selection) -> SSAValue:
        values = [self.value(part) for part in atom.parts]
        if atom.kind != "broadcast":
            choose = arith.MaxSIOp if atom.kind == "max" else arith.MinSIOp
            return reduce(lambda some, other: self._add(choose(some, other)), values)
        for pair in combinations(atom.parts, 2):
            self.require(Broadcasts(*pair))
        return reduce(self._other_if_one, values)

    def _other_if_one(self, some: SSAValue, other: SSAValue) -> SSAValue:
        is_one = self._add(CmpiOp(some, self.value(1), "eq"))
        return self._add(SelectOp(is_one, other, some), may_fail=True)

    # --- ops

    def _learn(self, names: Mapping[str, SSAValue], point: EmissionPoint) -> None:
        for name, value in names.items():
            self._intervals[Symbol(name)] = (0, MAX_EXTENT)
            self._values[symbol(name)] = self._atoms[Symbol(name)] = value
            self._named[name] = point
            point.names.append(name)
            self._record_point(value, point)

    def _record_point(self, value: SSAValue, point: EmissionPoint) -> None:
        """Records that `value` is known from `point` on, unless an earlier point is recorded."""
        known = self._points.get(value)
        if known is None or not known.is_open:
            self._points[value] = point

    def _point_of_name(self, name: str) -> EmissionPoint:
        self._atom(Symbol(name))
        return self._named[name]

    def _emitted_value(self, values: Mapping[_Key, SSAValue], key: _Key) -> SSAValue | None:
        """The value that was emitted for `key` at a place that is still open."""
        value = values.get(key)
        return value if value is not None and self._points[value].is_open else None

    def _note(self, key: str, check: Check, point: EmissionPoint) -> None:
        """Adds a check at `point`, or at the point of its condition if that is later, because a part of it may fail."""
        max(point, self._points[check.holds], key=_depth).checks_by_text[key] = check

    def _checked_at(self, names: Iterable[str]) -> EmissionPoint:
        """The place of checks on `names`."""
        return max(self.point_of(names), self._floor, key=_depth)

    def _interval(self, dim: Dim) -> Interval:
        return interval_of(dim, self._intervals)

    def _is_nonnegative(self, *dims: Dim) -> bool:
        return all(low is not None and low >= 0 for low, _ in map(self._interval, dims))

    def _compare(self, predicate: str, lhs: Dim, rhs: Dim) -> SSAValue:
        return self._add(CmpiOp(self.value(lhs), self.value(rhs), predicate))

    def _add(self, op: Operation, *, may_fail: bool = False) -> SSAValue:
        """Emits `op` at the first place where all of its operands are known."""
        point = max((self._points[operand] for operand in op.operands), key=_depth, default=self.first)
        if may_fail:
            point = max(point, self._floor, key=_depth)
        value = point.builder.insert(op).results[0]
        self._points[value] = point
        return value


def _depth(point: EmissionPoint) -> int:
    return point.depth


def _magnitude(interval: Interval) -> int | None:
    """The greatest absolute value of an interval; `None` if it is unbounded."""
    low, high = interval
    return None if low is None or high is None else max(abs(low), abs(high))
