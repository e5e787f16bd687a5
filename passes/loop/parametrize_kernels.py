"""`loop-parametrize-kernels`: replaces kernels that differ in constant extents alone by one kernel with arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import lcm
from typing import Final

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, ScheduleAttr, SchedulePrimitive
from xrelay.dialects.loop.extents import index_arguments, loop_of_index
from xrelay.dialects.loop.schedule import (
    CacheWrite,
    ComputeAt,
    DisableUnroll,
    Fuse,
    Parallelize,
    Prefetch,
    Reorder,
    Split,
    Tensorize,
    Value,
)
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import LOOP_DIMS, SCHEDULE, VERSION
from xrelay.dialects.shared.op_lists import calls_by_callee, ops_in, ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.errors import ScheduleError
from xrelay.index_algebra.linear_form import dim
from xrelay.index_algebra.value_map import ValueMap
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.apply_schedules import apply_schedule
from xrelay.passes.loop.index_arith import index_constant
from xrelay.passes.loop.merge_kernels import add_sources, key_of_attributes
from xrelay.passes.loop.nest_edits import extent_value
from xrelay.passes.loop.nest_queries import blocks_of, enclosing_loops, kernels_of, reduced_indices
from xrelay.passes.loop.primitives.legality import common_positions
from xrelay.passes.loop.signature import insert_arguments
from xrelay.passes.loop.static_sizes import replace_sizes, sized_parts, static_sizes
from xrelay.target.instructions import find_tile_product

_PRIVATE: Final = StringAttr("private")
_EXTENTS: Final = frozenset({"extent", "extents"})
"""The properties with constant extents."""
LEAST: Final = 4
"""The smallest number of kernels without dynamic extents that the compiler replaces by one."""
LEAST_COSTLY: Final = 2
"""The smallest number of kernels with dynamic extents, or on tiles, that the compiler replaces by one."""


@dataclass(frozen=True)
class LoopParametrizeKernelsPass(XRelayPass):
    """Replaces kernels that differ in constant extents alone by one kernel that takes these extents as arguments.

    Before → after:

    ```
    func.call @conv(%x, %w, %y, %n) : …                          %c2 = arith.constant 2 : index
    func.call @conv_1(%z, %v, %u, %m) : …                        func.call @conv(…, %n, %c2) : …
    func.func private @conv(%x: memref<?x2xf32>, …, %n: index)   func.call @conv(…, %m, %c6) : …
      loop.for "k" %k to 2                                       func.func private @conv(%x: memref<?x?xf32>, …,
    func.func private @conv_1(%x: memref<?x6xf32>, …)                %n: index, %e: index)
      loop.for "k" %k to 6                                         loop.for "k" %k to %e
    ```

    To compile a convolution takes 30 to 50 ms, one of open width 100 to 200 ms, and a model has dozens that differ in
    the number of channel blocks alone. The extents that matter most, those of tiles and lanes, stay constant. Kernels
    without dynamic extents are replaced if there are at least `least`: fewer save less time than a user notices. Two
    are enough if they have dynamic extents, or an instruction on tiles: these kernels take the longest to compile,
    and their extents are outside of the innermost loop.

    Kernels need equal schedules, and an extent stays constant if

    - it is 1, or the same in all kernels;
    - its loop is unrolled, vectorised or cut, unless the loop is that of a block that is computed at a tile;
    - its loop is reduced, and may be unrolled by LLVM;
    - its loop is split, and the factor does not divide it: the last tile would need conditions. If the factor divides
      it, the kernel rounds the argument down to a multiple, from which no conditions follow.

    An instruction on tiles adds up a number of terms in one step. The number of terms in a sum may vary if it is a
    multiple of that number.

    Kernels are left unchanged if they have versions, if callers outside of the module may exist, or if the schedule is
    not legal for arguments.
    """

    name = "loop-parametrize-kernels"
    numerics = EXACT

    least: int = field(
        default=LEAST, metadata={"help": "the smallest number of kernels without dynamic extents that are replaced"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the kernels of a module in place."""
        replace_kernels(op, least=self.least)


