"""`tensorize` and the pass `loop-tensorize`: an instruction on tiles multiplies the matrices of a nest of loops."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop import LoopKind
from xrelay.dialects.loop.schedule import Tensorize
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.primitives.contract import ElementStrides
from xrelay.passes.loop.primitives.legality import check_serial, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites
from xrelay.passes.loop.primitives.tile_products import tile_nest
from xrelay.target.instructions import TILE_PRODUCTS, find_tile_product


@rewrites(Tensorize)
def tensorize(kernel: func.FuncOp, step: Tensorize) -> None:
    """Marks `step.loop` as tensorized: its nest matches the loops of `step.instruction` in the table of instructions.

    ```
    loop.for "k" %k to 96 {
      loop.for "i" %i to 32 unrolled {
        loop.for "v" %v to 2 unrolled {
          loop.for "o" %o to 16 vectorized {
            loop.for "t" %t to 4 contracted {
              loop.block "dot" (…) reads(%X, %W) writes(%Y) {…}
    ```
    becomes
    ```
    loop.for "k" %k to 96 tensorized {
      loop.for "i" %i to 32 unrolled {
        …
    ```

    The block adds `X[i, 4 k + t]` of ui8 times `W[v, k, o, t]` of i8 to `Y[i, 16 v + o]`. For `tdpbf16ps` there are two
    terms of bf16, and sums of f32. Unrolled loops directly inside of `step.loop` may add up products of parts of the
    factors, such as `X[p floordiv 2, …]` times `W[(2 - p) floordiv 2, …]`. `convert-loop-to-scf` writes tiles if the
    target has the instruction, and the loops as they are if not. So a partial tile of few rows, or a target without the
    instruction, has the products of `contract`.

    Raises `ScheduleError` for an unknown instruction, other loops or blocks, fewer rows than a tile has, more tiles of
    sums than registers, bytes in another order, and extents known only at run time, except that of `step.loop` if it is
    a multiple of the steps of an instruction, such as `(%n floordiv 16) * 16`.
    """
    product = find_tile_product(step.instruction)
    loop, subject = find_loop(kernel, step.loop, step), f"loop {step.loop!r}"
    if product is None:
        known = ", ".join(each.name for products in TILE_PRODUCTS.values() for each in products)
        raise refusal(step, subject, f"no instruction is called {step.instruction!r}", f"known are {known}")
    check_serial(loop, LoopKind.TENSORIZED, step, "tensorize a serial loop")
    nest = tile_nest(loop, product, ElementStrides())
    if isinstance(nest, str):
        raise refusal(step, subject, nest, "contract the loops inside first, or change the layout")
    loop.kind = LoopKind.TENSORIZED


LoopTensorizePass = primitive_pass(Tensorize, "loop=k instruction=tdpbusd", EXACT)
