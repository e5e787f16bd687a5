"""`llvm-recursion-to-frames`: recursive functions keep their live values on a stack of frames in memory.

Functions of the llvm dialect that may call each other become one function, in which their calls are branches. A call
stores the label at which to continue in the caller's frame, pushes a frame for the callee and branches to its
beginning; a return pops the frame and branches to the label of the caller. Values that are defined in one block and
used in another, perhaps after a call, are in the frame. A function that other functions call remains as an entry. With
frames in memory, the depth of a recursion is limited by memory and by a configurable limit, not by the machine's stack.

Before → after, for a function with one call of itself:

```
llvm.func @f(%ctx, %x) -> i32 {             llvm.func @f(%ctx, %x) -> i32 { …call @f_frames, %x in an array… }
  …                                         llvm.func @f_frames(%ctx, %entry, %arguments) -> i32 {
  %s = llvm.call @f(%ctx, %y)                 …
  %c = llvm.icmp "eq" %s, %zero       →       %p = llvm.call @xrelay_push_frame(…)
  …                                           llvm.cond_br (%p is 0), ^f(%y), ^label_0(%p)
                                            ^label_0(%s):
                                              %c = llvm.icmp "eq" %s, %zero
                                              …
                                            ^return(%status):
                                              …pop the frame, llvm.cond_br (label is 0), ^label_0(%status), …
```

More than `call-limit` nested calls count as an endless recursion: the call then returns the status of a row in
`xrelay.checks` that names the function. A call also fails if there is no memory for its frame. A status is returned
from frame to frame as from call to call, so each function frees the buffers that it holds.

Arrays on the machine's stack that receive the results of callees move to the frame too.

Frames are in segments, which never move. Segments are dynamic buffers (`runtime_functions.py`), so the memory limit
covers them. The state of a stack is an array of words: the newest frame, its segment, the end of that segment, the
number of frames, and the first segment. A segment begins with the address of the next one, and is kept when its frames
are gone; all segments are freed with the stack. A frame begins with the label at which its function continues, the
caller's frame, and the segment of that frame; the live values of its function follow.

Functions that do not call themselves stay unchanged. Raises `LoweringError` for a recursive function with values of
more than 8 bytes, or with other buffers on the machine's stack: graph functions have neither.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Final

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, ModuleOp, i1, i8, i32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay import environment
from xrelay.dialects.relay.structure.call import too_many_calls
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream import llvm_extras
from xrelay.errors import LoweringError
from xrelay.lowering.interface import add_checks
from xrelay.lowering.to_llvm.addressing import constant_index
from xrelay.lowering.to_llvm.failures import check_status
from xrelay.lowering.to_llvm.ops import compare, constant, split_before
from xrelay.lowering.to_llvm.runtime_functions import BUFFERS, RuntimeFunctions
from xrelay.lowering.to_llvm.types import PTR
from xrelay.passes.infra.digraph import cyclic_components
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

CONSTANTS = (
    llvm.ConstantOp,
    llvm.AddressOfOp,
    llvm.UndefOp,
    llvm.ZeroOp,
    llvm_extras.ZeroOp,
    llvm_extras.PoisonOp,
)
"""Ops without operands, which can be moved to the beginning of the function."""


WORD = 8
FRAME, SEGMENT, END, COUNT, FIRST = range(5)
"""The words of the state."""
STATE_WORDS = 5
LABEL, CALLER, CALLER_SEGMENT = range(3)
"""The words at the beginning of a frame."""
HEADER_WORDS = 3
SEGMENT_BYTES = 1 << 16


class _Code:
    """Inserts ops of the llvm dialect at the end of a block, or at another point in it."""

    def __init__(self, block: Block, point: InsertPoint | None = None):
        self.block, self._builder = block, Builder(point or InsertPoint.at_end(block))

    def add(self, op: Operation) -> SSAValue:
        """Inserts `op`; returns its first result."""
        return self._builder.insert(op).results[0]

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
        self._builder.insert(llvm.StoreOp(value, address, WORD))

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compares two integers."""
        return self.add(compare(predicate, lhs, rhs))

    def is_null(self, pointer: SSAValue) -> SSAValue:
        """Tests whether a pointer is null."""
        return self.compare("eq", self.add(llvm.PtrToIntOp(pointer)), self.number(0))

    def null(self) -> SSAValue:
        """Appends a null pointer."""
        return self.add(llvm.ZeroOp.create(result_types=[PTR]))

    def branch(self, condition: SSAValue, then: Block, otherwise: Block, *arguments: SSAValue) -> None:
        """Branches to `then`, which takes no arguments, or to `otherwise` with `arguments`."""
        self.block.add_op(llvm.CondBrOp(condition, then, [], otherwise, list(arguments)))

    def go(self, target: Block, *arguments: SSAValue) -> None:
        """Branches to `target` with `arguments`."""
        self.block.add_op(llvm.BrOp(target, *arguments))


