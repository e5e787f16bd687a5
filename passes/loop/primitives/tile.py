"""`tile`: two loops become tiles and the loops inside a tile."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop.schedule import Reorder, Split, Tile
from xrelay.passes.loop.primitives.nest import find_loop
from xrelay.passes.loop.primitives.reorder import perfect_chain, reorder
from xrelay.passes.loop.primitives.split import check_split, split


def tile(kernel: func.FuncOp, step: Tile) -> None:
    """Split `step.outer` and `step.inner` and move both inner parts inside.

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

    It is `split`, `split`, `reorder`, and refuses where one of them does.
    """
    first = Split(step.outer, step.outer_factor, step.tail)
    second = Split(step.inner, step.inner_factor, step.tail)
    outer, inner = find_loop(kernel, step.outer, step), find_loop(kernel, step.inner, step)
    perfect_chain([outer, inner], step)
    check_split(kernel, outer, first)
    check_split(kernel, inner, second)
    split(kernel, first)
    split(kernel, second)
    names = (f"{step.outer}_o", f"{step.inner}_o", f"{step.outer}_i", f"{step.inner}_i")
    reorder(kernel, Reorder(names))