def replace_kernels(
    module: ModuleOp, merged: Sequence[MergedKernels] = (), least: int = LEAST
) -> Sequence[MergedKernels]:
    """Replaces kernels of a module as the pass does; returns the kernels that replace them.

    Those in `merged` have the schedule on which they were merged.
    """
    groups = [group for group in _groups(module, merged) if len(group) >= _least_of_group(group, least)]
    if not groups:
        return ()
    remarks, calls = Remarks(LoopParametrizeKernelsPass.name), calls_by_callee(module)
    known = {frozenset(each.kernels): each for each in merged}
    made = [
        _replace(group, known.get(frozenset(kernel.function for kernel in group)), calls, remarks) for group in groups
    ]
    report(remarks.all)
    return [each for each in made if each is not None]


def _least_of_group(group: Sequence[_Kernel], least: int) -> int:
    return _least_of(group[0].function, _schedule_of(group[0].function), least)


def _least_of(kernel: func.FuncOp, steps: Sequence[SchedulePrimitive], least: int) -> int:
    """Returns the smallest number of kernels like `kernel` that are replaced."""
    on_tiles = any(isinstance(step, Tensorize) for step in steps)
    return LEAST_COSTLY if on_tiles or index_arguments(kernel) else least


def kernels_by_structure(kernels: Iterable[func.FuncOp]) -> list[list[func.FuncOp]]:
    """Returns kernels in groups; those of a group differ in constant extents alone."""
    keys, alike = OpKeys(), defaultdict[Hashable, list[func.FuncOp]](list)
    for kernel in kernels:
        alike[key_of_attributes(kernel, keys)].append(kernel)
    groups: list[list[func.FuncOp]] = []
    for group in alike.values():
        by_content = defaultdict[Hashable, list[func.FuncOp]](list)
        for kernel in group:
            # The content of a kernel takes longer, and need not be compared if no other has its attributes.
            by_content[tuple(_content(kernel, keys)) if len(group) > 1 else None].append(kernel)
        groups += by_content.values()
    return groups


def may_be_replaced(module: ModuleOp) -> list[func.FuncOp]:
    """Returns the kernels without dynamic extents whose callers are known, and that neither have nor are versions."""
    return [kernel for kernel in _unversioned(module) if not index_arguments(kernel)]


@dataclass(frozen=True)
class MergedKernels:
    """A kernel that replaces others, with a schedule that is legal for it."""

    kernels: Sequence[func.FuncOp]
    """The kernels that it replaces."""
    kernel: func.FuncOp
    """It is not scheduled."""
    scheduled: func.FuncOp
    """A copy of it with the schedule applied."""
    sizes: Sequence[Sequence[int]]
    """For each argument that it adds, the extents in `kernels`."""
    schedule: ScheduleAttr


def merged_on_schedule(
    kernels: Sequence[func.FuncOp], chosen: func.FuncOp, schedule: ScheduleAttr
) -> MergedKernels | None:
    """Returns the kernel by which the pass replaces `chosen` and others of `kernels` if all have this schedule.

    The kernels differ in constant extents alone, and the schedule is legal for `chosen`. It is then legal for each of
    the result, since it is legal for any extents of their factors. Returns None if the pass would leave `chosen`
    unchanged.
    """
    least = max(_least_of(chosen, schedule.data, LEAST), LEAST_COSTLY)
    groups = _with_equal_constants(kernels, schedule.data) if len(kernels) >= least else list[list[_Kernel]]()
    group = next((group for group in groups if any(kernel.function is chosen for kernel in group)), list[_Kernel]())
    if len(group) < least:
        return None
    try:
        return _merged(group, schedule)
    except ScheduleError:
        return None


@dataclass(frozen=True)
class _Kernel:
    """A kernel, its constant extents in the order of its text, and the number by which each must be divisible."""

    function: func.FuncOp
    extents: Sequence[int]
    factors: Sequence[int]


def _groups(module: ModuleOp, merged: Sequence[MergedKernels]) -> list[list[_Kernel]]:
    """Returns the kernels that may be replaced, those that differ in constant extents alone together.

    The first of each of `merged` stands for all of its kernels.
    """
    represented = {each.kernels[0]: each.kernels for each in merged}
    others = {kernel for each in merged for kernel in each.kernels[1:]}
    kernels = [
        kernel
        for kernel in _unversioned(module)
        if isinstance(kernel.attributes.get(SCHEDULE), ScheduleAttr) and kernel not in others
    ]
    groups: list[list[_Kernel]] = []
    for alike in kernels_by_structure(kernels):
        group = [kernel for first in alike for kernel in represented.get(first, (first,))]
        if len(group) > 1:
            groups += _with_equal_constants(group, _schedule_of(group[0]))
    return groups


