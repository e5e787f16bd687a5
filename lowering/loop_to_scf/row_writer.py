"""Lowering of row ops to scf: loads, stores, index arithmetic and loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, VectorType, i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from xrelay.dialects.loop import RowOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.arithmetic import Arithmetic, Number
from xrelay.lowering.loop_to_scf.buffers import FlatBuffers
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import number, splat

Values: TypeAlias = list[Number]


class RowWriter:
    """Base class for the lowering of one row op."""

    def __init__(self, emitter: Emitter, op: RowOp, flat: FlatBuffers):
        self._emit, self._flat = emitter, flat
        self._arithmetic = Arithmetic(emitter.add, self._constant)
        self._olds = {flat.accessed(buffer): buffer for buffer in (*op.read_buffers, *op.writes)}
        self._row = [self._number(flat.accessed(index)) for index in op.numbers]

    def write(self) -> None:
        """Appends the lowered ops."""
        raise NotImplementedError(f"{type(self).__name__} writes nothing")

    def _known(self, extent: int | SSAValue | None) -> int | Number:
        """Returns an extent at this level; the verifier has checked that it is known."""
        if extent is None:
            raise LoweringError("the length of the row is unknown")
        return extent if isinstance(extent, int) else self._number(self._flat.accessed(extent))

    def _number(self, value: SSAValue) -> Number:
        return Number(value, self._arithmetic)

    def _constant(self, value: float, type: Attribute) -> SSAValue:
        if isinstance(type, VectorType):
            return splat(self._emit, number(self._emit, value, type.element_type), type.get_shape()[0])
        return number(self._emit, value, type)

    def _index(self, value: int | Number) -> Number:
        return value if isinstance(value, Number) else self._number(self._emit.index(value))

    def _truth(self, value: bool) -> Number:
        return self._number(self._constant(value, i1))

    def _load(self, buffer: SSAValue, at: Sequence[Number]) -> Number:
        return self._number(self._emit.add(memref.LoadOp.get(buffer, self._indices_in(buffer, at))).res)

    def _store(self, value: Number, buffer: SSAValue, at: Sequence[Number]) -> None:
        self._emit.add(memref.StoreOp.get(value.value, buffer, self._indices_in(buffer, at)))

    def _indices_in(self, buffer: SSAValue, at: Sequence[Number]) -> list[SSAValue]:
        """Returns the indices of an access at this level: a single one for a flat buffer."""
        index = ValueMap.identity([each.value for each in at])
        if buffer not in self._olds:
            return list(index.operands)
        return self._emit.affine_all(self._flat.index_of(self._olds[buffer], index))

    def _if(self, condition: Number, then: Callable[[], Number]) -> Number:
        """Returns the truth of `then` under a condition, false otherwise."""
        chosen = self._emit.choose(condition.value, i1, lambda: then().value, lambda: self._truth(False).value)
        return self._number(chosen)

    def _choose(self, condition: Number, then: Callable[[], Number], otherwise: Callable[[], Number]) -> Number:
        """Returns the index of `then` under a condition, that of `otherwise` if it is false."""
        chosen = self._emit.choose(condition.value, IndexType(), lambda: then().value, lambda: otherwise().value)
        return self._number(chosen)

    def _for(self, count: Number, carried: Values, body: Callable[[Number, Values], Values]) -> Values:
        """Writes a loop from 0 to `count`; `body` maps the index and the carried values to the next values."""
        first = _plain(carried)
        block = Block(arg_types=[IndexType(), *(value.type for value in first)])
        index, *values = map(self._number, block.args)
        with self._emit.inside(block):
            self._emit.add(scf.YieldOp(*_plain(body(index, values))))
        limits = self._emit.index(0), count.value, self._emit.index(1)
        return [*map(self._number, self._emit.add(scf.ForOp(*limits, first, block)).results)]

    def _while(
        self, carried: Values, continues: Callable[[Values], Number], body: Callable[[Values], Values]
    ) -> Values:
        """Writes a loop that runs while a condition of the carried values holds; `body` returns the next values."""
        types = [each.value.type for each in carried]
        before, after = Block(arg_types=types), Block(arg_types=types)
        with self._emit.inside(before):
            self._emit.add(scf.ConditionOp(continues([*map(self._number, before.args)]).value, *before.args))
        with self._emit.inside(after):
            self._emit.add(scf.YieldOp(*_plain(body([*map(self._number, after.args)]))))
        loop = scf.WhileOp(_plain(carried), types, Region(before), Region(after))
        return [*map(self._number, self._emit.add(loop).res)]


def _plain(values: Values) -> list[SSAValue]:
    return [each.value for each in values]
