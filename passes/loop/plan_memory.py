"""`loop-plan-memory`: every intermediate buffer of `@main` gets its place in one arena, decided when compiling.

`@main` is straight-line code, so the lifetime of a buffer is the span from the first to the last operation that uses
it (or a view of it). Buffers whose lifetimes do not meet share space; an operation's operands are all alive at it, so
nothing is computed in place and no two operands of a call overlap unless they are the same buffer. That is also what
lets kernel arguments be marked `llvm.noalias`: an argument is marked when at every call its buffer is no other
argument's buffer.

Buffers that a kernel allocates for itself at the top of its body become trailing arguments of the kernel (counted by
`loop.num_scratch`), which `@main` provides from the arena: a running model allocates nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    UnitAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.attribute_names import ARENA, NOALIAS, NUM_SCRATCH
from xrelay.dialects.loop import WeightOp
from xrelay.errors import PassError
from xrelay.passes.loop.arena import Lifetime, assign_offsets
from xrelay.passes.loop.signature import argument_attrs, insert_arguments, set_argument_attrs

INDEX_BYTES = 8
MAX_ARENA = (1 << 63) - 1
"""Bytes of the largest arena: places in it are signed numbers of 64 bits."""
Buffer = SSAValue | Attribute
"""The name of a piece of memory: the value that made it, or for weights the weight itself."""


@dataclass(frozen=True)
class PlannedBuffer:
    """One row of the plan: steps are positions of operations in `@main`."""

    name: str
    type: str
    size: int
    first: int
    last: int
    offset: int


@dataclass(frozen=True)
class MemoryStatistics:
    """The result of planning: its buffers, the arena's size in bytes, and how many buffers it had to leave alone."""

    buffers: tuple[PlannedBuffer, ...]
    arena_size: int
    unplanned: int

    @property
    def total_size(self) -> int:
        """Bytes that the planned buffers would take if none shared space."""
        return sum(buffer.size for buffer in self.buffers)

    def table(self) -> str:
        """The plan as text, one buffer a line, the largest first, and a last line with the sums."""
        rows = [
            f"{b.size:>12} bytes at {b.offset:>12}, steps {b.first:>5} to {b.last:>5}  {b.name} : {b.type}"
            for b in sorted(self.buffers, key=lambda b: (-b.size, b.first))
        ]
        share = f"{self.arena_size / self.total_size:.0%}" if self.total_size else "100%"
        rows.append(
            f"{len(self.buffers)} buffers, {self.total_size} bytes in an arena of {self.arena_size} bytes ({share})"
            f"; {self.unplanned} not planned"
        )
        return "\n".join(rows)


