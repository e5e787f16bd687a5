"""convert-memref-to-llvm: memrefs become bare pointers, accesses become loads and stores through `getelementptr`.

A memref descriptor as in upstream's lowering (five words or more) would hide constants from LLVM: strides are static
here, so the pointer suffices. Stack buffers are one `llvm.alloca` in the entry block, aligned to 64 bytes, whatever
block they were in; SROA promotes them once LLVM has unrolled the loops over their elements.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf, func, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    UnrealizedConversionCastOp,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.shared.attribute_names import GRAPH_FUNCTION
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import LoweringError
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.addressing import (
    Address,
    buffer_alignment,
    element_address,
    memref_type,
    offset_address,
    static_extent,
)
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.convert_dynamic_buffers import (
    allocate_dynamic_buffer,
    allocates_dynamic_buffers,
    bytes_of,
    free_dynamic_buffer,
)
from xrelay.lowering.to_llvm.dynamic_buffers import declare_dynamic_buffers
from xrelay.lowering.to_llvm.one_to_one import call_intrinsic
from xrelay.lowering.to_llvm.scratch import SCRATCH_FREE, SCRATCH_NEW, declare_scratch
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


def load(address: Address, type_: Attribute, rewriter: ConversionRewriter) -> SSAValue:
    """Loads a value of `type_`; booleans are bytes in memory."""
    stored = memory_type(type_)
    value = rewriter.insert(ops.load(address.pointer, stored, address.alignment)).results[0]
    if stored == rewriter.types.convert(type_):
        return value
    return rewriter.insert(llvm.TruncOp(value, type_)).res


def store(value: SSAValue, address: Address, rewriter: ConversionRewriter, *, nontemporal: bool = False) -> None:
    """Stores `value`, which has its old type; booleans are bytes in memory."""
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


class ConvertAlloca(ConversionPattern[memref.AllocaOp]):
    """`memref.alloca() : memref<28xvector<16xf32>>` → `llvm.alloca 1 x array<28 x vector<16xf32>>`, 64-byte aligned."""

    def rewrite(self, op: memref.AllocaOp, rewriter: ConversionRewriter) -> str | None:
        """Allocates the buffer at the start of the function."""
        type_ = memref_type(op.memref)
        count = element_count(type_)
        if count is None:
            return f"a stack buffer of type {type_} has no static size"
        here = rewriter.insertion_point
        rewriter.insertion_point = InsertPoint.at_start(rewriter.block(_entry_block(op)))
        one = rewriter.insert(constant(1, i64))
        alloca = rewriter.insert(ops.on_stack(one.results[0], storage_type(type_, count), buffer_alignment(op)))
        rewriter.insertion_point = here
        rewriter.replace(op, alloca)
        return None


class ConvertAlloc(ConversionPattern[memref.AllocOp]):
    """`memref.alloc(%n) : memref<?x4xf32>` → a call that allocates `%n * 16` bytes, and an assertion that it succeeded.

    A kernel allocates scratch (`scratch.py`), a graph function a dynamic buffer (`convert_dynamic_buffers.py`).
    """

    def rewrite(self, op: memref.AllocOp, rewriter: ConversionRewriter) -> str | None:
        """Allocates scratch or a dynamic buffer."""
        if allocates_dynamic_buffers(op):
            allocate_dynamic_buffer(op, rewriter)
            return None
        align = rewriter.insert(constant(buffer_alignment(op), i64)).result
        call = rewriter.insert(func.CallOp(SCRATCH_NEW, [align, bytes_of(op, rewriter)], [PTR]))
        address = rewriter.insert(llvm.PtrToIntOp(call.results[0])).output
        null = rewriter.insert(constant(0, i64)).result
        there = rewriter.insert(llvm.ICmpOp(address, null, IntegerAttr(llvm.ICmpPredicateFlag.NE.to_int(), i64)))
        rewriter.insert(cf.AssertOp(there.res, f"out of memory: a buffer of {op.memref.type}"))
        rewriter.replace(op, [call.results[0]])
        return None


class ConvertDealloc(ConversionPattern[memref.DeallocOp]):
    """`memref.dealloc %m` → a call that frees the scratch, or the dynamic buffer in a graph function."""

    def rewrite(self, op: memref.DeallocOp, rewriter: ConversionRewriter) -> str | None:
        """Frees the scratch or the dynamic buffer."""
        if allocates_dynamic_buffers(op):
            free_dynamic_buffer(op, rewriter)
            return None
        rewriter.insert(func.CallOp(SCRATCH_FREE, [rewriter.operand(op.memref)], []))
        rewriter.erase(op)
        return None


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
            return f"the strides of {op.source.type} are not all known when compiling"
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
            return f"the offset of {op.source.type} is not known when compiling"
        (number,) = op.static_offsets.iter_values()
        if number == DYNAMIC_INDEX:
            address = offset_address(op.source, [(op.offsets[0], 1)], -old, rewriter)
        else:
            address = offset_address(op.source, [], number - old, rewriter)
        rewriter.replace(op, [address.pointer])
        return None


SameMemory = memref.CastOp | memref.CollapseShapeOp | memref.ExpandShapeOp | memref.MemorySpaceCastOp


class ConvertSameMemory(ConversionPattern[SameMemory]):
    """`memref.cast`, `collapse_shape`, `expand_shape`, `memory_space_cast` → the same pointer."""

    def rewrite(self, op: SameMemory, rewriter: ConversionRewriter) -> str | None:
        """Replaces the op with the pointer."""
        rewriter.replace(op, [rewriter.operand(op.operands[0])])
        return None


class ConvertCastBetweenMemrefs(ConversionPattern[UnrealizedConversionCastOp]):
    """`builtin.unrealized_conversion_cast %m : memref<…> to memref<…>` → the same pointer, for any types."""

    def rewrite(self, op: UnrealizedConversionCastOp, rewriter: ConversionRewriter) -> str | None:
        """Replaces the op with the pointer."""
        rewriter.replace(op, [rewriter.operand(op.operands[0])])
        return None


class ConvertAlignedPointer(ConversionPattern[memref.ExtractAlignedPointerAsIndexOp]):
    """`memref.extract_aligned_pointer_as_index %m` → `llvm.ptrtoint`."""

    def rewrite(self, op: memref.ExtractAlignedPointerAsIndexOp, rewriter: ConversionRewriter) -> str | None:
        """Converts the pointer to an integer."""
        rewriter.replace(op, [rewriter.insert(llvm.PtrToIntOp(rewriter.operand(op.source))).output])
        return None


class ConvertDim(ConversionPattern[memref.DimOp]):
    """`memref.dim %m, %c1 : memref<4x8xf32>` → `llvm.mlir.constant(8)`."""

    def rewrite(self, op: memref.DimOp, rewriter: ConversionRewriter) -> str | None:
        """Reads the size from the type."""
        extent = static_extent(op)
        if extent is None:
            return f"which dimension of {op.source.type} is asked for, or its size, is not known when compiling"
        rewriter.replace(op, rewriter.insert(constant(extent, i64)))
        return None


class ConvertCopy(ConversionPattern[memref.CopyOp]):
    """`memref.copy %a, %b` of contiguous buffers → `llvm.memmove(%b, %a, bytes)`."""

    def rewrite(self, op: memref.CopyOp, rewriter: ConversionRewriter) -> str | None:
        """Copies the bytes."""
        source, destination = memref_type(op.source), memref_type(op.destination)
        count = element_count(source)
        if count is None or not is_contiguous(source) or not is_contiguous(destination):
            return f"copying {source} to {destination} takes a loop: make it one before this pass"
        size = rewriter.insert(constant(count * byte_size(source.element_type), i64)).result
        volatile = rewriter.insert(constant(0, i1)).result
        operands = [rewriter.operand(op.destination), rewriter.operand(op.source), size, volatile]
        rewriter.insert(call_intrinsic("memmove", operands, None, overloads=[PTR, PTR, i64]))
        rewriter.erase(op)
        return None


class ConvertGlobal(ConversionPattern[memref.GlobalOp]):
    """`memref.global "private" constant @g : memref<4xf32> = dense<…>` → `llvm.mlir.global private constant @g`."""

    def rewrite(self, op: memref.GlobalOp, rewriter: ConversionRewriter) -> str | None:
        """Converts the constant to an array."""
        type_ = op.type
        count = element_count(type_)
        if not isinstance(op.initial_value, DenseIntOrFPElementsAttr) or count is None or not is_contiguous(type_):
            return "only contiguous globals with a dense value can be converted"
        values = op.initial_value
        element = values.get_element_type()
        if memory_type(element) != element:
            return f"a global of {element} cannot be converted"
        rewriter.insert(
            llvm.GlobalOp(
                storage_type(type_, count),
                op.sym_name,
                "private" if op.sym_visibility.data == "private" else "external",
                constant=op.constant is not None,
                value=DenseIntOrFPElementsAttr(TensorType(element, [count]), values.data),
                alignment=buffer_alignment(op),
            )
        )
        rewriter.erase(op)
        return None


class ConvertGetGlobal(ConversionPattern[memref.GetGlobalOp]):
    """`memref.get_global @g` → `llvm.mlir.addressof @g`."""

    def rewrite(self, op: memref.GetGlobalOp, rewriter: ConversionRewriter) -> str | None:
        """Takes the address."""
        rewriter.replace(op, rewriter.insert(llvm.AddressOfOp(op.name_, PTR)))
        return None


def _entry_block(op: Operation) -> Block:
    """Returns the first block of the function around `op`."""
    around: Operation | None = op.parent_op()
    while around is not None and not isinstance(around, FuncOp | llvm.FuncOp):
        around = around.parent_op()
    entry = around.body.first_block if around is not None else None
    if entry is None:
        raise LoweringError("a stack buffer is not inside a function", location=describe_location(op))
    return entry


PATTERNS: tuple[AnyPattern, ...] = (
    ConvertLoad(),
    ConvertStore(),
    ConvertAlloca(),
    ConvertAlloc(),
    ConvertDealloc(),
    ConvertView(),
    ConvertSubview(),
    ConvertReinterpretCast(),
    ConvertSameMemory(),
    ConvertCastBetweenMemrefs(),
    ConvertAlignedPointer(),
    ConvertDim(),
    ConvertCopy(),
    ConvertGlobal(),
    ConvertGetGlobal(),
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
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if any(GRAPH_FUNCTION in op.attributes for op in functions):
        declare_dynamic_buffers(module)
    if any(ops_of(op, memref.AllocOp, memref.DeallocOp) for op in functions if GRAPH_FUNCTION not in op.attributes):
        declare_scratch(module)


def convert_globals(module: ModuleOp) -> None:
    """Converts the globals of a module, but not its functions."""
    apply_conversion(module, PATTERNS, is_legal=lambda op: not isinstance(op, memref.GlobalOp), nested=False)


def convert(top: Operation) -> None:
    """Converts every memref op in `top`."""
    apply_conversion(top, PATTERNS, is_legal=_is_legal, types=llvm_types())


_IS_NO_MEMREF_OP = legal_outside("memref")


def _is_legal(op: Operation) -> bool:
    """Whether an op stays: it is not of memref, and does not cast a buffer to another type."""
    if isinstance(op, UnrealizedConversionCastOp):
        return not all(isinstance(each.type, MemRefType) for each in (*op.operands, *op.results))
    return _IS_NO_MEMREF_OP(op)
