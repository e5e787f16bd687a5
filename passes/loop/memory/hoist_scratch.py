"""Turns the scratch buffers that kernels allocate into arguments, which `@main` allocates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    i64,
)
from xdsl.ir import BlockArgument
from xdsl.rewriter import Rewriter

from xrelay.dialects.loop import ForOp, LoopKind
from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.signature import dim_arguments
from xrelay.dialects.shared.attribute_names import EXTENTS, LOOP_KERNEL, NOALIAS, NUM_SCRATCH, TAKES_SCRATCH
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import PassError
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.memory.buffer_size import element_bytes
from xrelay.passes.loop.memory.lifetimes import Buffer, lifetimes_in
from xrelay.passes.loop.signature import argument_attrs, insert_arguments, set_argument_attrs


@dataclass(frozen=True)
class _Scratch:
    """The scratch arguments of a kernel: buffers of the types `types`, which callers allocate.

    They are the operands from number `place` on. `extents` has a row for each buffer: its dynamic extents, as operand
    numbers of a call without scratch operands.
    """

    place: int
    types: Sequence[MemRefType]
    names: Sequence[str | None]
    extents: Sequence[Sequence[int]]


def hoist_scratch(
    main: func.FuncOp, functions: Mapping[str, func.FuncOp], calls: Mapping[str, list[func.CallOp]]
) -> None:
    """Turns buffers of a kernel that only `main` calls into arguments that `main` allocates.

    A buffer of dynamic size must be allocated at the top of the kernel, and its extents must be arguments of the
    kernel. The kernel must not transfer the ownership of a buffer. Afterwards `calls` contains the new calls.
    """
    own = set(walk_ops(main))
    for name, sites in calls.items():
        kernel = functions.get(name)
        if kernel is None or kernel is main or len(kernel.body.blocks) != 1:
            continue
        if any(site not in own for site in sites):
            continue
        scratch = _take_scratch(kernel)
        if scratch is not None:
            calls[name][:] = [_pass_scratch(site, scratch) for site in sites]


def hoist_kernel_scratch(kernel: func.FuncOp) -> None:
    """Turns the allocations of a kernel whose callers are in another module into `llvm.noalias` arguments."""
    del kernel.attributes[TAKES_SCRATCH]
    scratch = _take_scratch(kernel)
    if scratch is not None:
        attrs = argument_attrs(kernel)
        for attributes in attrs[scratch.place : scratch.place + len(scratch.types)]:
            attributes[NOALIAS] = UnitAttr()
        set_argument_attrs(kernel, attrs)


def pass_declared_scratch(kernel: func.FuncOp, sites: Sequence[func.CallOp]) -> None:
    """Makes calls of a kernel declaration allocate the scratch buffers that it declares.

    Raises `PassError` if the size of a buffer is not declared.
    """
    scratch = _declared_scratch(kernel)
    for site in sites:
        _pass_scratch(site, scratch)


def _take_scratch(kernel: func.FuncOp) -> _Scratch | None:
    """Turns the hoistable allocations of a kernel into arguments; `None` if the kernel has no such allocations."""
    given = lifetimes_in(kernel.body.block).given if LOOP_KERNEL not in kernel.attributes else set[Buffer]()
    allocs = [op for op in ops_of(kernel.body, memref.AllocOp) if op.memref not in given]
    scratch = [op for op in allocs if _is_hoistable(op, kernel)]
    if not scratch:
        return None
    types = [op.memref.type for op in scratch]
    names = [op.memref.name_hint for op in scratch]
    extents = [[size.index for size in op.dynamic_sizes if isinstance(size, BlockArgument)] for op in scratch]
    place = len(kernel.body.block.args) - len(dim_arguments(kernel))
    allocations_to_arguments(kernel, place, scratch)
    return _Scratch(place, types, names, extents)


def _declared_scratch(kernel: func.FuncOp) -> _Scratch:
    """The scratch buffers that a kernel declaration declares."""
    inputs, scratch = kernel.function_type.inputs.data, kernel.attributes.get(NUM_SCRATCH)
    count = scratch.value.data if isinstance(scratch, IntegerAttr) else 0
    place = sum(not isinstance(type, IndexType) for type in inputs) - count
    rows = list(zip(inputs, argument_attrs(kernel), strict=True))[place : place + count]
    types = [type for type, _ in rows if isinstance(type, MemRefType)]
    numbers = [attrs.get(EXTENTS) for _, attrs in rows]
    extents = [
        [place + number for number in each.get_values()] if is_attribute(each, DenseArrayBase[IntegerType]) else []
        for each in numbers
    ]
    for number, (type, given) in enumerate(zip(types, extents, strict=True), start=place):
        if type.get_shape().count(DYNAMIC_INDEX) != len(given):
            raise PassError(
                f"argument {number} of @{kernel.sym_name.data} is {type}, {EXTENTS} names {len(given)} sizes"
            )
    return _Scratch(place, types, [None] * len(types), extents)


def _is_hoistable(op: memref.AllocOp, kernel: func.FuncOp) -> bool:
    """Whether the caller may allocate a buffer: at the top of the kernel, or of static size in loops of one thread."""
    around = op.parent_op()
    while isinstance(around, ForOp) and around.kind is not LoopKind.PARALLEL and not op.dynamic_sizes:
        around = around.parent_op()
    return (
        around is kernel
        and element_bytes(op.memref.type) is not None
        and all(isinstance(size, BlockArgument) and size.owner is kernel.body.block for size in op.dynamic_sizes)
    )


def allocations_to_arguments(kernel: func.FuncOp, place: int, scratch: Sequence[memref.AllocOp]) -> None:
    """Replaces the allocations `scratch` of `kernel` by new arguments from number `place` on."""
    types = [op.memref.type for op in scratch]
    new = insert_arguments(kernel, place, types, [op.memref.name_hint for op in scratch])
    attrs = argument_attrs(kernel)
    for op, argument in zip(scratch, new, strict=True):
        if op.dynamic_sizes:
            numbers = [index_arguments(kernel).index(size) for size in op.dynamic_sizes]
            attrs[argument.index][EXTENTS] = DenseArrayBase.from_list(i64, numbers)
    set_argument_attrs(kernel, attrs)
    for op, argument in zip(scratch, new, strict=True):
        for use in [use for use in op.memref.uses if isinstance(use.operation, memref.DeallocOp)]:
            Rewriter.erase_op(use.operation)
        op.memref.replace_all_uses_with(argument)
        Rewriter.erase_op(op)
    kernel.attributes[NUM_SCRATCH] = IntegerAttr(len(scratch), i64)


def _pass_scratch(site: func.CallOp, scratch: _Scratch) -> func.CallOp:
    """Replaces the call by one with fresh buffers as additional operands."""
    allocs = [
        memref.AllocOp([site.arguments[number] for number in numbers], [], type)
        for type, numbers in zip(scratch.types, scratch.extents, strict=True)
    ]
    for op, name in zip(allocs, scratch.names, strict=True):
        op.memref.name_hint = name
    place = scratch.place
    operands = [*site.arguments[:place], *(op.memref for op in allocs), *site.arguments[place:]]
    call = func.CallOp(site.callee, operands, site.result_types)
    call.attributes |= site.attributes
    call.location = site.location
    Rewriter.replace_op(site, [*allocs, call], call.results)
    return call
