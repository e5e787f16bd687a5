"""Comparisons of indices: decided from the ranges of loops, or turned into masks."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lane_values import LaneContext, Mask, both, index_vector, positive_lanes

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
