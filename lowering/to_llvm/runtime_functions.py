"""Functions of the llvm dialect that the compiler has as text and adds to the modules that call them.

They take the context of the model's call as first argument; `runtime/abi.py` defines its fields.

**Dynamic buffers** are heap buffers of graph functions, which the context lists to prevent leaks. A graph function
calls `ptr @xrelay_buffer_new(ptr ctx, i64 bytes)` to allocate and `@xrelay_buffer_free(ptr ctx, ptr buffer)` to free. A
buffer is aligned to 64 bytes. The 64 bytes before it are its header: the previous buffer of the list, the next one, and
the size of buffer and header. `@xrelay_release(ptr ctx)` frees all buffers that are still listed: those that a run
returned, and those that were allocated when it failed. Memory comes from the functions that the context specifies, for
programs in C, else from the C library.

**Scratch** is the heap memory of kernels. A kernel calls `ptr @xrelay_scratch_new(ptr ctx, i64 alignment, i64 bytes)`
to allocate, and `@xrelay_scratch_free(ptr ctx, ptr buffer)` to free, also if it fails in between. Threads of a kernel
may call both at the same time. The alignment and the total size are stored before the buffer. Freeing null has no
effect, as in C: a kernel whose allocation failed frees everything that it holds.

An allocation is null if the system has no such memory, if the size exceeds 62 bits, or if buffers and scratch of the
run would exceed the limit of the context. The context then holds the requested size, the size in use, and the limit,
for the message.

**`@xrelay_record_index(ptr ctx, i64 index, i64 low, i64 high)`** stores an out-of-range index and its limits. Several
threads may fail at once: the first one to set the mark writes, so that the three numbers belong together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import Builtin, ModuleOp, i64
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.upstream.llvm_extras import LLVM
from xrelay.lowering.loop_to_scf.checked_index import RECORD_INDEX
from xrelay.lowering.to_llvm.types import PTR


@dataclass(frozen=True)
class RuntimeFunctions:
    """A group of functions."""

    signatures: Mapping[str, tuple[Sequence[Attribute], Sequence[Attribute]]]
    """Name of a function that other code calls → types of its arguments and results, without the context."""
    text: str
    """The functions and those that they call, which are not declared by the callers."""

    def declare(self, module: ModuleOp) -> None:
        """Adds the declarations, in the func dialect, that a module lacks."""
        declared = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
        for name, (inputs, outputs) in self.signatures.items():
            if name not in declared:
                module.body.block.add_op(func.FuncOp.external(name, inputs, outputs))

    def is_declaration(self, op: Operation) -> bool:
        """Whether `op` declares one of the functions in the func dialect."""
        return isinstance(op, func.FuncOp) and op.sym_name.data in self.signatures and op.is_declaration

    def define(self, module: ModuleOp) -> None:
        """Adds the functions that a module in the llvm dialect lacks, and declarations of their callees."""
        block = module.body.block
        known = {op.sym_name.data for op in block.ops if isinstance(op, llvm.FuncOp)}
        for op in _parsed(self.text):
            if op.sym_name.data not in known:
                block.add_op(_copy(op))


@cache
def _parsed(text: str) -> tuple[llvm.FuncOp, ...]:
    """Returns the functions of a text, which is parsed once: copying ops takes a tenth of the time of parsing."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(LLVM)
    return tuple(op for op in Parser(context, text).parse_module().ops if isinstance(op, llvm.FuncOp))


def _copy(function: llvm.FuncOp) -> llvm.FuncOp:
    """Returns a copy whose blocks keep their names, which `copy` drops."""
    copied = copy(function)
    for block, original in zip(copied.body.blocks, function.body.blocks, strict=True):
        block.name_hint = original.name_hint
    return copied


def define_record_index(module: ModuleOp) -> None:
    """Adds a body to `@xrelay_record_index` if the module declares it."""
    for op in module.ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data == RECORD_INDEX and not op.body.blocks:
            op.linkage = llvm.LinkageAttr("internal")
            _copy(_parsed(_RECORD_INDEX)[0]).body.move_blocks(op.body)


BUFFER_NEW: Final = "xrelay_buffer_new"
BUFFER_FREE: Final = "xrelay_buffer_free"
RELEASE: Final = "xrelay_release"
BUFFER_FUNCTIONS: Final = frozenset({BUFFER_NEW, BUFFER_FREE, RELEASE, "xrelay_buffer_take", "xrelay_buffer_give"})
SCRATCH_NEW: Final = "xrelay_scratch_new"
SCRATCH_FREE: Final = "xrelay_scratch_free"
SCRATCH_FUNCTIONS: Final = frozenset({SCRATCH_NEW, SCRATCH_FREE, "xrelay_scratch_give_back"})

