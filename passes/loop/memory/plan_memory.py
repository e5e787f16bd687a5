"""`loop-plan-memory`: assigns every intermediate buffer of `@main` an offset in one arena at compile time.

`@main` consists of calls of kernels, with branches and loops between them. The lifetime of a buffer extends from the
first to the last op that uses it (or a view of it), in text order, and over all of a loop in which it is used but not
allocated. Buffers with disjoint lifetimes share memory. All operands of an op are alive at it, so two operands of a
call overlap only if they are the same buffer, for example after `loop-compute-in-place`. So an argument of a kernel is
marked `llvm.noalias` if no call passes the same buffer for another argument.

Buffers that a kernel allocates at the top of its body, and buffers of static size in loops that are not parallel,
become trailing arguments of the kernel (counted by `loop.num_scratch`), which `@main` provides from the arena, so that
a running model allocates no memory. They precede the extents among the kernel's arguments.

If `@main` binds names, the function `@main_plan` computes its memory needs from the sizes of the names:

```
func.func @main_plan(%sizes: memref<6xi64>, %n: index {xrelay.dim = "n"})
```

writes to `%sizes` the bytes of the arena, then the dynamic extents of the outputs, in order, then upper bounds of the
bytes that a run needs in addition to the arena, as far as they are known (`memory_needs.py`): for dynamic buffers, for
kernels, and for kernels per thread; bounds are capped at 2^61. It asserts the same conditions on names as `@main`, so a
caller that calls it first detects invalid sizes without a call of `@main`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i8,
    i64,
)
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop.signature import PLAN, dim_arguments, dim_names, output_arguments
from xrelay.dialects.shared.attribute_names import ARENA, DIM, LOOP_DIMS, LOOP_KERNEL, TAKES_SCRATCH
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.op_lists import calls_by_callee
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.errors import PassError
from xrelay.index_algebra.dim_expressions import as_dim, terms_of
from xrelay.index_algebra.dims import Dim, DimExpr
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.dim_code import DimCode
from xrelay.passes.loop.memory.arena import Lifetime, assign_offsets, emit_arena, real_number, real_product, request_of
from xrelay.passes.loop.memory.buffer_size import element_bytes, known_bytes
from xrelay.passes.loop.memory.hoist_scratch import hoist_kernel_scratch, hoist_scratch
from xrelay.passes.loop.memory.lifetimes import free_dynamic_buffers, lifetimes_in
from xrelay.passes.loop.memory.memory_needs import MAX_BYTES, MemoryNeeds, memory_needs, note_heap, write_needs
from xrelay.passes.loop.memory.noalias import check_noalias, mark_noalias
from xrelay.passes.loop.nest_queries import buffers_on_stack
from xrelay.passes.loop.signature import argument_attrs, insert_arguments, set_argument_attrs

MAX_ARENA = (1 << 63) - 1
"""The largest arena in bytes: offsets are signed 64-bit numbers."""


@dataclass(frozen=True)
class LoopPlanMemoryPass(XRelayPass):
    """Replaces the allocations of `@main` by views into an arena, a new last argument of `@main`.

    Before → after:

    ```
    func.func @main(%x: T, %y: T) {            func.func @main(%x: T, %y: T, %arena: memref<4096xi8> {loop.arena}) {
      %t = memref.alloc() : T                    %c0 = arith.constant 0 : index
      func.call @k(%x, %t) : (T, T) -> ()  →     %t = memref.view %arena[%c0][] : memref<4096xi8> to T
      func.call @k(%t, %y) : (T, T) -> ()        func.call @k(%x, %t) : (T, T) -> ()
    ```

    and `func.func private @k(%a: T, %b: T)` gets `llvm.noalias` on both arguments. A function that `@main` calls and
    that is not a kernel gets one allocation for all of its buffers of known size: its frame.

    If trailing arguments of `@main` are the sizes of names (`%n: index {xrelay.dim = "n"}`), offsets are computed from
    them at run time, the arena precedes the names, and the function `@main_plan` is added, which computes the size of
    the arena.

    Buffers remain dynamic allocations if their dynamic extents are not constants and are not computed from names at the
    start of `@main`, or if they are returned or yielded by a region. Each of them gets a `memref.dealloc` after its
    last use, unless its ownership is transferred (see `lifetimes.py`).

    A kernel in a module of its own has the attribute `loop.takes_scratch` if callers provide all its memory. Raises
    `PassError` if a call passes overlapping buffers to a kernel declaration with `llvm.noalias` on these arguments.

    The memory needed in addition to the arena is recorded too, see `memory_needs.py`: `loop.heap` of a kernel has its
    allocations, `loop.needs` of `@main` the needs of its dynamic buffers and kernels, and the allocations without a
    bound.

    Modules without `@main`, or whose `@main` has an arena, are left unchanged. Raises `PassError` if `@main` has
    several blocks.
    """

    name = "loop-plan-memory"
    numerics = EXACT

    alignment: int = field(default=64, metadata={"help": "every buffer begins at a multiple of this many bytes"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plans the module in place."""
        plan_memory(op, self.alignment)


