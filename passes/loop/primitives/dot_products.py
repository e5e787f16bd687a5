"""Steps of dot products of bytes, which `contract` marks and `convert-loop-to-scf` lowers to a product of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.loop import LoadOp, StoreOp


@dataclass(frozen=True)
class DotStep:
    """`sum += unsigned * signed`: an i32 and two bytes extended to i32, one unsigned and one signed."""

    sum: LoadOp
    store: StoreOp
    unsigned: LoadOp
    signed: LoadOp


def dot_step(body: Block) -> DotStep | None:
    """The step of a dot product that a body of eight ops computes, or `None`."""
    store = body.last_op
    if not isinstance(store, StoreOp) or not isinstance(add := store.value.owner, arith.AddiOp):
        return None
    for total, product in ((add.lhs.owner, add.rhs.owner), (add.rhs.owner, add.lhs.owner)):
        if isinstance(total, LoadOp) and isinstance(product, arith.MuliOp):
            bytes, is_updated = _bytes_of(product), (total.memref, total.index) == (store.memref, store.index)
            if bytes is not None and is_updated and len(body.ops) == 8:
                return DotStep(total, store, *bytes)
    return None


def _bytes_of(product: arith.MuliOp) -> tuple[LoadOp, LoadOp] | None:
    """The unsigned and the signed byte."""
    for unsigned, signed in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        if isinstance(unsigned.owner, arith.ExtUIOp) and isinstance(signed.owner, arith.ExtSIOp):
            loads = _byte(unsigned.owner), _byte(signed.owner)
            if loads[0] is not None and loads[1] is not None:
                return loads[0], loads[1]
    return None


def _byte(widened: arith.ExtUIOp | arith.ExtSIOp) -> LoadOp | None:
    source: SSAValue = widened.input
    load: Operation | Block = source.owner
    return load if isinstance(load, LoadOp) and source.type == i8 and widened.result.type == i32 else None
