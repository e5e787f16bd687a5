"""Prefetches weights of a product: those of its next panel, or of a later iteration of the loop over terms.

```
for panel: for rows in 9: for k in 768:      →   for panel: for rows in 9: for k in 768:
  for i in 13, v in 2: acc[i, v] += …                prefetch W[2 (panel + 1) + rows floordiv 4 mod 2, …]
    … * W[2 panel + v, k, lanes]                     for i in 13, v in 2: acc[i, v] += … * W[2 panel + v, k, lanes]
```

The tiles of a panel share its lines, so that the accesses are spread over all tiles. If there are more lines in an
iteration of the marked loop than tiles, as in convolutions with several loops over terms, a tile prefetches several.
If an iteration adds several terms in an unrolled loop, a tile prefetches neighbouring lines in neighbouring iterations.
The extents of the weights may be dynamic, except those of the marked loop and of the loops inside of it.

A power of two of tiles share a line's terms. With 3 tiles, each iteration divides the number of its term by 3, and LLVM
then keeps the sums of 9 rows x 3 vectors in memory: 384 x 768 x 3072 with a GELU ran at 100 instead of 164 GFLOP/s.

A loop whose mark is a number prefetches the lines of its own panel that many iterations in advance, for every tile:

```
for panel: for rows in 3: for k in 4608:     →   for panel: for rows in 3: for k in 4608:
  for i in 14, v in 2: acc[i, v] += …              prefetch W[2 panel, k + 32, …], W[2 panel + 1, k + 32, …]
    … * W[2 panel + v, k, lanes]                   for i in 14, v in 2: acc[i, v] += … * W[2 panel + v, k, lanes]
```

After the last terms, these are the lines that follow in memory: they are not used, or belong to the next panel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.extents import MAX_EXTENT
from xrelay.dialects.shared.attribute_names import PREFETCH
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.memref_extras import PrefetchOp
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.loop_to_scf.accesses import AccessTarget
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import enclosing_loops, is_local

USUAL_TILES = 8
"""The number of tiles of a panel if it is dynamic."""


class Weight(NamedTuple):
    """The access to weights in a loop over terms, and the loops inside that it depends on."""

    load: LoadOp
    inner: list[ForOp]
    """The loops without lanes: over further terms, and over vectors of columns."""
    lane: ForOp

    @property
    def lines(self) -> int:
        """The number of lines in an iteration of the loop over terms."""
        return prod(loop.extent or 1 for loop in self.inner)


class Panel(NamedTuple):
    """The weights that several tiles read, and the loops around the loop over terms."""

    weight: Weight
    unrolled: ForOp | None
    """The unrolled one of the inner loops over the terms of an iteration, if there is any: no store depends on it."""
    tiles: list[ForOp]
    """The loops over the tiles that read the panel, outermost first."""
    panels: ForOp

    @property
    def number_of_tiles(self) -> int:
        """The number of tiles that share the lines of a panel."""
        extents = [loop.extent for loop in self.tiles]
        return USUAL_TILES if None in extents else prod(extent or 1 for extent in extents)


def write_prefetch(
    terms: ForOp, values: Values, emitter: Emitter, target_of: Callable[[LoadOp | StoreOp], AccessTarget]
) -> None:
    """Prefetches the weights that the mark of the loop `terms` selects, in one of its iterations, if there are any."""
    weight = _weight(terms)
    if weight is None:
        return
    mark = terms.attributes[PREFETCH]
    if isinstance(mark, IntegerAttr):
        _write_ahead(terms, weight, mark.value.data, values, emitter, target_of)
    elif (panel := _panel(terms, weight)) is not None:
        _write_next_panel(terms, panel, values, emitter, target_of)


def _write_ahead(
    terms: ForOp,
    weight: Weight,
    ahead: int,
    values: Values,
    emitter: Emitter,
    target_of: Callable[[LoadOp | StoreOp], AccessTarget],
) -> None:
    """Prefetches the lines that an iteration uses `ahead` iterations later into the L1 cache."""
    own = values.index(terms.index)
    values.set(terms.index, own.plus(ahead))
    values.set(weight.lane.index, ValueMap.constant(0))
    for digits in product(*(range(loop.extent or 1) for loop in weight.inner)):
        for loop, digit in zip(weight.inner, digits, strict=True):
            values.set(loop.index, ValueMap.constant(digit))
        target = target_of(weight.load)
        index = emitter.affine_all(target.index.simplified(emitter.ranges))
        emitter.add(PrefetchOp(target.buffer, index, locality=3))
    values.set(terms.index, own)


def _write_next_panel(
    terms: ForOp,
    panel: Panel,
    values: Values,
    emitter: Emitter,
    target_of: Callable[[LoadOp | StoreOp], AccessTarget],
) -> None:
    """Prefetches lines of the next panel."""
    weight, tiles, count = panel.weight, panel.number_of_tiles, terms.extent or 1
    lines = weight.lines
    part = 1 << min(max(1, tiles // lines), count).bit_length() - 1  # a division of `term` by it is a shift
    own = {loop: values.index(loop.index) for loop in (panel.panels, terms)}
    space = Space[SSAValue]()
    (term,) = space.lift(own[terms])
    tile = iteration_number([(space.lift(values.index(loop.index))[0], loop.extent or 1) for loop in panel.tiles])
    values.set(panel.panels.index, next_panel(panel.panels, values, emitter))
    values.set(weight.lane.index, ValueMap.constant(0))
    first, each = (tile % part) * -(-count // part) + term // part, -(-lines // tiles)
    values.set(terms.index, _map(first, space))
    for number in range(each):
        line = (tile // part) * each + number
        for loop in reversed(weight.inner):
            extent = loop.extent or 1
            digit, line = line % extent, line // extent
            if loop is panel.unrolled:
                neighbour = digit * count + first
                values.set(terms.index, _map(neighbour // extent, space))
                digit = neighbour % extent
            values.set(loop.index, _map(digit, space))
        prefetch_element(target_of(weight.load), emitter)
    for loop, index in own.items():
        values.set(loop.index, index)


def next_panel(panels: ForOp, values: Values, emitter: Emitter) -> ValueMap:
    """Returns the index of the next iteration of a loop; after the last of a dynamic number, that is the last again."""
    following = values.index(panels.index).plus(1)
    if panels.dynamic_extent is None:
        return following
    last = values.index(panels.dynamic_extent).plus(-1)
    least = emitter.add(arith.MinSIOp(emitter.affine(following), emitter.affine(last)))
    emitter.ranges[least.result] = (0, MAX_EXTENT - 1)
    return ValueMap.identity([least.result])


def prefetch_element(target: AccessTarget, emitter: Emitter) -> None:
    """Prefetches an element; its index wraps around in the static extents of the buffer."""
    sizes = zip(target.index.exprs, target.type.get_shape(), strict=True)
    exprs = [expr if extent == DYNAMIC_INDEX else expr % extent for expr, extent in sizes]
    index = ValueMap(tuple(exprs), target.index.operands).simplified(emitter.ranges)
    emitter.add(PrefetchOp(target.buffer, emitter.affine_all(index)))


def _weight(terms: ForOp) -> Weight | None:
    """Returns the weights that a loop over terms reads in lanes; None unless one load reads them, in static loops."""
    loops = ops_of(terms.body, ForOp)
    lanes = {loop.index: loop for loop in loops if loop.kind is LoopKind.VECTORIZED}
    loads = [op for op in ops_of(terms.body, LoadOp) if not is_local(op.memref) and {*lanes} & {*op.index_operands}]
    if len(loads) != 1 or terms.extent is None:
        return None
    inner = [loop for loop in loops if loop.index in loads[0].index_operands]
    if None in (loop.extent for loop in inner):
        return None
    (lane,) = (lanes[loop.index] for loop in inner if loop.index in lanes)
    return Weight(loads[0], [loop for loop in inner if loop.index not in lanes], lane)


def _panel(terms: ForOp, weight: Weight) -> Panel | None:
    """Returns the panel whose `weight` a loop over terms reads, or None if no loop around it is over panels."""
    used = {*weight.load.index_operands}
    outer = (loop for loop in enclosing_loops(terms)[::-1] if loop.extent != 1 and not _adds_up(loop))
    tiles: list[ForOp] = []
    panels = next(outer, None)
    while panels is not None and panels.index not in used:
        tiles.append(panels)
        panels = next(outer, None)
    if panels is None:
        return None
    if not tiles and sum(PREFETCH in loop.attributes for loop in ops_of(panels.body, ForOp)) > 1:
        return None  # the tiles of another nest prefetch the panel
    stored = {index for store in ops_of(terms.body, StoreOp) for index in store.index_operands}
    unrolled = (loop for loop in weight.inner if loop.kind is LoopKind.UNROLLED and loop.index not in stored)
    return Panel(weight, next(unrolled, None), tiles[::-1], panels)


def _adds_up(loop: ForOp) -> bool:
    """Whether a loop is over terms: it loads and stores sums that are allocated outside of it."""
    inside: dict[type[Operation], set[SSAValue]] = {LoadOp: set(), StoreOp: set(), memref.AllocOp: set()}
    for op in ops_of(loop.body, LoadOp, StoreOp, memref.AllocOp):
        inside[type(op)].add(op.memref)
    sums = set(filter(is_local, inside[LoadOp] & inside[StoreOp]))
    return not sums <= inside[memref.AllocOp]


def iteration_number(loops: Sequence[tuple[AffineExpr, int]]) -> AffineExpr:
    """Returns the number of an iteration of nested loops, from their indices and extents."""
    number: AffineExpr = AffineConstantExpr(0)
    for index, extent in loops:
        number = number * extent + index
    return number


def _map(expr: AffineExpr, space: Space[SSAValue]) -> ValueMap:
    return ValueMap.make([expr], space.values).simplified()
