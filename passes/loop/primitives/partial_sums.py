"""`partial_sums` and the pass `loop-partial-sums`: sums parts of a reduction separately, then adds them up."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.schedule import PartialSums
from xrelay.passes.loop.decompose_init import take_init
from xrelay.passes.loop.nest_edits import Names, list_buffers, prepend, simplified
from xrelay.passes.loop.nest_queries import enclosing_loops, is_ordered_in, is_spatial_in, reduces_over
from xrelay.passes.loop.primitives.accumulators import (
    Update,
    around_tile,
    block_of_part,
    loops_of_results,
    part_of,
    updates_of,
    variables_of_part,
)
from xrelay.passes.loop.primitives.legality import check_reduces_over, find_block, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(PartialSums)
def partial_sums(kernel: func.FuncOp, step: PartialSums) -> None:
    """Makes `step.block` sum the terms of each iteration of `step.loop` separately, and adds these sums to its result.

    ```
    loop.for "k_o" %ko to 125 {
      loop.for "k_i" %ki to 8000 {
        loop.for "j" %j to 8 {
          loop.block "gemm" (%vj : spatial 8 = %j, %vk : reduce 1000000 = %ko * 8000 + %ki) … writes(%C) init {…} {…}
    ```
    becomes with `partial_sums("gemm", "k_o")`
    ```
    loop.for "k_o" %ko to 125 {
      %part = memref.alloc() : memref<8xf32, "local">
      loop.for "j_zero" %j0 to 8 {
        loop.block "gemm_zero" (%vj : spatial 8 = %j0, …) writes(%part) {…}
      loop.for "k_i" %ki to 8000 {
        loop.for "j" %j to 8 {
          loop.block "gemm" (%vj : spatial 8 = %j, %vk : reduce 1000000 = %ko * 8000 + %ki) … writes(%part) {…}
      loop.for "j_total" %j1 to 8 {
        loop.block "gemm_total" (%vj : spatial 8 = %j1, %vk : reduce 1000000 = %ko * 8000) reads(%part) writes(%C)
            init {…} {…}
    ```

    With `factors`, a factor of all terms of an iteration multiplies their sum instead, as the scale of a block of
    numbers: `%part` sums `A * B`, and `gemm_total` adds `%part * S`, instead of terms `A * (B * S)`. The sum and the
    product with the factor must be re-associable.

    The rounding errors of a float sum grow with its number of terms; those of partial sums grow with the terms of a
    part and the number of parts. Raises `ScheduleError` for a loop that the block does not reduce over, or that is not
    serial; a block whose results are not all sums of floats; a result that another block in the loop uses; partial sums
    whose number is a value, or that take more than 256 KiB; and, with `factors`, sums without such a factor.
    """
    block, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    _check_loop(block, loop, step)
    sums = _sums_of(block, step)
    scales = [_factor_of(each, block, loop, step) for each in sums] if step.factors else [None] * len(sums)
    results = [each.store.memref for each in sums]
    tile = loops_of_results(block, loop, results, step)
    parts = [part_of(block, result, loop, step) for result in results]
    names, variables = Names(kernel), variables_of_part(block, loop, step)
    zero = block_of_part(names.block(f"{block.block_name}_zero"), block, variables, None)
    total = block_of_part(names.block(f"{block.block_name}_total"), block, variables, take_init(block))
    for each, part, scale in zip(sums, parts, scales, strict=True):
        part.alloc.memref.name_hint = f"{block.block_name}_part"
        with ImplicitBuilder(zero.body):
            StoreOp(each.neutral().result, *part.places(block, zero)[1])
        with ImplicitBuilder(total.body):
            result, own = part.places(block, total)
            old, found = LoadOp(*result).result, LoadOp(*own).result
            combined = arith.AddfOp(old, found) if scale is None else scale.add_multiple(old, found, each, total)
            StoreOp(combined.result, *result)
        if scale is not None:
            scale.remove()
        part.redirect()
    for changed in (block, zero, total):
        list_buffers(changed)
    body = loop.body.block
    prepend(body, [*(part.alloc for part in parts), around_tile(tile, zero, "zero", names)])
    body.add_op(around_tile(tile, total, "total", names))


class _Factor(NamedTuple):
    """A product in the terms of a sum, and its operand that is the same for all terms of a part."""

    block: BlockOp
    product: arith.MulfOp
    load: LoadOp
    widened: arith.ExtFOp | None
    """The conversion of the loaded number to the type of the sum."""

    @property
    def value(self) -> SSAValue:
        """The factor."""
        return self.load.result if self.widened is None else self.widened.result

    def add_multiple(self, old: SSAValue, part: SSAValue, sum: Update, total: BlockOp) -> arith.AddfOp:
        """Emits the sum of `old` and the product of a partial sum and the factor, with the flags of the sum.

        The variables of `total` are those of the block of the sum.
        """
        renamed = zip(self.block.variables, total.variables, strict=True)
        index = self.load.index.substitute({old: ValueMap.identity([new]) for old, new in renamed})
        factor = LoadOp(self.load.memref, index).result
        if self.widened is not None:
            factor = arith.ExtFOp(factor, self.product.result.type).result
        product = arith.MulfOp.create(
            operands=[part, factor], result_types=[part.type], properties=dict(sum.combine.properties)
        )
        return arith.AddfOp.create(
            operands=[old, product.result], result_types=[part.type], properties=dict(sum.combine.properties)
        )

    def remove(self) -> None:
        """Replaces the product in the terms by its other operand."""
        (other,) = (operand for operand in self.product.operands if operand is not self.value)
        self.product.result.replace_all_uses_with(other)
        for op in (self.product, self.widened, self.load):
            if op is not None and op.results[0].first_use is None:
                op.detach()
                op.erase()


def _factor_of(update: Update, block: BlockOp, loop: ForOp, step: PartialSums) -> _Factor:
    """Returns the factor of the terms of a sum that is the same for all terms of a part; refuses sums without one."""
    pending = [operand for operand in update.combine.operands if operand is not update.load.result]
    while pending:
        product = pending.pop().owner
        if not isinstance(product, arith.MulfOp) or product.result.has_more_than_one_use():
            continue
        pending += product.operands
        for operand in product.operands if _is_reassociable(update.combine, product) else ():
            widened = operand.owner if isinstance(operand.owner, arith.ExtFOp) else None
            load = operand.owner if widened is None else widened.input.owner
            if isinstance(load, LoadOp) and _is_fixed(load, block, loop):
                return _Factor(block, product, load, widened)
    reason = "its terms have no factor that is the same for all terms of a part"
    raise refusal(step, f"block {step.block!r}", reason, "omit factors")


def _is_reassociable(*ops: Operation) -> bool:
    flags = [op.properties.get("fastmath") for op in ops]
    return all(isinstance(each, arith.FastMathFlagsAttr) and FastMathFlag.REASSOC in each.data for each in flags)


def _is_fixed(load: LoadOp, block: BlockOp, loop: ForOp) -> bool:
    """Whether a load reads the same element for all terms of an iteration of `loop`."""
    terms = {each.index for each in enclosing_loops(block) if loop.is_ancestor(each) and reduces_over(block, each)}
    bound = {variable: block.bindings[position] for position, variable in enumerate(block.variables)}
    index = simplified(load.index.substitute(bound))
    return load.memref not in block.writes and (terms - {loop.index}).isdisjoint(index.operands)


def _check_loop(block: BlockOp, loop: ForOp, step: PartialSums) -> None:
    """Raises `ScheduleError` for a loop whose iterations are not groups of terms of the block's sums."""
    subject = f"loop {step.loop!r}"
    check_reduces_over(block, loop, step)
    if is_ordered_in(block, loop) or is_spatial_in(block, loop):
        reason = f"its iterations are not terms of sums of block {step.block!r}"
        raise refusal(step, subject, reason, "name a loop of a reduce variable alone")
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind}", "name a serial loop")


def _sums_of(block: BlockOp, step: PartialSums) -> list[Update]:
    """The sums that a block computes; refuses a block that computes anything else."""
    sums = updates_of(block)
    if not block.has_init:
        raise refusal(step, f"block {step.block!r}", "it has no init", "name the block that initialises the sums")
    if sums is None or not all(isinstance(each.combine, arith.AddfOp) for each in sums):
        reason = "its results are not all sums of floats"
        raise refusal(step, f"block {step.block!r}", reason, "name a block that adds floats")
    return sums


LoopPartialSumsPass = primitive_pass(PartialSums, "block=gemm loop=k_o")
