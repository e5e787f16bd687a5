"""Vectors of lanes, made from scalars and indices, masks that switch lanes off, and comparisons of indices.

A comparison is decided from the ranges of loops, or turned into a mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, OpResult, SSAValue

from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import stride
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter


@dataclass(frozen=True)
class Mask:
    """The active lanes. `is_prefix`: active lanes precede the others. `is_never_empty`: the first lane is active."""

    value: SSAValue
    is_prefix: bool = False
    is_never_empty: bool = False


@dataclass
class LaneContext:
    """The vectorised loop that is being written: `count` lanes; in index maps, `index` represents the lane's number."""

    count: int
    index: SSAValue
    mask: Mask | None = None

    @staticmethod
    def of(count: int) -> LaneContext:
        """Returns a context with a new placeholder value for the lane's number."""
        return LaneContext(count, Block(arg_types=[IndexType()]).args[0])

    def vector_of(self, element: Attribute) -> VectorType:
        """Returns the vector type with one element per lane."""
        return lanes_of(element, self.count)

    def position(self, index: ValueMap) -> int | None:
        """Returns the position of the lane's number in the operands of `index`; None if `index` is uniform."""
        return index.operands.index(self.index) if self.index in index.operands else None

    def at(self, index: ValueMap, lane: int) -> ValueMap:
        """Returns `index` for one of the lanes."""
        return index.substitute({self.index: ValueMap.constant(lane)})


def is_vector(value: SSAValue) -> bool:
    """Whether a value is a vector, with one element per lane."""
    # The exact type: `isinstance` of an abstract class is ten times slower, and every operand is tested.
    return type(value.type) is VectorType


def splat(emitter: Emitter, value: SSAValue, count: int) -> SSAValue:
    """Broadcasts a scalar to all lanes; returns a vector unchanged. Constants become constant vectors."""
    if is_vector(value):
        return value
    if isinstance(value, OpResult) and isinstance(value.op, arith.ConstantOp):
        constant = value.op.value
        if isinstance(constant, IntegerAttr | FloatAttr):
            return emitter.constant(_same_in_all(constant, count))
    return emitter.add(make(vector.BroadcastOp, (value,), (lanes_of(value.type, count),))).results[0]


@lru_cache(maxsize=1024)
def lanes_of(element: Attribute, count: int) -> VectorType:
    """Returns `vector<count x element>`; cached, since kernels use few such types in hundreds of ops."""
    return VectorType(element, [count])


@lru_cache(maxsize=1024)
def _same_in_all(constant: IntegerAttr[IntegerType | IndexType] | FloatAttr, count: int) -> DenseIntOrFPElementsAttr:
    """Returns the vector constant with `count` copies of a number."""
    if isinstance(constant, IntegerAttr):
        integers = VectorType(constant.type, [count])
        return DenseIntOrFPElementsAttr.from_list(integers, [constant.value.data])
    floats = VectorType(constant.type, [count])
    return DenseIntOrFPElementsAttr.from_list(floats, [constant.value.data])


def number(emitter: Emitter, value: float, type: Attribute) -> SSAValue:
    """Returns a number as a scalar constant; raises `LoweringError` for types other than numbers."""
    if isinstance(type, AnyFloat):
        return emitter.constant(FloatAttr(float(value), type))
    if isinstance(type, IntegerType | IndexType):
        return emitter.constant(IntegerAttr(int(value), type))
    raise LoweringError(f"vectors of {type} are not supported")


def zeros(emitter: Emitter, type: VectorType) -> SSAValue:
    """Returns a vector of zeros."""
    return splat(emitter, number(emitter, 0, type.element_type), type.get_shape()[0])


def index_vector(emitter: Emitter, index: ValueMap, lanes: LaneContext) -> SSAValue:
    """Returns a vector with the one expression of `index` for every lane."""
    position = lanes.position(index)
    type = lanes.vector_of(IndexType())
    step = stride(index.exprs[0], position) if position is not None else 0
    if step is None:
        result = zeros(emitter, type)
        for lane in range(lanes.count):
            one = emitter.affine(lanes.at(index, lane))
            result = emitter.add(vector.InsertOp(one, result, [lane])).result
        return result
    base = splat(emitter, emitter.affine(lanes.at(index, 0)), lanes.count)
    indices = VectorType(IndexType(), [lanes.count])
    steps = emitter.constant(DenseIntOrFPElementsAttr.from_list(indices, [step * n for n in range(lanes.count)]))
    return emitter.add(arith.AddiOp(base, steps)).result


def positive_lanes(emitter: Emitter, difference: ValueMap, lanes: LaneContext) -> Mask | None:
    """Returns the lanes in which the one expression of `difference` is positive; None unless its stride is 1 or -1."""
    position = lanes.position(difference)
    step = stride(difference.exprs[0], position) if position is not None else None
    if step not in (-1, 1):
        return None
    first = lanes.at(difference, 0)
    type = lanes.vector_of(i1)
    if step == -1:
        bounds = emitter.range_of(first)
        mask = emitter.add(vector.CreateMaskOp([emitter.affine(first)], type)).mask_vector
        return Mask(mask, is_prefix=True, is_never_empty=bounds is not None and bounds[0] > 0)
    behind = ValueMap.make([first.exprs[0] * -1 + 1], first.operands)
    off = emitter.add(vector.CreateMaskOp([emitter.affine(behind)], type)).mask_vector
    return Mask(invert(emitter, off))


