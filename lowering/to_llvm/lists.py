"""Lists in native code: reference-counted objects of 64-bit words in dynamic buffers (`runtime_functions.py`).

| word | of a list | of a buffer in a list |
| --- | --- | --- |
| 0 | reference count, or -1 if it is never freed | the same |
| 1 | length | 0 |
| 2 | capacity | size of the elements in bytes |
| 3 | -1 | rank |
| 4… | addresses of the items | extents; the elements follow at the next multiple of 64 bytes |

Graph functions call these functions like those of dynamic buffers, with the context and without a status; null is
returned if memory is exhausted. `insert` and `erase` consume one reference to their list and return one: a list with no
other references is changed in place, and its capacity grows by doubling; any other list is copied. An object whose last
reference is released is freed, and its references to other objects are released; word 0 links the objects that are
still to be freed.
"""

from __future__ import annotations

from typing import Final

from xrelay.lowering.loop_to_scf.lists import LIST_FUNCTIONS
from xrelay.lowering.to_llvm.runtime_functions import RuntimeFunctions

LISTS: Final = RuntimeFunctions(
    LIST_FUNCTIONS,
    """
llvm.func @xrelay_list_new(%ctx: !llvm.ptr) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %new = llvm.call @xrelay_list_object(%ctx, %zero) : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.return %new : !llvm.ptr
}

llvm.func @xrelay_list_object(%ctx: !llvm.ptr, %length: i64) -> !llvm.ptr {
  %is_list = llvm.mlir.constant(-1 : i64) : i64
  %least = llvm.mlir.constant(4 : i64) : i64
  %head = llvm.mlir.constant(32 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %double = llvm.add %length, %length : i64
  %room = llvm.add %double, %least : i64
  %items = llvm.mul %room, %word : i64
  %bytes = llvm.add %items, %head : i64
  %new = llvm.call @xrelay_list_head(%ctx, %bytes, %length, %room, %is_list)
    : (!llvm.ptr, i64, i64, i64, i64) -> !llvm.ptr
  llvm.return %new : !llvm.ptr
}

llvm.func @xrelay_list_head(%ctx: !llvm.ptr, %bytes: i64, %length: i64, %size: i64, %rank: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %new = llvm.call @xrelay_buffer_new(%ctx, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %new : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^fill, ^done
^fill:
  llvm.store %one, %new : i64, !llvm.ptr
  %length_at = llvm.getelementptr inbounds %new[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %length, %length_at : i64, !llvm.ptr
  %size_at = llvm.getelementptr inbounds %new[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %size, %size_at : i64, !llvm.ptr
  %rank_at = llvm.getelementptr inbounds %new[3] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %rank, %rank_at : i64, !llvm.ptr
  llvm.br ^done
^done:
  llvm.return %new : !llvm.ptr
}

llvm.func @xrelay_list_elements(%rank: i64) -> i64 {
  %margin = llvm.mlir.constant(95 : i64) : i64
  %mask = llvm.mlir.constant(-64 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %extents = llvm.mul %rank, %word : i64
  %end = llvm.add %extents, %margin : i64
  %first = llvm.and %end, %mask : i64
  llvm.return %first : i64
}

llvm.func @xrelay_list_rows(
    %to: !llvm.ptr, %to_stride: i64, %from: !llvm.ptr, %from_stride: i64, %rows: i64, %bytes: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^test(%zero : i64)
^test(%row: i64):
  %more = llvm.icmp "slt" %row, %rows : i64
  llvm.cond_br %more, ^copy, ^done
^copy:
  %to_offset = llvm.mul %row, %to_stride : i64
  %to_row = llvm.getelementptr %to[%to_offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %from_offset = llvm.mul %row, %from_stride : i64
  %from_row = llvm.getelementptr %from[%from_offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %copied = llvm.call @memcpy(%to_row, %from_row, %bytes) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  %next = llvm.add %row, %one : i64
  llvm.br ^test(%next : i64)
^done:
  llvm.return
}

llvm.func @xrelay_list_item(
    %ctx: !llvm.ptr, %source: i64, %rows: i64, %stride: i64, %row_bytes: i64, %extents: !llvm.ptr, %rank: i64)
    -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %first = llvm.call @xrelay_list_elements(%rank) : (i64) -> i64
  %size = llvm.mul %rows, %row_bytes : i64
  %bytes = llvm.add %first, %size : i64
  %new = llvm.call @xrelay_list_head(%ctx, %bytes, %zero, %size, %rank) : (!llvm.ptr, i64, i64, i64, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %new : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^fill, ^done
^fill:
  %extents_at = llvm.getelementptr inbounds %new[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %extents_bytes = llvm.mul %rank, %word : i64
  %told = llvm.call @memcpy(%extents_at, %extents, %extents_bytes) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  %elements = llvm.getelementptr %new[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %from = llvm.inttoptr %source : i64 to !llvm.ptr
  llvm.call @xrelay_list_rows(%elements, %row_bytes, %from, %stride, %rows, %row_bytes)
    : (!llvm.ptr, i64, !llvm.ptr, i64, i64, i64) -> ()
  llvm.br ^done
^done:
  llvm.return %new : !llvm.ptr
}

llvm.func @xrelay_list_own(%ctx: !llvm.ptr, %list: !llvm.ptr, %more: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %refs = llvm.load %list : !llvm.ptr -> i64
  %length_at = llvm.getelementptr inbounds %list[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %length = llvm.load %length_at : !llvm.ptr -> i64
  %room_at = llvm.getelementptr inbounds %list[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %room = llvm.load %room_at : !llvm.ptr -> i64
  %needed = llvm.add %length, %more : i64
  %fits = llvm.icmp "sle" %needed, %room : i64
  %alone = llvm.icmp "eq" %refs, %one : i64
  %same = llvm.and %fits, %alone : i1
  llvm.cond_br %same, ^done(%list : !llvm.ptr), ^new
^new:
  %new = llvm.call @xrelay_list_object(%ctx, %length) : (!llvm.ptr, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %new : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^copy, ^done(%new : !llvm.ptr)
^copy:
  %to = llvm.getelementptr inbounds %new[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %from = llvm.getelementptr inbounds %list[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %bytes = llvm.mul %length, %word : i64
  %copied = llvm.call @memcpy(%to, %from, %bytes) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  llvm.cond_br %alone, ^move, ^test(%zero : i64)
^move:
  llvm.call @xrelay_buffer_free(%ctx, %list) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^done(%new : !llvm.ptr)
^test(%number: i64):
  %goes_on = llvm.icmp "slt" %number, %length : i64
  llvm.cond_br %goes_on, ^share, ^leave
^share:
  %item_at = llvm.getelementptr inbounds %to[%number] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %item = llvm.load %item_at : !llvm.ptr -> !llvm.ptr
  llvm.call @xrelay_list_retain(%ctx, %item) : (!llvm.ptr, !llvm.ptr) -> ()
  %next = llvm.add %number, %one : i64
  llvm.br ^test(%next : i64)
^leave:
  llvm.call @xrelay_list_release(%ctx, %list) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^done(%new : !llvm.ptr)
^done(%result: !llvm.ptr):
  llvm.return %result : !llvm.ptr
}

llvm.func @xrelay_list_insert(%ctx: !llvm.ptr, %list: !llvm.ptr, %at: i64, %item: !llvm.ptr) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %own = llvm.call @xrelay_list_own(%ctx, %list, %one) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %own : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^insert, ^done
^insert:
  %length_at = llvm.getelementptr inbounds %own[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %length = llvm.load %length_at : !llvm.ptr -> i64
  %items = llvm.getelementptr inbounds %own[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %place = llvm.getelementptr inbounds %items[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %behind = llvm.getelementptr inbounds %place[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %rest = llvm.sub %length, %at : i64
  %bytes = llvm.mul %rest, %word : i64
  %moved = llvm.call @memmove(%behind, %place, %bytes) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  llvm.store %item, %place : !llvm.ptr, !llvm.ptr
  %longer = llvm.add %length, %one : i64
  llvm.store %longer, %length_at : i64, !llvm.ptr
  llvm.br ^done
^done:
  llvm.return %own : !llvm.ptr
}

llvm.func @xrelay_list_erase(%ctx: !llvm.ptr, %list: !llvm.ptr, %at: i64) -> !llvm.ptr {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %word = llvm.mlir.constant(8 : i64) : i64
  %own = llvm.call @xrelay_list_own(%ctx, %list, %zero) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  %address = llvm.ptrtoint %own : !llvm.ptr to i64
  %there = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %there, ^erase, ^done
^erase:
  %length_at = llvm.getelementptr inbounds %own[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %length = llvm.load %length_at : !llvm.ptr -> i64
  %shorter = llvm.sub %length, %one : i64
  llvm.store %shorter, %length_at : i64, !llvm.ptr
  %items = llvm.getelementptr inbounds %own[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %place = llvm.getelementptr inbounds %items[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %item = llvm.load %place : !llvm.ptr -> !llvm.ptr
  llvm.call @xrelay_list_release(%ctx, %item) : (!llvm.ptr, !llvm.ptr) -> ()
  %behind = llvm.getelementptr inbounds %place[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %rest = llvm.sub %shorter, %at : i64
  %bytes = llvm.mul %rest, %word : i64
  %moved = llvm.call @memmove(%place, %behind, %bytes) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  llvm.br ^done
^done:
  llvm.return %own : !llvm.ptr
}

llvm.func @xrelay_list_get(%ctx: !llvm.ptr, %list: !llvm.ptr, %at: i64) -> !llvm.ptr {
  %items = llvm.getelementptr inbounds %list[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %place = llvm.getelementptr inbounds %items[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %item = llvm.load %place : !llvm.ptr -> !llvm.ptr
  llvm.return %item : !llvm.ptr
}

llvm.func @xrelay_list_read(%ctx: !llvm.ptr, %list: !llvm.ptr, %at: i64, %target: i64, %rows: i64, %stride: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %item = llvm.call @xrelay_list_get(%ctx, %list, %at) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  %size_at = llvm.getelementptr inbounds %item[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %is_empty = llvm.icmp "eq" %size, %zero : i64
  llvm.cond_br %is_empty, ^done, ^copy
^copy:
  %rank_at = llvm.getelementptr inbounds %item[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %rank = llvm.load %rank_at : !llvm.ptr -> i64
  %first = llvm.call @xrelay_list_elements(%rank) : (i64) -> i64
  %elements = llvm.getelementptr %item[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %bytes = llvm.udiv %size, %rows : i64
  %to = llvm.inttoptr %target : i64 to !llvm.ptr
  llvm.call @xrelay_list_rows(%to, %stride, %elements, %bytes, %rows, %bytes)
    : (!llvm.ptr, i64, !llvm.ptr, i64, i64, i64) -> ()
  llvm.br ^done
^done:
  llvm.return
}

llvm.func @xrelay_list_retain(%ctx: !llvm.ptr, %object: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %refs = llvm.load %object : !llvm.ptr -> i64
  %is_counted = llvm.icmp "sgt" %refs, %zero : i64
  llvm.cond_br %is_counted, ^count, ^done
^count:
  %more = llvm.add %refs, %one : i64
  llvm.store %more, %object : i64, !llvm.ptr
  llvm.br ^done
^done:
  llvm.return
}

llvm.func @xrelay_list_release(%ctx: !llvm.ptr, %object: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %none = llvm.mlir.zero : !llvm.ptr
  %refs = llvm.load %object : !llvm.ptr -> i64
  %is_counted = llvm.icmp "sgt" %refs, %zero : i64
  llvm.cond_br %is_counted, ^count, ^done
^count:
  %fewer = llvm.sub %refs, %one : i64
  llvm.store %fewer, %object : i64, !llvm.ptr
  %is_unused = llvm.icmp "eq" %fewer, %zero : i64
  llvm.cond_br %is_unused, ^first, ^done
^first:
  llvm.store %none, %object : !llvm.ptr, !llvm.ptr
  llvm.br ^each(%object : !llvm.ptr)
^each(%unused: !llvm.ptr):
  %address = llvm.ptrtoint %unused : !llvm.ptr to i64
  %is_one = llvm.icmp "ne" %address, %zero : i64
  llvm.cond_br %is_one, ^open, ^done
^open:
  %others = llvm.load %unused : !llvm.ptr -> !llvm.ptr
  %length_at = llvm.getelementptr inbounds %unused[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %length = llvm.load %length_at : !llvm.ptr -> i64
  %items = llvm.getelementptr inbounds %unused[4] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.br ^test(%zero, %others : i64, !llvm.ptr)
^test(%number: i64, %pending: !llvm.ptr):
  %goes_on = llvm.icmp "slt" %number, %length : i64
  llvm.cond_br %goes_on, ^item, ^free
^item:
  %item_at = llvm.getelementptr inbounds %items[%number] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %item = llvm.load %item_at : !llvm.ptr -> !llvm.ptr
  %item_refs = llvm.load %item : !llvm.ptr -> i64
  %item_is_counted = llvm.icmp "sgt" %item_refs, %zero : i64
  llvm.cond_br %item_is_counted, ^drop, ^next(%pending : !llvm.ptr)
^drop:
  %item_fewer = llvm.sub %item_refs, %one : i64
  llvm.store %item_fewer, %item : i64, !llvm.ptr
  %item_is_unused = llvm.icmp "eq" %item_fewer, %zero : i64
  llvm.cond_br %item_is_unused, ^push, ^next(%pending : !llvm.ptr)
^push:
  llvm.store %pending, %item : !llvm.ptr, !llvm.ptr
  llvm.br ^next(%item : !llvm.ptr)
^next(%top: !llvm.ptr):
  %following = llvm.add %number, %one : i64
  llvm.br ^test(%following, %top : i64, !llvm.ptr)
^free:
  llvm.call @xrelay_buffer_free(%ctx, %unused) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^each(%pending : !llvm.ptr)
^done:
  llvm.return
}

llvm.func @memcpy(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
llvm.func @memmove(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
""",
)
"""The functions on lists."""
