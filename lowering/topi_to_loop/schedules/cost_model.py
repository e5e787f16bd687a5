"""An analytical model of the time that a schedule takes, to compare candidates of all families.

The unit is a cycle of one core. A phase of a kernel, such as the copy of an operand or the sums of products, computes
and moves data at the same time, so its time is the greater of both; phases follow each other. Threads share a phase
evenly if there are enough iterations. The model ranks schedules of one kernel. It does not predict the time of a run.

The constants were fitted to kernels measured on Zen 4 and Zen 5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import ceil

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, RowOp
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    ProductView,
    buffer_bytes,
    element_bytes,
    expected_extent,
    expected_product,
    is_row,
    loads_of,
    points,
    steps_of,
)
from xrelay.lowering.topi_to_loop.schedules.tile_model import depthwise_efficiency, efficiency
from xrelay.target import Target
from xrelay.target.cpus import MIN_PARALLEL_WORK, UNITS

LATENCY = 4
"""Cycles until the result of an addition or a multiply-add can be used."""

MIN_LANES = 4
"""The minimum number of iterations of a vectorised loop; LLVM decides about shorter loops."""

MAX_UNROLLED_VECTORS = 4
"""The number of vectors of a row that stay in registers while a reduction runs over them."""

THREAD_START = 2000
"""Cycles to start and to join threads."""

SUM_OF_LANES = 20
"""Cycles to add up the lanes of a vector, and to start and end the loop over the terms of a sum."""

ROW_IN_MEMORY = 13
"""Cycles to initialise, and to read at last, the accumulators of one vector of a row that is longer than registers."""

UNROLLED_TERMS = 64
"""LLVM unrolls a sum of at most so many terms completely."""

SHORT_SUM, UNROLLED_TERM, SCALAR_TERM = 0.5, 0.42, 1.25
"""Cycles for a sum that is unrolled, for each of its terms, and for each term of a longer sum without lanes."""

COPIED_ELEMENT, TRANSPOSED_ELEMENT = 0.15, 1.0
"""Cycles to copy an element: in rows that are contiguous in both buffers, and in a transposition.

