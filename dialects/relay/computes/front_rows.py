"""Moves the rows of each batch that a mask selects to the front, in order."""

from __future__ import annotations

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi import SortOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp


class FrontRows:
    """The rows that a mask (batches, rows) selects: a stable sort moves them to the front, and a sum counts them."""

    def __init__(self, emitter: TopiBuilder, mask: SSAValue):
        self._emitter = emitter
        self._batch, self._rows = shape_of(mask)
        spatial = {"b": self._batch, "i": self._rows}
        keys = emitter.compute("is_kept", spatial, i32, lambda b: convert_scalar(b, b.read(mask, *b.spatial), i32))
        self.order = emitter.insert(SortOp(keys, 1, descending=True)).indices

        def add(b: Body) -> SSAValue:
            return b.plus(b.accumulators[0], convert_scalar(b, b.read(keys, *b.spatial, b.reduction[0]), i64))

        self._counts = emitter.compute("kept", {"b": self._batch}, i64, add, reduce={"i": self._rows}, init=[0])

    def row(self, b: Body, batch: AffineExpr, place: AffineExpr) -> AffineExpr:
        """Returns the row that is moved to an index."""
        return b.read_index(self.order, batch, place)

    def is_used(self, b: Body, batch: AffineExpr, place: AffineExpr) -> SSAValue:
        """Returns whether a selected row is moved to an index."""
        number = b.add(IndexCastOp(b.index(place), i64))
        return b.add(CmpiOp(number, b.read(self._counts, batch), "slt"))

    def counts(self, element: Attribute) -> SSAValue:
        """Returns the number of selected rows of each batch."""
        counts, spatial = self._counts, {"b": self._batch}
        return self._emitter.compute(
            "counts", spatial, element, lambda b: convert_scalar(b, b.read(counts, *b.spatial), element)
        )
