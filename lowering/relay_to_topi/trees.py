"""`relay.tree_leaves`: a fold whose accumulator is the node."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.ops.trees import TreeLeavesOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp, IndexCastUIOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements

INDEX = IndexType()


@implements(TreeLeavesOp, "tree_leaves.generic")
def build_tree_leaves(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Replaces a node by one of its children in each step.

    The accumulator is the node's offset from its root, because a fold begins with a constant; offsets wrap. The last
    compute adds the root, whose number is that of the tree.
    """
    data, features, thresholds, children = (emitter.operand(index) for index in range(4))
    rows, trees = emitter.result_shape
    spatial = {"row": rows, "tree": trees}

    def step(b: Body) -> SSAValue:
        node = _as_index(b, b.plus(b.accumulators[0], _root(b)))
        feature = _as_index(b, _clipped(b, b.read(features, node), shape_of(data)[1]))
        value, threshold = b.read(data, b.spatial[0], feature), b.read(thresholds, node)
        goes_right = _as_index(b, b.add(arith.CmpfOp(value, threshold, "ugt")))
        return b.minus(_clipped(b, b.read(children, node, goes_right), shape_of(features)[0]), _root(b))

    def leaf(b: Body) -> SSAValue:
        return b.plus(b.read(distances, *b.spatial), _root(b))

    steps = {"step": emitter.integer("depth")}
    distances = emitter.compute("tree_steps", spatial, i32, step, reduce=steps, init=[0])
    return [emitter.compute("tree_leaves", spatial, i32, leaf)]


def _root(b: Body) -> SSAValue:
    return b.add(IndexCastOp(b.index(b.spatial[1]), i32))


def _clipped(b: Body, number: SSAValue, size: Dim) -> SSAValue:
    return b.add(arith.MinUIOp(number, b.size(size - 1, i32)))


def _as_index(b: Body, number: SSAValue) -> AffineExpr:
    return b.as_index(b.add(IndexCastUIOp(number, INDEX)))
