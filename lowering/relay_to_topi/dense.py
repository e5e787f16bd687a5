"""`relay.nn.dense` and `relay.nn.contrib_dense_pack`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.half_precision import in_single, into_single
from xrelay.dialects.relay.ops.nn_dense import DenseOp
from xrelay.dialects.relay.ops.nn_dense_pack import ContribDensePackOp
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.named import MatmulOp
from xrelay.dialects.topi.named.base import convert
from xrelay.lowering.relay_to_topi.registry import implements


def _known_block(op: Operation) -> str | None:
    """Returns why a packed weight has no `topi.matmul` (its block size is symbolic), or None."""
    named = [extent for extent in shape_of(cast(ContribDensePackOp, op).weight.type)[2:] if not isinstance(extent, int)]
    return f"the extent {named[0]} of its blocks has a name" if named else None


@implements(ContribDensePackOp, "dense_pack.generic", priority=0)
@in_single
def build_named_blocks(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a plain sum of products with the layout's block size, which C2 ensures."""
    data, weight = emitter.operand(0), emitter.operand(1)
    op = cast(ContribDensePackOp, emitter.op)
    block, terms = op.block, op.layout.factor("C")
    *rows, columns = emitter.result_shape
    element = emitter.result_type.element_type

    def add(b: Body) -> SSAValue:
        *at, column = b.spatial
        (k,) = b.reduction
        inside = [k, column % block] if terms is None else [k // terms, column % block, k % terms]
        factors = b.read(data, *at, k), b.read(weight, column // block, *inside)
        return b.accumulate_product(b.accumulators[0], *(convert(b, factor, element) for factor in factors))

    names = variables("i", [*rows, columns])
    depth = {"k": shape_of(data.type)[-1]}
    return [emitter.compute("dense_pack", names, element, add, reduce=depth, init=[0])]


@implements(DenseOp, "dense.matmul")
@implements(ContribDensePackOp, "dense_pack.matmul", condition=_known_block)
@into_single
def build_dense(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits `topi.matmul` of the rows of data and weight; the weight may be packed."""
    return emitter.insert(MatmulOp(emitter.operand(0), emitter.operand(1), emitter.result_type)).results