@dataclass(frozen=True)
class LlvmRecursionToFramesPass(XRelayPass):
    """Makes recursive functions keep frames in memory; see the module's docstring. Exact."""

    name = "llvm-recursion-to-frames"
    numerics = EXACT

    call_limit: int | None = field(
        default=None, metadata={"help": "the maximum number of nested calls; the default is XRELAY_CALL_LIMIT"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, llvm.FuncOp) and each.body.blocks}
        callees = {name: dict.fromkeys(_callees(function, functions)) for name, function in functions.items()}
        groups = cyclic_components(callees)
        if not groups:
            return
        limit = environment.call_limit() if self.call_limit is None else self.call_limit
        components = [_Component(op, [functions[name] for name in group], limit) for group in groups]
        segment = _segment_bytes(max(component.largest_frame for component in components))
        for group, component in zip(groups, components, strict=True):
            outside = {callee for name in callees.keys() - set(group) for callee in callees[name]}
            component.write([name for name in group if name in outside] or group, segment)
        RuntimeFunctions({}, _STACK_FUNCTIONS.replace("LIMIT", str(limit)).replace("SEGMENT", str(segment))).define(op)
        BUFFERS.define(op)


def _callees(function: llvm.FuncOp, names: Container[str]) -> Iterator[str]:
    return (callee for op in ops_of(function, llvm.CallOp) if (callee := _callee(op)) in names)


def _callee(op: llvm.CallOp) -> str:
    return "" if op.callee is None else op.callee.string_value()


@dataclass(eq=False)
class _Member:
    """A function of a component: its blocks, and the layout of its frames."""

    function: llvm.FuncOp
    blocks: Sequence[Block]
    slots: Mapping[SSAValue, int]
    """The word of the frame that holds a value."""
    arrays: Mapping[SSAValue, int]
    """The first word of each array that was on the machine's stack."""
    frame_bytes: int


