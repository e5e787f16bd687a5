"""Named dimensions in a kernel at the loop level: each distinct dimension that it uses is an `index` argument.

The caller computes them, so that kernels do not depend on the expressions for the extents. Dimensions in index
expressions are split into the terms that are added and those that are subtracted, since arguments are 0 or more.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.topi.index_map import IndexMap, dim_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.dim_expressions import from_terms
from xrelay.index_algebra.dims import Dim, DimExpr, terms_of
from xrelay.index_algebra.linear_form import binary, factors_of, monomial_of, times
from xrelay.index_algebra.value_map import Space, ValueMap


class KernelExtents:
    """The `index` arguments of a kernel, in the order of their first use."""

    def __init__(self, block: Block):
        """Arguments are appended to `block`, after those for buffers."""
        self._block = block
        self._arguments: dict[DimExpr, SSAValue] = {}

    @property
    def dims(self) -> tuple[DimExpr, ...]:
        """The dimensions of the arguments."""
        return tuple(self._arguments)

    def value(self, dim: Dim) -> int | SSAValue:
        """Returns a dimension as a number or an argument."""
        if isinstance(dim, int):
            return dim
        if dim not in self._arguments:
            argument = self._block.insert_arg(IndexType(), len(self._block.args))
            text = str(dim)
            argument.name_hint = text if text.isidentifier() else "extent"
            self._arguments[dim] = argument
        return self._arguments[dim]

    def numbers(self, shape: Sequence[Dim]) -> DenseArrayBase | None:
        """Returns the numbers of the arguments for the dynamic extents of a shape; None if all are static."""
        for dim in shape:
            self.value(dim)
        positions = {dim: position for position, dim in enumerate(self._arguments)}
        numbers = [positions[dim] for dim in shape if isinstance(dim, DimExpr)]
        return DenseArrayBase.from_list(i64, numbers) if numbers else None

    def alloc(self, element: Attribute, shape: Sequence[Dim], *, local: str | None = None) -> memref.AllocOp:
        """Returns an allocation of a buffer of this shape; `local` names its memory space."""
        sizes = [value for dim in shape if isinstance(value := self.value(dim), SSAValue)]
        type = memref_type(element, shape, local)
        return memref.AllocOp(sizes, [], type)

    # --- index expressions ---------------------------------------------------------------------------------------

    def lowered(self, index: IndexMap) -> ValueMap:
        """Returns index expressions over index values and arguments."""
        values = [place for place in index.operands if isinstance(place, SSAValue)]
        if len(values) == len(index.operands):
            return ValueMap.make(index.exprs, values)
        space = Space[SSAValue]()
        return ValueMap.make([self._lowered(expr, index, space) for expr in index.exprs], space.values)

    def _lowered(self, expr: AffineExpr, index: IndexMap, space: Space[SSAValue]) -> AffineExpr:
        """Lowers an expression; joins terms in the same indices: `i * n + i * m` is `i` times the argument `m + n`."""
        form = linear_form(expr)
        constant: Dim = form.constant
        factors: dict[AffineExpr, Dim] = {}
        for atom, coefficient in form.terms:
            dim: Dim = coefficient
            moving: list[AffineExpr] = []
            for factor in factors_of(atom):
                part = dim_of(factor, index.operands)
                if part is None:
                    moving.append(factor)
                else:
                    dim = dim * part
            if moving:
                monomial = monomial_of(moving)
                factors[monomial] = factors.get(monomial, 0) + dim
            else:
                constant = constant + dim
        total: AffineExpr = AffineConstantExpr(0)
        for monomial, dim in factors.items():
            moved = AffineConstantExpr(1)
            for factor in factors_of(monomial):
                moved = times(moved, self._lowered_factor(factor, index, space))
            total = total + times(moved, self.expr(dim, space))
        return linear_form(total + self.expr(constant, space)).expr()

    def _lowered_factor(self, factor: AffineExpr, index: IndexMap, space: Space[SSAValue]) -> AffineExpr:
        match factor:
            case AffineDimExpr(position=position) if isinstance(place := index.operands[position], SSAValue):
                return AffineDimExpr(space.position(place))
            case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
                return binary(kind, self._lowered(lhs, index, space), self._lowered(rhs, index, space))
            case _:
                return factor

    def expr(self, dim: Dim, space: Space[SSAValue]) -> AffineExpr:
        """Returns a dimension as an expression over `space`: a number, and arguments that are added and subtracted."""
        terms = dict(terms_of(dim))
        total: AffineExpr = AffineConstantExpr(terms.pop((), 0))
        for sign in (1, -1):
            part = from_terms({monomial: sign * factor for monomial, factor in terms.items() if sign * factor > 0})
            value = self.value(part)
            if isinstance(value, SSAValue):
                total = AffineDimExpr(space.position(value)) * sign + total
        return total


def memref_type(element: Attribute, shape: Sequence[Dim], local: str | None = None) -> MemRefType:
    """Returns the type of a buffer, with `?` for named dimensions."""
    extents = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in shape]
    return buffer_type(element, extents, space=StringAttr(local)) if local else buffer_type(element, extents)