def _unversioned(module: ModuleOp) -> list[func.FuncOp]:
    """Returns the kernels whose callers are known, and that neither have versions nor are versions."""
    found = kernels_of(module)
    versions = versions_by_kernel(found)
    return [
        kernel
        for kernel in found
        if kernel.sym_visibility == _PRIVATE
        and VERSION not in kernel.attributes
        and kernel.sym_name.data not in versions
    ]


def _schedule_of(kernel: func.FuncOp) -> Sequence[SchedulePrimitive]:
    schedule = kernel.attributes[SCHEDULE]
    assert isinstance(schedule, ScheduleAttr), "see _groups"
    return schedule.data


def _with_equal_constants(kernels: Sequence[func.FuncOp], schedule: Sequence[SchedulePrimitive]) -> list[list[_Kernel]]:
    """Returns kernels that differ in constant extents alone in groups; those of a group differ in no other extents.

    `schedule` is that of all of them.
    """
    factors, free = _split_factors(kernels[0], schedule), _free_loops(kernels[0], schedule)
    groups: dict[tuple[int | None, ...], list[_Kernel]] = {}
    for kernel in kernels:
        found: list[tuple[int, int]] = []
        constants: list[int | None] = []
        for part in sized_parts(kernel):
            factor, may_vary = 1, True
            if isinstance(part, ForOp):
                factor, may_vary = factors.get(part.loop_name, 1), part.loop_name in free
            for extent in static_sizes(part):
                found.append((extent, factor))
                constants.append(None if may_vary and extent > 1 and extent % factor == 0 else extent)
        own = _Kernel(kernel, [extent for extent, _ in found], [factor for _, factor in found])
        groups.setdefault(tuple(constants), []).append(own)
    return list(groups.values())


def _split_factors(kernel: func.FuncOp, schedule: Sequence[SchedulePrimitive]) -> dict[str, int]:
    """Returns the product of the factors by which each loop, and then its outer loop, is split or tensorized.

    If `cache_write` creates a loop over the same elements, the number is a multiple of the product of that loop, too.
    """
    factors: dict[str, int] = {}
    origins: dict[str, str] = {}
    copied: dict[str, str] = {}
    for step in schedule:
        if isinstance(step, CacheWrite):
            copied |= _copied_loops(kernel, step)
        if isinstance(step, Split):
            origin = origins.get(step.loop, step.loop)
            factors[origin] = factors.get(origin, 1) * step.factor
            origins[step.names[0] if step.names else f"{step.loop}_o"] = origin
        elif isinstance(step, Tensorize) and (product := find_tile_product(step.instruction)) is not None:
            origin = origins.get(step.loop, step.loop)
            factors[origin] = factors.get(origin, 1) * product.steps
    for created, loop in copied.items():
        factors[loop] = lcm(factors.get(loop, 1), factors.get(created, 1))
    return factors


def _copied_loops(kernel: func.FuncOp, step: CacheWrite) -> Iterator[tuple[str, str]]:
    """Yields the loops of the copy that `cache_write` creates, each with the loop of the block that it copies."""
    block = blocks_of(kernel).get(step.block)
    if block is None or not block.writes:
        return
    for number, position in enumerate(common_positions(block, block.writes, step)):
        binding = None if position is None else block.bindings[position]
        loops = [loop for value in binding.operands if (loop := loop_of_index(value)) is not None] if binding else []
        name = step.names[number] if step.names else f"{step.block}_write_{number}"
        yield from ((name, loop.loop_name) for loop in loops)


