"""Returned buffers and extents of graph functions, which are stored to memory that the caller passes.

`func.func @f(%x: memref<4xf32>, %n: index) -> (memref<?xf32>, index)` gets one more pointer argument, after its buffers
and before its extents, to 64 bits for each result: the address of a buffer, or an extent. The contents are valid if the
status is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import IndexType, MemRefType, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.ops import element_pointer, load, on_stack, store
from xrelay.lowering.to_llvm.types import PTR
from xrelay.passes.infra.conversion import ConversionRewriter

_EXTENTS = (IndexType(), i64)
"""The types of extents, before and after the bodies of functions were converted."""


def can_be_returned(types: Sequence[Attribute]) -> bool:
    """Whether all of these are buffers and extents."""
    return all(isinstance(type_, MemRefType | IndexType) for type_ in types)


def position_of_results(inputs: Sequence[Attribute]) -> int:
    """Returns the position of the pointer to the results among arguments of these types, before the extents."""
    return len(inputs) - sum(1 for _ in takewhile(lambda type_: type_ in _EXTENTS, reversed(inputs)))


def store_results(op: func.ReturnOp, results: SSAValue, rewriter: ConversionRewriter) -> None:
    """Stores the results of a function to the memory at `results`."""
    for number, value in enumerate(op.arguments):
        pointer = rewriter.insert(element_pointer(results, [number], i64)).results[0]
        rewriter.insert(store(rewriter.operand(value), pointer, 8))


def operands_with_results(
    op: func.CallOp, body: Region, rewriter: ConversionRewriter
) -> tuple[list[SSAValue], SSAValue]:
    """Returns the operands of a call with memory for its results inserted, and that memory, on the caller's stack."""
    entry, here = body.first_block, rewriter.insertion_point
    assert entry is not None, "the call stands in a function"
    rewriter.insertion_point = InsertPoint.at_start(entry)
    one = rewriter.insert(constant(1, i64))
    array = llvm.LLVMArrayType(len(op.results), i64)
    results = rewriter.insert(on_stack(one.results[0], array, 8)).results[0]
    rewriter.insertion_point = here
    operands = rewriter.operands(op.arguments)
    operands.insert(position_of_results([argument.type for argument in op.arguments]), results)
    return operands, results


def load_results(op: Operation, results: SSAValue, rewriter: ConversionRewriter) -> list[SSAValue]:
    """Loads the results of a call from the memory at `results`."""
    values: list[SSAValue] = []
    for number, result in enumerate(op.results):
        type_ = PTR if isinstance(result.type, MemRefType) else i64
        pointer = rewriter.insert(element_pointer(results, [number], i64)).results[0]
        values.append(rewriter.insert(load(pointer, type_, 8)).results[0])
    return values
