"""Rewrites one function of the loop level at the scf level, op by op.

A vectorised loop is written once for all iterations, on vectors, affine index expressions and masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.loop import (
    BlockOp,
    CheckedIndexOp,
    ForOp,
    LoadOp,
    LoopKind,
    RowOp,
    SortOp,
    StoreOp,
    SuppressOp,
    ValueMap,
)
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import MAX_EXTENT, is_index_argument
from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION, LOOP_NOTE, PREFETCH
from xrelay.dialects.shared.levels import level_of, level_of_class
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr
from xrelay.errors import LoweringError
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, load, store
from xrelay.lowering.loop_to_scf.buffers import FlatBuffers, Lanes, LocalLayout, becomes_lanes, layout_of, on_stack
from xrelay.lowering.loop_to_scf.checked_index import write_checked_index
from xrelay.lowering.loop_to_scf.dot_products import write_dot_products
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.first_lane import runs_in_first_lane
from xrelay.lowering.loop_to_scf.lanes import Condition, LaneContext, Mask, both, compare, invert, is_vector, splat
from xrelay.lowering.loop_to_scf.loops import (
    Changes,
    bound_trip_count,
    can_exit_early,
    delinearize,
    holds_unrolled,
    is_long,
    only_parallel_loop,
    parallel_nest,
    product,
)
from xrelay.lowering.loop_to_scf.prefetch import write_prefetch
from xrelay.lowering.loop_to_scf.row_writer import RowWriter
from xrelay.lowering.loop_to_scf.select_first import SelectWriter
from xrelay.lowering.loop_to_scf.sort import SortWriter
from xrelay.lowering.loop_to_scf.suppress import SuppressWriter
from xrelay.lowering.loop_to_scf.tile_products import TileWriter
from xrelay.lowering.loop_to_scf.transposed_tiles import TransposedTile, load_columns, square_of, tile_of
from xrelay.lowering.loop_to_scf.values import Values, as_expression, elementwise, logic
from xrelay.passes.graph.remarks import Remarks
from xrelay.passes.infra.conversion import dispose
from xrelay.passes.loop.nest_queries import buffers_on_stack, is_local
from xrelay.target.instructions import TileProduct

UNROLL_FULL, UNROLL_DISABLE = LoopAnnotationAttr.unroll_full(), LoopAnnotationAttr.unroll_disable()


class KernelWriter:
    """The state of rewriting one function. The entry point is `write`."""

    _changes: Changes | None

    def __init__(self, tile_products: Sequence[TileProduct], remarks: Remarks) -> None:
        self._emitter = Emitter()
        self._values = Values(self._emitter)
        self._flat = FlatBuffers(self._emitter, self._values)
        self._layouts = dict[SSAValue, LocalLayout]()
        self._waiting = dict[ForOp, list[memref.AllocOp]]()
        self._on_stack = set[memref.AllocOp]()
        self._loaded = dict[LoadOp, SSAValue]()
        self._in_parallel, self._changes = False, None
        self._tiles: TileWriter | None = None
        if tile_products:
            self._tiles = TileWriter(tile_products, self._values, self._emitter, remarks)

    def write(self, function: func.FuncOp) -> None:
        """Replaces the body of `function`."""
        old = function.body.block
        new = Block(arg_types=old.arg_types)
        for argument, replacement in zip(old.args, new.args, strict=True):
            replacement.name_hint = argument.name_hint
            self._values.set(argument, replacement)
            if is_index_argument(argument):
                self._emitter.ranges[replacement] = (0, MAX_EXTENT)
        self._on_stack = buffers_on_stack(function)
        if self._tiles is not None:
            self._tiles.find_nests(function)
        with self._emitter.scope(new):
            for argument in [each for each in old.args if isinstance(each.type, MemRefType)]:
                self._flat.add_argument(argument)
            self._block(old)
        if self._tiles is not None:
            self._tiles.report_others()
        dispose(function.detach_region(function.body))
        function.add_region(Region(new))

    # --- statements

    def _block(self, block: Block) -> None:
        """Writes the ops of a block, and frees its allocations that are not freed elsewhere."""
        allocated: list[memref.AllocOp] = []
        for op in block.ops:
            self._emitter.location = op.location
            if type(op) is func.ReturnOp:
                self._free(allocated, op)
            try:
                self._statement(op)
            except LoweringError as error:
                if error.location is not None:
                    raise
                raise LoweringError(error.message, location=location_of(op), help=error.help) from error
            if type(op) is memref.AllocOp and op not in self._on_stack:
                allocated.append(op)
        if not isinstance(block.last_op, func.ReturnOp):
            self._free(allocated, None)

    def _free(self, allocated: Sequence[memref.AllocOp], end: func.ReturnOp | None) -> None:
        for op in reversed(allocated):
            freed = any(isinstance(use.operation, memref.DeallocOp) for use in op.memref.uses)
            if not freed and (end is None or op.memref not in end.operands):
                self._emitter.add(memref.DeallocOp.get(self._values.get(op.memref)))

    def _statement(self, op: Operation) -> None:
        # Exact types first: each case below tests an abstract class, and most ops have one of these types.
        if type(op) is LoadOp and (loaded := self._loaded.get(op)) is not None:
            self._define(op.result, loaded)
        elif type(op) is LoadOp:
            lanes, is_valid = self._values.lanes, partial(runs_in_first_lane, op)
            self._define(op.result, load(self._emitter, self._target(op), lanes, is_valid))
        elif type(op) is StoreOp:
            target, value = self._target(op), self._values.get(op.value)
            if self._changes is not None:
                self._changes.note(target, value)
            store(self._emitter, target, value, self._values.lanes)
        elif type(op) is ForOp:
            self._loop(op)
        elif type(op) is scf.IfOp:
            self._if(op)
        elif type(op) is arith.ConstantOp:
            self._constant(op)
        elif level_of_class(type(op)) in ("arith", "math"):
            self._arithmetic(op)
        elif type(op) is not scf.YieldOp:
            self._other_statement(op)

    def _other_statement(self, op: Operation) -> None:
        match op:
            case RowOp():
                self._row(op)
            case CheckedIndexOp():
                write_checked_index(op, self._values, self._emitter)
            case memref.AllocOp() if op in self._on_stack:
                self._local_buffer(op)
            case memref.AllocOp() if self._flat.allocate(op):
                pass
            case memref.AllocOp() if is_local(op.memref):
                self._copy(op, [MemRefType(op.memref.type.element_type, op.memref.type.get_shape())])
            case BlockOp():
                raise _failure(op, "run loop-lower-blocks before convert-loop-to-scf")
            case _:
                self._copy(op)

    def _row(self, op: RowOp) -> None:
        """Writes the loops that sort a row or suppress boxes; raises `LoweringError` inside a vectorised loop."""
        if self._values.lanes is not None:
            raise _failure(op, "an op on rows cannot be in a vectorised loop")
        if isinstance(op, SortOp) and op.selects is not None:
            SelectWriter(self._emitter, op, self._flat).write()
            return
        writer = _ROW_WRITERS.get(type(op))
        if writer is None:
            raise _failure(op, "it has no equivalent at the scf level")
        writer(self._emitter, op, self._flat).write()

    def _define(self, old: SSAValue, value: SSAValue) -> None:
        """Maps `old` to `value`, which inherits its name if it has none."""
        if value.name_hint is None:
            value.name_hint = old.name_hint
        self._values.set(old, value)

    def _target(self, op: LoadOp | StoreOp) -> AccessTarget:
        """Returns the target of an access at this level."""
        given = op.memref
        buffer, index = self._flat.accessed(given), self._flat.index_of(given, self._values.access(op.index))
        layout, lanes = self._layouts.get(given), self._values.lanes
        if layout is not None and lanes is not None:
            index = layout.index_of(index, lanes.index, memref_type(buffer).get_num_dims())
        return AccessTarget(buffer, index)

    def _constant(self, op: arith.ConstantOp) -> None:
        value = op.value
        if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
            self._values.set(op.result, ValueMap.constant(value.value.data))
        elif isinstance(value, IntegerAttr) and value.type == i1:
            self._values.set(op.result, Condition(known=value.value.data != 0))
        else:
            self._values.set(op.result, value)

    def _arithmetic(self, op: Operation) -> None:
        """Keeps index expressions symbolic, decides conditions if possible, and writes everything else."""
        if isinstance(op, arith.CmpiOp) and isinstance(op.lhs.type, IndexType):
            sides = self._values.index(op.lhs), self._values.index(op.rhs)
            if not any(is_vector(operand) for side in sides for operand in side.operands):
                condition = compare(self._emitter, op.predicate.value.data, *sides, self._values.lanes)
                self._values.set(op.result, condition)
                return
        condition = logic(op, self._values, self._emitter) if isinstance(op, arith.AndIOp | arith.OrIOp) else None
        if condition is not None:
            self._values.set(op.results[0], condition)
            return
        if isinstance(op, arith.SelectOp) and self._values.choose(op):
            return
        if (index := as_expression(op, self._values, self._emitter)) is not None:
            self._values.set(op.results[0], index)
            return
        elementwise(op, self._values, self._emitter)

    def _copy(self, op: Operation, result_types: Sequence[Attribute] | None = None) -> None:
        """Copies an operation without regions; raises `LoweringError` inside the lanes of a vector."""
        if op.regions or level_of(op) == "loop":
            raise _failure(op, "it has no equivalent at the scf level")
        if self._values.lanes is not None:
            raise _failure(op, "it cannot be done for all lanes of a vectorised loop")
        operands = [self._values.get(operand) for operand in op.operands]
        new = make(type(op), operands, op.result_types if result_types is None else result_types, op.properties)
        new.attributes |= op.attributes
        self._emitter.add(new)
        for old, result in zip(op.results, new.results, strict=True):
            self._define(old, result)

    # --- local buffers

    def _local_buffer(self, op: memref.AllocOp) -> None:
        """Allocates a buffer on the stack, once per thread inside a parallel loop if only that loop uses it."""
        loop = None if self._in_parallel else only_parallel_loop(op)
        if loop is None:
            self._put_on_stack(op)
        else:
            self._waiting.setdefault(loop, []).append(op)

    def _put_on_stack(self, op: memref.AllocOp) -> None:
        holds_tiles = self._tiles is not None and self._tiles.holds_sums(op)
        layout = LocalLayout(Lanes.NONE) if holds_tiles else layout_of(op)
        buffer = self._emitter.on_stack(on_stack(layout.type_of(op.memref.type)))
        buffer.location = op.location
        self._layouts[op.memref] = layout
        self._define(op.memref, buffer.memref)

    # --- loops

    def _loop(self, loop: ForOp) -> None:
        body = loop.body.block
        if loop.extent == 0:
            return
        if loop.extent == 1:
            self._values.set(loop.index, ValueMap.constant(0))
            self._release(loop)
            self._block(body)
        elif self._tiles is not None and self._values.lanes is None and self._tiles.write(loop, self._target):
            return
        elif becomes_lanes(loop) and self._values.lanes is None:
            self._vectorized(loop)
        elif loop.kind is LoopKind.CONTRACTED and write_dot_products(loop, self._values, self._emitter, self._target):
            return
        elif loop.kind is LoopKind.PARALLEL and not self._in_parallel and self._values.lanes is None:
            self._parallel(loop)
        elif loop.kind is LoopKind.EARLY_EXIT and self._values.lanes is None and can_exit_early(loop):
            self._loop_with_early_exit(loop)
        elif self._values.lanes is not None or not self._transposed(loop):
            self._serial(loop)

    def _release(self, loop: ForOp) -> None:
        """Allocates the buffers that only this loop uses on the stack."""
        for op in self._waiting.pop(loop, []):
            self._put_on_stack(op)

    def _transposed(self, loop: ForOp) -> bool:
        """Writes the iterations of an unrolled loop whose vectors are columns of a tile; returns whether it is one."""
        square, emit = square_of(loop), self._emitter
        tile = None if square is None else tile_of(loop, square, self._values, emit, self._target)
        if square is None or tile is None:
            return False
        self._release(loop)
        if tile.active is None:
            self._columns(loop, square.inner, tile)
            return True
        any_active = emit.add(CmpiOp(emit.index(0), emit.affine(tile.active), "slt")).result
        with emit.when(any_active):
            self._columns(loop, square.inner, tile)
        return True

    def _columns(self, loop: ForOp, inner: ForOp, tile: TransposedTile) -> None:
        """Writes the iterations of an unrolled loop, whose loads are the columns of `tile`."""
        columns = load_columns(tile, self._emitter)
        for number in range(loop.extent or 0):
            self._values.set(loop.index, ValueMap.constant(number))
            self._loaded = {load: vectors[number] for load, vectors in columns.items()}
            self._vectorized(inner)
        self._loaded = {}

    def _vectorized(self, loop: ForOp) -> None:
        assert loop.extent is not None
        self._release(loop)
        lanes = LaneContext.of(loop.extent)
        self._emitter.ranges[lanes.index] = (0, loop.extent - 1)
        self._values.set(loop.index, ValueMap.identity([lanes.index]))
        self._values.lanes = lanes
        self._block(loop.body.block)
        self._values.lanes = None

    def _serial(self, loop: ForOp) -> None:
        self._release(loop)
        emit, body = self._emitter, Block(arg_types=[IndexType()])
        with emit.inside(body):
            self._iteration(loop, body.args[0])
            emit.add(make(scf.YieldOp))
        emit.location = loop.location
        limits = emit.index(0), self._extent(loop), emit.index(1)
        new = emit.add(scf.ForOp.create(operands=limits, regions=(Region(body),)))
        if loop.kind is LoopKind.PARALLEL:
            new.attributes[LOOP_NOTE] = StringAttr("parallel inside another parallel or vectorised loop: runs serially")
        if loop.kind is LoopKind.UNROLLED:
            new.attributes[LOOP_ANNOTATION] = UNROLL_FULL
        elif loop.no_unroll or holds_unrolled(loop):
            new.attributes[LOOP_ANNOTATION] = UNROLL_DISABLE

    def _loop_with_early_exit(self, loop: ForOp) -> None:
        self._release(loop)
        self._changes = Changes(self._emitter)
        self._changes.loop(self._extent(loop), partial(self._iteration, loop))
        self._changes = None

    def _iteration(self, loop: ForOp, index: SSAValue) -> None:
        self._name_index(loop, index)
        if PREFETCH in loop.attributes:
            write_prefetch(loop, self._values, self._emitter, self._target)
        self._block(loop.body.block)

    def _extent(self, loop: ForOp) -> SSAValue:
        known = loop.dynamic_extent
        extent = self._emitter.index(loop.extent or 0) if known is None else self._values.get(known)
        return bound_trip_count(loop, extent, self._values, self._emitter)

    def _name_index(self, loop: ForOp, index: SSAValue) -> None:
        index.name_hint = loop.index.name_hint
        self._values.set(loop.index, ValueMap.identity([index]))
        self._emitter.ranges[index] = (0, (MAX_EXTENT if loop.extent is None else loop.extent) - 1)

    def _parallel(self, loop: ForOp) -> None:
        """Writes one `scf.parallel` over the iterations of a perfect nest of parallel loops."""
        nest = parallel_nest(loop)
        emit, body = self._emitter, Block(arg_types=[IndexType()])
        if len(nest) == 1:
            extent = self._extent(loop)
        else:
            extent = emit.affine(product(map(self._count, nest)))
            extent = bound_trip_count(next(filter(is_long, nest), loop), extent, self._values, emit)
        with emit.scope(body):
            self._in_parallel = True
            self._bind_nest(nest, body.args[0])
            for inner in nest:
                self._release(inner)
            self._block(nest[-1].body.block)
            emit.add(scf.ReduceOp())
            self._in_parallel = False
        emit.location = loop.location
        emit.add(scf.ParallelOp([emit.index(0)], [extent], [emit.index(1)], Region(body)))

    def _count(self, loop: ForOp) -> ValueMap:
        """Returns the extent of a loop as an expression."""
        extent = loop.bound
        return ValueMap.constant(extent) if isinstance(extent, int) else self._values.index(extent)

    def _bind_nest(self, nest: Sequence[ForOp], index: SSAValue) -> None:
        """Sets the indices of collapsed loops from the index of the one loop over all of them."""
        if len(nest) == 1:
            self._name_index(nest[0], index)
            return
        index.name_hint = "tile"
        is_static = all(loop.extent is not None for loop in nest)
        self._emitter.ranges[index] = (0, prod(loop.extent or 1 for loop in nest) - 1 if is_static else MAX_EXTENT)
        for loop, part in zip(nest, delinearize(index, [self._count(loop) for loop in nest]), strict=True):
            computed = self._emitter.affine(part)
            if computed is not index:
                self._name_index(loop, computed)
            else:
                self._values.set(loop.index, ValueMap.identity([index]))

    # --- conditions

    def _if(self, op: scf.IfOp) -> None:
        condition = self._values.condition(op.cond)
        if condition.known is not None:
            region = op.true_region if condition.known else op.false_region
            results = self._branch(region)
        elif condition.mask is not None:
            results = self._masked_if(op, condition.mask)
        else:
            results = self._branching_if(op, self._values.get(op.cond))
        for old, new in zip(op.results, results, strict=True):
            self._define(old, new)

    def _branch(self, region: Region) -> list[SSAValue]:
        """Writes a branch at the insertion point; returns the values that it yields."""
        block = region.first_block
        if block is None:
            return []
        self._block(block)
        end = block.last_op
        return [self._values.get(value) for value in end.operands] if isinstance(end, scf.YieldOp) else []

    def _masked_if(self, op: scf.IfOp, mask: Mask) -> list[SSAValue]:
        """Writes both branches under their masks; selects the results lane by lane."""
        lanes, emit = self._values.lanes, self._emitter
        assert lanes is not None
        outer = lanes.mask
        lanes.mask = both(emit, outer, mask)
        then = self._branch(op.true_region)
        otherwise: list[SSAValue] = []
        if op.false_region.blocks:
            lanes.mask = both(emit, outer, Mask(invert(emit, mask.value)))
            otherwise = self._branch(op.false_region)
        lanes.mask = outer
        return [
            emit.add(SelectOp(mask.value, splat(emit, on, lanes.count), splat(emit, off, lanes.count))).result
            for on, off in zip(then, otherwise, strict=False)
        ]

    def _branching_if(self, op: scf.IfOp, condition: SSAValue) -> list[SSAValue]:
        """Writes an `scf.if`; a result that differs between lanes in one branch is a vector in both."""
        emit, lanes = self._emitter, self._values.lanes
        branches = [(Block(), region) for region in op.regions if region.blocks]
        yielded: list[list[SSAValue]] = []
        for block, region in branches:
            with emit.inside(block):
                yielded.append(self._branch(region))
        vectors = {n for values in yielded for n, value in enumerate(values) if is_vector(value)}
        for (block, _), values in zip(branches, yielded, strict=True):
            with emit.inside(block):
                if lanes is not None:
                    values[:] = [splat(emit, v, lanes.count) if n in vectors else v for n, v in enumerate(values)]
                emit.add(make(scf.YieldOp, values))
        emit.location = op.location
        types = [value.type for value in yielded[0]]
        then = Region(branches[0][0])
        otherwise = Region(branches[1][0]) if len(branches) > 1 else Region()
        return list(emit.add(scf.IfOp(condition, types, then, otherwise)).results)


_ROW_WRITERS: dict[type[RowOp], type[RowWriter]] = {SortOp: SortWriter, SuppressOp: SuppressWriter}


def _failure(op: Operation, reason: str) -> LoweringError:
    """Returns the error for an op of the loop level that cannot be converted."""
    return LoweringError(f"convert-loop-to-scf cannot convert '{op.name}': {reason}", location=location_of(op))
