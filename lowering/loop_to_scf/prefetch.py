"""Prefetches the weights of the next panel of a product, while the products of this panel are computed.

```
for panel: for rows in 9: for k in 768:      →   for panel: for rows in 9: for k in 768:
  for i in 13, v in 2: acc[i, v] += …                prefetch W[2 (panel + 1) + rows floordiv 4 mod 2, …]
    … * W[2 panel + v, k, lanes]                     for i in 13, v in 2: acc[i, v] += … * W[2 panel + v, k, lanes]
```

Each tile of rows prefetches a part of a vector of columns, so that the accesses are spread over all tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.memref_extras import PrefetchOp
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.loop_to_scf.accesses import AccessTarget
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import enclosing_loops, is_local

USUAL_PART = 4
"""The number of tiles of rows that prefetch one vector of columns if the number of rows is dynamic."""


class Panel(NamedTuple):
    """The access to weights in a loop over terms, and the loops that it depends on."""

    weight: LoadOp
    inner: list[ForOp]
    """The loops inside that the access depends on: over vectors of columns, and over lanes."""
    rows: ForOp
    panels: ForOp

    @property
    def vectors(self) -> int:
        """The number of vectors of columns in a panel."""
        loops = [loop for loop in self.inner if loop.kind is not LoopKind.VECTORIZED]
        return (loops[0].extent or 1) if loops else 1


def write_prefetch(
    terms: ForOp, values: Values, emitter: Emitter, target_of: Callable[[LoadOp | StoreOp], AccessTarget]
) -> None:
    """Prefetches a line of the next panel in an iteration of the loop `terms`, if there is a panel."""
    panel = _panel(terms)
    if panel is None:
        return
    rows, panels, term = (values.index(loop.index) for loop in (panel.rows, panel.panels, terms))
    part = USUAL_PART if panel.rows.extent is None else max(1, panel.rows.extent // panel.vectors)
    space = Space[SSAValue]()
    (row,), (k,) = space.lift(rows), space.lift(term)
    first = (row % part) * -(-(terms.extent or 1) // part)
    values.set(panel.panels.index, panels.plus(1))
    values.set(terms.index, _map(first + k // part, space))
    for loop in panel.inner:
        is_lane = loop.kind is LoopKind.VECTORIZED
        values.set(loop.index, ValueMap.constant(0) if is_lane else _map(row // part % panel.vectors, space))
    target = target_of(panel.weight)
    values.set(panel.panels.index, panels)
    values.set(terms.index, term)
    index = _inside(target, emitter)
    if index is not None:
        emitter.add(PrefetchOp(target.buffer, emitter.affine_all(index)))


def _panel(terms: ForOp) -> Panel | None:
    """Returns the panel that a loop over terms reads in lanes; None unless it is the only one."""
    loops = ops_of(terms.body, ForOp)
    lanes = {loop.index for loop in loops if loop.kind is LoopKind.VECTORIZED}
    loads = [op for op in ops_of(terms.body, LoadOp) if not is_local(op.memref) and lanes & {*op.index_operands}]
    outer = [loop for loop in enclosing_loops(terms) if loop is not terms and loop.extent != 1]
    if len(loads) != 1 or len(outer) < 2 or terms.extent is None:
        return None
    used = {*loads[0].index_operands}
    inner = [loop for loop in loops if loop.index in used]
    panels, rows = outer[-2:]
    is_panel = panels.index in used and rows.index not in used and len(inner) <= 2
    return Panel(loads[0], inner, rows, panels) if is_panel else None


def _inside(target: AccessTarget, emitter: Emitter) -> ValueMap | None:
    """Returns an index that wraps around in the buffer of `target`; None if the buffer has a dynamic extent."""
    shape = target.type.get_shape()
    if DYNAMIC_INDEX in shape:
        return None
    exprs = [expr % extent for expr, extent in zip(target.index.exprs, shape, strict=True)]
    return ValueMap(tuple(exprs), target.index.operands).simplified(emitter.ranges)


def _map(expr: AffineExpr, space: Space[SSAValue]) -> ValueMap:
    return ValueMap.make([expr], space.values).simplified()
