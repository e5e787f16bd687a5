"""The in-memory stack of frames of recursive functions: `@xrelay_push_frame` and `@xrelay_free_frames`.

Frames are in segments, which never move. Segments are dynamic buffers (`dynamic_buffers.py`), so
the memory limit covers them.
The state of a stack is an array of words: the newest frame, its segment, the end of that segment, the number of frames,
and the first segment. A segment begins with the address of the next one, and is kept when its frames are gone; all
segments are freed with the stack.

A frame begins with the label at which its function continues, the caller's frame, and the segment of that frame; the
live values of its function follow (see `recursion_to_frames.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.dynamic_buffers import BUFFER_FREE, BUFFER_NEW
from xrelay.lowering.to_llvm.types import PTR

PUSH, FREE_ALL = "xrelay_push_frame", "xrelay_free_frames"
WORD = 8
FRAME, SEGMENT, END, COUNT, FIRST = range(5)
"""The words of the state."""
STATE_WORDS = 5
LABEL, CALLER, CALLER_SEGMENT = range(3)
"""The words at the beginning of a frame."""
HEADER_WORDS = 3
SEGMENT_BYTES = 1 << 16
SEGMENT_HEADER = 64
"""The bytes of a segment before its first frame."""


class Code:
    """Appends ops of the llvm dialect to a block."""

    def __init__(self, block: Block):
        self.block = block

    def add(self, op: Operation) -> SSAValue:
        """Appends `op`; returns its first result."""
        self.block.add_op(op)
        return op.results[0]

    def number(self, value: int, type: Attribute = i64) -> SSAValue:
        """Appends a constant."""
        return self.add(constant(value, type))

    def word(self, base: SSAValue, place: int) -> SSAValue:
        """Computes the address of the word at offset `place` from `base`."""
        return self.add(llvm.GEPOp(base, [place], i64, inbounds=True))

    def load(self, base: SSAValue, place: int, type: Attribute = PTR) -> SSAValue:
        """Loads the word at offset `place` from `base`."""
        return self.add(llvm.LoadOp(self.word(base, place), type, alignment=WORD))

    def store(self, value: SSAValue, base: SSAValue, place: int) -> None:
        """Stores the word at offset `place` from `base`."""
        address = self.word(base, place)
        self.block.add_op(llvm.StoreOp(value, address, WORD))

    def compare(self, predicate: llvm.ICmpPredicateFlag, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compares two integers."""
        return self.add(llvm.ICmpOp(lhs, rhs, IntegerAttr(predicate.to_int(), i64)))

    def is_null(self, pointer: SSAValue) -> SSAValue:
        """Tests whether a pointer is null."""
        return self.compare(llvm.ICmpPredicateFlag.EQ, self.add(llvm.PtrToIntOp(pointer)), self.number(0))

    def null(self) -> SSAValue:
        """Appends a null pointer."""
        return self.add(llvm.ZeroOp.create(result_types=[PTR]))

    def offset(self, pointer: SSAValue, size: SSAValue) -> SSAValue:
        """Moves a pointer by `size` bytes."""
        return self.add(llvm.GEPOp.from_mixed_indices(pointer, [size], i8, inbounds=True))

    def branch(self, condition: SSAValue, then: Block, otherwise: Block, *arguments: SSAValue) -> None:
        """Branches to `then`, which takes no arguments, or to `otherwise` with `arguments`."""
        self.block.add_op(llvm.CondBrOp(condition, then, [], otherwise, list(arguments)))

    def go(self, target: Block, *arguments: SSAValue) -> None:
        """Branches to `target` with `arguments`."""
        self.block.add_op(llvm.BrOp(target, *arguments))