class _Component:
    """Merges functions that call each other into one function."""

    def __init__(self, module: ModuleOp, functions: Sequence[llvm.FuncOp], limit: int):
        self._module = module
        names = [function.sym_name.data for function in functions]
        rows = [(too_many_calls(f"@{name}", limit), f"out of memory: the frames of @{name}") for name in names]
        numbers = iter(add_checks(module, list(chain(*rows))))
        self._failures = {name: (check_status(next(numbers)), check_status(next(numbers))) for name in names}
        """For each function, the statuses of too many frames and of a lack of memory for a frame."""
        self._calls: list[tuple[llvm.CallOp, Block]] = []
        """The calls, each with the block at which the caller continues; its number is the label."""
        self._first = _Code(Block(arg_types=[PTR, i64, PTR]))
        for argument, hint in zip(self._first.block.args, ("ctx", "entry", "arguments"), strict=True):
            argument.name_hint = hint
        self._members = {name: self._member(function) for name, function in zip(names, functions, strict=True)}

    @property
    def largest_frame(self) -> int:
        """The size of the largest frame in bytes."""
        return max(member.frame_bytes for member in self._members.values())

    def _member(self, function: llvm.FuncOp) -> _Member:
        """Splits a function after its calls; moves its constants to the component and replaces its context."""
        context = function.body.blocks[0].args[0]
        context.replace_all_uses_with(self._first.block.args[0])
        context.block.erase_arg(context)
        for op in list(walk_ops(function)):
            if isinstance(op, llvm.CallOp) and _callee(op) in self._failures:
                self._calls.append((op, _split_after(op)))
            elif isinstance(op, CONSTANTS):
                op.detach()
                self._first.block.add_op(op)
        blocks, words = list(function.body.blocks), HEADER_WORDS
        arrays: dict[SSAValue, int] = {}
        for op in [op for op in walk_ops(function) if isinstance(op, llvm.AllocaOp)]:
            arrays[op.res] = words
            words += _words_of(op)
            _align_to_words(op.res)
        kept = [value for block in blocks for value in _kept_of(block) if value not in arrays]
        for block in blocks:
            function.body.detach_block(block)
        slots = {value: words + place for place, value in enumerate(kept)}
        return _Member(function, blocks, slots, arrays, (words + len(slots)) * WORD)

    def write(self, entries: Sequence[str], segment: int) -> None:
        """Replaces the members with the component's function; `entries` are the members called from outside."""
        state = _new_state(self._first)
        leave, leaving = _Code(Block(arg_types=[i32])), Block(arg_types=[i32])
        starts = self._write_starts(entries, state, leave.block)
        owners = {block: member for member in self._members.values() for block in member.blocks}
        for member in self._members.values():
            for block in member.blocks:
                _keep(block, member, state)
                if isinstance(block.last_op, llvm.ReturnOp):
                    _replace_last(block, llvm.BrOp(leaving, *block.last_op.operands))
            for op in [value.owner for value in member.arrays]:
                assert isinstance(op, Operation), "an array is made by an op"
                Rewriter.erase_op(op)
        for label, (call, after) in enumerate(self._calls):
            self._write_call(call, after, label, owners[after], state)
        ends = self._write_return(leaving, leave.block, state, segment)
        leave.block.add_op(llvm.CallOp(FREE_ALL, self._first.block.args[0], state))
        leave.block.add_op(llvm.ReturnOp(leave.block.args[0]))
        name = f"{next(iter(self._members))}_frames"
        for number, entry in enumerate(entries):
            _make_entry(self._members[entry], name, number)
        body = Region([self._first.block, *starts, *owners, *ends, leave.block])
        type = llvm.LLVMFunctionType([PTR, i64, PTR], i32)
        self._module.body.block.add_op(llvm.FuncOp(name, type, llvm.LinkageAttr("external"), body=body))
        for entry in self._members.keys() - set(entries):
            Rewriter.erase_op(self._members[entry].function)

    def _write_starts(self, entries: Sequence[str], state: SSAValue, leave: Block) -> list[Block]:
        """Writes branches from the first block to the requested entry; returns the blocks after the first."""
        _, number, arguments = self._first.block.args
        starts = [_Code(Block()) for _ in entries]
        tests = [self._first, *(_Code(Block()) for _ in entries[1:])]
        for index, (test, start) in enumerate(zip(tests, starts, strict=True)):
            if test is tests[-1]:
                test.go(start.block)
            else:
                wanted = test.compare("eq", number, test.number(index))
                test.branch(wanted, start.block, tests[index + 1].block)
        for name, start in zip(entries, starts, strict=True):
            types = self._members[name].blocks[0].arg_types
            given = [start.load(arguments, place, type) for place, type in enumerate(types)]
            self._push(start, name, 0, given, leave, state)
        return [*(start.block for start in starts), *(test.block for test in tests[1:])]

    def _push(
        self, code: _Code, callee: str, size: int, arguments: Sequence[SSAValue], after: Block, state: SSAValue
    ) -> None:
        """Pushes a frame for `callee` after one of `size` bytes and branches to it, or to `after` on failure."""
        member = self._members[callee]
        sizes = [code.number(size), code.number(member.frame_bytes)]
        failures = [code.number(status, i32) for status in self._failures[callee]]
        status = code.add(llvm.CallOp(PUSH, self._first.block.args[0], state, *sizes, *failures, return_type=i32))
        fine = code.compare("eq", status, code.number(0, i32))
        code.block.add_op(llvm.CondBrOp(fine, member.blocks[0], list(arguments), after, [status]))

    def _write_call(self, call: llvm.CallOp, after: Block, label: int, caller: _Member, state: SSAValue) -> None:
        """Replaces the call at the end of its block with a frame and a branch."""
        block, arguments = call.parent_block(), list(call.operands)[1:]
        assert block is not None, "the call is in a block"
        Rewriter.erase_op(call)
        code = _Code(block)
        code.store(code.number(label), code.load(state, FRAME), LABEL)
        self._push(code, _callee(call), caller.frame_bytes, arguments, after, state)

    def _write_return(self, leaving: Block, leave: Block, state: SSAValue, segment: int) -> list[Block]:
        """Writes `leaving(%status)`: pops the newest frame, and continues at the label of its caller."""
        (status,) = leaving.args
        code, follow = _Code(leaving), _Code(Block())
        caller = _write_pop(code, state, segment)
        leaving.add_op(llvm.CondBrOp(code.is_null(caller), leave, [status], follow.block, []))
        label = follow.load(caller, LABEL, i64)
        blocks = [leaving, follow.block]
        for number, (_, after) in enumerate(self._calls[:-1]):
            rest = _Code(Block())
            found = follow.compare("eq", label, follow.number(number))
            follow.block.add_op(llvm.CondBrOp(found, after, [status], rest.block, []))
            blocks.append(rest.block)
            follow = rest
        follow.go(self._calls[-1][1], status)
        return blocks


