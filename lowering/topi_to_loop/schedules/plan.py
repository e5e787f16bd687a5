"""A schedule in the making: primitives tried on a copy of the kernel, and the reasons for what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import SSAValue

from xrelay.dialects.attribute_names import BLOCK_SOURCE
from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp, LoopKind, SchedulePrimitive, ValueMap
from xrelay.dialects.loop.schedule import Vectorize
from xrelay.dialects.topi.shapes import bit_width
from xrelay.errors import ScheduleError
from xrelay.passes.loop.nest_queries import blocks_of, enclosing_loops, loops_of
from xrelay.passes.loop.schedule import Schedule
from xrelay.target import Target

MIN_PARALLEL_WORK = 1 << 15
"""How many element operations a parallel loop should have: below that, waking the threads costs more than it saves."""

ITERATIONS_PER_THREAD = 4
"""How many iterations of a parallel loop each thread should get, so that uneven ones even out."""


class Plan:
    """Applies primitives to a copy of a kernel and records them, with reasons.

    A primitive that is not legal leaves plan and copy as they are, so an analysis may propose and see.
    """

    def __init__(self, kernel: func.FuncOp, target: Target):
        self.schedule = Schedule(kernel.clone())
        self.target = target
        self.reasons: list[str] = []
        self._done: set[str] = set()

    @property
    def is_fresh(self) -> bool:
        """Whether nothing has been done or said yet."""
        return not (self.schedule.primitives or self.reasons or self._done)

    # --- what the kernel is -------------------------------------------------------------------------------------

    @property
    def kernel(self) -> func.FuncOp:
        """The copy, as scheduled so far."""
        return self.schedule.kernel

    def blocks(self) -> list[BlockOp]:
        """The blocks in the order of the text."""
        return list(blocks_of(self.kernel).values())

    def block(self, name: str) -> BlockOp:
        """The block called `name`."""
        return blocks_of(self.kernel)[name]

    def extent(self, loop: str) -> int:
        """The extent of a loop; 1 where there is no such loop."""
        found = loops_of(self.kernel).get(loop)
        return 1 if found is None or found.extent is None else found.extent

    def lanes(self, block: BlockOp) -> int:
        """How many elements of the widest type that `block` reads or writes fit into a vector register."""
        buffers = (*block.reads, *block.writes)
        return self.target.lanes(max(8, *(bit_width(memref_type(buffer).element_type) for buffer in buffers)))

    # --- doing --------------------------------------------------------------------------------------------------

    def do(self, *steps: SchedulePrimitive) -> None:
        """Applies primitives that must be legal; raises `ScheduleError`."""
        self.schedule.apply(*steps)

    def attempt(self, step: SchedulePrimitive) -> str | None:
        """Applies a primitive if it is legal; otherwise gives the reason."""
        try:
            self.schedule.apply(step)
        except ScheduleError as error:
            return error.message
        return None

    def why_not_vectorized(self, loop: str) -> str | None:
        """The reason why a loop that is innermost may not become lanes; None where it may."""
        refused = self.attempt(Vectorize(loop))
        if refused is None:
            self.schedule.primitives.pop()
            loops_of(self.kernel)[loop].kind = LoopKind.SERIAL
        return refused

    def because(self, reason: str) -> None:
        """Records why something was chosen."""
        self.reasons.append(reason)

    def mark_done(self, *blocks: str) -> None:
        """Says that the nests of these blocks need nothing more."""
        self._done.update(blocks)

    def is_done(self, block: str) -> bool:
        """Whether the nest of a block needs nothing more."""
        return block in self._done


def memref_type(buffer: SSAValue) -> MemRefType:
    """The type of a buffer."""
    return SSAValue.get(buffer, type=MemRefType).type


def source_of(block: BlockOp) -> str:
    """The named op that a block came out of; empty where none is recorded."""
    source = block.attributes.get(BLOCK_SOURCE)
    return source.data if isinstance(source, StringAttr) else ""


def points(block: BlockOp) -> int:
    """How often the body of a block runs."""
    return prod(block.extents)


def loop_of_variable(block: BlockOp, position: int) -> str | None:
    """The loop that alone gives a variable its value; None where there is none (one iteration, or split)."""
    binding = block.bindings[position]
    if len(binding.operands) != 1 or binding != ValueMap.identity(binding.operands):
        return None
    loops = {loop.index: loop.loop_name for loop in enclosing_loops(block)}
    return loops.get(binding.operands[0])


def loops_of_kind(block: BlockOp, kind: IterKind) -> list[str]:
    """The loops of the variables of one kind, in the order of the variables; those of one iteration left out."""
    names = [loop_of_variable(block, k) for k, own in enumerate(block.kinds) if own is kind]
    return [name for name in names if name is not None]


def own_loops(block: BlockOp) -> list[ForOp]:
    """All loops around a block, the outermost first."""
    return enclosing_loops(block)


def readers_of(block: BlockOp, blocks: Sequence[BlockOp]) -> list[BlockOp]:
    """The blocks that read what `block` writes."""
    return [other for other in blocks if other is not block and any(b in other.reads for b in block.writes)]


def reads_pointwise(reader: BlockOp, producer: BlockOp) -> bool:
    """Whether `reader` reads the producer's only result at its own point, and nowhere else."""
    (buffer, *more) = producer.writes
    if more or reader.is_reduction or len(reader.kinds) != len(producer.spatial):
        return False
    loads = [op for op in reader.walk() if isinstance(op, LoadOp) and op.memref is buffer]
    return bool(loads) and all(_is_identity(op, reader) for op in loads)


def _is_identity(load: LoadOp, block: BlockOp) -> bool:
    """Index k is variable k; the index of a dimension of size 1 may be 0."""
    index = load.index
    shape = memref_type(load.memref).get_shape()
    if len(index) != len(block.variables):
        return False
    return all(
        index[k] == ValueMap.identity([variable]) or (size == 1 and index[k] == ValueMap.constant(0))
        for k, (variable, size) in enumerate(zip(block.variables, shape, strict=True))
    )
