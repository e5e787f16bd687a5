"""Arithmetic on affine expressions: normal form, bounds over boxes, strides, and the region that a tile reads.

The functions are pure mathematics on `xdsl.ir.affine` expressions over dimensions `d0, d1, …`, independent of any IR. A
box maps each dimension to its inclusive interval, to its limit, or to `None` if it is unknown. Quasi-affine
subexpressions (`floordiv`, `mod`) are atoms of the normal form, so that equal ones cancel. So are semi-affine ones:
products of dimensions, and quotients and remainders by dimensions, which are undefined if the divisor is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from xrelay.index_algebra.linear_form import (
    LinearForm,
    addends_of,
    atom_form,
    binary,
    constant_form,
    factors_of,
    monomial_of,
    spread,
    sum_of,
    without_factors,
)

Interval = tuple[int, int]
"""Inclusive lower and upper bound."""


@dataclass(frozen=True)
class Below:
    """The values 0 to `limit - 1` of a dimension; `limit` is an expression over the same dimensions."""

    limit: AffineExpr


Box = Sequence[Interval | Below | None]
"""The values of each dimension; `None` (or a dimension past the end) is unknown."""


_STEPS = 16
"""The maximum number of terms in a quotient by a sum; the division fails beyond it."""

_REMEMBERED = 1 << 14
"""The number of results that each cache keeps: the tiles of a kernel, and kernels alike, have the same expressions."""

_FACTORS = 6
"""The maximum number of factors of a product in a proof, which replaces each by its limit and multiplies out."""


@dataclass(frozen=True)
class _Ranges:
    """The values of dimensions, for proofs."""

    box: Box

    @property
    def limits(self) -> dict[int, AffineExpr]:
        """Dimensions that run from 0 to an expression minus 1."""
        return {dim: values.limit for dim, values in enumerate(self.box) if isinstance(values, Below)}

    def interval(self, form: LinearForm) -> Interval | None:
        """Returns the interval of a form, or None if it is unknown."""
        return _form_bounds(form, self.box)

    def is_nonnegative(self, form: LinearForm) -> bool:
        """Whether `form` is provably 0 or more."""
        found = self.interval(form)
        return (found is not None and found[0] >= 0) or self.has_no_negative_term(form)

    def has_no_negative_term(self, form: LinearForm) -> bool:
        """Whether the constant, all coefficients and all factors are 0 or more."""
        return form.constant >= 0 and all(
            coefficient >= 0 and all(self._is_nonnegative_factor(factor) for factor in factors_of(atom))
            for atom, coefficient in form.terms
        )

    def _is_nonnegative_factor(self, factor: AffineExpr) -> bool:
        if isinstance(factor, AffineDimExpr) and factor.position in self.limits:
            return True
        found = self.interval(atom_form(factor))
        return found is not None and found[0] >= 0

    def greatest(self, form: LinearForm, kept: set[int]) -> LinearForm | None:
        """An upper bound of `form` over the dimensions in `kept` and those of limits; `None` if none is found."""
        total = LinearForm((), form.constant)
        for atom, coefficient in form.terms:
            term = LinearForm((), coefficient)
            for factor in factors_of(atom):
                largest = self._greatest_factor(factor, kept)
                if largest is None:
                    return None
                term = term.times(largest)
            total = total.plus(term)
        return total

    def _greatest_factor(self, factor: AffineExpr, kept: set[int]) -> LinearForm | None:
        if not self._is_nonnegative_factor(factor):
            return None
        if isinstance(factor, AffineDimExpr):
            if factor.position in self.limits:
                return spread(self.limits[factor.position]).plus(LinearForm((), -1))
            if factor.position in kept:
                return atom_form(factor)
        if isinstance(factor, AffineBinaryOpExpr) and factor.kind is AffineBinaryOpKind.Mod:
            return spread(factor.rhs).plus(LinearForm((), -1))
        found = self.interval(atom_form(factor))
        return atom_form(factor) if found is None else LinearForm((), found[1])


def _divide(form: LinearForm, divisor: LinearForm, ranges: _Ranges) -> tuple[LinearForm, LinearForm]:
    """The quotient and remainder of `form` by `divisor`; the part that cannot be decided becomes an atom."""
    whole, rest = _split(form, divisor, ranges)
    if rest == LinearForm(()) or _is_below(rest, divisor, ranges):
        return whole, rest
    quotient, remainder = (
        atom_form(AffineBinaryOpExpr(kind, rest.expr(), divisor.expr()))
        for kind in (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)
    )
    return whole.plus(_nested(rest, divisor, ranges) or quotient), remainder


def _split(form: LinearForm, divisor: LinearForm, ranges: _Ranges) -> tuple[LinearForm, LinearForm]:
    """Splits `form` as `whole * divisor + rest`."""
    if len(divisor.terms) == 1 and divisor.constant == 0:
        return _split_by_monomial(form, *divisor.terms[0])
    whole, rest = LinearForm(()), form
    lead, coefficient = max(divisor.terms, key=lambda term: len(factors_of(term[0])))
    for _ in range(_STEPS):
        step = next((s for term in rest.terms if (s := _share(*term, lead, coefficient)) is not None), None)
        if step is None:
            break
        whole, rest = whole.plus(step), rest.plus(step.times(divisor).scaled(-1))
        if rest == LinearForm(()) or _is_below(rest, divisor, ranges):
            return whole, rest
    return LinearForm(()), form


def _split_by_monomial(form: LinearForm, monomial: AffineExpr, coefficient: int) -> tuple[LinearForm, LinearForm]:
    whole, rest = LinearForm(()), LinearForm((), form.constant)
    for term in form.terms:
        share = _share(*term, monomial, coefficient)
        if share is None:
            rest = rest.plus(LinearForm((term,)))
        else:
            whole = whole.plus(share)
    return whole, rest


def _share(atom: AffineExpr, value: int, monomial: AffineExpr, coefficient: int) -> LinearForm | None:
    """`value * atom` divided by `coefficient * monomial`; `None` if there is a remainder."""
    left = without_factors(atom, factors_of(monomial))
    if left is None or value % coefficient:
        return None
    share = value // coefficient
    return LinearForm(((monomial_of(left), share),)) if left else LinearForm((), share)


def _is_below(form: LinearForm, divisor: LinearForm, ranges: _Ranges) -> bool:
    """Whether `form` is provably in [0, divisor), so that it is its own remainder."""
    if any(len(factors_of(atom)) > _FACTORS for atom, _ in (*form.terms, *divisor.terms)):
        return False
    if not ranges.is_nonnegative(form) or any(coefficient < 0 for _, coefficient in form.terms):
        return False
    kept = set[int]().union(*(atom.used_dims() for atom, _ in divisor.terms))
    greatest = ranges.greatest(form, kept)
    if greatest is None:
        return False
    room = divisor.plus(LinearForm((), -1)).plus(greatest.scaled(-1))
    if ranges.is_nonnegative(room):
        return True
    return len(divisor.terms) == 1 and divisor.constant == 0 and _is_nonnegative_from_one(room, divisor, ranges)


def _is_nonnegative_from_one(form: LinearForm, divisor: LinearForm, ranges: _Ranges) -> bool:
    """Whether `form` is 0 or more if no factor of the divisor is 0.

    Each nonnegative factor `f` is then at least 1, and is replaced by `f' + 1` with a nonnegative `f'`.
    """
    factors = {f for f in factors_of(divisor.terms[0][0]) if ranges.is_nonnegative(atom_form(f))}
    total = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        term = LinearForm((), coefficient)
        for factor in factors_of(atom):
            term = term.times(LinearForm(((factor, 1),), 1 if factor in factors else 0))
        total = total.plus(term)
    return ranges.has_no_negative_term(total)


def _nested(rest: LinearForm, divisor: LinearForm, ranges: _Ranges) -> LinearForm | None:
    """Folds `(x floordiv y) floordiv z` to `x floordiv (y * z)`, for `z` of 1 or more; `None` if it does not apply."""
    if rest.constant or len(rest.terms) != 1 or rest.terms[0][1] != 1 or not ranges.is_nonnegative(divisor):
        return None
    inner = rest.terms[0][0]
    if not isinstance(inner, AffineBinaryOpExpr) or inner.kind is not AffineBinaryOpKind.FloorDiv:
        return None
    if isinstance(inner.rhs, AffineConstantExpr):
        by = divisor.scaled(inner.rhs.value)
    else:
        by = spread(inner.rhs).times(divisor)
    return _divide(spread(inner.lhs), by, ranges)[0]


def linear_form(expr: AffineExpr, box: Box = ()) -> LinearForm:
    """The normal form of `expr`; with a box, quotients and remainders that the bounds decide are resolved."""
    # Exact types, here and below: `isinstance` of an abstract class is ten times slower, and this is a hot path.
    if type(expr) is AffineConstantExpr:
        return constant_form(expr.value)
    if type(expr) is not AffineBinaryOpExpr:
        return atom_form(expr)
    return _binary_form(expr, tuple(box))


@lru_cache(maxsize=_REMEMBERED)
def _binary_form(expr: AffineBinaryOpExpr, box: Box) -> LinearForm:
    if expr.kind is AffineBinaryOpKind.Add:
        return sum_of([linear_form(addend, box) for addend in addends_of(expr)])
    if expr.kind is AffineBinaryOpKind.Mul:
        return linear_form(expr.lhs, box).times(linear_form(expr.rhs, box))
    return _division(expr, box)


def _division(expr: AffineBinaryOpExpr, box: Box) -> LinearForm:
    """The form of a quotient or remainder."""
    kind, left, right = expr.kind, linear_form(expr.lhs, box), linear_form(expr.rhs, box)
    divisor = right.constant
    if right.terms:
        return _divide_by_symbol(kind, left, right, box)
    if divisor <= 0:
        return atom_form(AffineBinaryOpExpr(kind, left.expr(), right.expr()))
    if kind is AffineBinaryOpKind.CeilDiv:
        return _floordiv(left.plus(LinearForm((), divisor - 1)), divisor, box)
    if kind is AffineBinaryOpKind.FloorDiv:
        return _floordiv(left, divisor, box)
    return _mod(left, divisor, box)


def _divide_by_symbol(kind: AffineBinaryOpKind, left: LinearForm, right: LinearForm, box: Box) -> LinearForm:
    """A quotient or remainder by a divisor that is not constant."""
    if kind is AffineBinaryOpKind.CeilDiv:
        left = left.plus(right).plus(LinearForm((), -1))
    quotient, rest = _divide(left, right, _Ranges(box))
    return rest if kind is AffineBinaryOpKind.Mod else quotient


def _split_multiples(form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
    """`form` as `divisor * whole + rest`, with coefficients and constant of rest in `[0, divisor)`."""
    whole = tuple((a, c // divisor) for a, c in form.terms if c % divisor == 0)
    rest = tuple((a, c) for a, c in form.terms if c % divisor != 0)
    return LinearForm(whole, form.constant // divisor), LinearForm(rest, form.constant % divisor)


def _common_factor(form: LinearForm, divisor: int) -> int:
    return gcd(divisor, *(c for _, c in form.terms))


def _coarse_and_fine(form: LinearForm, divisor: int, box: Box) -> tuple[LinearForm, LinearForm, int] | None:
    """Splits `form` as `factor * coarse + fine`, with `fine` in `[0, factor)` and `factor` a divisor of `divisor`.

    Returns `None` if no factor fits. For `d1` in `[0, 7]`, `d0 * 8 + d1` is split by 8 into `d0` and `d1`, so that
    `(d0 * 8 + d1) floordiv 16` is `d0 floordiv 2`.
    """
    for factor in sorted({gcd(divisor, c) for _, c in form.terms} - {1, divisor}, reverse=True):
        fine = LinearForm(tuple((a, c) for a, c in form.terms if c % factor), form.constant % factor)
        interval = _form_bounds(fine, box)
        if interval is not None and interval[0] >= 0 and interval[1] < factor:
            coarse = tuple((a, c // factor) for a, c in form.terms if c % factor == 0)
            return LinearForm(coarse, form.constant // factor), fine, factor
    return None


def _floordiv(form: LinearForm, divisor: int, box: Box) -> LinearForm:
    whole, rest = _split_multiples(form, divisor)
    interval = _form_bounds(rest, box)
    if interval is not None and interval[0] // divisor == interval[1] // divisor:
        return whole.plus(LinearForm((), interval[0] // divisor))
    if (parts := _coarse_and_fine(rest, divisor, box)) is not None:
        return whole.plus(_floordiv(parts[0], divisor // parts[2], box))
    factor = _common_factor(rest, divisor)
    if factor > 1:
        rest = LinearForm(tuple((a, c // factor) for a, c in rest.terms), rest.constant // factor)
        divisor //= factor
    inner = rest.terms[0][0] if rest.terms == ((rest.terms[0][0], 1),) and rest.constant == 0 else None
    if (
        isinstance(inner, AffineBinaryOpExpr)
        and inner.kind is AffineBinaryOpKind.FloorDiv
        and isinstance(inner.rhs, AffineConstantExpr)
    ):
        return whole.plus(_floordiv(linear_form(inner.lhs, box), inner.rhs.value * divisor, box))
    atom = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, rest.expr(), AffineConstantExpr(divisor))
    return whole.plus(atom_form(atom))


def _mod(form: LinearForm, divisor: int, box: Box) -> LinearForm:
    _, rest = _split_multiples(form, divisor)
    interval = _form_bounds(rest, box)
    if interval is not None and interval[0] // divisor == interval[1] // divisor:
        return rest.plus(LinearForm((), -(interval[0] // divisor) * divisor))
    # Keep the sign: `x - y` has tighter bounds than `x + y * (divisor - 1)`.
    rest = LinearForm(tuple((a, c % divisor if c > 0 else -(-c % divisor)) for a, c in rest.terms), rest.constant)
    if (parts := _coarse_and_fine(rest, divisor, box)) is not None:
        coarse, fine, part = parts
        return _mod(coarse, divisor // part, box).scaled(part).plus(fine)
    factor = _common_factor(rest, divisor)
    if factor > 1 and rest.constant % factor == 0:
        reduced = LinearForm(tuple((a, c // factor) for a, c in rest.terms), rest.constant // factor)
        return _mod(reduced, divisor // factor, box).scaled(factor)
    atom = AffineBinaryOpExpr(AffineBinaryOpKind.Mod, rest.expr(), AffineConstantExpr(divisor))
    return atom_form(atom)


def simplify(expr: AffineExpr, box: Box = ()) -> AffineExpr:
    """`expr` with like terms collected and quotients decided by `box` resolved.

    `simplify(d0 * 4 + d1 - d0 * 4)` is `d1`; `simplify((d0 * 4 + d1) floordiv 4)` with `d1` in `[0, 3]` is `d0`.
    """
    # Most indices are a dimension or a constant, here and below.
    if type(expr) is AffineDimExpr or type(expr) is AffineConstantExpr:
        return expr
    return linear_form(expr, box).expr()


def bounds(expr: AffineExpr, box: Box) -> Interval | None:
    """An interval that contains every value of `expr` over `box` (tight if linear); `None` if unknown."""
    if type(expr) is AffineDimExpr:
        return _dim_bounds(expr, box)
    return _form_bounds(linear_form(expr, box), box)


def _form_bounds(form: LinearForm, box: Box) -> Interval | None:
    low = high = form.constant
    for atom, coefficient in form.terms:
        interval = _atom_bounds(atom, box)
        if interval is None:
            return None
        ends = (coefficient * interval[0], coefficient * interval[1])
        low, high = low + min(ends), high + max(ends)
    return low, high


def _atom_bounds(atom: AffineExpr, box: Box) -> Interval | None:
    if type(atom) is AffineDimExpr:
        return _dim_bounds(atom, box)
    if type(atom) is not AffineBinaryOpExpr:
        return None
    inner = bounds(atom.lhs, box)
    if atom.kind is AffineBinaryOpKind.Mul:
        other = bounds(atom.rhs, box)
        return None if inner is None or other is None else _corners(inner, other, lambda a, b: a * b)
    divisors = bounds(atom.rhs, box)
    if divisors is None or divisors[1] <= 0 or divisors[0] < 0:
        return None
    # Skip a divisor of 0, for which there is no value.
    least, most = max(divisors[0], 1), divisors[1]
    if atom.kind is AffineBinaryOpKind.Mod:
        if inner is not None and least == most and inner[0] // most == inner[1] // most:
            return inner[0] % most, inner[1] % most
        return 0, most - 1
    if atom.kind is AffineBinaryOpKind.FloorDiv and inner is not None:
        return _corners(inner, (least, most), lambda a, b: a // b)
    return None


def _dim_bounds(dim: AffineDimExpr, box: Box) -> Interval | None:
    values = box[dim.position] if dim.position < len(box) else None
    if isinstance(values, Below):
        limit = bounds(values.limit, box)
        return None if limit is None else (0, limit[1] - 1)
    return values


def _corners(left: Interval, right: Interval, operation: Callable[[int, int], int]) -> Interval:
    """The bounds of an operation that is monotonic in each operand if the other is fixed."""
    values = [operation(a, b) for a in left for b in right]
    return min(values), max(values)


def stride(expr: AffineExpr, dim: int) -> int | None:
    """The increment of `expr` if dimension `dim` grows by one; `None` if it is not constant."""
    if type(expr) is AffineDimExpr:
        return int(expr.position == dim)
    found = symbolic_stride(linear_form(expr), dim)
    return None if found is None or found.terms else found.constant


def symbolic_stride(form: LinearForm, dim: int) -> LinearForm | None:
    """The increment of `form` if dimension `dim` grows by one, over other dimensions; `None` if it depends on `dim`."""
    result = LinearForm(())
    for atom, coefficient in form.terms:
        if type(atom) is AffineDimExpr:
            result = result.plus(LinearForm((), coefficient)) if atom.position == dim else result
        elif dim in atom.used_dims():
            rest = without_factors(atom, [AffineDimExpr(dim)])
            if rest is None or any(dim in factor.used_dims() for factor in rest):
                return None
            result = result.plus(LinearForm(((monomial_of(rest), coefficient),)))
    return result


def substitute(expr: AffineExpr, replacements: Mapping[int, AffineExpr]) -> AffineExpr:
    """`expr` with each dimension `d` in `replacements` replaced by `replacements[d]`; not simplified."""
    if type(expr) is AffineDimExpr:
        return replacements.get(expr.position, expr)
    if type(expr) is AffineBinaryOpExpr:
        return binary(expr.kind, substitute(expr.lhs, replacements), substitute(expr.rhs, replacements))
    return expr


@dataclass(frozen=True)
class Span:
    """The values `base, base + 1, …, base + extent - 1`; `base` depends on outer dimensions alone."""

    base: AffineExpr
    extent: int


def span(expr: AffineExpr, inner: Mapping[int, Interval], box: Box = ()) -> Span | None:
    """The values of `expr` while the dimensions in `inner` run through their intervals and the others are fixed.

    `span(d0 * 14 + d1 + d2, {1: (0, 13), 2: (0, 2)})` is `Span(d0 * 14, 16)`. `None` if outer and inner dimensions
    occur in one floordiv or mod, so that no constant extent starts at a known base.
    """
    inner_box = [inner.get(d) for d in range(max(inner, default=-1) + 1)]
    moving: list[tuple[AffineExpr, int]] = []
    fixed: list[tuple[AffineExpr, int]] = []
    form = linear_form(expr, box)
    for atom, coefficient in form.terms:
        used = atom.used_dims()
        if used.isdisjoint(inner):
            fixed.append((atom, coefficient))
        elif used <= inner.keys():
            moving.append((atom, coefficient))
        else:
            return None
    interval = _form_bounds(LinearForm(tuple(moving)), inner_box)
    if interval is None:
        return None
    base = LinearForm(tuple(fixed), form.constant + interval[0])
    return Span(base.expr(), interval[1] - interval[0] + 1)


def join(left: Span, right: Span) -> Span | None:
    """The smallest span that contains both; `None` if their bases differ by more than a constant."""
    difference = linear_form(right.base).plus(linear_form(left.base).scaled(-1))
    if difference.terms:
        return None
    offset = difference.constant
    base = left.base if offset >= 0 else right.base
    low, high = min(0, offset), max(left.extent, offset + right.extent)
    return Span(base, high - low)


_REPLACEMENTS = 32
"""The maximum number of terms that a proof replaces."""


def is_nonnegative(expr: AffineExpr, box: Box, limits: Mapping[int, AffineExpr]) -> bool:
    """Whether `expr` is provably 0 or more.

    `box` has the intervals of dimensions. A dimension in `limits` runs from 0 to its limit minus 1; a limit is an
    expression over dimensions without limits. Quotients by a constant c are replaced by `(x - x mod c) / c`, and
    everything is scaled by c.
    """
    return _is_nonnegative(expr, tuple(box), tuple(limits.items()))


@lru_cache(maxsize=_REMEMBERED)
def _is_nonnegative(expr: AffineExpr, box: Box, limits: tuple[tuple[int, AffineExpr], ...]) -> bool:
    scale, ends = 1, dict(limits)
    form = _without_common_factor(_least(linear_form(expr, box), box, ends))
    for _ in range(_REPLACEMENTS):
        form = _at_limits(form, ends)
        known = bounds(form.expr(), box)
        if known is not None and known[0] > -scale:
            return True
        quotient = next((term for term in form.terms if _divisor(term[0]) is not None), None)
        if quotient is None:
            return False
        form, factor = _without_quotient(form, *quotient)
        scale *= factor
    return False


def _least(form: LinearForm, box: Box, limits: Mapping[int, AffineExpr]) -> LinearForm:
    """Returns `form` with dimensions of constant intervals at the end that minimises it.

    Dimensions that also occur in other atoms or in limits stay.
    """
    shared = set[int]().union(*(limit.used_dims() for limit in limits.values()), limits)
    shared.update(*(atom.used_dims() for atom, _ in form.terms if not isinstance(atom, AffineDimExpr)))
    result = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        term = LinearForm(((atom, coefficient),))
        is_alone = isinstance(atom, AffineDimExpr) and atom.position not in shared
        interval = _form_bounds(term, box) if is_alone else None
        result = result.plus(term if interval is None else LinearForm((), interval[0]))
    return result


def _without_common_factor(form: LinearForm) -> LinearForm:
    """Returns a form that is 0 or more exactly if `form` is: `2 x + 2 y - 1` becomes `x + y - 1`.

    Its bounds are tighter, since all atoms are integers.
    """
    factor = gcd(*(coefficient for _, coefficient in form.terms))
    if factor < 2:
        return form
    return LinearForm(tuple((atom, coefficient // factor) for atom, coefficient in form.terms), form.constant // factor)


def _divisor(atom: AffineExpr) -> int | None:
    """The constant divisor if `atom` is a quotient by one; else `None`."""
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        return atom.rhs.value if isinstance(atom.rhs, AffineConstantExpr) else None
    return None


def _at_limits(form: LinearForm, limits: Mapping[int, AffineExpr]) -> LinearForm:
    """The form with each dimension that has a limit at the end of its range that minimises the form."""
    result = LinearForm((), form.constant)
    for atom, coefficient in form.terms:
        if not isinstance(atom, AffineDimExpr) or atom.position not in limits:
            result = result.plus(LinearForm(((atom, coefficient),)))
        elif coefficient < 0:
            last = linear_form(limits[atom.position]).plus(LinearForm((), -1))
            result = result.plus(last.scaled(coefficient))
    return result


def _without_quotient(form: LinearForm, atom: AffineExpr, coefficient: int) -> tuple[LinearForm, int]:
    """`form` times a factor, with `c * (x floordiv c)` replaced by `x - x mod c`; also returns the factor."""
    if not isinstance(atom, AffineBinaryOpExpr):
        return form, 1
    divisor = linear_form(atom.rhs).constant
    factor = divisor // gcd(divisor, coefficient)
    whole = linear_form(atom.lhs).plus(
        linear_form(AffineBinaryOpExpr(AffineBinaryOpKind.Mod, atom.lhs, atom.rhs)).scaled(-1)
    )
    rest = LinearForm(tuple(term for term in form.terms if term[0] != atom), form.constant)
    return rest.scaled(factor).plus(whole.scaled(coefficient * factor // divisor)), factor
