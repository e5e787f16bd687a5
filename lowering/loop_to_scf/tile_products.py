"""Tensorized loops: instructions on tiles add up the products of two matrices of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i8, i32
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION
from xrelay.dialects.upstream.amx import TileLoadOp, TileMulIOp, TileStoreOp, TileType, TileZeroOp
from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, memory_stride
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import enclosing_loops
from xrelay.passes.loop.primitives.contract import element_stride
from xrelay.passes.loop.primitives.tile_products import TileNest, loops_inside, tile_nest
from xrelay.target.instructions import DOT_TERMS, TileProduct

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

    If the loops before store zeros, the sums begin with `amx.tile_zero`, and those loops are not written. Any other
    loop, such as one over fewer rows than a tile has, is left to `convert-loop-to-scf`.
    """

    def __init__(self, product: TileProduct, values: Values, emitter: Emitter):
        self._product, self._values, self._emitter = product, values, emitter
        self._from_zero = set[ForOp]()

    def holds_sums(self, buffer: memref.AllocOp) -> bool:
        """Whether tiles of sums are stored in a buffer, which then has no layout of vectors."""
        loads = [use.operation for use in buffer.memref.uses if isinstance(use.operation, LoadOp)]
        around = {loop for load in loads for loop in enclosing_loops(load) if loop.kind is LoopKind.TENSORIZED}
        nests = [tile_nest(loop, self._product, element_stride) for loop in around]
        return any(isinstance(nest, TileNest) and nest.step.sum.memref is buffer.memref for nest in nests)

    def write(self, loop: ForOp, target_of: TargetOf) -> bool:
        """Writes a tensorized loop, or skips the zeros before it; returns whether `loop` needs no other code."""
        if loop.kind is LoopKind.TENSORIZED:
            return self._write_product(loop, target_of)
        following = loop.next_op
        if not isinstance(following, ForOp) or following.kind is not LoopKind.TENSORIZED:
            return False
        nest = self._nest(following, self._places(following), target_of)
        if nest is None or not _stores_zeros(loop, nest):
            return False
        self._from_zero.add(following)
        return True

    def _places(self, loop: ForOp) -> Places:
        """Binds the indices of the loops of a nest to placeholders, which each tile replaces by its own indices."""
        places: dict[ForOp, SSAValue] = {}
        for each in (loop, *loops_inside(loop)):
            places[each] = Block(arg_types=[IndexType()]).args[0]
            self._values.set(each.index, ValueMap.identity([places[each]]))
            self._emitter.ranges[places[each]] = (0, (each.extent or 1) - 1)
        return places

    def _nest(self, loop: ForOp, places: Places, target_of: TargetOf) -> TileNest | None:
        """Returns the product that a loop computes with the buffers of this level, if tiles can compute it."""

        def stride(load: LoadOp, each: ForOp) -> int | None:
            return memory_stride(target_of(load), places[each])

        nest = tile_nest(loop, self._product, stride)
        return nest if isinstance(nest, TileNest) and target_of(nest.step.sum).type.element_type == i32 else None

    def _write_product(self, loop: ForOp, target_of: TargetOf) -> bool:
        places = self._places(loop)
        nest = self._nest(loop, places, target_of)
        if nest is None:
            return False
        tiles, emit = _Tiles(nest, places, self._product, self._emitter, target_of), self._emitter
        sums = tiles.zeros() if loop in self._from_zero else tiles.load_sums()
        body = Block(arg_types=[IndexType(), *(each.type for each in sums)])
        step, *before = body.args
        emit.ranges[step] = (0, (loop.extent or 0) // nest.depth - 1)
        with emit.inside(body):
            emit.add(scf.YieldOp(*tiles.products(step, before)))
        count = emit.index((loop.extent or 0) // nest.depth)
        steps = emit.add(scf.ForOp(emit.index(0), count, emit.index(1), sums, body))
        if loop.no_unroll:
            steps.attributes[LOOP_ANNOTATION] = LoopAnnotationAttr.unroll_disable()
        tiles.store_sums(steps.results)
        return True


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
        self._sums = TileType.of(product.rows, product.columns, i32)
        self._unsigned = TileType.of(product.rows, DOT_TERMS * nest.depth, i8)
        self._signed = TileType.of(nest.depth, DOT_TERMS * product.columns, i8)
        self._starts = nest.row_starts(product)
        self._sum_target, self._unsigned_target, self._signed_target = map(
            target_of, (nest.step.sum, nest.step.unsigned, nest.step.signed)
        )

    def zeros(self) -> list[SSAValue]:
        """Returns a tile of zeros for each tile of sums."""
        return [self._emitter.add(TileZeroOp(self._sums)).res for _ in self._positions()]

    def load_sums(self) -> list[SSAValue]:
        """Loads the tiles of sums."""
        return [
            self._load(self._sum_target, self._sums, self._nest.rows, row=row, vector=vector)
            for vector, row in self._positions()
        ]

    def store_sums(self, tiles: Sequence[SSAValue]) -> None:
        """Stores the tiles of sums."""
        for tile, (vector, row) in zip(tiles, self._positions(), strict=True):
            index = self._emitter.affine_all(self._index(self._sum_target, row=row, vector=vector))
            stride = self._stride(self._sum_target, self._nest.rows)
            self._emitter.add(TileStoreOp(tile, self._sum_target.buffer, index, stride))

    def products(self, step: SSAValue, sums: Sequence[SSAValue]) -> list[SSAValue]:
        """Adds the products of one step to the tiles of sums.

        A tile of the signed bytes is loaded before its products, so that there is one at a time.
        """
        load, unsigned = partial(self._load, step=step), dict[int, SSAValue]()
        signed, found = dict[int, SSAValue](), list[SSAValue]()
        for total, (vector, row) in zip(sums, self._positions(), strict=True):
            if vector not in signed:
                signed[vector] = load(self._signed_target, self._signed, self._nest.loop, vector=vector)
            if row not in unsigned:
                unsigned[row] = load(self._unsigned_target, self._unsigned, self._nest.rows, row=row)
            found.append(self._emitter.add(TileMulIOp(unsigned[row], signed[vector], total, zext_lhs=True)).res)
        return found

    def _positions(self) -> list[tuple[int, int]]:
        """Returns the number of the vector of columns and the first row of each tile of sums."""
        return [(vector, row) for vector in range(self._nest.vector_count) for row in self._starts]

    def _load(
        self,
        target: AccessTarget,
        type_: TileType,
        along: ForOp,
        *,
        step: SSAValue | None = None,
        row: int = 0,
        vector: int = 0,
    ) -> SSAValue:
        """Loads the tile of `target` whose rows are iterations of the loop `along`."""
        index = self._emitter.affine_all(self._index(target, step=step, row=row, vector=vector))
        return self._emitter.add(TileLoadOp(target.buffer, index, self._stride(target, along), type_)).res

    def _index(self, target: AccessTarget, *, step: SSAValue | None = None, row: int, vector: int) -> ValueMap:
        """Returns the index of the first element of a tile."""
        nest, zero = self._nest, ValueMap.constant(0)
        first = zero if step is None else ValueMap.make([AffineDimExpr(0) * nest.depth], [step])
        taken = {nest.loop: first, nest.rows: ValueMap.constant(row), nest.lanes: zero, nest.terms: zero}
        if nest.vectors is not None:
            taken[nest.vectors] = ValueMap.constant(vector)
        return target.index.substitute({self._places[loop]: value for loop, value in taken.items()})

    def _stride(self, target: AccessTarget, along: ForOp) -> SSAValue:
        """Returns the distance of two rows of a tile in elements."""
        distance = memory_stride(target, self._places[along])
        assert distance is not None, "see tile_nest"
        return self._emitter.index(distance)


def _stores_zeros(loop: ForOp, nest: TileNest) -> bool:
    """Whether a nest of loops only stores zeros to all sums of `nest`, in loops of the same order."""
    nests = [[loop, *loops_inside(loop)], [each for each in loops_inside(nest.loop) if each is not nest.terms]]
    ops = list(nests[0][-1].body.block.ops)
    if len(ops) != 2 or not isinstance(ops[0], arith.ConstantOp) or not isinstance(store := ops[1], StoreOp):
        return False
    zero = isinstance(number := ops[0].value, IntegerAttr) and number.value.data == 0
    if (
        not zero
        or store.value is not ops[0].result
        or [each.extent for each in nests[0]] != [each.extent for each in nests[1]]
    ):
        return False
    same = {mine.index: ValueMap.identity([other.index]) for mine, other in zip(*nests, strict=True)}
    return store.memref is nest.step.sum.memref and store.index.substitute(same) == nest.step.sum.index
