"""Index expressions of topi: affine and semi-affine in index values and in named dimensions.

In the IR a map has a dimension for each index operand and a symbol for each dimension in the property `symbols`:
`topi.read %x[%i - n]` has the map `(d0)[s0] -> (d0 - s0)` and the symbols `#relay.dims<n>`. In this module both are
operands of one `ValueMap`. A symbol is a name or a selection (`max(n, m)`); sums, products and quotients of dimensions
are expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.topi.index_space import BodyOp
from xrelay.dialects.topi.shapes import certainly_at_most
from xrelay.index_algebra.affine_bounds import Below, Box, Interval, bounds, linear_form, substitute
from xrelay.index_algebra.dim_expressions import WORDS, as_dim
from xrelay.index_algebra.dim_intervals import Bounds, interval_of
from xrelay.index_algebra.dim_syntax import parse_dim
from xrelay.index_algebra.dims import (
    MAX_EXTENT,
    Dim,
    DimExpr,
    Selection,
    Symbol,
    broadcast,
    ceil_div,
    maximum,
    minimum,
    symbol,
    terms_of,
)
from xrelay.index_algebra.linear_form import floor_div, modulo, times
from xrelay.index_algebra.value_map import AffineReader, Space, ValueMap, print_exprs, symbols_as_dims

Place: TypeAlias = SSAValue | DimExpr
"""An operand of an index map: an index value or a named dimension."""

IndexMap: TypeAlias = ValueMap[Place]
"""Index expressions over index values and named dimensions."""


def index_map(access: AffineMapAttr, indices: Sequence[SSAValue], symbols: DimsAttr | None) -> IndexMap:
    """The map of an op as a `ValueMap`."""
    if symbols is None:
        return ValueMap[Place](access.data.results, tuple(indices))
    count = access.data.num_dims
    lifted = [symbols_as_dims(expr, count) for expr in access.data.results]
    return ValueMap.make(lifted, [*indices, *symbols.data])


def stored(index: IndexMap) -> tuple[AffineMapAttr, list[SSAValue], DimsAttr | None]:
    """The parts of a map that an op stores: the attribute, the index operands, and the dimensions of the symbols."""
    values = [place for place in index.operands if isinstance(place, SSAValue)]
    if len(values) == len(index.operands):
        return AffineMapAttr(AffineMap(len(values), 0, index.exprs)), values, None
    dims = [place for place in index.operands if not isinstance(place, SSAValue)]
    counts = [0, 0]
    renaming: dict[int, AffineExpr] = {}
    for position, place in enumerate(index.operands):
        kind = 0 if isinstance(place, SSAValue) else 1
        renaming[position] = (AffineDimExpr, AffineSymExpr)[kind](counts[kind])
        counts[kind] += 1
    exprs = tuple(substitute(expr, renaming) for expr in index.exprs)
    return AffineMapAttr(AffineMap(len(values), len(dims), exprs)), values, DimsAttr(tuple(dims))


# --- dimensions as expressions --------------------------------------------------------------------------------------


def dim_expr(dim: Dim, space: Space[Place]) -> AffineExpr:
    """A dimension as an expression over `space`; its names and selections are appended to `space`."""
    if isinstance(dim, int):
        return AffineConstantExpr(dim)
    total: AffineExpr = AffineConstantExpr(0)
    for monomial, coefficient in terms_of(dim).items():
        term: AffineExpr = AffineConstantExpr(coefficient)
        for atom in monomial:
            match atom:
                case Symbol() | Selection():
                    factor: AffineExpr = AffineDimExpr(space.position(as_dim(atom)))
                case _:
                    operation = floor_div if atom.kind == "floordiv" else modulo
                    factor = operation(dim_expr(atom.lhs, space), dim_expr(atom.rhs, space))
            term = times(term, factor)
        total = total + term
    return total


def dim_of(expr: AffineExpr, places: Sequence[Place]) -> Dim | None:
    """The dimension that an expression equals; `None` if it depends on index values."""
    match expr:
        case AffineConstantExpr(value=value):
            return value
        case AffineDimExpr(position=position):
            place = places[position]
            return None if isinstance(place, SSAValue) else place
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = dim_of(lhs, places), dim_of(rhs, places)
            return None if left is None or right is None else _operation(kind, left, right)
        case _:
            return None


def _operation(kind: AffineBinaryOpKind, lhs: Dim, rhs: Dim) -> Dim:
    match kind:
        case AffineBinaryOpKind.Add:
            return lhs + rhs
        case AffineBinaryOpKind.Mul:
            return lhs * rhs
        case AffineBinaryOpKind.FloorDiv:
            return lhs // rhs
        case AffineBinaryOpKind.Mod:
            return lhs % rhs
        case AffineBinaryOpKind.CeilDiv:
            return ceil_div(lhs, rhs) if isinstance(rhs, int) else (lhs + rhs - 1) // rhs


def with_sizes(index: IndexMap, sizes: Mapping[str, int]) -> IndexMap:
    """`index` with named dimensions replaced by their sizes."""
    known = {
        position: AffineConstantExpr(size)
        for position, place in enumerate(index.operands)
        if not isinstance(place, SSAValue) and isinstance(size := place.substitute(sizes), int)
    }
    return ValueMap.make([linear_form(substitute(expr, known)).expr() for expr in index.exprs], index.operands)


# --- ranges ---------------------------------------------------------------------------------------------------------


def extent_of(value: SSAValue) -> Dim | None:
    """The extent of an index variable of a compute; None for other index values."""
    if isinstance(value, BlockArgument) and isinstance(compute := value.block.parent_op(), BodyOp):
        number, spatial = value.index, compute.spatial
        if number < len(spatial):
            return spatial[number]
        reduction = compute.reduction
        return reduction[number - len(spatial)] if number < len(spatial) + len(reduction) else None
    return None


def index_ranges(space: Space[Place]) -> Box:
    """The known ranges of the places; names in extents are appended to `space`."""
    box: list[Interval | Below | None] = []
    while len(box) < len(space.values):
        box.append(_range(space.values[len(box)], space))
    return box


def _range(place: Place, space: Space[Place]) -> Interval | Below | None:
    # The exact type is tested first: `isinstance` of an abstract class is slow, and most places are variables.
    if type(place) is BlockArgument or isinstance(place, SSAValue):
        extent = extent_of(place)
        if isinstance(extent, int):
            return (0, extent - 1)
        return None if extent is None else Below(dim_expr(extent, space))
    names: Bounds = {Symbol(name): (0, MAX_EXTENT) for name in place.names}
    low, high = interval_of(place, names)
    return None if low is None or high is None else (low, high)


def last_of(index: IndexMap) -> Dim | None:
    """The greatest value, as a dimension, of one expression that only grows with its variables; `None` for others."""
    form = linear_form(index.exprs[0])
    total: Dim = form.constant
    for atom, coefficient in form.terms:
        place = index.operands[atom.position] if isinstance(atom, AffineDimExpr) else None
        if isinstance(place, SSAValue):
            extent = extent_of(place)
            if extent is None or coefficient < 0:
                return None
            total = total + coefficient * (extent - 1)
        else:
            dim = dim_of(atom, index.operands)
            if dim is None:
                return None
            total = total + coefficient * dim
    return total


def is_inside(index: IndexMap, size: Dim) -> bool:
    """Whether one expression is proven to be in [0, size) for all values of its variables."""
    space = Space(index.operands)
    limits = bounds(index.exprs[0], index_ranges(space))
    if limits is None or limits[0] < 0:
        return False
    if isinstance(size, int):
        return limits[1] < size
    last = last_of(index)
    return last is not None and certainly_at_most(last + 1, size)


# --- text -----------------------------------------------------------------------------------------------------------


class _IndexReader(AffineReader[Place]):
    """Reads expressions over SSA values, names and selections."""

    def operand(self) -> AffineExpr | None:
        """Parses `%i`, `n` or `max(n, m)`."""
        parser = self.parser
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            return AffineDimExpr(self.space.position(parser.resolve_operand(operand, IndexType())))
        position = parser.pos
        name = parser.parse_optional_identifier()
        if name is None:
            return None
        select = {"max": maximum, "min": minimum, "broadcast": broadcast}.get(name)
        if select is not None:
            parts = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_dim(parser))
            return dim_expr(select(*parts), self.space)
        if name in WORDS:
            parser.raise_error(f"{name!r} is a keyword, not the name of a dimension", position)
        return AffineDimExpr(self.space.position(symbol(name)))


def parse_index(parser: Parser) -> IndexMap:
    """Parses `[%i + n, %j]`."""
    return _IndexReader(parser).exprs()


def print_index(printer: Printer, index: IndexMap) -> None:
    """Prints `[%i + n, %j]`."""

    def operand(position: int) -> None:
        place = index.operands[position]
        if isinstance(place, SSAValue):
            printer.print_ssa_value(place)
        else:
            printer.print_string(str(place))

    print_exprs(printer, index.exprs, operand)