def invert(emitter: Emitter, value: SSAValue) -> SSAValue:
    """Returns the complement of a mask or condition."""
    one: SSAValue = emitter.constant(IntegerAttr(1, i1))
    if isinstance(value.type, VectorType):
        one = splat(emitter, one, value.type.get_shape()[0])
    return emitter.add(arith.XOrIOp(value, one)).result


def both(emitter: Emitter, outer: Mask | None, inner: Mask) -> Mask:
    """Returns the conjunction of two masks."""
    if outer is None:
        return inner
    value = emitter.add(arith.AndIOp(outer.value, inner.value)).result
    is_prefix = outer.is_prefix and inner.is_prefix
    return Mask(value, is_prefix, is_prefix and outer.is_never_empty and inner.is_never_empty)


def any_lane(emitter: Emitter, mask: Mask, count: int) -> SSAValue:
    """Returns whether any lane is active, as a scalar."""
    lanes = range(1 if mask.is_prefix else count)
    bits = [emitter.add(vector.ExtractOp(mask.value, [lane], i1)).result for lane in lanes]
    result = bits[0]
    for bit in bits[1:]:
        result = emitter.add(arith.OrIOp(result, bit)).result
    return result


# --- comparisons of indices

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The predicates of `arith.cmpi` by number."""


@dataclass(frozen=True)
class Condition:
    """A lowered condition: known at compile time, a scalar for all lanes, or a mask of lanes."""

    known: bool | None = None
    value: SSAValue | None = None
    mask: Mask | None = None


def difference(left: ValueMap, right: ValueMap, plus: int = 0) -> ValueMap:
    """Returns `left - right + plus` for two maps with one expression each."""
    return left.plus(right, -1).plus(plus).simplified()


def compare(emitter: Emitter, predicate: int, lhs: ValueMap, rhs: ValueMap, lanes: LaneContext | None) -> Condition:
    """Compares two indices."""
    name = _signed(emitter, PREDICATES[predicate], lhs, rhs)
    if name == "ult" and (inside := _inside(emitter, lhs, rhs, lanes)) is not None:
        return inside
    positive = _as_positive(name, lhs, rhs)
    if positive is not None:
        known = emitter.range_of(positive)
        if known is not None and (known[0] > 0 or known[1] <= 0):
            return Condition(known=known[0] > 0)
    elif name in ("eq", "ne"):
        known = emitter.range_of(difference(lhs, rhs))
        if known is not None and (known == (0, 0) or known[0] > 0 or known[1] < 0):
            return Condition(known=(known == (0, 0)) == (name == "eq"))
    if lanes is None or (lanes.position(lhs) is None and lanes.position(rhs) is None):
        value = emitter.add(CmpiOp(emitter.affine(lhs), emitter.affine(rhs), predicate)).result
        return Condition(value=value)
    mask = positive_lanes(emitter, positive, lanes) if positive is not None else None
    if mask is None:
        left, right = index_vector(emitter, lhs, lanes), index_vector(emitter, rhs, lanes)
        mask = Mask(emitter.add(CmpiOp(left, right, predicate)).result)
    return Condition(mask=mask)


def _inside(emitter: Emitter, lhs: ValueMap, rhs: ValueMap, lanes: LaneContext | None) -> Condition | None:
    """Splits `lhs ult rhs` with lanes and nonnegative `rhs` into two masks: `0 <= lhs` and `lhs < rhs`."""
    known = emitter.range_of(rhs)
    if lanes is None or lanes.position(lhs) is None or known is None or known[0] < 0:
        return None
    low = compare(emitter, PREDICATES.index("sge"), lhs, ValueMap.constant(0), lanes)
    high = compare(emitter, PREDICATES.index("slt"), lhs, rhs, lanes)
    return conjunction(emitter, low, high)


def conjunction(emitter: Emitter, left: Condition, right: Condition) -> Condition | None:
    """Returns the conjunction if one condition is known at compile time or both are masks; None otherwise."""
    for side, other in ((left, right), (right, left)):
        if side.known is not None:
            return other if side.known else side
    if left.mask is None or right.mask is None:
        return None
    return Condition(mask=both(emitter, left.mask, right.mask))


def _signed(emitter: Emitter, name: str, lhs: ValueMap, rhs: ValueMap) -> str:
    """Returns the signed predicate for an unsigned comparison of nonnegative operands."""
    if not name.startswith("u"):
        return name
    ranges = [emitter.range_of(side) for side in (lhs, rhs)]
    return "s" + name[1:] if all(known is not None and known[0] >= 0 for known in ranges) else name


def _as_positive(name: str, lhs: ValueMap, rhs: ValueMap) -> ValueMap | None:
    """Returns an expression that is positive exactly if the signed comparison holds."""
    match name:
        case "slt":
            return difference(rhs, lhs)
        case "sle":
            return difference(rhs, lhs, 1)
        case "sgt":
            return difference(lhs, rhs)
        case "sge":
            return difference(lhs, rhs, 1)
        case _:
            return None