_RECORD_INDEX: Final = """
llvm.func @xrelay_record_index(%ctx: !llvm.ptr, %index: i64, %low: i64, %high: i64) -> i32 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %mark_at = llvm.getelementptr inbounds %ctx[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %claim = llvm.cmpxchg %mark_at, %zero, %one monotonic monotonic : !llvm.ptr, i64
  %is_first = llvm.extractvalue %claim[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %is_first, ^record, ^end
^record:
  %index_at = llvm.getelementptr inbounds %ctx[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %index, %index_at : i64, !llvm.ptr
  %low_at = llvm.getelementptr inbounds %ctx[3] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %low, %low_at : i64, !llvm.ptr
  %high_at = llvm.getelementptr inbounds %ctx[4] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %high, %high_at : i64, !llvm.ptr
  llvm.br ^end
^end:
  %success = llvm.mlir.constant(0 : i32) : i32
  llvm.return %success : i32
}
"""

BUFFERS: Final = RuntimeFunctions(
    {BUFFER_NEW: ([i64], [PTR]), BUFFER_FREE: ([PTR], [])},
    """
llvm.func @xrelay_buffer_new(%ctx: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %most = llvm.mlir.constant(4611686018427387904 : i64) : i64
  %used_at = llvm.getelementptr inbounds %ctx[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %used = llvm.load %used_at : !llvm.ptr -> i64
  %limit_at = llvm.getelementptr inbounds %ctx[8] : (!llvm.ptr) -> !llvm.ptr, i64
  %limit = llvm.load %limit_at : !llvm.ptr -> i64
  %sane = llvm.icmp "ult" %bytes, %most : i64
  llvm.cond_br %sane, ^sized, ^refuse(%bytes : i64)
^sized:
  %margin = llvm.mlir.constant(127 : i64) : i64
  %mask = llvm.mlir.constant(-64 : i64) : i64
  %with_header = llvm.add %bytes, %margin : i64
  %padded = llvm.and %with_header, %mask : i64
  %total = llvm.add %used, %padded : i64
  %within = llvm.icmp "ule" %total, %limit : i64
  %unlimited = llvm.icmp "eq" %limit, %zero : i64
  %allowed = llvm.or %within, %unlimited : i1
  llvm.cond_br %allowed, ^take, ^refuse(%padded : i64)
^take:
  %header = llvm.call @xrelay_buffer_take(%ctx, %padded) : (!llvm.ptr, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %header : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^list, ^refuse(%padded : i64)
^list:
  llvm.store %total, %used_at : i64, !llvm.ptr
  %head_at = llvm.getelementptr inbounds %ctx[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %head = llvm.load %head_at : !llvm.ptr -> !llvm.ptr
  llvm.store %zero, %header : i64, !llvm.ptr
  %next_at = llvm.getelementptr inbounds %header[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %head, %next_at : !llvm.ptr, !llvm.ptr
  %size_at = llvm.getelementptr inbounds %header[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %padded, %size_at : i64, !llvm.ptr
  llvm.store %header, %head_at : !llvm.ptr, !llvm.ptr
  %head_address = llvm.ptrtoint %head : !llvm.ptr to i64
  %has_head = llvm.icmp "ne" %head_address, %zero : i64
  llvm.cond_br %has_head, ^link, ^done
^link:
  llvm.store %header, %head : !llvm.ptr, !llvm.ptr
  llvm.br ^done
^done:
  %buffer = llvm.getelementptr inbounds %header[8] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.return %buffer : !llvm.ptr
^refuse(%wanted: i64):
  %mark = llvm.mlir.constant(2 : i64) : i64
  %mark_at = llvm.getelementptr inbounds %ctx[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %mark, %mark_at : i64, !llvm.ptr
  %wanted_at = llvm.getelementptr inbounds %ctx[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %wanted, %wanted_at : i64, !llvm.ptr
  %taken_at = llvm.getelementptr inbounds %ctx[3] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %used, %taken_at : i64, !llvm.ptr
  %allowed_at = llvm.getelementptr inbounds %ctx[4] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %limit, %allowed_at : i64, !llvm.ptr
  %null = llvm.mlir.zero : !llvm.ptr
  llvm.return %null : !llvm.ptr
}

llvm.func @xrelay_buffer_free(%ctx: !llvm.ptr, %buffer: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %header = llvm.getelementptr inbounds %buffer[-8] : (!llvm.ptr) -> !llvm.ptr, i64
  %before = llvm.load %header : !llvm.ptr -> !llvm.ptr
  %next_at = llvm.getelementptr inbounds %header[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %next = llvm.load %next_at : !llvm.ptr -> !llvm.ptr
  %size_at = llvm.getelementptr inbounds %header[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %used_at = llvm.getelementptr inbounds %ctx[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %used = llvm.load %used_at : !llvm.ptr -> i64
  %rest = llvm.sub %used, %size : i64
  llvm.store %rest, %used_at : i64, !llvm.ptr
  %head_at = llvm.getelementptr inbounds %ctx[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %before_address = llvm.ptrtoint %before : !llvm.ptr to i64
  %is_first = llvm.icmp "eq" %before_address, %zero : i64
  %before_next = llvm.getelementptr %before[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %place = llvm.select %is_first, %head_at, %before_next : i1, !llvm.ptr
  llvm.store %next, %place : !llvm.ptr, !llvm.ptr
  %next_address = llvm.ptrtoint %next : !llvm.ptr to i64
  %is_last = llvm.icmp "eq" %next_address, %zero : i64
  llvm.cond_br %is_last, ^free, ^link
^link:
  llvm.store %before, %next : !llvm.ptr, !llvm.ptr
  llvm.br ^free
^free:
  llvm.call @xrelay_buffer_give(%ctx, %header) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}

llvm.func @xrelay_release(%ctx: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %head_at = llvm.getelementptr inbounds %ctx[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %used_at = llvm.getelementptr inbounds %ctx[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %head = llvm.load %head_at : !llvm.ptr -> !llvm.ptr
  llvm.store %zero, %head_at : i64, !llvm.ptr
  llvm.store %zero, %used_at : i64, !llvm.ptr
  llvm.br ^each(%head : !llvm.ptr)
^each(%header: !llvm.ptr):
  %address = llvm.ptrtoint %header : !llvm.ptr to i64
  %more = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %more, ^free, ^done
^free:
  %next_at = llvm.getelementptr inbounds %header[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %next = llvm.load %next_at : !llvm.ptr -> !llvm.ptr
  llvm.call @xrelay_buffer_give(%ctx, %header) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^each(%next : !llvm.ptr)
^done:
  llvm.return
}

llvm.func @xrelay_buffer_take(%ctx: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %alignment = llvm.mlir.constant(64 : i64) : i64
  %allocate_at = llvm.getelementptr inbounds %ctx[9] : (!llvm.ptr) -> !llvm.ptr, i64
  %allocate = llvm.load %allocate_at : !llvm.ptr -> !llvm.ptr
  %address = llvm.ptrtoint %allocate : !llvm.ptr to i64
  %is_given = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %is_given, ^caller, ^library
^caller:
  %self_at = llvm.getelementptr inbounds %ctx[11] : (!llvm.ptr) -> !llvm.ptr, i64
  %self = llvm.load %self_at : !llvm.ptr -> !llvm.ptr
  %given = llvm.call %allocate(%self, %alignment, %bytes) : !llvm.ptr, (!llvm.ptr, i64, i64) -> !llvm.ptr
  llvm.return %given : !llvm.ptr
^library:
  %new = llvm.call @aligned_alloc(%alignment, %bytes) : (i64, i64) -> !llvm.ptr
  llvm.return %new : !llvm.ptr
}

llvm.func @xrelay_buffer_give(%ctx: !llvm.ptr, %block: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %free_at = llvm.getelementptr inbounds %ctx[10] : (!llvm.ptr) -> !llvm.ptr, i64
  %free = llvm.load %free_at : !llvm.ptr -> !llvm.ptr
  %address = llvm.ptrtoint %free : !llvm.ptr to i64
  %is_given = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %is_given, ^caller, ^library
^caller:
  %self_at = llvm.getelementptr inbounds %ctx[11] : (!llvm.ptr) -> !llvm.ptr, i64
  %self = llvm.load %self_at : !llvm.ptr -> !llvm.ptr
  llvm.call %free(%self, %block) : !llvm.ptr, (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
^library:
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.return
}

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
""",
)
"""The functions of dynamic buffers."""