# --- the stack of frames


def _segment_bytes(largest_frame: int) -> int:
    """Returns the size of a segment that holds several frames of `largest_frame` bytes."""
    return max(SEGMENT_BYTES, -(-4 * largest_frame // SEGMENT_BYTES) * SEGMENT_BYTES)


def _new_state(code: _Code) -> SSAValue:
    """Allocates the state of a stack without frames on the function's stack."""
    state = code.add(llvm.AllocaOp(code.number(1), llvm.LLVMArrayType(STATE_WORDS, i64), alignment=WORD))
    null = code.null()
    for place in (FRAME, END, FIRST):
        code.store(null, state, place)
    # The word with the address of the first segment has the role of a segment before the first.
    code.store(code.word(state, FIRST), state, SEGMENT)
    code.store(code.number(0), state, COUNT)
    return state


def _write_pop(code: _Code, state: SSAValue, segment: int) -> SSAValue:
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


PUSH, FREE_ALL = "xrelay_push_frame", "xrelay_free_frames"
_STACK_FUNCTIONS: Final = """
llvm.func internal @xrelay_push_frame(
    %ctx: !llvm.ptr, %state: !llvm.ptr, %size: i64, %needed: i64, %too_many: i32, %no_memory: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %limit = llvm.mlir.constant(LIMIT : i64) : i64
  %segment_bytes = llvm.mlir.constant(SEGMENT : i64) : i64
  %count_at = llvm.getelementptr inbounds %state[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %before = llvm.load %count_at : !llvm.ptr -> i64
  %count = llvm.add %before, %one : i64
  %fits = llvm.icmp "sle" %count, %limit : i64
  llvm.cond_br %fits, ^find, ^fail(%too_many : i32)
^find:
  %caller = llvm.load %state : !llvm.ptr -> !llvm.ptr
  %segment_at = llvm.getelementptr inbounds %state[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %segment = llvm.load %segment_at : !llvm.ptr -> !llvm.ptr
  %next = llvm.getelementptr inbounds %caller[%size] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %next_address = llvm.ptrtoint %next : !llvm.ptr to i64
  %end = llvm.add %next_address, %needed : i64
  %end_at = llvm.getelementptr inbounds %state[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %segment_end = llvm.load %end_at : !llvm.ptr -> i64
  %has_room = llvm.icmp "ule" %end, %segment_end : i64
  llvm.cond_br %has_room, ^enter(%next : !llvm.ptr), ^find_segment
^find_segment:
  %known = llvm.load %segment : !llvm.ptr -> !llvm.ptr
  %known_address = llvm.ptrtoint %known : !llvm.ptr to i64
  %is_last = llvm.icmp "eq" %known_address, %zero : i64
  llvm.cond_br %is_last, ^allocate, ^use(%known : !llvm.ptr)
^allocate:
  %new = llvm.call @xrelay_buffer_new(%ctx, %segment_bytes) : (!llvm.ptr, i64) -> !llvm.ptr
  %new_address = llvm.ptrtoint %new : !llvm.ptr to i64
  %there = llvm.icmp "ne" %new_address, %zero : i64
  llvm.cond_br %there, ^link, ^fail(%no_memory : i32)
^link:
  llvm.store %zero, %new : i64, !llvm.ptr
  llvm.store %new, %segment : !llvm.ptr, !llvm.ptr
  llvm.br ^use(%new : !llvm.ptr)
^use(%used: !llvm.ptr):
  llvm.store %used, %segment_at : !llvm.ptr, !llvm.ptr
  %used_end = llvm.getelementptr inbounds %used[%segment_bytes] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.store %used_end, %end_at : !llvm.ptr, !llvm.ptr
  %first = llvm.getelementptr inbounds %used[64] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.br ^enter(%first : !llvm.ptr)
^enter(%frame: !llvm.ptr):
  %caller_at = llvm.getelementptr inbounds %frame[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %caller, %caller_at : !llvm.ptr, !llvm.ptr
  %caller_segment_at = llvm.getelementptr inbounds %frame[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %segment, %caller_segment_at : !llvm.ptr, !llvm.ptr
  llvm.store %frame, %state : !llvm.ptr, !llvm.ptr
  llvm.store %count, %count_at : i64, !llvm.ptr
  %success = llvm.mlir.constant(0 : i32) : i32
  llvm.return %success : i32
^fail(%status: i32):
  llvm.return %status : i32
}

llvm.func internal @xrelay_free_frames(%ctx: !llvm.ptr, %state: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %first_at = llvm.getelementptr inbounds %state[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %first = llvm.load %first_at : !llvm.ptr -> !llvm.ptr
  llvm.br ^test(%first : !llvm.ptr)
^test(%segment: !llvm.ptr):
  %address = llvm.ptrtoint %segment : !llvm.ptr to i64
  %is_none = llvm.icmp "eq" %address, %zero : i64
  llvm.cond_br %is_none, ^done, ^free
^free:
  %next = llvm.load %segment : !llvm.ptr -> !llvm.ptr
  llvm.call @xrelay_buffer_free(%ctx, %segment) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^test(%next : !llvm.ptr)
^done:
  llvm.return
}
"""
"""The first pushes a frame of `needed` bytes after one of `size` bytes, and returns 0, `too_many` or `no_memory`. The
first frame has no predecessor: null and size 0. The second function frees the segments."""


# --- calls and entries


def _split_after(call: llvm.CallOp) -> Block:
    """Splits the block of a call after it; returns the new block, whose argument is the call's status."""
    following = call.next_op
    assert following is not None, "no block ends in a call"
    after = split_before(following)
    status = after.insert_arg(i32, 0)
    status.name_hint = "status"
    call.results[0].replace_all_uses_with(status)
    return after


def _replace_last(block: Block, op: Operation) -> None:
    last = block.last_op
    assert last is not None, "a block ends in an op"
    Rewriter.erase_op(last)
    block.add_op(op)


def _make_entry(member: _Member, name: str, number: int) -> None:
    """Makes the function of a member, whose blocks have moved, pass its arguments to the function `name`."""
    function = member.function
    code = _Code(Block(arg_types=list(function.function_type.inputs)))
    context, *given = code.block.args
    array = code.add(llvm.AllocaOp(code.number(1), llvm.LLVMArrayType(len(given), i64), alignment=WORD))
    for place, argument in enumerate(given):
        code.store(argument, array, place)
    status = code.add(llvm.CallOp(name, context, code.number(number), array, return_type=i32))
    code.block.add_op(llvm.ReturnOp(status))
    function.body.add_block(code.block)


# --- values in frames


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _kept_of(block: Block) -> Iterator[SSAValue]:
    """Yields the values of a block that other blocks use."""
    for value in _defined_in(block):
        if any(use.operation.parent is not block for use in value.uses):
            size = value.type.bitwidth if isinstance(value.type, FixedBitwidthType) else None
            if value.type != PTR and (size is None or size > 8 * WORD):
                place = value.owner if isinstance(value.owner, Operation) else block.first_op
                raise LoweringError(
                    f"a value of type {value.type} cannot be stored in the frame of a function that calls itself",
                    location=None if place is None else describe_location(place),
                )
            yield value


def _words_of(op: llvm.AllocaOp) -> int:
    """Returns the length of an array of words."""
    count, array = constant_index(op.size), op.elem_type
    if count != 1 or not isinstance(array, llvm.LLVMArrayType) or array.type != i64:
        raise LoweringError("a function that calls itself has a buffer on the machine's stack",
                            location=describe_location(op))  # fmt: skip
    return array.size.data


def _align_to_words(array: SSAValue) -> None:
    """Reduces the alignment of accesses to an array to that of a frame, which is aligned to words only."""
    pending = [array]
    while pending:
        for use in pending.pop().uses:
            if isinstance(use.operation, llvm.GEPOp):
                pending.append(use.operation.result)
            elif isinstance(use.operation, llvm.LoadOp | llvm.StoreOp):
                use.operation.alignment = IntegerAttr(WORD, i64)


def _keep(block: Block, member: _Member, state: SSAValue) -> None:
    """Makes a block store the values that others use to the frame, and load the values that it uses of others."""
    own, frame = dict.fromkeys(_defined_in(block)), _Frame(block, state)
    loaded: dict[SSAValue, SSAValue] = {}
    for op in list(block.ops):
        for index, operand in enumerate(op.operands):
            if operand not in loaded:
                if operand in member.arrays:
                    loaded[operand] = frame.place(member.arrays[operand])
                elif operand in member.slots and operand not in own:
                    loaded[operand] = frame.load(operand.type, member.slots[operand])
            op.operands[index] = loaded.get(operand, operand)
    for value in own:
        if value in member.slots:
            frame.store(value, member.slots[value])


class _Frame:
    """Access to the frame in one block.

    The address of the frame is computed per block, because it differs after a call.
    """

    def __init__(self, block: Block, state: SSAValue):
        self._block, self._state = block, state

    @cached_property
    def _address(self) -> SSAValue:
        return _Code(self._block, InsertPoint.at_start(self._block)).load(self._state, FRAME)

    def load(self, type: Attribute, slot: int) -> SSAValue:
        """Loads a value of a type from a slot at the beginning of the block."""
        code = self._after(self._address)
        value = code.load(self._address, slot, i8 if type == i1 else type)
        return code.add(llvm.TruncOp(value, i1)) if type == i1 else value

    def place(self, slot: int) -> SSAValue:
        """Computes the address of a slot at the beginning of the block."""
        return self._after(self._address).word(self._address, slot)

    def store(self, value: SSAValue, slot: int) -> None:
        """Stores a value of the block to a slot directly after its definition."""
        code = self._after(self._address if isinstance(value, BlockArgument) else value)
        stored = code.add(llvm.ZExtOp(value, i8)) if value.type == i1 else value
        code.store(stored, self._address, slot)

    def _after(self, value: SSAValue) -> _Code:
        assert isinstance(value.owner, Operation), "a value that is no argument is the result of an op"
        return _Code(self._block, InsertPoint.after(value.owner))
