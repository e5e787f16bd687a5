"""Contracted loops: the products of four pairs of bytes in each lane are added to its sum by one vector reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, VectorType, i8, i32
from xdsl.ir import Block, SSAValue

from xrelay.dialects.loop import ForOp, LoadOp, StoreOp
from xrelay.dialects.upstream.arith_extras import ExtSIOp, ExtUIOp
from xrelay.dialects.upstream.vector_extras import MultiReductionOp, ShapeCastOp
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, load, memory_stride, store
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import LaneContext
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.primitives.dot_products import DotStep, dot_step
from xrelay.target.instructions import DOT_TERMS


def write_dot_products(
    loop: ForOp, values: Values, emitter: Emitter, target_of: Callable[[LoadOp | StoreOp], AccessTarget]
) -> bool:
    """Writes a contracted loop inside vectorised lanes; returns whether that was possible. If not, it runs serially.

    ```
    loop.for "k" %k to 4 contracted {            %b = vector.load %X[…] : …, vector<4xi8>
      %a = loop.load %acc[%o]                    %x = vector.broadcast %b : vector<4xi8> to vector<16x4xi8>
      %x = loop.load %X[%k]                      %w = vector.shape_cast … : vector<64xi8> to vector<16x4xi8>
      %w = loop.load %W[%o, %k]             →    %p = arith.muli (extui %x), (extsi %w) : vector<16x4xi32>
      %s = %a + extui %x * extsi %w              %s = vector.multi_reduction <add>, %p, %acc [1]
      loop.store %s, %acc[%o]
    }
    ```

    This requires the layout of bytes that `loop-contract` checks, and no mask.
    """
    lanes, step = values.lanes, dot_step(loop.body.block)
    if lanes is None or lanes.mask is not None or step is None or loop.extent != DOT_TERMS:
        return False
    term = Block(arg_types=[IndexType()]).args[0]
    values.set(loop.index, ValueMap.identity([term]))
    emitter.ranges[term] = (0, DOT_TERMS - 1)
    targets = _Targets.of(step, target_of)
    if not targets.fit(lanes, term):
        return False
    sums = load(emitter, targets.sum, lanes)
    product = _product(emitter, targets, lanes, term)
    total = emitter.add(MultiReductionOp(product, sums, [1])).dest
    store(emitter, target_of(step.store), total, lanes)
    return True


@dataclass(frozen=True)
class _Targets:
    """The places of the sum and of the bytes of a step, as functions of lane and term."""

    sum: AccessTarget
    unsigned: AccessTarget
    signed: AccessTarget

    @staticmethod
    def of(step: DotStep, target_of: Callable[[LoadOp | StoreOp], AccessTarget]) -> _Targets:
        return _Targets(target_of(step.sum), target_of(step.unsigned), target_of(step.signed))

    def fit(self, lanes: LaneContext, term: SSAValue) -> bool:
        """Whether the terms of a lane, followed by those of the next lane, are contiguous."""
        strides = [
            memory_stride(target, value) for target in (self.unsigned, self.signed) for value in (lanes.index, term)
        ]
        is_lane = isinstance(self.sum.type.element_type, VectorType) or memory_stride(self.sum, lanes.index) == 1
        return strides == [0, 1, DOT_TERMS, 1] and is_lane and memory_stride(self.sum, term) == 0


def _product(emitter: Emitter, targets: _Targets, lanes: LaneContext, term: SSAValue) -> SSAValue:
    """Returns the products of all terms of all lanes, in 32 bits."""
    bytes, wide = VectorType(i8, [lanes.count, DOT_TERMS]), VectorType(i32, [lanes.count, DOT_TERMS])
    same = _row(emitter, targets.unsigned, DOT_TERMS, lanes, term)
    unsigned = emitter.add(vector.BroadcastOp(same, bytes)).vector
    signed = emitter.add(ShapeCastOp(_row(emitter, targets.signed, DOT_TERMS * lanes.count, lanes, term), bytes)).result
    factors = emitter.add(ExtUIOp(unsigned, wide)).result, emitter.add(ExtSIOp(signed, wide)).result
    return emitter.add(arith.MuliOp(*factors)).result


def _row(emitter: Emitter, target: AccessTarget, count: int, lanes: LaneContext, term: SSAValue) -> SSAValue:
    """Loads `count` bytes, beginning at the first term of the first lane."""
    zero = ValueMap.constant(0)
    index = target.index.substitute({lanes.index: zero, term: zero})
    return emitter.add(vector.LoadOp(target.buffer, emitter.affine_all(index), VectorType(i8, [count]))).result