def segment_bytes(largest_frame: int) -> int:
    """Returns the size of a segment that holds several frames of `largest_frame` bytes."""
    return max(SEGMENT_BYTES, -(-4 * largest_frame // SEGMENT_BYTES) * SEGMENT_BYTES)


def new_state(code: Code) -> SSAValue:
    """Allocates the state of a stack without frames on the function's stack."""
    state = code.add(llvm.AllocaOp(code.number(1), llvm.LLVMArrayType(STATE_WORDS, i64), alignment=WORD))
    null = code.null()
    for place in (FRAME, END, FIRST):
        code.store(null, state, place)
    # The word that holds the first segment's address acts as a segment before the first.
    code.store(code.word(state, FIRST), state, SEGMENT)
    code.store(code.number(0), state, COUNT)
    return state


def stack_functions(limit: int, segment: int) -> list[llvm.FuncOp]:
    """Returns `@xrelay_push_frame` for `limit` frames in segments of `segment` bytes, and `@xrelay_free_frames`."""
    types, names = [PTR, PTR, i64, i64, i32, i32], ["ctx", "state", "size", "needed", "too_many", "no_memory"]
    push = _Function(PUSH, types, names, i32)
    _write_push(push, limit, segment)
    free = _Function(FREE_ALL, [PTR, PTR], ["ctx", "state"], None)
    _write_free(free)
    return [push.finish(), free.finish()]


class _Function:
    """A function of the module under construction."""

    def __init__(self, name: str, types: Sequence[Attribute], hints: Sequence[str], result: Attribute | None):
        self._name = name
        self._type = llvm.LLVMFunctionType(types) if result is None else llvm.LLVMFunctionType(types, result)
        self.blocks: list[Block] = []
        self.entry = self.code(types)
        for argument, hint in zip(self.entry.block.args, hints, strict=True):
            argument.name_hint = hint

    def code(self, types: Sequence[Attribute] = ()) -> Code:
        """Returns a new block."""
        self.blocks.append(Block(arg_types=types))
        return Code(self.blocks[-1])

    def finish(self) -> llvm.FuncOp:
        """Returns the function."""
        linkage = llvm.LinkageAttr("internal")
        return llvm.FuncOp(self._name, self._type, linkage, body=Region(self.blocks))


def _write_push(function: _Function, limit: int, segment: int) -> None:
    """Writes `(ctx, state, size, needed, too_many, no_memory)`: a frame of `needed` bytes after one of `size` bytes.

    The function returns 0, or one of the statuses `too_many` and `no_memory`.
    """
    entry = function.entry
    find, is_known, allocate, link, reuse, enter, fail = (function.code(types) for types in _PUSH_BLOCKS)
    ctx, state, size, needed, too_many, no_memory = entry.block.args
    count = entry.add(llvm.AddOp(entry.load(state, COUNT, i64), entry.number(1)))
    fits = entry.compare(llvm.ICmpPredicateFlag.SLE, count, entry.number(limit))
    entry.branch(fits, find.block, fail.block, too_many)
    caller, current = find.load(state, FRAME), find.load(state, SEGMENT)
    place = find.offset(caller, size)
    end = find.add(llvm.AddOp(find.add(llvm.PtrToIntOp(place)), needed))
    # The first frame has no predecessor: null and size 0.
    has_room = find.compare(llvm.ICmpPredicateFlag.ULE, end, find.load(state, END, i64))
    find.block.add_op(llvm.CondBrOp(has_room, enter.block, [place], is_known.block, []))
    following = is_known.load(current, 0)
    is_known.branch(is_known.is_null(following), allocate.block, reuse.block, following)
    new = allocate.add(llvm.CallOp(BUFFER_NEW, ctx, allocate.number(segment), return_type=PTR))
    allocate.branch(
        allocate.compare(llvm.ICmpPredicateFlag.NE, allocate.add(llvm.PtrToIntOp(new)), allocate.number(0)),
        link.block, fail.block, no_memory,
    )  # fmt: skip
    link.store(link.null(), new, 0)
    link.store(new, current, 0)
    link.go(reuse.block, new)
    used = reuse.block.args[0]
    reuse.store(used, state, SEGMENT)
    reuse.store(reuse.offset(used, reuse.number(segment)), state, END)
    reuse.go(enter.block, reuse.offset(used, reuse.number(SEGMENT_HEADER)))
    frame = enter.block.args[0]
    enter.store(caller, frame, CALLER)
    enter.store(current, frame, CALLER_SEGMENT)
    enter.store(frame, state, FRAME)
    enter.store(count, state, COUNT)
    enter.block.add_op(llvm.ReturnOp(enter.number(0, i32)))
    fail.block.add_op(llvm.ReturnOp(fail.block.args[0]))


_PUSH_BLOCKS: tuple[tuple[Attribute, ...], ...] = ((), (), (), (), (PTR,), (PTR,), (i32,))
"""The arguments of the blocks of `@xrelay_push_frame` after the first."""


def write_pop(code: Code, state: SSAValue, segment: int) -> SSAValue:
    """Pops the newest frame; returns the caller's frame, or null."""
    frame = code.load(state, FRAME)
    caller, current = code.load(frame, CALLER), code.load(frame, CALLER_SEGMENT)
    code.store(caller, state, FRAME)
    code.store(current, state, SEGMENT)
    end = code.add(llvm.AddOp(code.add(llvm.PtrToIntOp(current)), code.number(segment)))
    code.store(end, state, END)
    fewer = code.add(llvm.AddOp(code.load(state, COUNT, i64), code.number(-1)))
    code.store(fewer, state, COUNT)
    return caller


def _write_free(function: _Function) -> None:
    """Writes `(ctx, state)`: frees the segments, one after the other."""
    entry = function.entry
    test, free, done = function.code([PTR]), function.code(), function.code()
    ctx, state = entry.block.args
    entry.go(test.block, entry.load(state, FIRST))
    segment = test.block.args[0]
    test.branch(test.is_null(segment), done.block, free.block)
    following = free.load(segment, 0)
    free.block.add_op(llvm.CallOp(BUFFER_FREE, ctx, segment))
    free.go(test.block, following)
    done.block.add_op(llvm.ReturnOp())
