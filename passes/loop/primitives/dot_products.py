"""Steps of dot products of bytes or bf16, which `contract` marks and `convert-loop-to-scf` lowers to vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import bf16, f32, i8, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.loop import LoadOp, StoreOp
from xrelay.target.instructions import DOT_TERMS, PAIR_TERMS


@dataclass(frozen=True)
class DotStep:
    """`sum += data * weight`: an i32 and two bytes extended to i32, or an f32 and two bf16 extended to f32.

    Of two bytes, `data` is the unsigned one and `weight` the signed one; of two bf16, `data` is the left one.
    """

    sum: LoadOp
    store: StoreOp
    data: LoadOp
    weight: LoadOp

    @property
    def terms(self) -> int:
        """The number of products that an instruction adds to a sum."""
        return DOT_TERMS if self.sum.result.type == i32 else PAIR_TERMS

    @property
    def orders(self) -> tuple[DotStep, ...]:
        """The step with its factors in each order that an instruction supports: `data` is the same in all lanes."""
        return (self, replace(self, data=self.weight, weight=self.data)) if self.terms == DOT_TERMS else (self,)


def dot_step(body: Block) -> DotStep | None:
    """The step of a dot product that a body of eight ops computes, or `None`."""
    store = body.last_op
    if not isinstance(store, StoreOp) or not isinstance(add := store.value.owner, arith.AddiOp | arith.AddfOp):
        return None
    for total, product in ((add.lhs.owner, add.rhs.owner), (add.rhs.owner, add.lhs.owner)):
        if isinstance(total, LoadOp) and isinstance(product, arith.MuliOp | arith.MulfOp):
            factors, is_updated = _factors_of(product), (total.memref, total.index) == (store.memref, store.index)
            if factors is not None and is_updated and len(body.ops) == 8:
                return DotStep(total, store, *factors)
    return None


def _factors_of(product: arith.MuliOp | arith.MulfOp) -> tuple[LoadOp, LoadOp] | None:
    """The unsigned and the signed byte, or two bf16."""
    left, right = product.lhs.owner, product.rhs.owner
    for data, weight in ((left, right), (right, left)):
        if isinstance(data, arith.ExtUIOp) and isinstance(weight, arith.ExtSIOp):
            return _pair(_widened(data, i8, i32), _widened(weight, i8, i32))
    if isinstance(left, arith.ExtFOp) and isinstance(right, arith.ExtFOp):
        return _pair(_widened(left, bf16, f32), _widened(right, bf16, f32))
    return None


def _pair(left: LoadOp | None, right: LoadOp | None) -> tuple[LoadOp, LoadOp] | None:
    return None if left is None or right is None else (left, right)


def _widened(op: arith.ExtUIOp | arith.ExtSIOp | arith.ExtFOp, narrow: Attribute, wide: Attribute) -> LoadOp | None:
    """The load of the number that `op` extends from type `narrow` to `wide`."""
    source: SSAValue = op.input
    load: Operation | Block = source.owner
    return load if isinstance(load, LoadOp) and source.type == narrow and op.result.type == wide else None
