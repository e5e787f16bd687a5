"""Scratch: the heap buffers of kernels, counted with the dynamic buffers of the run, under one limit.

A kernel calls `ptr @xrelay_scratch_new(ptr ctx, i64 alignment, i64 bytes)` to allocate, and
`@xrelay_scratch_free(ptr ctx, ptr buffer)` to free, also if it fails in between. Threads of a kernel may call both at
the same time. The alignment and the total size are stored before the buffer. Freeing null has no effect, as in C: a
kernel whose allocation failed frees everything that it holds.

`@xrelay_scratch_new` returns null if the system has no such memory, if the size exceeds 62 bits, or if buffers and
scratch would exceed the limit of the context. The first failure stores the requested size, the size in use, and the
limit, for the message. `runtime/abi.py` defines the positions of these fields in the context.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Operation

from xrelay.lowering.to_llvm.text_functions import (
    Signatures,
    declare_functions,
    define_functions,
    is_declaration_of,
)
from xrelay.lowering.to_llvm.types import PTR

SCRATCH_NEW: Final = "xrelay_scratch_new"
SCRATCH_FREE: Final = "xrelay_scratch_free"
_SIGNATURES: Final[Signatures] = {
    SCRATCH_NEW: ([i64, i64], [PTR]),
    SCRATCH_FREE: ([PTR], []),
}
"""The functions that kernels call, without the context argument."""
SCRATCH_FUNCTIONS: Final = frozenset({*_SIGNATURES, "xrelay_scratch_give_back"})


def declare_scratch(module: ModuleOp) -> None:
    """Declares the functions that kernels call to allocate and free."""
    declare_functions(module, _SIGNATURES)


def is_scratch_declaration(op: Operation) -> bool:
    """Whether `op` declares a function that `define_scratch` defines."""
    return is_declaration_of(op, _SIGNATURES)


def define_scratch(module: ModuleOp) -> None:
    """Adds the functions of scratch to a module in the llvm dialect, as internal ones, and declares their callees."""
    define_functions(module, _FUNCTIONS, "scratch")
    for op in module.ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data in SCRATCH_FUNCTIONS:
            op.linkage = llvm.LinkageAttr("internal")


_FUNCTIONS: Final = """
llvm.func @xrelay_scratch_new(%ctx: !llvm.ptr, %alignment: i64, %bytes: i64) -> !llvm.ptr {
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

llvm.func @xrelay_scratch_free(%ctx: !llvm.ptr, %buffer: !llvm.ptr) {
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

llvm.func @xrelay_scratch_give_back(%used_at: !llvm.ptr, %size: i64) {
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
"""