A transposition takes twice as long if the buffer does not fit into the L2 cache.
"""


@dataclass(frozen=True)
class Cost:
    """The estimated cycles of a kernel, or of one of its phases."""

    arithmetic: float = 0.0
    """Cycles in which one core would compute everything, with all data in the L1 cache."""
    memory: float = 0.0
    """Cycles in which one core would move the data between its caches and memory."""
    cycles: float = 0.0
    """Cycles from start to end, with all threads that have work."""

    @staticmethod
    def of(arithmetic: float, memory: float = 0.0, *, threads: float = 1.0) -> Cost:
        """Returns the cost of one phase."""
        return Cost(arithmetic, memory, max(arithmetic, memory) / threads + (THREAD_START if threads > 1 else 0))

    def __add__(self, other: Cost) -> Cost:
        """Returns the cost of both, one after the other."""
        return Cost(self.arithmetic + other.arithmetic, self.memory + other.memory, self.cycles + other.cycles)


def busy_threads(target: Target, iterations: int, work: float) -> float:
    """Returns the mean number of threads that have work, for `work` element operations in a loop of `iterations`."""
    if target.threads < 2 or work < MIN_PARALLEL_WORK or iterations < 1:
        return 1.0
    return iterations / ceil(iterations / target.threads)


def moving(target: Target, size: float, sweeps: float = 1.0) -> float:
    """Returns the cycles to read `size` bytes as often as `sweeps`, from the smallest cache that holds them."""
    return size * sweeps / target.bytes_per_cycle(size)


def copying(load: LoadOp, target: Target, *, transposed: bool) -> Cost:
    """Returns the cost of copying a whole loaded buffer."""
    size = buffer_bytes(load)
    far = 2.0 if transposed and size > target.l2 else 1.0
    cycles = size / element_bytes(load) * far * (TRANSPOSED_ELEMENT if transposed else COPIED_ELEMENT)
    return Cost.of(cycles, moving(target, size))


def products_cost(view: KernelView, product: ProductView, cycles: float, iterations: int, sweeps: int = 1) -> Cost:
    """Returns the cost of sums of products that take `cycles` of arithmetic, in a parallel loop of `iterations`.

    The first factor is read as often as `sweeps`.
    """
    moved = [moving(view.target, size) for size in product.factor_bytes]
    memory = sum(moved) + moved[0] * (sweeps - 1) if moved else 0.0
    return Cost.of(cycles, memory, threads=busy_threads(view.target, iterations, points(product.block)))


def folds_cost(view: KernelView, blocks: Iterable[BlockOp]) -> Cost:
    """Returns the cost of several reductions, each as `fold_cost` describes."""
    return sum((fold_cost(view, block) for block in blocks), Cost())


def rest_cost(view: KernelView, covered: Collection[str] = ()) -> Cost:
    """Returns the cost of all blocks except `covered`, each scheduled alone."""
    rest = [block for block in view.blocks() if block.block_name not in covered]
    elementwise = [_elementwise_cost(view, block) for block in rest if not block.is_reduction]
    return sum(elementwise, folds_cost(view, [block for block in rest if block.is_reduction]))


def _elementwise_cost(view: KernelView, block: BlockOp) -> Cost:
    ops = list(all_ops(block))
    steps = points(block) * max(1, sum(map(steps_of, ops)))
    last = _last_loop(block, IterKind.SPATIAL)
    in_lanes = last is not None and not any(isinstance(op, RowOp) for op in ops) and is_row(block, last)
    lanes = min(view.lanes(block), expected_extent(block.extents[last])) if in_lanes and last is not None else 1
    threads = busy_threads(view.target, points(block), steps)
    moved = sum(moving(view.target, buffer_bytes(op)) for op in loads_of(block))
    return Cost.of(steps / lanes / UNITS, moved, threads=threads)


def fold_cost(view: KernelView, block: BlockOp) -> Cost:
    """Returns the cost of a reduction that is computed by rows: the row as lanes, else the terms of a sum as lanes."""
    kinds = zip(block.extents, block.kinds, strict=True)
    terms = expected_product(extent for extent, kind in kinds if kind is not IterKind.SPATIAL)
    sums = points(block) // max(1, terms)
    row, term = _last_loop(block, IterKind.SPATIAL), _last_loop(block, IterKind.REDUCE)
    length = 1 if row is None else expected_extent(block.extents[row])
    inner = 1 if term is None else expected_extent(block.extents[term])
    lanes = view.lanes(block)
    if row is not None and length >= MIN_LANES and is_row(block, row):
        cycles = sums / min(lanes, length) * _row_cycles(view, block, row, ceil(length / lanes), terms)
    elif term is not None and inner >= lanes and is_row(block, term, alone=False):
        cycles = sums * (terms / inner * ceil(inner / lanes) * _step(block) + SUM_OF_LANES)
    elif terms <= UNROLLED_TERMS:
        cycles = sums * (SHORT_SUM + terms * UNROLLED_TERM)
    else:
        cycles = sums * terms * max(_step(block), SCALAR_TERM)
    threads = busy_threads(view.target, sums, sums * terms)
    return Cost.of(cycles, sum(_swept(view.target, block, load) for load in loads_of(block)), threads=threads)


def _step(block: BlockOp) -> float:
    """Returns the cycles of one step of a reduction, for as many sums as there are lanes."""
    others = sum(1 for op in all_ops(block) if not isinstance(op, LoadOp))
    return max(len(loads_of(block)), others / 2) / UNITS


def _row_cycles(view: KernelView, block: BlockOp, row: int, vectors: int, terms: int) -> float:
    """Returns the cycles to reduce `terms` to a vector of a row of `vectors`."""
    step, loads = _step(block), loads_of(block)
    if vectors > MAX_UNROLLED_VECTORS:
        return terms * (step + 2 / UNITS) + ROW_IN_MEMORY
    if len(loads) < 2:
        return terms * max(step, LATENCY / vectors)
    variable = block.variables[row]
    streamed = any(buffer_bytes(op) > view.target.l1 for op in loads if variable in op.index_operands)
    return terms / UNITS / (efficiency if streamed else depthwise_efficiency)(1, vectors)


def _swept(target: Target, block: BlockOp, load: LoadOp) -> float:
    """Returns the cycles to read a buffer as often as the loops outside of its own require."""
    sweeps = 1
    for variable, extent in zip(block.variables, block.extents, strict=True):
        if variable in load.index_operands:
            break
        sweeps *= expected_extent(extent)
    return moving(target, buffer_bytes(load), sweeps)


def _last_loop(block: BlockOp, kind: IterKind) -> int | None:
    """Returns the position of the last variable of a kind with more than one iteration."""
    found = [k for k, own in enumerate(block.kinds) if own is kind and block.extents[k] != 1]
    return found[-1] if found else None
