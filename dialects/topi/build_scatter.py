"""Builds scatters from Python, like `build.compute` builds computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.topi.build import Body, is_unsigned
from xrelay.dialects.topi.scatter import Combine, ScatterOp
from xrelay.dialects.upstream.signless import make_scalars_signless
from xrelay.index_algebra.dims import Dim


def scatter(
    label: str,
    space: Mapping[str, Dim],
    combine: Combine,
    into: SSAValue,
    fill: Callable[[Body], tuple[Sequence[SSAValue], SSAValue]],
) -> ScatterOp:
    """A `topi.scatter` (not inserted) whose body `fill` appends; `fill` returns the indices and the value to yield.

    `space` maps names of variables to extents; `Body.variables` has them as values.
    """
    block = Block(arg_types=[IndexType() for _ in space])
    for arg, name in zip(block.args, space, strict=True):
        arg.name_hint = name
    op = ScatterOp(label, list(space.values()), combine, into, Region(block))
    body = Body(block, len(space), 0)
    indices, value = fill(body)
    body.add_yield([*indices, value])
    make_scalars_signless(op)
    return op


def combined(combine: Combine, element: Attribute, old: SSAValue, new: SSAValue, block: Block) -> SSAValue:
    """Appends to `block` the op that combines an element of type `element`, with its sign, and an update of it."""
    op = _combination(combine, element, old, new)
    if op is None:
        return new
    block.add_op(op)
    return op.results[0]


def _combination(combine: Combine, element: Attribute, old: SSAValue, new: SSAValue) -> Operation | None:
    is_float = isinstance(element, AnyFloat)
    match combine:
        case Combine.UPDATE:
            return None
        case Combine.ADD:
            return arith.AddfOp(old, new) if is_float else arith.AddiOp(old, new)
        case Combine.MUL:
            return arith.MulfOp(old, new) if is_float else arith.MuliOp(old, new)
        case Combine.MIN if is_float:
            return arith.MinimumfOp(old, new)
        case Combine.MIN:
            return arith.MinUIOp(old, new) if is_unsigned(element) else arith.MinSIOp(old, new)
        case Combine.MAX if is_float:
            return arith.MaximumfOp(old, new)
        case Combine.MAX:
            return arith.MaxUIOp(old, new) if is_unsigned(element) else arith.MaxSIOp(old, new)
