"""Dynamic buffers: heap buffers of graph functions, listed in the context of the model's call to prevent leaks.

A graph function calls `ptr @xrelay_buffer_new(ptr ctx, i64 bytes)` to allocate and `@xrelay_buffer_free(ptr ctx, ptr
buffer)` to free. A buffer is aligned to 64 bytes. The 64 bytes before it are its header: the previous buffer of the
list, the next one, and the size of buffer and header. `@xrelay_release(ptr ctx)` frees all buffers that are still
listed: those that a run returned, and those that it held when it failed.

`@xrelay_buffer_new` returns null if the system has no such memory, if the size exceeds 62 bits, or if the buffers would
exceed the limit of the context. The context then holds the requested size, the size of all buffers, and the limit, for
the message. Memory comes from the functions that the context specifies, for programs in C, else from the C
library.
`runtime/abi.py` defines the positions of these fields in the context.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Operation

from xrelay.lowering.to_llvm.text_functions import (
    Signatures,
    declare_functions,
    define_functions,
    is_declaration_of,
)
from xrelay.lowering.to_llvm.types import PTR

BUFFER_NEW: Final = "xrelay_buffer_new"
BUFFER_FREE: Final = "xrelay_buffer_free"
RELEASE: Final = "xrelay_release"
BUFFER_FUNCTIONS: Final = frozenset({BUFFER_NEW, BUFFER_FREE, RELEASE, "xrelay_buffer_take", "xrelay_buffer_give"})
_SIGNATURES: Final[Signatures] = {
    BUFFER_NEW: ([i64], [PTR]),
    BUFFER_FREE: ([PTR], []),
}
"""The functions that graph functions call, without the context argument."""


def declare_dynamic_buffers(module: ModuleOp) -> None:
    """Declares the functions that graph functions call to allocate and free."""
    declare_functions(module, _SIGNATURES)


def declares_dynamic_buffers(module: ModuleOp) -> bool:
    """Whether functions of the module allocate dynamic buffers."""
    return any(is_buffer_declaration(op) for op in module.ops)


def is_buffer_declaration(op: Operation) -> bool:
    """Whether `op` declares a function that `define_dynamic_buffers` defines."""
    return is_declaration_of(op, _SIGNATURES)


def define_dynamic_buffers(module: ModuleOp) -> None:
    """Adds the functions of dynamic buffers to a module in the llvm dialect, and declares their callees."""
    define_functions(module, _FUNCTIONS, "dynamic buffers")


_FUNCTIONS: Final = """
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
"""