def plan_memory(module: ModuleOp, alignment: int = 64) -> None:
    """Runs `loop-plan-memory` on `module` in place.

    Raises `PassError` if `@main` has several blocks or `alignment` is not a power of two.
    """
    if alignment < 1 or alignment & (alignment - 1):
        raise PassError(f"loop-plan-memory: alignment is {alignment}, it must be a power of two")
    named = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    functions = {name: f for name, f in named.items() if not f.is_declaration}
    declared = {name: f for name, f in named.items() if f.is_declaration and LOOP_KERNEL in f.attributes}
    calls = calls_by_callee(module)
    main = functions.get("main")
    if main is not None and len(main.body.blocks) != 1:
        raise PassError(f"loop-plan-memory: @main has {len(main.body.blocks)} blocks, it must have one")
    is_planned = main is None or any(ARENA in attributes for attributes in argument_attrs(main))
    arena_size = None
    if main is not None and not is_planned:
        hoist_scratch(main, functions, calls)
        if dim_names(main):
            arena_size = _place_by_names(main, alignment)
        else:
            _place_buffers(main, alignment, in_arena=True)
    for function in functions.values():
        if LOOP_KERNEL in function.attributes:
            if TAKES_SCRATCH in function.attributes:
                hoist_kernel_scratch(function)
            note_heap(function)
        elif function is not main and len(function.body.blocks) == 1:
            _place_buffers(function, alignment, in_arena=False)
    if main is not None and not is_planned:
        needs = memory_needs(main, named)
        write_needs(main, needs)
        if arena_size is not None:
            _add_plan_function(module, main, arena_size, needs)
    mark_noalias(functions, calls, main)
    check_noalias(declared, calls, main)


# --- places in the arena


class _BuffersToPlace(NamedTuple):
    """The allocations of a function that get a place in one buffer, their lifetimes, and the other allocations."""

    allocs: list[memref.AllocOp]
    lives: list[tuple[int, int]]
    left: list[memref.AllocOp]


def _buffers_to_place(function: func.FuncOp, has_size: Callable[[memref.AllocOp], bool]) -> _BuffersToPlace:
    lives, on_stack = lifetimes_in(function.body.block), buffers_on_stack(function)
    allocs = [op for op in walk_ops(function) if isinstance(op, memref.AllocOp) and op not in on_stack]
    wanted = [op for op in allocs if has_size(op) and op.memref not in lives.given]
    spans = [(lives.first.get(op.memref, 0), lives.last.get(op.memref, 0)) for op in wanted]
    placed = set(wanted)
    return _BuffersToPlace(wanted, spans, [op for op in allocs if op not in placed])


def _place_buffers(function: func.FuncOp, alignment: int, *, in_arena: bool) -> None:
    """Replaces the allocations of known size of a function by views into one buffer.

    This is a new last argument of `main`, or else an allocation for several buffers, the frame of the function.
    """
    wanted = _buffers_to_place(function, lambda op: known_bytes(op) is not None)
    sizes = [known_bytes(op) or 0 for op in wanted.allocs]
    plan = assign_offsets([Lifetime(size, *life) for size, life in zip(sizes, wanted.lives, strict=True)], alignment)
    if plan.size > MAX_ARENA:
        raise PassError(
            f"loop-plan-memory: the buffers of @main need {plan.size} bytes, an arena can have {MAX_ARENA}",
            help="use smaller shapes in the model",
        )
    if in_arena or len(sizes) > 1:
        start = InsertPoint.at_start(function.body.block)
        if in_arena:
            arena: SSAValue = _add_arena(function, len(function.body.block.args), plan.size)
        else:
            frame = memref.AllocOp([], [], buffer_type(i8, [plan.size]))
            Rewriter.insert_op(frame, start)
            arena = frame.memref
            arena.name_hint = "frame"
            start = InsertPoint.after(frame)
        constants = {n: arith.ConstantOp.from_int_and_width(n, IndexType()) for n in sorted({*plan.offsets})}
        Rewriter.insert_op(list(constants.values()), start)
        _replace_by_views(arena, wanted.allocs, [constants[offset].result for offset in plan.offsets])
    free_dynamic_buffers(function, wanted.left)


def _place_by_names(main: func.FuncOp, alignment: int) -> SSAValue:
    """Like `_place_buffers`, for a `main` that computes offsets from its names; returns the bytes of the arena."""
    block = main.body.block
    start = InsertPoint.at_start(block)
    order: dict[SSAValue, int] = {value: number for number, value in enumerate(block.args)}
    for op in block.ops:
        if not _is_shape_code(op):
            start = InsertPoint.before(op)
            break
        order.update((result, len(order)) for result in op.results)
    wanted = _buffers_to_place(
        main, lambda op: element_bytes(op.memref.type) is not None and order.keys() >= set(op.dynamic_sizes)
    )
    requests = [request_of(op, alignment, order, life) for op, life in zip(wanted.allocs, wanted.lives, strict=True)]
    arena = _add_arena(main, len(block.args) - len(dim_names(main)), DYNAMIC_INDEX)
    offsets, size = emit_arena(requests, Builder(start))
    _replace_by_views(arena, wanted.allocs, offsets)
    free_dynamic_buffers(main, wanted.left)
    return size


