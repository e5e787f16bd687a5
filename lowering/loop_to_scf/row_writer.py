"""Lowering of row ops to scf: loads, stores, index arithmetic and loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.loop import RowOp
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter

Values = list[SSAValue]


class RowWriter:
    """Base class for the lowering of one row op.

    `get` returns the value of an operand at this level, `index_of` the index of an access to one of the op's buffers.
    """

    def __init__(
        self,
        emitter: Emitter,
        op: RowOp,
        get: Callable[[SSAValue], SSAValue],
        index_of: Callable[[SSAValue, ValueMap], ValueMap],
    ):
        self._emit, self._index_of, self._get = emitter, index_of, get
        self._olds = {get(buffer): buffer for buffer in (*op.read_buffers, *op.writes)}
        self._row = [get(index) for index in op.numbers]

    def write(self) -> None:
        """Appends the lowered ops."""
        raise NotImplementedError(f"{type(self).__name__} writes nothing")

    def _known(self, extent: int | SSAValue | None) -> int | SSAValue:
        """Returns an extent at this level; the verifier has checked that it is known."""
        if extent is None:
            raise LoweringError("no value says how long a row is")
        return extent if isinstance(extent, int) else self._get(extent)

    def _load(self, buffer: SSAValue, at: Sequence[SSAValue]) -> SSAValue:
        return self._emit.add(memref.LoadOp.get(buffer, self._indices_in(buffer, at))).res

    def _store(self, value: SSAValue, buffer: SSAValue, at: Sequence[SSAValue]) -> None:
        self._emit.add(memref.StoreOp.get(value, buffer, self._indices_in(buffer, at)))

    def _indices_in(self, buffer: SSAValue, at: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns the indices of an access at this level: a single one for a flat buffer."""
        return self._emit.affine_all(self._index_of(self._olds[buffer], ValueMap.identity(at)))

    def _index(self, value: int) -> SSAValue:
        return self._emit.index(value)

    def _extent(self, extent: int | SSAValue) -> SSAValue:
        return self._index(extent) if isinstance(extent, int) else extent

    def _arith(
        self, op: Callable[[SSAValue, SSAValue], arith.SignlessIntegerBinaryOperation], *args: SSAValue
    ) -> SSAValue:
        a, b = args
        return self._emit.add(op(a, b)).result

    def _compare(self, a: SSAValue, b: SSAValue, predicate: str) -> SSAValue:
        return self._emit.add(CmpiOp(a, b, predicate)).result

    def _select(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        return self._emit.add(SelectOp(condition, then, otherwise)).result

    def _if(self, condition: SSAValue, type: Attribute, then: Callable[[], SSAValue]) -> SSAValue:
        """Returns the value of `then` under a condition, false otherwise."""
        regions: list[Region] = []
        for value in (then, lambda: self._emit.constant(IntegerAttr(0, i1))):
            block = Block()
            with self._emit.inside(block):
                self._emit.add(scf.YieldOp(value()))
            regions.append(Region(block))
        return self._emit.add(scf.IfOp(condition, [type], regions[0], regions[1])).output[0]

    def _for(self, count: SSAValue, carried: Values, body: Callable[[SSAValue, Values], Values]) -> Values:
        """Writes a loop from 0 to `count`; `body` maps the index and the carried values to the next values."""
        block = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        with self._emit.inside(block):
            following = body(block.args[0], list(block.args[1:]))
            self._emit.add(scf.YieldOp(*following))
        return list(self._emit.add(scf.ForOp(self._index(0), count, self._index(1), carried, block)).results)

    def _while(
        self, carried: Values, continues: Callable[[Values], SSAValue], body: Callable[[Values], Values]
    ) -> Values:
        """Writes a loop that runs while a condition of the carried values holds; `body` returns the next values."""
        blocks = [Block(arg_types=[value.type for value in carried]) for _ in range(2)]
        with self._emit.inside(blocks[0]):
            values: Values = list(blocks[0].args)
            self._emit.add(scf.ConditionOp(continues(values), *values))
        with self._emit.inside(blocks[1]):
            self._emit.add(scf.YieldOp(*body(list(blocks[1].args))))
        types = [value.type for value in carried]
        return list(self._emit.add(scf.WhileOp(carried, types, Region(blocks[0]), Region(blocks[1]))).res)
