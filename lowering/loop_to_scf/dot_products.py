"""Contracted loops: the products of four pairs of bytes in each lane are added to its sum by one vector reduction.

Products of pairs of bf16 are added one after the other, as products of f32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, VectorType, f32, i8, i32
from xdsl.ir import Block, SSAValue

from xrelay.dialects.loop import ForOp, LoadOp, StoreOp
from xrelay.dialects.upstream.arith_extras import ExtSIOp, ExtUIOp
from xrelay.dialects.upstream.vector_extras import MultiReductionOp, ShapeCastOp
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, load, memory_stride, store
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import LaneContext, lanes_of, number, splat
from xrelay.lowering.loop_to_scf.values import ALLOW_CONTRACT, Values
from xrelay.passes.loop.primitives.dot_products import DotStep, dot_step
from xrelay.target.instructions import DOT_TERMS, PAIR_TERMS


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

    The two bf16 of a lane are an i32 whose upper half is the second one; an f32 with this upper half has its value.
    ```
    loop.for "k" %k to 2 contracted {              %w = vector.bitcast … : vector<32xbf16> to vector<16xi32>
      …                                            %0 = arith.shli %w, %c16 : vector<16xi32>
      %s = %a + extf %x * extf %w             →    %1 = arith.andi %w, %mask : vector<16xi32>
      loop.store %s, %acc[%o]                      %w0 = vector.bitcast %0 : vector<16xi32> to vector<16xf32>
    }                                              %s = %a + %x0 * %w0 + %x1 * %w1
    ```

    This requires the layout of factors that `loop-contract` checks, and no mask.
    """
    lanes, step = values.lanes, dot_step(loop.body.block)
    if lanes is None or lanes.mask is not None or step is None or loop.extent != step.terms:
        return False
    term = Block(arg_types=[IndexType()]).args[0]
    values.set(loop.index, ValueMap.identity([term]))
    emitter.ranges[term] = (0, step.terms - 1)
    orders = [_Targets.of(each, target_of) for each in step.orders]
    targets = next((each for each in orders if each.fit(lanes, term)), None)
    if targets is None:
        return False
    sums = load(emitter, targets.sum, lanes)
    if step.terms == PAIR_TERMS:
        total = _sum_of_pairs(emitter, targets, sums, lanes, term)
    else:
        product = _product(emitter, targets, lanes, term, is_swapped=targets is not orders[0])
        total = emitter.add(MultiReductionOp(product, sums, [1])).dest
    store(emitter, target_of(step.store), total, lanes)
    return True


@dataclass(frozen=True)
class _Targets:
    """The places of the sum and of the factors of a step, as functions of lane and term."""

    sum: AccessTarget
    data: AccessTarget
    weight: AccessTarget
    terms: int

    @staticmethod
    def of(step: DotStep, target_of: Callable[[LoadOp | StoreOp], AccessTarget]) -> _Targets:
        return _Targets(target_of(step.sum), target_of(step.data), target_of(step.weight), step.terms)

    def fit(self, lanes: LaneContext, term: SSAValue) -> bool:
        """Whether the terms of a lane, followed by those of the next lane, are contiguous."""
        strides = [memory_stride(target, value) for target in (self.data, self.weight) for value in (lanes.index, term)]
        is_lane = isinstance(self.sum.type.element_type, VectorType) or memory_stride(self.sum, lanes.index) == 1
        return strides == [0, 1, self.terms, 1] and is_lane and memory_stride(self.sum, term) == 0


def _product(emitter: Emitter, targets: _Targets, lanes: LaneContext, term: SSAValue, *, is_swapped: bool) -> SSAValue:
    """Returns the products of all terms of all lanes, in 32 bits; if it `is_swapped`, the data is signed."""
    bytes, wide = VectorType(i8, [lanes.count, DOT_TERMS]), VectorType(i32, [lanes.count, DOT_TERMS])
    same = _row(emitter, targets.data, DOT_TERMS, lanes, term)
    data = emitter.add(vector.BroadcastOp(same, bytes)).vector
    weight = emitter.add(ShapeCastOp(_row(emitter, targets.weight, DOT_TERMS * lanes.count, lanes, term), bytes)).result
    unsigned, signed = (weight, data) if is_swapped else (data, weight)
    factors = emitter.add(ExtUIOp(unsigned, wide)).result, emitter.add(ExtSIOp(signed, wide)).result
    return emitter.add(arith.MuliOp(*factors)).result


def _row(emitter: Emitter, target: AccessTarget, count: int, lanes: LaneContext, term: SSAValue) -> SSAValue:
    """Loads `count` numbers, beginning at the first term of the first lane."""
    zero = ValueMap.constant(0)
    index = target.index.substitute({lanes.index: zero, term: zero})
    type_ = VectorType(target.type.element_type, [count])
    return emitter.add(vector.LoadOp(target.buffer, emitter.affine_all(index), type_)).result


def _sum_of_pairs(emitter: Emitter, targets: _Targets, sums: SSAValue, lanes: LaneContext, term: SSAValue) -> SSAValue:
    """Returns the sums plus the products of both terms of all lanes."""
    data = _halves(emitter, targets.data, 1, lanes, term)
    weight = _halves(emitter, targets.weight, lanes.count, lanes, term)
    for left, right in zip(data, weight, strict=True):
        product = arith.MulfOp(emitter.add(vector.BroadcastOp(left, lanes_of(f32, lanes.count))), right, ALLOW_CONTRACT)
        sums = emitter.add(arith.AddfOp(sums, emitter.add(product), ALLOW_CONTRACT)).result
    return sums


def _halves(emitter: Emitter, target: AccessTarget, count: int, lanes: LaneContext, term: SSAValue) -> list[SSAValue]:
    """Loads `count` pairs of bf16; returns the first numbers of all pairs as f32, and the second ones."""
    words, floats = lanes_of(i32, count), lanes_of(f32, count)
    both = emitter.add(vector.BitcastOp(_row(emitter, target, PAIR_TERMS * count, lanes, term), words)).result
    first = emitter.add(arith.ShLIOp(both, splat(emitter, number(emitter, 16, i32), count))).result
    second = emitter.add(arith.AndIOp(both, splat(emitter, number(emitter, -(1 << 16), i32), count))).result
    return [emitter.add(vector.BitcastOp(each, floats)).result for each in (first, second)]
