"""When the buffers of a graph function are used and written, for deciding which may be parts of others.

A place is the number of an op in its block. What is done inside of a branch or a loop is done at the place of these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref, scf
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.attribute_names import NUM_OUTPUTS
from xrelay.dialects.loop import PartOp
from xrelay.dialects.loop.signature import output_arguments
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.lifetimes import GIVERS, roots_of

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
"""The ops that store nothing to the buffers which are their operands."""


@dataclass
class _Life:
    """The places of the first use of a buffer itself, and of the last use and the last store, also of parts of it.

    `ended` is where it is given away or freed.
    """

    first: int
    last: int
    written: int = -1
    ended: int | None = None


class PartLives:
    """What is known of the buffers of one graph function, kept up to date while parts are placed."""

    def __init__(self, function: func.FuncOp, functions: Mapping[str, func.FuncOp]):
        block = function.body.block
        self._functions, self._roots = functions, roots_of(block)
        self._wholes: dict[SSAValue, SSAValue] = {}
        self._places: dict[Operation, int] = {}
        self._lives: dict[SSAValue, _Life] = {}
        self._heads: dict[tuple[Block | None, int], Operation] = {}
        for op in (inner for each in block.ops for inner in walk_ops(each)):
            self._note(op)

    def _note(self, op: Operation) -> None:
        before = op.prev_op
        self._places[op] = 0 if before is None else self._places[before] + 1
        if isinstance(op, PartOp):
            return
        written = _written_operands(op, self._functions)
        for number, operand in enumerate(op.operands):
            for root in self._roots_of(operand):
                place = self._place_in(_home(root), op)
                life = self._lives.setdefault(root, _Life(place, place))
                life.last = max(life.last, place)
                if number in written:
                    life.written = max(life.written, place)
                if isinstance(op, (*GIVERS, memref.DeallocOp)):
                    life.ended = place if life.ended is None else min(life.ended, place)

    # --- what may be

    def why_not_stored(self, call: func.CallOp, part: SSAValue, whole: SSAValue) -> str | None:
        """Why `part` cannot lie in `whole`, to which `call` copies it; `None` where it can."""
        name, other = name_of(part), name_of(whole)
        if self._roots_of(part) != (part,) or not _home(part) is call.parent is _home(whole):
            return f"{name} and {other} are not made in the block of the call"
        place, own, around = self._places[call], self._lives[part], self._lives[self._find(whole)]
        if own.ended is not None:
            return f"{name} is given away"
        if own.written >= place:
            return f"{name} is written again"
        if around.first != place:
            return f"{other} is used before"
        if own.last > place and (around.written > place or (around.ended is not None and own.last >= around.ended)):
            return f"{other} changes while {name} is needed"
        return None

    def why_not_read(self, call: func.CallOp, part: SSAValue, whole: SSAValue) -> str | None:
        """Why `part`, which `call` copies from `whole`, cannot be read there; `None` where it can."""
        name, other = name_of(part), name_of(whole)
        if self._roots_of(part) != (part,) or _home(part) is not call.parent:
            return f"{name} is not made in the block of the call"
        place, own = self._places[call], self._lives[part]
        if own.ended is not None:
            return f"{name} is given away"
        if own.first != place or own.written != place:
            return f"{name} is written by others"
        for root in self._roots_of(whole):
            life, here, last = self._lives[root], *self._seen_from(root, call, own)
            is_inside = _home(root) is not call.parent
            changes = life.written >= here if is_inside else life.written > here
            if changes or (life.ended is not None and last >= life.ended):
                return f"{other} changes while {name} is needed"
        return None

    def _seen_from(self, root: SSAValue, call: func.CallOp, life: _Life) -> tuple[int, int]:
        """The places of `call` and of the last use of a buffer of its block in the block of `root`."""
        here = self._place_in(_home(root), call)
        return here, life.last if _home(root) is call.parent else here

    # --- what is done

    def is_before(self, value: SSAValue, op: Operation) -> bool:
        """Whether `value` is there at the place of `op`, in front of what was moved there."""
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not op.parent:
            return True
        return self._places.get(owner, self._places[op]) < self._places[op]

    def move_before(self, whole: SSAValue, alloc: memref.AllocOp) -> None:
        """Lets `whole` be allocated before `alloc`, where the sizes of both are known."""
        op, place = whole.owner, self._places[alloc]
        if not isinstance(op, memref.AllocOp) or self._places[op] < place:
            return
        old = (op.parent, self._places[op])
        if self._heads.get(old) is op and op.next_op is not None:
            self._heads[old] = op.next_op
        head = self._heads.get((alloc.parent, place), alloc)
        op.detach()
        assert head.parent is not None, "an allocation stands in a block"
        head.parent.insert_op_before(op, head)
        self._places[op], self._heads[alloc.parent, place] = place, op

    def store_in(self, part: SSAValue, whole: SSAValue, new: SSAValue, first: Operation) -> None:
        """Notes that `new` stands for the allocation `part` now, a part of `whole`; its ops begin with `first`."""
        alloc = part.owner
        assert isinstance(alloc, memref.AllocOp), "what is placed was allocated"
        key = (alloc.parent, self._places[alloc])
        if self._heads.setdefault(key, alloc) is alloc:
            self._heads[key] = first
        root = self._find(whole)
        self._wholes[part], self._roots[new] = root, (root,)
        own, around = self._lives[part], self._lives[root]
        around.last, around.written = max(around.last, own.last), max(around.written, own.written)

    def read_from(self, call: func.CallOp, part: SSAValue, whole: SSAValue, new: SSAValue) -> None:
        """Notes that `new` stands for `part` now, and is read where `whole` lies."""
        roots, own = self._roots_of(whole), self._lives[part]
        for root in roots:
            life = self._lives[root]
            life.last = max(life.last, self._seen_from(root, call, own)[1])
        self._roots[new] = roots

    def _roots_of(self, value: SSAValue) -> tuple[SSAValue, ...]:
        """The buffers that a value may point into, but for constants."""
        found = (self._find(root) for root in self._roots.get(value, ()) if isinstance(root, SSAValue))
        return tuple(dict.fromkeys(found))

    def _find(self, buffer: SSAValue) -> SSAValue:
        """The buffer of which another is a part."""
        path: list[SSAValue] = []
        while buffer in self._wholes:
            path.append(buffer)
            buffer = self._wholes[buffer]
        for each in path:
            self._wholes[each] = buffer
        return buffer

    def _place_in(self, block: Block | None, op: Operation) -> int:
        """The place in `block` of the op that `op` is or is in."""
        while op.parent is not block and (around := op.parent_op()) is not None:
            op = around
        return self._places[op]


def name_of(buffer: SSAValue) -> str:
    """A buffer for a message."""
    return "a buffer" if buffer.name_hint is None else f"%{buffer.name_hint}"


def _home(buffer: SSAValue) -> Block | None:
    """The block that a buffer is made in."""
    return buffer.owner if isinstance(buffer.owner, Block) else buffer.owner.parent


def _written_operands(op: Operation, functions: Mapping[str, func.FuncOp]) -> Collection[int]:
    """The numbers of the operands that point to what an op may store to."""
    if isinstance(op, memref.StoreOp | memref.CopyOp):
        return (1,)
    if isinstance(op, _READERS):
        return ()
    callee = functions.get(op.callee.string_value()) if isinstance(op, func.CallOp) else None
    if callee is None or not callee.body.blocks or NUM_OUTPUTS not in callee.attributes:
        return range(len(op.operands))
    outputs = set[SSAValue](output_arguments(callee))
    return [number for number, each in enumerate(callee.body.block.args) if each in outputs]