def _free_loops(kernel: func.FuncOp, steps: Sequence[SchedulePrimitive]) -> set[str]:
    """Returns the loops whose extents may become values; see the pass."""
    blocks = blocks_of(kernel)
    at_tiles = [blocks[step.block] for step in steps if isinstance(step, ComputeAt) and step.block in blocks]
    moved = {loop for block in at_tiles for loop in enclosing_loops(block)}
    rolled = {step.loop for step in steps if isinstance(step, DisableUnroll)}
    harmless = (Split, Reorder, Fuse, Parallelize, DisableUnroll, Prefetch, ComputeAt, Tensorize)
    bound = {name for step in steps if not isinstance(step, harmless) for name in _names_in(step)}
    free: set[str] = set()
    reduced = {index for block in blocks.values() for index in reduced_indices(block)}
    for loop in ops_of(kernel, ForOp):
        is_reduced = loop.index in reduced
        may_vary = loop.loop_name in rolled if is_reduced else loop in moved or loop.loop_name not in bound
        free |= {loop.loop_name} if may_vary else set()
    return free


def _names_in(step: SchedulePrimitive) -> Iterator[str]:
    """Yields the names of loops and blocks in a primitive."""
    for each in fields(step):
        value: Value = getattr(step, each.name)
        yield from (name for name in (value if isinstance(value, tuple) else (value,)) if isinstance(name, str))


def _content(kernel: func.FuncOp, keys: OpKeys) -> list[Hashable]:
    """Returns the parts of a key that kernels share if their bodies differ in constant extents and names alone."""
    arguments = kernel.body.block.args
    # By `id`: the hash of a value is a method in Python, and all values exist until the end.
    numbers = {id(argument): number for number, argument in enumerate(arguments)}
    parts: list[Hashable] = [keys.of_opened(argument.type) for argument in arguments]
    for op in ops_in(kernel.body.block):
        properties = op.properties
        if not _EXTENTS.isdisjoint(properties):
            properties = {name: value for name, value in properties.items() if name not in _EXTENTS}
        parts += (op.name, keys.of_attributes(properties), keys.of_attributes(op.attributes))
        parts.append(tuple([numbers.get(id(operand), operand) for operand in op.operands]))
        if type(op) is BlockOp:  # faster than `isinstance`, which asks every base of a class
            parts.append(tuple([extent if extent == DYNAMIC else isinstance(extent, int) for extent in op.extents]))
        for region in op.regions:
            for block in region.blocks:
                parts += (len(block.ops), len(block.args))
                for argument in block.args:
                    numbers[id(argument)] = len(numbers)
        for result in op.results:
            numbers[id(result)] = len(numbers)
            parts.append(keys.of_opened(result.type))
    return parts


def _replace(
    group: Sequence[_Kernel], known: MergedKernels | None, calls: Mapping[str, list[func.CallOp]], remarks: Remarks
) -> MergedKernels | None:
    """Replaces the kernels of a group by one whose varying extents are arguments, if its schedule stays legal.

    Returns this kernel; `known` is it, if it has been made before.
    """
    first = group[0].function
    try:
        merged = _merged(group, ScheduleAttr(_schedule_of(first))) if known is None else known
    except ScheduleError as error:
        remarks.refused(first, f"{len(group)} kernels differ in extents alone, but {error.message}")
        return None
    attributes = {name: value for name, value in first.attributes.items() if name != LOOP_DIMS}
    merged.kernel.attributes = {**attributes, SCHEDULE: merged.schedule}
    Rewriter.replace_op(first, merged.kernel, [])
    for number, kernel in enumerate(merged.kernels):
        sizes = [column[number] for column in merged.sizes]
        for call in calls.get(kernel.sym_name.data, ()):
            _redirect(call, merged.kernel, sizes)
        if kernel is not first:
            add_sources(merged.kernel, kernel)
            Rewriter.erase_op(kernel)
    remarks.applied(merged.kernel, f"replaces {len(group)} kernels that differ in extents alone")
    return merged


def _merged(group: Sequence[_Kernel], schedule: ScheduleAttr) -> MergedKernels:
    """Returns the kernel that replaces a group; raises `ScheduleError` if the schedule is not legal for it."""
    opened, sizes = _opened(group)
    scheduled, legal = _schedule_legally(opened, schedule.data)
    return MergedKernels([kernel.function for kernel in group], opened, scheduled, sizes, ScheduleAttr(legal))


