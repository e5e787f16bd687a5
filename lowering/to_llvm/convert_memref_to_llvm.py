"""convert-memref-to-llvm: memrefs become bare pointers, accesses become loads and stores through `getelementptr`.

Strides are static, so the pointer suffices. A memref descriptor as in upstream's lowering (five words or more) would
hide constants from LLVM. Each stack buffer becomes an `llvm.alloca` in the entry block, aligned to 64 bytes; SROA
promotes it to registers after LLVM has unrolled the loops over its elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import cf, func, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    MemRefType,
    ModuleOp,
    UnrealizedConversionCastOp,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.shared.attribute_names import GRAPH_FUNCTION, SOURCES
from xrelay.dialects.shared.locations import sources_or_location
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.memref_extras import PrefetchOp
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.addressing import Address, buffer_alignment, element_address, offset_address
from xrelay.lowering.to_llvm.ops import OneToOne, call_intrinsic, constant, enclosing_function
from xrelay.lowering.to_llvm.runtime_functions import (
    BUFFER_FREE,
    BUFFER_NEW,
    BUFFERS,
    SCRATCH,
    SCRATCH_FREE,
    SCRATCH_NEW,
)
from xrelay.lowering.to_llvm.types import (
    PTR,
    byte_size,
    element_count,
    is_contiguous,
    llvm_types,
    memory_type,
    static_strides,
    storage_type,
)
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

_PRODUCT = llvm.LLVMStructType.from_type_list([i64, i1])


def load(address: Address, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """Loads a value of `type_`; booleans are bytes in memory."""
    stored = memory_type(type_)
    value = rewriter.insert(ops.load(address.pointer, stored, address.alignment)).results[0]
    if stored == rewriter.types.convert(type_):
        return value
    return rewriter.insert(llvm.TruncOp(value, type_)).res


def store(value: SSAValue, address: Address, rewriter: ConversionRewriter, *, nontemporal: bool = False) -> None:
    """Stores `value`, which has a type of the scf level; booleans are bytes in memory."""
    stored = memory_type(value.type)
    converted = rewriter.operand(value)
    if stored != converted.type:
        converted = rewriter.insert(llvm.ZExtOp(converted, stored)).res
    rewriter.insert(ops.store(converted, address.pointer, address.alignment, nontemporal=nontemporal))


class ConvertLoad(ConversionPattern[memref.LoadOp]):
    """`memref.load %m[%i, %j] : memref<4x8xf32>` → `llvm.load` of `getelementptr inbounds %m[%i * 8 + %j]`."""

    def rewrite(self, op: memref.LoadOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and loads."""
        address = element_address(op.memref, op.indices, rewriter)
        if isinstance(address, str):
            return address
        rewriter.replace(op, [load(address, op.res.type, rewriter)])
        return None


