"""`scf-select-versions`: adds the dispatch from a kernel to its versions for particular extents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, StringAttr, UnitAttr, i1
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.signature import dim_arguments, kernel_dims
from xrelay.dialects.loop.versions import Choice, KernelVersion, versions_by_kernel
from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, NOALIAS, NUM_SCRATCH, PART_OF_KERNEL, SOURCES
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.index_algebra.dim_expressions import substitute
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.memory.hoist_scratch import allocations_to_arguments
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


@dataclass(frozen=True)
class ScfSelectVersionsPass(XRelayPass):
    """Makes kernels select one of their versions by the extents of the call.

    ```
    func.func private @k(%x: memref<?x8xf32>, %n: index) {…}    func.func private @k(%x: memref<?x8xf32>, %n: index) {
    func.func private @k_n1(%x: memref<1x8xf32>)                  %0 = arith.cmpi eq, %n, 1
        attributes {loop.version = {of = @k, …}} {…}        →     scf.if %0 {
                                                                    %1 = memref.cast %x : … to memref<1x8xf32>
                                                                    func.call @k_n1(%1)
                                                                  } else {
                                                                    func.call @k_any(%x, %n)
                                                                  } …
    ```

    Versions are tried in order. A version with free named dimensions gets their extents as arguments, and extents of
    the same name must be equal. The original body becomes `@k_any`. All these functions are parts of `@k`, so that an
    error in them names its nodes. A version uses the scratch buffers of its kernel if it allocates buffers of the same
    types. A version that would still allocate memory for itself is erased, since that takes longer than it saves: the
    memory plan passes memory only to kernels that are called. So is a version whose kernel is missing, whose buffers
    are not the kernel's first arguments, or whose extents the kernel does not take.
    """

    name = "scf-select-versions"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds the dispatch to the module's kernels in place."""
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp)}
        new = [each for each in functions.values() if PART_OF_KERNEL not in each.attributes]
        for name, versions in versions_by_kernel(new).items():
            kernel = functions.get(name)
            chosen: list[_Chosen] = []
            for function, version in versions:
                choice = None if kernel is None else version.choice(kernel, function)
                if kernel is not None:
                    _share_scratch(kernel, function, version)
                if kernel is None or choice is None or not _fits(kernel, function) or f"{name}_any" in functions:
                    Rewriter.erase_op(function, safe_erase=False)
                else:
                    chosen.append(_Chosen(function, choice))
            if kernel is not None and chosen:
                _select(kernel, chosen)


class _Chosen(NamedTuple):
    """A version of a kernel, and the condition for choosing it."""

    version: FuncOp
    choice: Choice


def _share_scratch(kernel: FuncOp, function: FuncOp, version: KernelVersion) -> None:
    """Turns the allocations of a version into arguments if the kernel's scratch arguments have the same types."""
    allocs, scratch = ops_of(function, memref.AllocOp), kernel.attributes.get(NUM_SCRATCH)
    count = scratch.value.data if isinstance(scratch, IntegerAttr) else 0
    place, own = len(_buffers(kernel)) - count, len(_buffers(function))
    shapes = [_shape_for(kernel, number, version) for number in range(place, place + count)]
    types = [kernel.function_type.inputs.data[number] for number in range(place, place + count)]
    same = len(allocs) == count and all(
        op.parent is function.body.block and isinstance(type, MemRefType)
        and op.memref.type.element_type == type.element_type and op.memref.type.get_shape() == shape
        for op, type, shape in zip(allocs, types, shapes, strict=True)
    )  # fmt: skip
    if count and place == own and same:
        allocations_to_arguments(function, place, allocs)


def _shape_for(kernel: FuncOp, number: int, version: KernelVersion) -> tuple[object, ...]:
    """Returns the shape of a kernel's argument for the sizes of a version."""
    dims = substitute(kernel_dims(kernel), version.sizes)
    arguments = dim_arguments(kernel)
    extents = extents_of(kernel.body.block.args[number])
    return tuple(dims[arguments.index(extent)] if extent in arguments else extent for extent in extents)


def _fits(kernel: FuncOp, version: FuncOp) -> bool:
    """Whether the kernel's first buffers match those of the version, and the version allocates no memory."""
    inputs = _buffers(version)
    given = kernel.function_type.inputs.data[: len(inputs)]
    same = all(
        isinstance(own, MemRefType) and isinstance(type, MemRefType) and own.element_type == type.element_type
        and own.get_num_dims() == type.get_num_dims()
        for own, type in zip(inputs, given, strict=False)
    )  # fmt: skip
    return same and len(given) == len(inputs) and not any(isinstance(op, memref.AllocOp) for op in version.walk())