@dataclass(frozen=True)
class LoopPlanMemoryPass(ModulePass):
    """Replaces the allocations of `@main` by views into an arena, `@main`'s new last argument.

    Before → after:

    ```
    func.func @main(%x: T, %y: T) {            func.func @main(%x: T, %y: T, %arena: memref<4096xi8> {loop.arena}) {
      %t = memref.alloc() : T                    %c0 = arith.constant 0 : index
      func.call @k(%x, %t) : (T, T) -> ()  →     %t = memref.view %arena[%c0][] : memref<4096xi8> to T
      func.call @k(%t, %y) : (T, T) -> ()        func.call @k(%x, %t) : (T, T) -> ()
    ```

    and `func.func private @k(%a: T, %b: T)` gets `llvm.noalias` on both arguments. Left alone: buffers of dynamic
    shape, buffers that `@main` returns, modules without `@main`, and those whose `@main` has an arena. `PassError` if
    `@main` has several blocks.
    """

    name = "loop-plan-memory"

    alignment: int = field(default=64, metadata={"help": "every buffer begins at a multiple of this many bytes"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plans the module in place."""
        plan_memory(op, self.alignment)


def plan_memory(module: ModuleOp, alignment: int = 64) -> MemoryStatistics:
    """Runs `loop-plan-memory` on `module` in place and says what came of it.

    `PassError` if `@main` has several blocks or `alignment` is no power of two.
    """
    if alignment < 1 or alignment & (alignment - 1):
        raise PassError(f"loop-plan-memory: alignment is {alignment}, it must be a power of two")
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp) and not f.is_declaration}
    calls: defaultdict[str, list[func.CallOp]] = defaultdict(list)
    for op in module.walk():
        if isinstance(op, func.CallOp):
            calls[op.callee.string_value()].append(op)
    main = functions.get("main")
    statistics = MemoryStatistics((), 0, 0)
    if main is not None:
        if len(main.body.blocks) != 1:
            raise PassError(
                f"loop-plan-memory: @main has {len(main.body.blocks)} blocks, it must be straight-line code"
            )
        if not any(ARENA in attributes for attributes in argument_attrs(main)):
            _hoist_scratch(main, functions, calls)
            statistics = _place_buffers(main, alignment)
    _mark_noalias(functions, calls, main)
    return statistics


# --- what a value points into, and for how long


def _roots(block: Block) -> dict[SSAValue, tuple[Buffer, ...]]:
    """For each memref value of a straight-line block, the buffers that it may point into."""
    roots: dict[SSAValue, tuple[Buffer, ...]] = {arg: (arg,) for arg in block.args}
    for op in block.ops:
        sources = tuple(dict.fromkeys(root for operand in op.operands for root in roots.get(operand, ())))
        for result in op.results:
            if isinstance(op, WeightOp):
                roots[result] = (op.weight,)
            elif isinstance(result.type, MemRefType):
                roots[result] = sources if sources and not _is_place_in_arena(op) else (result,)
    return roots


def _is_place_in_arena(op: Operation) -> bool:
    """Views at constant places of bytes are what this pass makes: buffers of their own, kept apart by the plan."""
    return isinstance(op, memref.ViewOp) and isinstance(op.byte_shift.owner, arith.ConstantOp)


@dataclass(frozen=True)
class _Lifetimes:
    """First and last use of each buffer, as positions in a block, and the buffers that the function returns."""

    first: dict[Buffer, int]
    last: dict[Buffer, int]
    returned: set[Buffer]


def _lifetimes(block: Block) -> _Lifetimes:
    roots = _roots(block)
    lives = _Lifetimes({}, {}, set())
    for step, op in enumerate(block.ops):
        for root in (r for inner in op.walk() for operand in inner.operands for r in roots.get(operand, ())):
            lives.first.setdefault(root, step)
            lives.last[root] = step
            if isinstance(op, func.ReturnOp):
                lives.returned.add(root)
    return lives


# --- places in the arena


def _byte_size(type: Attribute) -> int | None:
    """Bytes of a buffer of this type; None where only running the program tells, or where a view cannot make it."""
    if not isinstance(type, MemRefType) or DYNAMIC_INDEX in type.get_shape():
        return None
    if not isinstance(type.layout, NoneAttr) or not isinstance(type.memory_space, NoneAttr):
        return None
    element = type.element_type
    if isinstance(element, IndexType):
        return INDEX_BYTES * prod(type.get_shape())
    return element.size * prod(type.get_shape()) if isinstance(element, FixedBitwidthType) else None


def _place_buffers(main: func.FuncOp, alignment: int) -> MemoryStatistics:
    """Replaces the allocations of `main` by views into a new last argument."""
    block = main.body.block
    lives = _lifetimes(block)
    allocs = [op for op in block.ops if isinstance(op, memref.AllocOp)]
    planned: list[memref.AllocOp] = []
    requests: list[Lifetime] = []
    for op in allocs:
        size = _byte_size(op.memref.type)
        if size is not None and op.memref not in lives.returned:
            planned.append(op)
            requests.append(Lifetime(size, lives.first.get(op.memref, 0), lives.last.get(op.memref, 0)))
    plan = assign_offsets(requests, alignment)
    if plan.size > MAX_ARENA:
        raise PassError(
            f"loop-plan-memory: the buffers of @main need {plan.size} bytes, an arena can have {MAX_ARENA}",
            help="give the model smaller shapes",
        )
    rows = tuple(
        PlannedBuffer(op.memref.name_hint or "buffer", str(op.memref.type), life.size, life.first, life.last, offset)
        for op, life, offset in zip(planned, requests, plan.offsets, strict=True)
    )
    (arena,) = insert_arguments(main, len(block.args), [MemRefType(i8, [plan.size])], ["arena"])
    attrs = argument_attrs(main)
    attrs[-1][ARENA] = UnitAttr()
    set_argument_attrs(main, attrs)
    _replace_by_views(arena, planned, plan.offsets)
    return MemoryStatistics(rows, plan.size, len(allocs) - len(planned))


def _replace_by_views(arena: BlockArgument, allocs: Sequence[memref.AllocOp], offsets: Sequence[int]) -> None:
    """Each allocation → a view at its offset; its deallocations go. Equal offsets share one constant."""
    constants = {offset: arith.ConstantOp.from_int_and_width(offset, IndexType()) for offset in sorted({*offsets})}
    if constants:
        Rewriter.insert_op(list(constants.values()), InsertPoint.at_start(arena.block))
    for alloc, offset in zip(allocs, offsets, strict=True):
        result = alloc.memref
        for use in [use for use in result.uses if isinstance(use.operation, memref.DeallocOp)]:
            Rewriter.erase_op(use.operation)
        view = memref.ViewOp(arena, constants[offset], [], result.type)
        view.result.name_hint = result.name_hint
        Rewriter.replace_op(alloc, view)


# --- buffers inside kernels


def _hoist_scratch(main: func.FuncOp, functions: Mapping[str, func.FuncOp], calls: Mapping[str, list[func.CallOp]]):
    """Buffers allocated at the top of a kernel that only `main` calls → arguments that `main` allocates."""
    for name, sites in calls.items():
        kernel = functions.get(name)
        if kernel is None or kernel is main or len(kernel.body.blocks) != 1:
            continue
        if any(site.parent is not main.body.block for site in sites):
            continue
        allocs = [op for op in kernel.body.block.ops if isinstance(op, memref.AllocOp)]
        scratch = [op for op in allocs if _byte_size(op.memref.type) is not None]
        if scratch:
            types = [op.memref.type for op in scratch]
            names = [op.memref.name_hint for op in scratch]
            _allocations_to_arguments(kernel, scratch)
            calls[name][:] = [_pass_scratch(site, types, names) for site in sites]


def _allocations_to_arguments(kernel: func.FuncOp, scratch: Sequence[memref.AllocOp]) -> None:
    """Replaces the allocations `scratch` of `kernel` by new last arguments."""
    types = [op.memref.type for op in scratch]
    new = insert_arguments(kernel, len(kernel.body.block.args), types, [op.memref.name_hint for op in scratch])
    for op, argument in zip(scratch, new, strict=True):
        for use in [use for use in op.memref.uses if isinstance(use.operation, memref.DeallocOp)]:
            Rewriter.erase_op(use.operation)
        op.memref.replace_all_uses_with(argument)
        Rewriter.erase_op(op)
    kernel.attributes[NUM_SCRATCH] = IntegerAttr(len(scratch), i64)


def _pass_scratch(site: func.CallOp, types: Sequence[Attribute], names: Sequence[str | None]) -> func.CallOp:
    """The call with fresh buffers of `types` as additional last operands."""
    allocs = [memref.AllocOp([], [], type) for type in types]
    for op, name in zip(allocs, names, strict=True):
        op.memref.name_hint = name
    call = func.CallOp(site.callee, [*site.arguments, *(op.memref for op in allocs)], site.result_types)
    call.attributes |= site.attributes
    Rewriter.replace_op(site, [*allocs, call], call.results)
    return call


# --- which arguments overlap no other


def _mark_noalias(
    functions: Mapping[str, func.FuncOp], calls: Mapping[str, list[func.CallOp]], main: func.FuncOp | None
) -> None:
    """`llvm.noalias` on each memref argument whose buffer is no other argument's at every call.

    The arguments of `main` are distinct by contract; those of any other caller may overlap, so its callees get no mark.
    """
    roots = _roots(main.body.block) if main is not None else {}
    for name, sites in calls.items():
        kernel = functions.get(name)
        if kernel is None or any(main is None or site.parent is not main.body.block for site in sites):
            continue
        attrs = argument_attrs(kernel)
        for index in _never_shared(sites, roots):
            attrs[index][NOALIAS] = UnitAttr()
        set_argument_attrs(kernel, attrs)


def _never_shared(sites: Sequence[func.CallOp], roots: Mapping[SSAValue, tuple[Buffer, ...]]) -> list[int]:
    """The positions of memref operands that share a buffer with no other operand at any of the calls."""
    shared: set[int] = set()
    for site in sites:
        count = Counter(root for operand in site.arguments for root in roots.get(operand, ()))
        shared.update(i for i, arg in enumerate(site.arguments) if any(count[r] > 1 for r in roots.get(arg, ())))
    positions = range(len(sites[0].arguments))
    return [i for i in positions if i not in shared and isinstance(sites[0].arguments[i].type, MemRefType)]