SCRATCH: Final = RuntimeFunctions(
    {SCRATCH_NEW: ([i64, i64], [PTR]), SCRATCH_FREE: ([PTR], [])},
    """
llvm.func internal @xrelay_scratch_new(%ctx: !llvm.ptr, %alignment: i64, %bytes: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %most = llvm.mlir.constant(4611686018427387904 : i64) : i64
  %used_at = llvm.getelementptr inbounds %ctx[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %limit_at = llvm.getelementptr inbounds %ctx[8] : (!llvm.ptr) -> !llvm.ptr, i64
  %limit = llvm.load %limit_at : !llvm.ptr -> i64
  %read = llvm.cmpxchg %used_at, %zero, %zero monotonic monotonic : !llvm.ptr, i64
  %found = llvm.extractvalue %read[0] : !llvm.struct<(i64, i1)>
  %sane = llvm.icmp "ult" %bytes, %most : i64
  llvm.cond_br %sane, ^sized, ^refuse(%bytes, %found : i64, i64)
^sized:
  %minus = llvm.sub %zero, %alignment : i64
  %behind = llvm.sub %alignment, %one : i64
  %margin = llvm.add %alignment, %behind : i64
  %with_header = llvm.add %bytes, %margin : i64
  %padded = llvm.and %with_header, %minus : i64
  llvm.br ^count(%found : i64)
^count(%used: i64):
  %total = llvm.add %used, %padded : i64
  %within = llvm.icmp "ule" %total, %limit : i64
  %unlimited = llvm.icmp "eq" %limit, %zero : i64
  %allowed = llvm.or %within, %unlimited : i1
  llvm.cond_br %allowed, ^exchange, ^refuse(%padded, %used : i64, i64)
^exchange:
  %write = llvm.cmpxchg %used_at, %used, %total monotonic monotonic : !llvm.ptr, i64
  %now = llvm.extractvalue %write[0] : !llvm.struct<(i64, i1)>
  %counted = llvm.extractvalue %write[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %counted, ^take, ^count(%now : i64)
^take:
  %block = llvm.call @aligned_alloc(%alignment, %padded) : (i64, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %block : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^done, ^give_back
^done:
  %buffer = llvm.getelementptr inbounds %block[%alignment] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %size_at = llvm.getelementptr inbounds %buffer[-1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %padded, %size_at : i64, !llvm.ptr
  %alignment_at = llvm.getelementptr inbounds %buffer[-2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %alignment, %alignment_at : i64, !llvm.ptr
  llvm.return %buffer : !llvm.ptr
^give_back:
  llvm.call @xrelay_scratch_give_back(%used_at, %padded) : (!llvm.ptr, i64) -> ()
  llvm.br ^refuse(%padded, %used : i64, i64)
^refuse(%wanted: i64, %taken: i64):
  %null = llvm.mlir.zero : !llvm.ptr
  %mark = llvm.mlir.constant(2 : i64) : i64
  %mark_at = llvm.getelementptr inbounds %ctx[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %claim = llvm.cmpxchg %mark_at, %zero, %mark monotonic monotonic : !llvm.ptr, i64
  %is_first = llvm.extractvalue %claim[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %is_first, ^note, ^end
^note:
  %wanted_at = llvm.getelementptr inbounds %ctx[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %wanted, %wanted_at : i64, !llvm.ptr
  %taken_at = llvm.getelementptr inbounds %ctx[3] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %taken, %taken_at : i64, !llvm.ptr
  %allowed_at = llvm.getelementptr inbounds %ctx[4] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %limit, %allowed_at : i64, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return %null : !llvm.ptr
}

llvm.func internal @xrelay_scratch_free(%ctx: !llvm.ptr, %buffer: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %address = llvm.ptrtoint %buffer : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^free, ^done
^free:
  %size_at = llvm.getelementptr inbounds %buffer[-1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %alignment_at = llvm.getelementptr inbounds %buffer[-2] : (!llvm.ptr) -> !llvm.ptr, i64
  %alignment = llvm.load %alignment_at : !llvm.ptr -> i64
  %used_at = llvm.getelementptr inbounds %ctx[7] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.call @xrelay_scratch_give_back(%used_at, %size) : (!llvm.ptr, i64) -> ()
  %back = llvm.sub %zero, %alignment : i64
  %block = llvm.getelementptr inbounds %buffer[%back] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.br ^done
^done:
  llvm.return
}

llvm.func internal @xrelay_scratch_give_back(%used_at: !llvm.ptr, %size: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %read = llvm.cmpxchg %used_at, %zero, %zero monotonic monotonic : !llvm.ptr, i64
  %found = llvm.extractvalue %read[0] : !llvm.struct<(i64, i1)>
  llvm.br ^count(%found : i64)
^count(%used: i64):
  %rest = llvm.sub %used, %size : i64
  %write = llvm.cmpxchg %used_at, %used, %rest monotonic monotonic : !llvm.ptr, i64
  %now = llvm.extractvalue %write[0] : !llvm.struct<(i64, i1)>
  %counted = llvm.extractvalue %write[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %counted, ^done, ^count(%now : i64)
^done:
  llvm.return
}

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
""",
)
"""The functions of scratch."""
