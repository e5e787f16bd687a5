"""`tile` and the pass `loop-tile`: replaces two loops by loops over tiles and loops inside a tile."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop.schedule import Reorder, Split, Tile, primitive_text
from xrelay.errors import ScheduleError
from xrelay.passes.loop.primitives.reorder import reorder
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites
from xrelay.passes.loop.primitives.split import split


@rewrites(Tile)
def tile(kernel: func.FuncOp, step: Tile) -> list[str]:
    """Splits `step.outer` and `step.inner` and moves both inner parts inside.

    ```
    loop.for "i" %i to 12 {
      loop.for "j" %j to 128 {…}
    ```
    becomes with `tile("i", "j", 6, 64)`
    ```
    loop.for "i_o" %i_o to 2 {
      loop.for "j_o" %j_o to 2 {
        loop.for "i_i" %i_i to 6 {
          loop.for "j_i" %j_i to 64 {…}
    ```

    Equals `split`, `split`, `reorder`, and raises `ScheduleError` if one of them does.
    """
    untouched = kernel.body.clone()
    try:
        rows, row = split(kernel, Split(step.outer, step.outer_factor, step.tail))
        columns, column = split(kernel, Split(step.inner, step.inner_factor, step.tail))
        reorder(kernel, Reorder((rows, columns, row, column)))
    except ScheduleError as error:
        kernel.detach_region(0).drop_all_references()
        kernel.add_region(untouched)
        raise ScheduleError(f"{primitive_text(step)}: {error.message}", help=error.help) from error
    return [rows, columns, row, column]


LoopTilePass = primitive_pass(Tile, "outer=i inner=j outer-factor=6 inner-factor=64")
