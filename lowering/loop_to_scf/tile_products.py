"""Tensorized loops: instructions on tiles add up the products of two matrices."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IndexType, IntegerAttr, UnitAttr, bf16, f32, i8, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.loop.extents import MAX_EXTENT
from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION, PREFETCH
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.amx import TileLoadOp, TileMulFOp, TileMulIOp, TileStoreOp, TileType, TileZeroOp
from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, memory_distance
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.panel_of_tiles import panel_of_tiles
from xrelay.lowering.loop_to_scf.prefetch import prefetch_element
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.graph.remarks import Remarks
from xrelay.passes.loop.nest_queries import only_op
from xrelay.passes.loop.primitives.contract import ElementStrides
from xrelay.passes.loop.primitives.tile_products import TileNest, loops_inside, tile_nest
from xrelay.target.instructions import TileProduct

OTHER_SHAPE = "the tiles of its kernel have more rows or terms"
"""The reason to compute a nest on vectors, although tiles of a shape of its own could compute it."""

Places = Mapping[ForOp, SSAValue]
"""Maps the loops of a nest to placeholders of their indices."""

TargetOf = Callable[[LoadOp | StoreOp], AccessTarget]
"""Returns the place of the memory that an op accesses."""


class TileWriter:
    """Writes the tensorized loops of one function for an instruction on tiles.

    ```
    loop.for "k" %k to 96 tensorized {            %r = scf.for %s = %c0 to %c6 step %c1 iter_args(%c = %zero) {
      loop.for "i" %i to 16 unrolled {              %a = amx.tile_load %X[…], %c384 : … into !amx.tile<16x64xi8>
        loop.for "o" %o to 16 vectorized {          %b = amx.tile_load %W[…], %c64 : … into !amx.tile<16x64xi8>
          loop.for "t" %t to 4 contracted {    →    %n = amx.tile_muli %a zext, %b, %c
            … %acc[%i, %o] += %X[%i, 4 * %k + %t]   scf.yield %n
                 * %W[%k, %o, %t]                 }
                                                  amx.tile_store %acc[…], %r, %c16
    ```

    Serial loops around, such as those over the taps of a convolution, carry the sums, too. If the loops before store
    zeros, the sums begin with `amx.tile_zero`, and those loops are not written. Any other loop, such as one over fewer
    rows than the tiles of the function have, is left to `convert-loop-to-scf`, with the reason as a remark.
    """

    def __init__(self, products: Sequence[TileProduct], values: Values, emitter: Emitter, remarks: Remarks):
        self._products, self._values, self._emitter, self._remarks = products, values, emitter, remarks
        self._from_zero = set[ForOp]()
        self._tensorized = dict[ForOp, TileProduct]()
        self._with_sums = set[SSAValue]()
        self._on_vectors = dict[ForOp, str]()

    def find_nests(self, function: FuncOp) -> None:
        """Finds the nests of a function to write as tiles: those whose tiles have the most rows, and the most terms.

        LLVM configures the tile registers once in a function, so each register has one shape. The eight registers may
        not suffice for the shapes of two nests: LLVM's register allocator then ends the process.
        """
        loops = [each for each in ops_of(function.body, ForOp) if each.kind is LoopKind.TENSORIZED]
        stride = ElementStrides()
        found = [(each, tile_nest(each, product, stride), product) for each in loops for product in self._products]
        nests = [(nest, product) for _, nest, product in found if isinstance(nest, TileNest)]
        sizes = [(nest.rows_of_tile(product), nest.depth) for nest, product in nests]
        chosen = [each for each, size in zip(nests, sizes, strict=True) if size == max(sizes)]
        self._tensorized = {nest.loop: product for nest, product in chosen}
        self._with_sums = {nest.step.sum.memref for nest, _ in chosen}
        for loop in loops:
            own = [nest for each, nest, _ in found if each is loop]
            reasons = dict.fromkeys(nest for nest in own if isinstance(nest, str))
            is_nest = any(isinstance(nest, TileNest) for nest in own)
            self._on_vectors[loop] = OTHER_SHAPE if is_nest else "; ".join(reasons)

    def report_others(self) -> None:
        """Adds a remark for each tensorized loop of the function that was not written for an instruction on tiles."""
        for loop, reason in self._on_vectors.items():
            self._remarks.refused(loop, f"{loop.loop_name} is computed on vectors, not on tiles: {reason}")

    def holds_sums(self, buffer: memref.AllocOp) -> bool:
        """Whether tiles of sums are stored in a buffer, which then has no layout of vectors."""
        return buffer.memref in self._with_sums

    def write(self, loop: ForOp, target_of: TargetOf) -> bool:
        """Writes a tensorized loop, or skips the zeros before it; returns whether `loop` needs no other code."""
        if (loops := self._summing_loops(loop)) is not None:
            return self._write_product(loops, target_of)
        following = loop.next_op
        loops = self._summing_loops(following) if isinstance(following, ForOp) else None
        if loops is None:
            return False
        nest = self._nest(loops, self._places(loops), target_of)
        if isinstance(nest, str) or not _stores_zeros(loop, nest):
            return False
        self._from_zero.add(loops[0])
        return True

    def _summing_loops(self, loop: ForOp) -> list[ForOp] | None:
        """Returns the perfect nest of serial loops from `loop` to a tensorized loop of the function."""
        found = [loop]
        while loop.kind is LoopKind.SERIAL and isinstance(inner := only_op(loop), ForOp):
            found.append(loop := inner)
        return found if loop in self._tensorized else None

    def _places(self, loops: Sequence[ForOp]) -> Places:
        """Binds the indices of the loops of a nest to placeholders, which each tile replaces by its own indices."""
        places: dict[ForOp, SSAValue] = {}
        for each in (*loops, *loops_inside(loops[-1])):
            places[each] = Block(arg_types=[IndexType()]).args[0]
            self._values.set(each.index, ValueMap.identity([places[each]]))
            self._emitter.ranges[places[each]] = (0, (MAX_EXTENT if each.extent is None else each.extent) - 1)
        return places

    def _nest(self, loops: Sequence[ForOp], places: Places, target_of: TargetOf) -> TileNest | str:
        """Returns the product that a loop computes with the buffers of this level, or why tiles cannot compute it.

        The last of `loops` is tensorized; all of them add to the same sums.
        """
        target_of = cache(target_of)  # the target of a load is the same for all loops

        def stride(load: LoadOp, each: ForOp) -> int | None:
            distance = memory_distance(target_of(load), places[each])
            if distance is None:
                return None
            only = distance.exprs[0]
            return only.value if isinstance(only, AffineConstantExpr) else DYNAMIC_INDEX

        product = self._tensorized[loops[-1]]
        nest = tile_nest(loops[-1], product, stride)
        if isinstance(nest, str):
            return nest
        if any(stride(nest.step.sum, each) != 0 for each in loops):
            return "loops around it do not add to the same sums"
        if str(target_of(nest.step.sum).type.element_type) != product.sum_type:
            return "the sums are in vectors"
        return nest

    def _write_product(self, loops: Sequence[ForOp], target_of: TargetOf) -> bool:
        places = self._places(loops)
        nest = self._nest(loops, places, target_of)
        if isinstance(nest, str):
            self._on_vectors[loops[-1]] = nest
            return False
        tiles = _Tiles(nest, places, self._tensorized[nest.loop], self._emitter, target_of)
        panel = panel_of_tiles(loops[0], nest.step.weight, nest.step.data)
        if PREFETCH in nest.loop.attributes and panel is not None:
            target = panel.next_of(nest.step.weight, self._values, self._emitter, target_of)
            tiles.prefetches(target, panel.number(self._values), -(-nest.depth // panel.number_of_tiles))
        sums = tiles.zeros() if loops[0] in self._from_zero else tiles.load_sums()
        tiles.store_sums(self._write_steps(loops, tiles, sums))
        self._on_vectors.pop(nest.loop, None)
        return True

    def _write_steps(self, loops: Sequence[ForOp], tiles: _Tiles, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Writes the nest of `loops` around the products of one step; returns the sums after the last step.

        Loops of one step are not written: their index is 0.
        """
        loops = [loop for loop in loops if self._steps(loop, tiles) != ValueMap.constant(1)]
        if not loops:
            return tiles.products({}, sums)
        emit = self._emitter
        bodies = [Block(arg_types=[IndexType(), *(each.type for each in sums)]) for _ in loops]
        indices = {loop: body.args[0] for loop, body in zip(loops, bodies, strict=True)}
        for loop, index in indices.items():
            _, most = emit.range_of(self._steps(loop, tiles)) or (0, MAX_EXTENT)
            emit.ranges[index] = (0, most - 1)
        with emit.inside(bodies[-1]):
            emit.add(scf.YieldOp(*tiles.products(indices, bodies[-1].args[1:])))
        for position in reversed(range(1, len(loops))):
            around = bodies[position - 1]
            with emit.inside(around):
                results = self._write_loop(loops[position], tiles, around.args[1:], bodies[position])
                emit.add(scf.YieldOp(*results))
        return self._write_loop(loops[0], tiles, sums, bodies[0])

    def _write_loop(self, loop: ForOp, tiles: _Tiles, sums: Sequence[SSAValue], body: Block) -> Sequence[SSAValue]:
        """Writes the loop with this body over the steps of `loop`; returns the sums after it."""
        emit = self._emitter
        limits = emit.index(0), emit.affine(self._steps(loop, tiles)), emit.index(1)
        steps = emit.add(scf.ForOp(*limits, sums, body))
        if loop.no_unroll:
            steps.attributes[LOOP_ANNOTATION] = LoopAnnotationAttr.unroll_disable()
        return steps.results

    def _steps(self, loop: ForOp, tiles: _Tiles) -> ValueMap:
        """Returns the number of instructions along a loop."""
        extent = loop.dynamic_extent
        count = ValueMap.constant(loop.extent or 0) if extent is None else self._values.index(extent)
        return ValueMap((count.exprs[0] // tiles.iterations(loop),), count.operands).simplified()


class _Tiles:
    """The tiles of a nest. The sums are in the order of vectors of columns, then of rows."""

    def __init__(
        self,
        nest: TileNest,
        places: Places,
        product: TileProduct,
        emitter: Emitter,
        target_of: TargetOf,
    ):
        self._nest, self._places, self._emitter = nest, places, emitter
        rows = nest.rows_of_tile(product)
        is_float = product.sum_type == str(f32)
        sums, factor = (f32, bf16) if is_float else (i32, i8)
        self._sums = TileType.of(rows, product.columns, sums)
        self._data = TileType.of(rows, product.terms * nest.depth, factor)
        self._weight = TileType.of(nest.depth, product.terms * product.columns, factor)
        self._product: tuple[type[TileMulFOp | TileMulIOp], Mapping[str, Attribute]] = (
            (TileMulFOp, {}) if is_float else (TileMulIOp, {"isZextLhs": UnitAttr()})
        )
        self._places_of_tiles = list(itertools.product(nest.vector_starts(), nest.row_starts(product)))
        self._sum_target, self._data_target, self._weight_target = map(
            target_of, (nest.step.sum, nest.step.data, nest.step.weight)
        )
        self._prefetched: tuple[AccessTarget, ValueMap, int] | None = None

    def prefetches(self, target: AccessTarget, tile: ValueMap, rows: int) -> None:
        """Makes each step prefetch `rows` rows of the tiles at `target`, others in each `tile` of the data."""
        self._prefetched = target, tile, rows

    def iterations(self, loop: ForOp) -> int:
        """Returns the number of iterations of a loop in an instruction."""
        return self._nest.depth if loop is self._nest.loop else 1

    def zeros(self) -> list[SSAValue]:
        """Returns a tile of zeros for each tile of sums."""
        return [self._emitter.add(TileZeroOp(self._sums)).res for _ in self._places_of_tiles]

    def load_sums(self) -> list[SSAValue]:
        """Loads the tiles of sums."""
        along = self._nest.rows[-1]
        return [
            self._load(self._sum_target, self._sums, along, self._at(row=row, vector=vector))
            for vector, row in self._places_of_tiles
        ]

    def store_sums(self, tiles: Sequence[SSAValue]) -> None:
        """Stores the tiles of sums."""
        for tile, (vector, row) in zip(tiles, self._places_of_tiles, strict=True):
            index = self._emitter.affine_all(self._index(self._sum_target, self._at(row=row, vector=vector)))
            stride = self._stride(self._sum_target, self._nest.rows[-1])
            self._emitter.add(TileStoreOp(tile, self._sum_target.buffer, index, stride))

    def products(self, steps: Places, sums: Sequence[SSAValue]) -> list[SSAValue]:
        """Adds the products of one step to the tiles of sums; `steps` are the indices of the loops of several steps.

        A tile of a factor is loaded before its first product, once for all products of the step.
        """
        nest, loaded = self._nest, dict[tuple[SSAValue, ValueMap], SSAValue]()
        first = {loop: ValueMap.identity([index]) for loop, index in steps.items()}
        step = steps.get(nest.loop)
        first[nest.loop] = (
            ValueMap.constant(0) if step is None else ValueMap.make([AffineDimExpr(0) * nest.depth], [step])
        )
        self._write_prefetches(first)
        found = list(sums)
        for part, (position, (vector, row)) in itertools.product(nest.part_indices(), enumerate(self._places_of_tiles)):
            at = first | self._at(part=part, row=row, vector=vector)
            weight = self._load_once(loaded, self._weight_target, self._weight, nest.loop, at)
            data = self._load_once(loaded, self._data_target, self._data, nest.rows[-1], at)
            found[position] = self._multiply(data, weight, found[position])
        return found

    def _multiply(self, data: SSAValue, weight: SSAValue, total: SSAValue) -> SSAValue:
        """Adds the product of two tiles to a tile of sums."""
        kind, flags = self._product
        return self._emitter.add(make(kind, (data, weight, total), (self._sums,), flags)).results[0]

    def _write_prefetches(self, first: Mapping[ForOp, ValueMap]) -> None:
        """Prefetches rows of the next panel in the step whose indices are `first`."""
        if self._prefetched is None:
            return
        (target, tile, rows), nest = self._prefetched, self._nest
        places = dict[ValueMap, None]()
        for row, vector, part in itertools.product(range(rows), nest.vector_starts(), nest.part_indices()):
            space = Space[SSAValue]()
            (number,), (step,) = space.lift(tile), space.lift(first[nest.loop])
            skipped = ValueMap.make([step + (number * rows + row) % nest.depth], space.values)
            at = {**first, nest.loop: skipped, **self._at(vector=vector, part=part)}
            places[self._index(target, at).simplified()] = None
        for place in places:
            prefetch_element(AccessTarget(target.buffer, place), self._emitter)

    def _at(
        self, *, part: Sequence[int] = (), row: Sequence[int] = (), vector: Sequence[int] = ()
    ) -> dict[ForOp, ValueMap]:
        """Returns the indices of the loops over parts, rows and vectors at a tile."""
        loops = ((self._nest.parts, part), (self._nest.rows, row), (self._nest.vectors, vector))
        starts = itertools.chain.from_iterable(zip(*each, strict=False) for each in loops)
        return {loop: ValueMap.constant(start) for loop, start in starts}

    def _load_once(
        self,
        loaded: dict[tuple[SSAValue, ValueMap], SSAValue],
        target: AccessTarget,
        type_: TileType,
        along: ForOp,
        at: Mapping[ForOp, ValueMap],
    ) -> SSAValue:
        """Loads the tile of `target` as `_load` does, unless it is in `loaded`."""
        key = target.buffer, self._index(target, at).simplified()
        if key not in loaded:
            loaded[key] = self._load(target, type_, along, at)
        return loaded[key]

    def _load(self, target: AccessTarget, type_: TileType, along: ForOp, at: Mapping[ForOp, ValueMap]) -> SSAValue:
        """Loads the tile of `target` whose rows are iterations of the loop `along`."""
        index = self._emitter.affine_all(self._index(target, at))
        operands = (target.buffer, *index, self._stride(target, along))
        return self._emitter.add(make(TileLoadOp, operands, (type_,))).results[0]

    def _index(self, target: AccessTarget, at: Mapping[ForOp, ValueMap]) -> ValueMap:
        """Returns the index of the first element of a tile, with 0 for the loops that are not in `at`."""
        zero = ValueMap.constant(0)
        return target.index.substitute({place: at.get(loop, zero) for loop, place in self._places.items()})

    def _stride(self, target: AccessTarget, along: ForOp) -> SSAValue:
        """Returns the distance of two rows of a tile in elements."""
        distance = memory_distance(target, self._places[along])
        assert distance is not None, "see tile_nest"
        return self._emitter.affine(distance)


def _stores_zeros(loop: ForOp, nest: TileNest) -> bool:
    """Whether a nest of loops only stores zeros to all sums of `nest`, in loops of the same order."""
    summed = (nest.terms, *nest.parts)
    nests = [[loop, *loops_inside(loop)], [each for each in loops_inside(nest.loop) if each not in summed]]
    ops = list(nests[0][-1].body.block.ops)
    if len(ops) != 2 or not isinstance(ops[0], arith.ConstantOp) or not isinstance(store := ops[1], StoreOp):
        return False
    zero = isinstance(number := ops[0].value, IntegerAttr | FloatAttr) and str(number.value.data) in ("0", "0.0")
    if (
        not zero
        or store.value is not ops[0].result
        or [each.extent for each in nests[0]] != [each.extent for each in nests[1]]
    ):
        return False
    same = {mine.index: ValueMap.identity([other.index]) for mine, other in zip(*nests, strict=True)}
    return store.memref is nest.step.sum.memref and store.index.substitute(same) == nest.step.sum.index