class ConvertStore(ConversionPattern[memref.StoreOp]):
    """`memref.store %v, %m[%i, %j] : memref<4x8xf32>` → `llvm.store %v` to `getelementptr inbounds %m[%i * 8 + %j]`."""

    def rewrite(self, op: memref.StoreOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and stores."""
        address = element_address(op.memref, op.indices, rewriter)
        if isinstance(address, str):
            return address
        nontemporal = op.nontemporal.value.data != 0
        store(op.value, address, rewriter, nontemporal=nontemporal)
        rewriter.erase(op)
        return None


class ConvertPrefetch(ConversionPattern[PrefetchOp]):
    """`memref.prefetch %m[%i, %j]` → `llvm.call_intrinsic "llvm.prefetch.p0"` into the same cache."""

    def rewrite(self, op: PrefetchOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and prefetches for reading (0), with the locality of `op`, data (1)."""
        address = element_address(op.memref, op.indices, rewriter)
        if isinstance(address, str):
            return address
        kind = [rewriter.insert(constant(number, i32)).results[0] for number in (0, op.locality.value.data, 1)]
        rewriter.insert(call_intrinsic("prefetch", [address.pointer, *kind], None, overloads=[PTR]))
        rewriter.erase(op)
        return None


class ConvertAlloca(ConversionPattern[memref.AllocaOp]):
    """`memref.alloca() : memref<28xvector<16xf32>>` → `llvm.alloca 1 x array<28 x vector<16xf32>>`, 64-byte aligned."""

    def rewrite(self, op: memref.AllocaOp, rewriter: ConversionRewriter) -> str | None:
        """Allocates the buffer at the start of the function."""
        type_ = memref_type(op.memref)
        count = element_count(type_)
        if count is None:
            return f"a stack buffer of type {type_} has no static size"
        here = rewriter.insertion_point
        rewriter.insertion_point = InsertPoint.at_start(rewriter.block(enclosing_function(op).body.blocks[0]))
        one = rewriter.insert(constant(1, i64))
        alloca = rewriter.insert(ops.on_stack(one.results[0], storage_type(type_, count), buffer_alignment(op)))
        rewriter.insertion_point = here
        rewriter.replace(op, alloca)
        return None


class ConvertAlloc(ConversionPattern[memref.AllocOp]):
    """`memref.alloc` → a call that allocates, and an assertion that it succeeded.

        %m = memref.alloc(%n) : memref<?x4xf32>    →   %bytes = %n * 16, or all ones if that exceeds 64 bits
                                                       %p = func.call @xrelay_buffer_new(%bytes) : (i64) -> !llvm.ptr
                                                       cf.assert %p != null, "out of memory: a buffer of …"

    A graph function allocates a dynamic buffer. Its assertion has the nodes in the allocation's
    `xrelay.sources`, or the allocation's source location. A kernel allocates scratch (`runtime_functions.py`).
    """

    def rewrite(self, op: memref.AllocOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the function, and tests its result."""
        if is_graph := _is_in_graph_function(op):
            call = rewriter.insert(func.CallOp(BUFFER_NEW, [_bytes_of(op, rewriter)], [PTR]))
        else:
            align = rewriter.insert(constant(buffer_alignment(op), i64)).result
            call = rewriter.insert(func.CallOp(SCRATCH_NEW, [align, _bytes_of(op, rewriter)], [PTR]))
        address = rewriter.insert(llvm.PtrToIntOp(call.results[0])).output
        there = rewriter.insert(ops.compare("ne", address, rewriter.insert(constant(0, i64)).result))
        assertion = rewriter.insert(cf.AssertOp(there.res, f"out of memory: a buffer of {op.memref.type}"))
        if is_graph and (sources := op.attributes.get(SOURCES, sources_or_location(op))) is not None:
            assertion.attributes[SOURCES] = sources
        rewriter.replace(op, [call.results[0]])
        return None


class ConvertDealloc(ConversionPattern[memref.DeallocOp]):
    """`memref.dealloc %m` → a call that frees the scratch, or the dynamic buffer in a graph function."""

    def rewrite(self, op: memref.DeallocOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the function."""
        callee = BUFFER_FREE if _is_in_graph_function(op) else SCRATCH_FREE
        rewriter.insert(func.CallOp(callee, [rewriter.operand(op.memref)], []))
        rewriter.erase(op)
        return None


def _is_in_graph_function(op: Operation) -> bool:
    return GRAPH_FUNCTION in enclosing_function(op).attributes


def _bytes_of(op: memref.AllocOp, rewriter: ConversionRewriter) -> SSAValue:
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


class ConvertView(ConversionPattern[memref.ViewOp]):
    """`memref.view %arena[%shift][]` → `getelementptr inbounds i8, %arena, %shift`."""

    def rewrite(self, op: memref.ViewOp, rewriter: ConversionRewriter) -> str | None:
        """Adds the byte shift to the pointer."""
        rewriter.replace(op, [offset_address(op.source, [(op.byte_shift, 1)], 0, rewriter).pointer])
        return None


class ConvertSubview(ConversionPattern[memref.SubviewOp]):
    """`memref.subview %m[%i, 0] [2, 8] [1, 1] : memref<4x8xf32> to …` → `getelementptr inbounds %m[%i * 8]`."""

    def rewrite(self, op: memref.SubviewOp, rewriter: ConversionRewriter) -> str | None:
        """Adds the offset of the view's first element to the pointer."""
        strides = static_strides(memref_type(op.source))
        if strides is None:
            return f"the strides of {op.source.type} are dynamic"
        dynamic = iter(op.offsets)
        offset, terms = 0, list[tuple[SSAValue, int]]()
        for number, stride in zip(op.static_offsets.iter_values(), strides, strict=True):
            if number == DYNAMIC_INDEX:
                terms.append((next(dynamic), stride))
            else:
                offset += number * stride
        rewriter.replace(op, [offset_address(op.source, terms, offset, rewriter).pointer])
        return None


class ConvertReinterpretCast(ConversionPattern[memref.ReinterpretCastOp]):
    """`memref.reinterpret_cast %m to offset: [%o], …` → the pointer plus the new offset minus the old one."""

    def rewrite(self, op: memref.ReinterpretCastOp, rewriter: ConversionRewriter) -> str | None:
        """Moves the pointer from the old offset to the new one."""
        old = memref_type(op.source).get_offset()
        if old is None:
            return f"the offset of {op.source.type} is dynamic"
        (number,) = op.static_offsets.iter_values()
        if number == DYNAMIC_INDEX:
            address = offset_address(op.source, [(op.offsets[0], 1)], -old, rewriter)
        else:
            address = offset_address(op.source, [], number - old, rewriter)
        rewriter.replace(op, [address.pointer])
        return None


class ConvertCast(ConversionPattern[memref.CastOp | UnrealizedConversionCastOp]):
    """`memref.cast`, and `builtin.unrealized_conversion_cast %m : memref<…> to memref<…>` → the same pointer."""

    def rewrite(self, op: memref.CastOp | UnrealizedConversionCastOp, rewriter: ConversionRewriter) -> str | None:
        """Replaces the op with the pointer."""
        rewriter.replace(op, [rewriter.operand(op.operands[0])])
        return None


class ConvertCopy(ConversionPattern[memref.CopyOp]):
    """`memref.copy %a, %b` of contiguous buffers → `llvm.memmove(%b, %a, bytes)`."""

    def rewrite(self, op: memref.CopyOp, rewriter: ConversionRewriter) -> str | None:
        """Copies the bytes."""
        source, destination = memref_type(op.source), memref_type(op.destination)
        count = element_count(source)
        if count is None or not is_contiguous(source) or not is_contiguous(destination):
            return f"copying {source} to {destination} requires a loop: expand it before this pass"
        size = rewriter.insert(constant(count * byte_size(source.element_type), i64)).result
        volatile = rewriter.insert(constant(0, i1)).result
        operands = [rewriter.operand(op.destination), rewriter.operand(op.source), size, volatile]
        rewriter.insert(call_intrinsic("memmove", operands, None, overloads=[PTR, PTR, i64]))
        rewriter.erase(op)
        return None


PATTERNS: tuple[AnyPattern, ...] = (
    ConvertLoad(),
    ConvertPrefetch(),
    ConvertStore(),
    ConvertAlloca(),
    ConvertAlloc(),
    ConvertDealloc(),
    ConvertView(),
    ConvertSubview(),
    ConvertReinterpretCast(),
    ConvertCast(),
    OneToOne(memref.ExtractAlignedPointerAsIndexOp, lambda _, operands, __: llvm.PtrToIntOp(operands[0])),
    ConvertCopy(),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertMemrefToLLVMPass(XRelayPass):
    """Converts memref ops to loads, stores and addresses of the llvm dialect.

    Refuses strides that depend on a `?`, stack buffers of dynamic size, and copies of such buffers or between strided
    ones.
    """

    name = "convert-memref-to-llvm"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every memref op in the module."""
        announce_memory(op)
        convert(op)


def announce_memory(module: ModuleOp) -> None:
    """Declares the functions of dynamic buffers if there are graph functions, those of scratch if others allocate."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    if any(GRAPH_FUNCTION in op.attributes for op in functions):
        BUFFERS.declare(module)
    if any(ops_of(op, memref.AllocOp, memref.DeallocOp) for op in functions if GRAPH_FUNCTION not in op.attributes):
        SCRATCH.declare(module)


def convert(top: Operation) -> None:
    """Converts every memref op in `top`."""
    apply_conversion(top, PATTERNS, is_legal=_is_legal, types=llvm_types())


_IS_NO_MEMREF_OP = legal_outside("memref")


def _is_legal(op: Operation) -> bool:
    """Whether an op stays: it is not of memref, and does not cast a buffer to another type."""
    if isinstance(op, UnrealizedConversionCastOp):
        return not all(isinstance(each.type, MemRefType) for each in (*op.operands, *op.results))
    return _IS_NO_MEMREF_OP(op)