def _opened(group: Sequence[_Kernel]) -> tuple[func.FuncOp, Sequence[tuple[int, ...]]]:
    """Returns a kernel that replaces a group, and for each argument that it adds the extents of all kernels."""
    first, columns = group[0], list(zip(*(kernel.extents for kernel in group), strict=True))
    factors: dict[tuple[int, ...], int] = {}
    for column, factor in zip(columns, first.factors, strict=True):
        if len(set(column)) > 1:
            factors[column] = lcm(factors.get(column, 1), factor)
    return _with_arguments(first.function, columns, factors), list(factors)


def _with_arguments(
    kernel: func.FuncOp, columns: Sequence[tuple[int, ...]], factors: Mapping[tuple[int, ...], int]
) -> func.FuncOp:
    """Returns a copy of a kernel in which the extents of the columns in `factors` are arguments."""
    opened = copy(kernel)
    count = len(factors)
    names = [f"size{number}" for number in range(count)]
    arguments = insert_arguments(opened, len(opened.body.block.args), [IndexType()] * count, names)
    given: dict[tuple[int, ...], SSAValue] = dict(zip(factors, arguments, strict=True))
    rounded = {column: _rounded(opened, given[column], factor) for column, factor in factors.items()}
    chosen = [
        given if isinstance(part, SSAValue) else rounded for part in sized_parts(kernel) for _ in static_sizes(part)
    ]
    pairs = zip(columns, chosen, strict=True)
    replace_sizes(opened, (values.get(column, column[0]) for column, values in pairs))
    return opened


def _schedule_legally(
    kernel: func.FuncOp, fused: Sequence[SchedulePrimitive]
) -> tuple[func.FuncOp, Sequence[SchedulePrimitive]]:
    """Returns a copy of a kernel with a schedule without fused parallel loops, or if that is not legal, with them.

    The second result is the schedule. Raises `ScheduleError` if neither is legal.
    """
    unfused = _unfused(fused)
    try:
        return apply_schedule(copy(kernel), unfused).kernel, unfused
    except ScheduleError:
        return apply_schedule(copy(kernel), fused).kernel, fused


def _unfused(steps: Sequence[SchedulePrimitive]) -> list[SchedulePrimitive]:
    """Returns a schedule with several parallel loops instead of a fused one: `fuse` needs constant extents.

    `convert-loop-to-scf` distributes the iterations of a nest of parallel loops like those of the fused loop.
    """
    fused: dict[str, Fuse] = {step.name: step for step in steps if isinstance(step, Fuse) and step.name is not None}
    named = {name for step in steps if not isinstance(step, Fuse | Parallelize) for name in _names_in(step)}
    found: list[SchedulePrimitive] = []
    for step in reversed(steps):
        if isinstance(step, Parallelize) and step.loop in fused and step.loop not in named:
            pending: list[str] = [step.loop]
            while pending:
                if (loop := pending.pop()) in fused and loop not in named:
                    pending += (fused[loop].outer, fused[loop].inner)
                    del fused[loop]
                else:
                    found.append(Parallelize(loop))
        elif not isinstance(step, Fuse) or step.name is None or step.name in fused:
            found.append(step)
    return found[::-1]


def _rounded(kernel: func.FuncOp, size: SSAValue, factor: int) -> SSAValue:
    """Returns a value that is `size`, from whose definition it follows that it is a multiple of `factor`."""
    multiple = extent_value(kernel, ValueMap(((dim(0) // factor) * factor,), (size,)), "multiple")
    assert isinstance(multiple, SSAValue), "it depends on the argument"
    return multiple


def _redirect(call: func.CallOp, kernel: func.FuncOp, sizes: Sequence[int]) -> None:
    """Replaces a call by one of `kernel`, with these sizes as its last arguments."""
    ops: list[Operation] = []
    operands: list[SSAValue] = []
    for operand, argument in zip(call.arguments, kernel.body.block.args, strict=False):
        if operand.type != argument.type and isinstance(argument.type, MemRefType):
            ops.append(cast := memref.CastOp.get(operand, argument.type))
            operand = cast.dest
        operands.append(operand)
    constants = [index_constant(size) for size in sizes]
    new = func.CallOp(kernel.sym_name.data, [*operands, *(each.result for each in constants)], [])
    new.attributes, new.location = call.attributes, call.location
    Rewriter.replace_op(call, [*ops, *constants, new], [])
