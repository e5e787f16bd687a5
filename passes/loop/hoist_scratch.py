"""Buffers that kernels allocate for themselves become arguments, which `@main` allocates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, i64
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.attribute_names import EXTENTS, LOOP_KERNEL, NUM_SCRATCH
from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.signature import dim_arguments
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.buffer_size import element_bytes
from xrelay.passes.loop.lifetimes import Buffer, lifetimes_in
from xrelay.passes.loop.signature import argument_attrs, insert_arguments, set_argument_attrs


def hoist_scratch(
    main: func.FuncOp, functions: Mapping[str, func.FuncOp], calls: Mapping[str, list[func.CallOp]]
) -> None:
    """Buffers allocated at the top of a kernel that only `main` calls → arguments that `main` allocates.

    Their open extents must be arguments of the kernel, and it must not give them away. `calls` holds the new calls
    afterwards.
    """
    own = set(walk_ops(main))
    for name, sites in calls.items():
        kernel = functions.get(name)
        if kernel is None or kernel is main or len(kernel.body.blocks) != 1:
            continue
        if any(site not in own for site in sites):
            continue
        given = lifetimes_in(kernel.body.block).given if LOOP_KERNEL not in kernel.attributes else set[Buffer]()
        allocs = [op for op in kernel.body.block.ops if isinstance(op, memref.AllocOp) and op.memref not in given]
        scratch = [op for op in allocs if _can_be_given(op)]
        if scratch:
            types = [op.memref.type for op in scratch]
            names = [op.memref.name_hint for op in scratch]
            extents = [[_number_of(size) for size in op.dynamic_sizes] for op in scratch]
            place = len(kernel.body.block.args) - len(dim_arguments(kernel))
            calls[name][:] = [_pass_scratch(site, place, types, names, extents) for site in sites]
            _allocations_to_arguments(kernel, place, scratch)


def _can_be_given(op: memref.AllocOp) -> bool:
    return element_bytes(op.memref.type) is not None and all(
        isinstance(size, BlockArgument) and size.owner is op.parent for size in op.dynamic_sizes
    )


def _number_of(value: SSAValue) -> int:
    assert isinstance(value, BlockArgument), "open extents are arguments"
    return value.index


def _allocations_to_arguments(kernel: func.FuncOp, place: int, scratch: Sequence[memref.AllocOp]) -> None:
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


def _pass_scratch(
    site: func.CallOp,
    place: int,
    types: Sequence[MemRefType],
    names: Sequence[str | None],
    extents: Sequence[Sequence[int]],
) -> func.CallOp:
    """The call with fresh buffers of `types` as additional operands from `place` on.

    `extents` are the numbers of the operands that the open extents of each buffer are.
    """
    allocs = [
        memref.AllocOp([site.arguments[number] for number in numbers], [], type)
        for type, numbers in zip(types, extents, strict=True)
    ]
    for op, name in zip(allocs, names, strict=True):
        op.memref.name_hint = name
    operands = [*site.arguments[:place], *(op.memref for op in allocs), *site.arguments[place:]]
    call = func.CallOp(site.callee, operands, site.result_types)
    call.attributes |= site.attributes
    Rewriter.replace_op(site, [*allocs, call], call.results)
    return call
