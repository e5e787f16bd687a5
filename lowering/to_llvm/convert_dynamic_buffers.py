"""Lowers allocations of graph functions to calls of the buffer functions (`dynamic_buffers.py`).

    %m = memref.alloc(%n) : memref<?x4xf32>        %bytes = %n * 16, or all ones if that exceeds 64 bits
                                               →   %p = func.call @xrelay_buffer_new(%bytes) : (i64) -> !llvm.ptr
                                                   cf.assert %p != null, "out of memory: a buffer of memref<?x4xf32>"
    memref.dealloc %m : memref<?x4xf32>        →   func.call @xrelay_buffer_free(%p) : (!llvm.ptr) -> ()

The assertion has the nodes in the allocation's `xrelay.sources`, or the allocation's source location.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import cf, func, llvm, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.attribute_names import GRAPH_FUNCTION, SOURCES
from xrelay.dialects.shared.locations import sources_or_location
from xrelay.lowering.to_llvm.addressing import memref_type
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.dynamic_buffers import BUFFER_FREE, BUFFER_NEW
from xrelay.lowering.to_llvm.one_to_one import call_intrinsic
from xrelay.lowering.to_llvm.types import PTR, byte_size
from xrelay.passes.infra.conversion import ConversionRewriter

_PRODUCT = llvm.LLVMStructType.from_type_list([i64, i1])


def allocates_dynamic_buffers(op: Operation) -> bool:
    """Whether `op` is in a graph function, whose heap buffers are buffers."""
    around: Operation | None = op.parent_op()
    while around is not None and not isinstance(around, func.FuncOp):
        around = around.parent_op()
    return around is not None and GRAPH_FUNCTION in around.attributes


def allocate_dynamic_buffer(op: memref.AllocOp, rewriter: ConversionRewriter) -> None:
    """Replaces an allocation with a buffer."""
    call = rewriter.insert(func.CallOp(BUFFER_NEW, [bytes_of(op, rewriter)], [PTR]))
    address = rewriter.insert(llvm.PtrToIntOp(call.results[0])).output
    there = rewriter.insert(_compare(llvm.ICmpPredicateFlag.NE, address, rewriter.insert(constant(0, i64)).result))
    assertion = cf.AssertOp(there.res, f"out of memory: a buffer of {op.memref.type}")
    if (sources := _sources(op)) is not None:
        assertion.attributes[SOURCES] = sources
    rewriter.insert(assertion)
    rewriter.replace(op, [call.results[0]])


def _sources(op: Operation) -> Attribute | None:
    """Returns the names of the nodes of an allocation, or its source location."""
    return op.attributes[SOURCES] if SOURCES in op.attributes else sources_or_location(op)


def free_dynamic_buffer(op: memref.DeallocOp, rewriter: ConversionRewriter) -> None:
    """Replaces a deallocation."""
    rewriter.insert(func.CallOp(BUFFER_FREE, [rewriter.operand(op.memref)], []))
    rewriter.erase(op)


def bytes_of(op: memref.AllocOp, rewriter: ConversionRewriter) -> SSAValue:
    """Returns the size of a buffer in bytes; all ones if it exceeds 64 bits, so that the allocation fails."""
    type_ = memref_type(op.memref)
    fixed = prod(size for size in type_.get_shape() if size != DYNAMIC_INDEX) * byte_size(type_.element_type)
    size = rewriter.insert(constant(fixed, i64)).result
    too_large: SSAValue | None = None
    for extent in op.dynamic_sizes:
        factors = [size, rewriter.operand(extent)]
        product = rewriter.insert(call_intrinsic("umul.with.overflow", factors, _PRODUCT, overloads=[i64])).results[0]
        size = rewriter.insert(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [0]), product, i64)).res
        wraps = rewriter.insert(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [1]), product, i1)).res
        too_large = wraps if too_large is None else rewriter.insert(llvm.OrOp(too_large, wraps)).res
    if too_large is None:
        return size
    most = rewriter.insert(constant(-1, i64)).result
    return rewriter.insert(llvm.SelectOp(too_large, most, size)).res


def _compare(predicate: llvm.ICmpPredicateFlag, lhs: SSAValue, rhs: SSAValue) -> llvm.ICmpOp:
    return llvm.ICmpOp(lhs, rhs, IntegerAttr(predicate.to_int(), i64))
