"""The uses and writes of the buffers of a graph function, which determine the buffers that may be subviews of others.

A position is the number of an op in its block. Ops inside a branch or a loop have the position of the branch or loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, func, memref, scf
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.loop.signature import output_arguments
from xrelay.dialects.shared.attribute_names import NUM_OUTPUTS
from xrelay.dialects.shared.op_lists import is_kind
from xrelay.passes.infra.digraph import DisjointSets
from xrelay.passes.loop.memory.buffer_size import expected_bytes
from xrelay.passes.loop.memory.lifetimes import BlockLifetimes, BufferUses, ancestor_in, block_of

_READERS = (
    memref.LoadOp,
    memref.DimOp,
    memref.CastOp,
    memref.ViewOp,
    memref.SubviewOp,
    memref.ReinterpretCastOp,
    memref.DeallocOp,
    arith.SelectOp,
    scf.YieldOp,
    scf.ConditionOp,
    scf.WhileOp,
    func.ReturnOp,
)
"""The ops that do not store to the buffers among their operands."""


class SubviewLifetimes(BlockLifetimes):
    """The lifetimes of the buffers of one graph function, updated while buffers become subviews of others."""

    def __init__(self, function: func.FuncOp, functions: Mapping[str, func.FuncOp]):
        super().__init__(function.body.block, lambda op: _written_operands(op, functions))
        self._wholes = DisjointSets[SSAValue]()
        self._heads: dict[tuple[Block | None, int], Operation] = {}
        self._made_in: dict[Block, list[SSAValue]] = {}
        for buffer in self.lives:
            self._made_in.setdefault(block_of(buffer), []).append(buffer)
        self._needed: dict[Block, LiveBytes] = {}

    # --- what may be

    def why_not_stored(self, call: func.CallOp, part: SSAValue, whole: SSAValue) -> str | None:
        """The reason why `part` cannot be a part of `whole`, to which `call` copies it; `None` if it can."""
        name, other = name_of(part), name_of(whole)
        if self._roots_of(part) != (part,) or not block_of(part) is call.parent is block_of(whole):
            return f"{name} and {other} are not allocated in the block of the call"
        position, own, around = self.positions[call], self.lives[part], self.lives[self._wholes.root(whole)]
        if own.ended is not None:
            return f"{name} is transferred to another owner"
        if own.written >= position:
            return f"{name} is written again"
        if around.first != position:
            return f"{other} is used before"
        if own.last > position and (
            around.written > position or (around.ended is not None and own.last >= around.ended)
        ):
            return f"{other} changes while {name} is needed"
        return None

    def why_not_read(self, call: func.CallOp, part: SSAValue, whole: SSAValue) -> str | None:
        """The reason why `part`, which `call` copies from `whole`, cannot be read there; `None` if it can."""
        name, other = name_of(part), name_of(whole)
        if self._roots_of(part) != (part,) or block_of(part) is not call.parent:
            return f"{name} is not allocated in the block of the call"
        position, own = self.positions[call], self.lives[part]
        if own.ended is not None:
            return f"{name} is transferred to another owner"
        if own.first != position or own.written != position:
            return f"{name} is written by other ops"
        for root in self._roots_of(whole):
            life, here, last = self.lives[root], *self._seen_from(root, call, own)
            is_inside = block_of(root) is not call.parent
            changes = life.written >= here if is_inside else life.written > here
            if changes or (life.ended is not None and last >= life.ended):
                return f"{other} changes while {name} is needed"
            if not self._needed_in(root).allows(self._spans_read(root, part, last)):
                return f"{other} would be needed as long as {name}, which takes more memory"
        return None

    def _seen_from(self, root: SSAValue, call: func.CallOp, life: BufferUses) -> tuple[int, int]:
        """The positions of `call` and of the last use of a buffer of its block, in the block of `root`."""
        here = self.positions[ancestor_in(block_of(root), call)]
        return here, life.last if block_of(root) is call.parent else here

    # --- what it takes

    def affordable(self, parts: Sequence[SSAValue], whole: SSAValue) -> set[SSAValue]:
        """The `parts` that can be stored in `whole` without a much higher peak of memory; the earliest may be left out.

        A part that is written early extends the lifetime of the whole.
        """
        distinct = sorted(dict.fromkeys(parts), key=lambda part: self.lives[part].begin)
        needed = self._needed_in(whole)
        dropped = 0
        while dropped < len(distinct) and not needed.allows(self._spans_stored(distinct[dropped:], whole)):
            # Each attempt checks all positions, so the number of attempts is kept small.
            dropped = 2 * dropped + 1
        return set(distinct[dropped:])

    def _spans_stored(self, parts: Sequence[SSAValue], whole: SSAValue) -> list[Span]:
        """The changes of the live bytes if `parts` are stored in `whole`."""
        around, lives = self.lives[self._wholes.root(whole)], [self.lives[part] for part in parts]
        begin, last = min(life.begin for life in (around, *lives)), max(life.last for life in (around, *lives))
        return [*(_span(life, -1) for life in (around, *lives)), Span(_bytes_of(around.buffer), begin, last)]

    def _spans_read(self, root: SSAValue, part: SSAValue, last: int) -> list[Span]:
        """The changes of the live bytes if `part` is read in `root`, which is then needed up to `last`."""
        around, own = self.lives[root], self.lives[part]
        found = [_span(around, -1), Span(_bytes_of(root), around.begin, max(around.last, last))]
        return [*found, _span(own, -1)] if block_of(root) is block_of(part) else found

    def _needed_in(self, buffer: SSAValue) -> LiveBytes:
        """The live bytes of the block of a buffer."""
        block = block_of(buffer)
        if block not in self._needed:
            lives = [self.lives[each] for each in self._made_in[block]]
            self._needed[block] = LiveBytes(1 + max(life.last for life in lives), map(_span, lives))
        return self._needed[block]

    # --- what is done

    def is_before(self, value: SSAValue, op: Operation) -> bool:
        """Whether `value` is defined before `op` and the ops that were moved to its position."""
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not op.parent:
            return True
        return self.positions.get(owner, self.positions[op]) < self.positions[op]

    def move_before(self, whole: SSAValue, alloc: memref.AllocOp) -> None:
        """Moves the allocation of `whole` before `alloc`; the sizes of both must be known there."""
        op, position = whole.owner, self.positions[alloc]
        if not isinstance(op, memref.AllocOp) or self.positions[op] < position:
            return
        old = (op.parent, self.positions[op])
        if self._heads.get(old) is op and op.next_op is not None:
            self._heads[old] = op.next_op
        head = self._heads.get((alloc.parent, position), alloc)
        op.detach()
        assert head.parent is not None, "an allocation is in a block"
        head.parent.insert_op_before(op, head)
        self.positions[op], self._heads[alloc.parent, position] = position, op

    def store_in(self, part: SSAValue, whole: SSAValue, new: SSAValue, first: Operation) -> None:
        """Records that `new`, a part of `whole`, replaces the allocation `part`; its ops begin with `first`."""
        alloc = part.owner
        assert isinstance(alloc, memref.AllocOp), "what is placed was allocated"
        key = (alloc.parent, self.positions[alloc])
        if self._heads.setdefault(key, alloc) is alloc:
            self._heads[key] = first
        root = self._wholes.root(whole)
        self._needed_in(root).change(self._spans_stored([part], whole))
        self._wholes.merge(part, root)
        self.roots[new] = (root,)
        own, around = self.lives[part], self.lives[root]
        around.begin = min(around.begin, own.begin)
        around.last, around.written = max(around.last, own.last), max(around.written, own.written)

    def read_from(self, call: func.CallOp, part: SSAValue, whole: SSAValue, new: SSAValue) -> None:
        """Records that `new` replaces `part` and is read in `whole`."""
        roots, own = self._roots_of(whole), self.lives[part]
        for root in roots:
            life, last = self.lives[root], self._seen_from(root, call, own)[1]
            self._needed_in(root).change(self._spans_read(root, part, last))
            life.last = max(life.last, last)
        self.roots[new] = roots

    def _roots_of(self, value: SSAValue) -> tuple[SSAValue, ...]:
        """The buffers, without constants, that a value may refer to."""
        found = (self._wholes.root(root) for root in self.roots.get(value, ()) if isinstance(root, SSAValue))
        return tuple(dict.fromkeys(found))


def name_of(buffer: SSAValue) -> str:
    """The name of a buffer in a message."""
    return "a buffer" if buffer.name_hint is None else f"%{buffer.name_hint}"


def _span(life: BufferUses, sign: int = 1) -> Span:
    return Span(sign * _bytes_of(life.buffer), life.begin, life.last)


def _bytes_of(buffer: SSAValue) -> int:
    """The estimated bytes of a buffer in the arena; 0 if it is not an allocation."""
    return expected_bytes(buffer) if isinstance(buffer.owner, memref.AllocOp) else 0


def _written_operands(op: Operation, functions: Mapping[str, func.FuncOp]) -> Collection[int]:
    """The numbers of the operands to which an op may store."""
    if isinstance(op, memref.StoreOp | memref.CopyOp):
        return (1,)
    if is_kind(type(op), _READERS):
        return ()
    callee = functions.get(op.callee.string_value()) if isinstance(op, func.CallOp) else None
    if callee is None or not callee.body.blocks or NUM_OUTPUTS not in callee.attributes:
        return range(len(op.operands))
    outputs = set[SSAValue](output_arguments(callee))
    return [number for number, each in enumerate(callee.body.block.args) if each in outputs]


MIN_LIMIT: Final = 1 << 20
"""The number of bytes that a function may need without regard to its initial maximum."""
GROWTH_DIVISOR: Final = 8
"""The divisor of the initial maximum by which it may grow: an eighth."""


class Span(NamedTuple):
    """A change of the live bytes from position `first` to `last`, both included."""

    bytes: int
    first: int
    last: int


class LiveBytes:
    """The live bytes at each position of a block, and their limit."""

    def __init__(self, places: int, spans: Iterable[Span]):
        steps: NDArray[np.int64] = np.zeros(places + 1, np.int64)
        for span in spans:
            steps[span.first] += span.bytes
            steps[span.last + 1] -= span.bytes
        self._bytes = np.cumsum(steps[:-1])
        most = int(self._bytes.max(initial=0))
        self._limit = max(most + most // GROWTH_DIVISOR, MIN_LIMIT)

    def allows(self, changes: Sequence[Span]) -> bool:
        """Whether all positions stay within the limit after the changes."""
        return int(self._changed(changes)[1].max()) <= self._limit

    def change(self, changes: Sequence[Span]) -> None:
        """Applies changes."""
        place, changed = self._changed(changes)
        self._bytes[place] = changed

    def _changed(self, changes: Sequence[Span]) -> tuple[slice, NDArray[np.int64]]:
        """The positions that change, and their bytes after the changes."""
        first, last = min(span.first for span in changes), max(span.last for span in changes)
        steps: NDArray[np.int64] = np.zeros(last - first + 2, np.int64)
        for span in changes:
            steps[span.first - first] += span.bytes
            steps[span.last + 1 - first] -= span.bytes
        place = slice(first, last + 1)
        return place, self._bytes[place] + np.cumsum(steps[:-1])
