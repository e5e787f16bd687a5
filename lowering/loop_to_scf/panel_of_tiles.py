"""The panel of weights that tiles of data share, while the rows of the next panel are prefetched.

```
for panel in 4: for tile in 7: for k in 36:      →   for panel in 4: for tile in 7: for k in 36:
  sums += X[tile, k] * W[panel, k, 16 rows]            prefetch W[panel + 1, k, rows 3 tile to 3 tile + 2]
                                                       sums += X[tile, k] * W[panel, k, 16 rows]
```
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue

from xrelay.dialects.loop import ForOp, LoadOp
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.prefetch import USUAL_TILES, iteration_number, next_panel
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import enclosing_loops


def _count(loop: ForOp) -> int:
    return loop.extent or USUAL_TILES


class PanelOfTiles(NamedTuple):
    """The loop over panels of weights around a product of tiles, and the loops inside over tiles of the data."""

    panels: ForOp
    tiles: list[ForOp]

    @property
    def number_of_tiles(self) -> int:
        """The expected number of tiles that read a panel."""
        return prod(map(_count, self.tiles))

    def number(self, values: Values) -> ValueMap:
        """Returns the number of the current tile."""
        space = Space[SSAValue]()
        loops = [(space.lift(values.index(loop.index))[0], _count(loop)) for loop in self.tiles]
        return ValueMap.make([iteration_number(loops)], space.values).simplified()

    def next_of(
        self, weight: LoadOp, values: Values, emitter: Emitter, target_of: Callable[[LoadOp], AccessTarget]
    ) -> AccessTarget:
        """Returns the target of a load of weights in the next panel."""
        index = values.index(self.panels.index)
        values.set(self.panels.index, next_panel(self.panels, values, emitter))
        target = target_of(weight)
        values.set(self.panels.index, index)
        return target


def panel_of_tiles(product: ForOp, weight: LoadOp, data: LoadOp) -> PanelOfTiles | None:
    """Returns the panel that the loop `product` reads; None unless loops over the data alone are inside of its loop."""
    outer = [loop for loop in enclosing_loops(product) if loop is not product and loop.extent != 1]
    of_weight, of_data = ({*load.index_operands} for load in (weight, data))
    tiles = [loop for loop in outer if loop.index in of_data - of_weight]
    around = outer[: outer.index(tiles[-1])] if tiles else []
    panels = [loop for loop in around if loop.index in of_weight - of_data]
    if not panels:
        return None
    inside = outer[outer.index(panels[-1]) + 1 :]
    return PanelOfTiles(panels[-1], [loop for loop in tiles if loop in inside])