def _add_arena(main: func.FuncOp, place: int, size: int) -> BlockArgument:
    """Adds an argument to `main` for an arena of `size` bytes."""
    (arena,) = insert_arguments(main, place, [buffer_type(i8, [size])], ["arena"])
    attrs = argument_attrs(main)
    attrs[place][ARENA] = UnitAttr()
    set_argument_attrs(main, attrs)
    return arena


def _replace_by_views(arena: SSAValue, allocs: Sequence[memref.AllocOp], places: Sequence[SSAValue]) -> None:
    """Replaces each allocation by a view at its offset and erases its deallocations."""
    for alloc, place in zip(allocs, places, strict=True):
        result = alloc.memref
        for use in [use for use in result.uses if isinstance(use.operation, memref.DeallocOp)]:
            Rewriter.erase_op(use.operation)
        view = memref.ViewOp(arena, place, list(alloc.dynamic_sizes), result.type)
        view.result.name_hint = result.name_hint
        Rewriter.replace_op(alloc, view)


def _add_plan_function(module: ModuleOp, main: func.FuncOp, arena_size: SSAValue, needs: MemoryNeeds) -> None:
    """Adds `@main_plan` to a module whose `@main` computes `arena_size` from its names by ops of arith."""
    names = dim_names(main)
    extents = _dynamic_extents(main)
    beside = needs.sizes.values()
    block = Block(arg_types=[MemRefType(i64, [1 + len(extents) + len(beside)]), *[IndexType()] * len(names)])
    for argument, hint in zip(block.args, ("sizes", *names), strict=True):
        argument.name_hint = hint
    builder = Builder(InsertPoint.at_end(block))
    copies: dict[SSAValue, SSAValue] = dict(zip(dim_arguments(main), block.args[1:], strict=True))
    for op in _shape_code(main.body.block, arena_size):
        builder.insert(op.clone(copies))
    code = DimCode(dict(zip(names, block.args[1:], strict=True)), builder)
    sizes = [copies[arena_size], *map(code.value, extents), *(_at_most(dim, code, builder) for dim in beside)]
    for place, value in enumerate(sizes):
        _store(builder, value, block.args[0], place)
    builder.insert(func.ReturnOp())
    plan = func.FuncOp(PLAN, (list(block.arg_types), []), Region(block))
    set_argument_attrs(plan, [{}, *({DIM: StringAttr(name)} for name in names)])
    module.body.block.add_op(plan)


def _dynamic_extents(main: func.FuncOp) -> list[DimExpr]:
    """The dynamic extents of the outputs, in order."""
    outputs = set(output_arguments(main))
    rows = zip(main.body.block.args, argument_attrs(main), strict=True)
    named = [attrs.get(LOOP_DIMS) for argument, attrs in rows if argument in outputs]
    return [dim for dims in named if isinstance(dims, DimsAttr) for dim in dims.data]


def _at_most(size: Dim, code: DimCode, builder: Builder) -> SSAValue:
    """Emits a sum of products of names as an `i64` capped at `MAX_BYTES`; computed in f64, which cannot overflow."""
    total = real_number(builder, 0)
    for monomial, factor in terms_of(size).items():
        term = real_product(builder, factor, (code.value(as_dim(atom)) for atom in monomial))
        total = builder.insert(arith.AddfOp(total, term)).result
    capped = builder.insert(arith.MinimumfOp(total, real_number(builder, MAX_BYTES)))
    return builder.insert(arith.FPToSIOp(capped.result, i64)).result


def _store(builder: Builder, value: SSAValue, sizes: SSAValue, place: int) -> None:
    index = builder.insert(arith.ConstantOp(IntegerAttr(place, IndexType())))
    number = value if value.type == i64 else builder.insert(IndexCastOp(value, i64)).result
    builder.insert(memref.StoreOp.get(number, sizes, [index]))


def _shape_code(block: Block, wanted: SSAValue) -> Sequence[Operation]:
    """The ops that compute `wanted`, and the assertions that depend only on the names, in order."""
    names = {argument for argument in block.args if isinstance(argument.type, IndexType)}
    known: set[SSAValue] = set(names)
    computed: list[Operation] = []
    for op in block.ops:
        if _is_shape_code(op) and known.issuperset(op.operands):
            known.update(op.results)
            computed.append(op)
    needed = _needed_by([wanted, *(op.operands[0] for op in computed if isinstance(op, cf.AssertOp))])
    return [op for op in computed if op in needed or isinstance(op, cf.AssertOp)]


def _is_shape_code(op: Operation) -> bool:
    """Whether an op between calls computes extents or asserts a condition on them."""
    return isinstance(op, cf.AssertOp) or op.dialect_name() == arith.Arith.name


def _needed_by(values: Iterable[SSAValue]) -> set[Operation]:
    """The ops that `values` depend on."""
    needed: set[Operation] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, OpResult) and value.op not in needed:
            needed.add(value.op)
            pending += value.op.operands
    return needed