def _buffers(version: FuncOp) -> Sequence[Attribute]:
    """Returns the types of a version's arguments, without its extents."""
    inputs = version.function_type.inputs.data
    return inputs[: len(inputs) - len(dim_arguments(version))]


def _select(kernel: FuncOp, choices: Sequence[_Chosen]) -> None:
    """Replaces the body of `kernel` with the dispatch, and moves the old body to a new function after it."""
    name = kernel.sym_name.data
    attributes = {key: value for key, value in kernel.attributes.items() if key != SOURCES}
    any_size = FuncOp(
        f"{name}_any",
        kernel.function_type,
        kernel.detach_region(kernel.body),
        "private",
        arg_attrs=kernel.arg_attrs,
    )
    any_size.attributes |= attributes
    for part in (any_size, *(version for version, _ in choices)):
        part.attributes.pop(SOURCES, None)
        part.attributes[PART_OF_KERNEL] = StringAttr(name)
    block = Block(arg_types=kernel.function_type.inputs.data)
    for own, old in zip(block.args, any_size.body.block.args, strict=True):
        own.name_hint = old.name_hint
    kernel.add_region(Region(block))
    kernel.attributes.pop(LOOP_KERNEL, None)
    otherwise: list[Operation] = [CallOp(f"{name}_any", list(block.args), [])]
    for chosen in reversed(choices):
        _share_noalias(kernel, chosen.version)
        otherwise = _dispatch(kernel, chosen, otherwise)
    block.add_ops([*otherwise, ReturnOp()])
    Rewriter.insert_op(any_size, InsertPoint.after(kernel))


def _dispatch(kernel: FuncOp, chosen: _Chosen, otherwise: Sequence[Operation]) -> list[Operation]:
    """Returns the ops that call a version if the kernel's extents match, and run `otherwise` if not."""
    extents, choice = dim_arguments(kernel), chosen.choice
    pairs: list[tuple[SSAValue, int | SSAValue]] = [(extents[index], number) for index, number in choice.numbers]
    pairs += [(extents[index], extents[first]) for index, first in choice.equal]
    condition, ops = _all_equal(pairs)
    casts, passed = _cast(kernel.body.block.args, _buffers(chosen.version))
    call = CallOp(chosen.version.sym_name.data, [*passed, *(extents[index] for index in choice.passed)], [])
    return [*ops, scf.IfOp(condition, [], [*casts, call, scf.YieldOp()], [*otherwise, scf.YieldOp()])]


def _cast(values: Sequence[SSAValue], types: Sequence[Attribute]) -> tuple[list[Operation], list[SSAValue]]:
    """Returns the casts of the first of `values` to the buffer types `types`, and the cast values."""
    casts: list[Operation] = []
    passed: list[SSAValue] = []
    for value, type in zip(values, types, strict=False):
        if value.type != type and isinstance(type, MemRefType):
            casts.append(memref.CastOp.get(value, type))
            value = casts[-1].results[0]
        passed.append(value)
    return casts, passed


def _share_noalias(kernel: FuncOp, version: FuncOp) -> None:
    """Copies `noalias` from the buffers of a kernel to those of its version."""
    attrs = argument_attrs(version)
    for own, others in zip(attrs[: len(_buffers(version))], argument_attrs(kernel), strict=False):
        if NOALIAS in others:
            own[NOALIAS] = UnitAttr()
    set_argument_attrs(version, attrs)


def _all_equal(pairs: Iterable[tuple[SSAValue, int | SSAValue]]) -> tuple[SSAValue, list[Operation]]:
    """Returns a value that is true if both sides of all pairs are equal, and the ops that compute it."""
    ops: list[Operation] = []
    holds: SSAValue | None = None
    for value, other in pairs:
        if isinstance(other, int):
            ops.append(arith.ConstantOp.from_int_and_width(other, IndexType()))
            other = ops[-1].results[0]
        compare = arith.CmpiOp(value, other, "eq")
        ops.append(compare)
        if holds is None:
            holds = compare.result
        else:
            both = arith.AndIOp(holds, compare.result, i1)
            ops.append(both)
            holds = both.result
    assert holds is not None, "a kernel with a version takes extents"
    return holds, ops
