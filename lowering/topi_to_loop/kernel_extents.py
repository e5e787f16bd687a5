"""Named dimensions in a kernel at the loop level: each distinct dimension that it uses is an `index` argument.

The caller computes them, so that kernels do not depend on the expressions for the extents. Dimensions in index
expressions are split into the terms that are added and those that are subtracted, since arguments are 0 or more.

The sizes of named dimensions are propagated from the graph function to these arguments:

```
func.func @main(…, %n: index) attributes {relay.sizes = {n = array<i64: 1, 128, 8>}} {
  func.call @k(%x, %y, %n, %m) : …                        // %m is 2 * n + 1
}
func.func private @k(…, %n: index {loop.size = array<i64: 1, 128, 8>},
                        %extent: index {loop.size = array<i64: 3, 257, 17>})
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, NoneAttr, StringAttr, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import LOCAL
from xrelay.dialects.loop.signature import dim_arguments, kernel_dims
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.relay.core.size_hints import SizeHint, size_hints
from xrelay.dialects.shared.attribute_names import SIZE, SIZES
from xrelay.dialects.topi.index_map import IndexMap, dim_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.errors import DimensionError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.dim_expressions import from_terms
from xrelay.index_algebra.dims import MAX_EXTENT, Dim, DimExpr, evaluate, terms_of
from xrelay.index_algebra.linear_form import binary, factors_of, monomial_of, times
from xrelay.index_algebra.shape_environment import ShapeEnvironment
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


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

    def alloc(self, element: Attribute, shape: Sequence[Dim], *, local: bool = False) -> memref.AllocOp:
        """Returns an allocation of a buffer of this shape, with `?` for named dimensions."""
        values = [self.value(dim) for dim in shape]
        extents = [DYNAMIC_INDEX if isinstance(value, SSAValue) else value for value in values]
        type = buffer_type(element, extents, space=StringAttr(LOCAL) if local else NoneAttr())
        return memref.AllocOp([value for value in values if isinstance(value, SSAValue)], [], type)

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


UNKNOWN = -1

Size: TypeAlias = tuple[int, int, int]
"""Minimum, maximum and typical value."""


def propagate_sizes(functions: Iterable[FuncOp], kernels: Mapping[str, FuncOp]) -> None:
    """Sets the sizes of the extents of `kernels` that hold for all calls in `functions`.

    A kernel with names of its own has its own hints, which are removed.
    """
    own = {name: hints for name, kernel in kernels.items() if (hints := size_hints(kernel))}
    found: dict[str, list[Size]] = {}
    for name, hints in own.items():
        environment = _environment(hints)
        found[name] = [_size(dim, hints, environment) for dim in kernel_dims(kernels[name])]
        del kernels[name].attributes[SIZES]
    for function in functions:
        hints = size_hints(function)
        environment = _environment(hints)
        for op in walk_ops(function):
            kernel = kernels.get(op.callee.string_value()) if isinstance(op, CallOp) else None
            name = "" if kernel is None else kernel.sym_name.data
            if kernel is not None and name not in own and (dims := kernel_dims(kernel)):
                sizes = [_size(dim, hints, environment) for dim in dims]
                found[name] = _common_sizes(found[name], sizes) if name in found else sizes
    versions = versions_by_kernel(kernels.values())
    for name, sizes in found.items():
        # If a version for the usual size 1 exists, the kernel itself is called only for larger sizes.
        others = [(least, most, UNKNOWN if usual == 1 else usual) for least, most, usual in sizes]
        _set_sizes(kernels[name], others if name in versions else sizes)


def _environment(hints: Mapping[str, SizeHint]) -> ShapeEnvironment:
    """Returns the facts of size hints."""
    environment = ShapeEnvironment()
    for fact in (fact for name, hint in hints.items() for fact in hint.facts(name)):
        environment.add(fact)
    return environment


def _size(dim: DimExpr, hints: Mapping[str, SizeHint], environment: ShapeEnvironment) -> Size:
    if dim.names.isdisjoint(hints):
        return UNKNOWN, UNKNOWN, UNKNOWN
    low, high = environment.interval(dim)
    within = [UNKNOWN if end is None or not 0 <= end <= MAX_EXTENT else end for end in (low, high)]
    return within[0], within[1], _usual(dim, hints)


def _usual(dim: DimExpr, hints: Mapping[str, SizeHint]) -> int:
    if not dim.names <= hints.keys():
        return UNKNOWN
    try:
        return evaluate(dim, {name: hint.usual for name, hint in hints.items()})
    except DimensionError:
        return UNKNOWN


def _common_sizes(first: Sequence[Size], second: Sequence[Size]) -> list[Size]:
    """Returns the sizes that hold for both."""
    joined: list[Size] = []
    for one, other in zip(first, second, strict=True):
        greatest = UNKNOWN if UNKNOWN in (one[1], other[1]) else max(one[1], other[1])
        joined.append((min(one[0], other[0]), greatest, one[2] if one[2] == other[2] else UNKNOWN))
    return joined


def _set_sizes(kernel: FuncOp, sizes: Sequence[Size]) -> None:
    attrs = argument_attrs(kernel)
    first = len(attrs) - len(dim_arguments(kernel))
    for attributes, size in zip(attrs[first:], sizes, strict=True):
        if size != (UNKNOWN, UNKNOWN, UNKNOWN):
            attributes[SIZE] = DenseArrayBase.from_list(i64, size)
    set_argument_attrs(kernel, attrs)
