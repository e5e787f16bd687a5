"""Arithmetic on scalars, or on vectors if an operand differs between lanes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, IntegerAttr, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import ARITH, SelectOp
from xrelay.lowering.loop_to_scf.conditions import Condition, conjunction
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lane_values import LaneContext, is_vector, number, splat
from xrelay.lowering.loop_to_scf.values import Values

_ON_VECTORS = {op.name: op for op in ARITH.operations}
_DIVISIONS = {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi",
              "arith.ceildivui"}  # fmt: skip


def elementwise(op: Operation, values: Values, emitter: Emitter) -> None:
    """Writes an arith or math operation and sets its results in `values`."""
    lanes = values.lanes
    if lanes is not None and _is_fused_product(op):
        return
    if lanes is not None and (fused := _fused_multiply_add(op, values, emitter, lanes)) is not None:
        values.set(op.results[0], fused)
        return
    operands = [values.get(operand) for operand in op.operands]
    if lanes is not None and any(is_vector(operand) for operand in operands):
        new = _on_lanes(op, operands, emitter, lanes)
    else:
        new = emitter.add(make(type(op), operands, op.result_types, op.properties))
        new.attributes.update(op.attributes)
        _note_range(new, emitter)
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
        values.set(old, result)


def _on_lanes(op: Operation, operands: Sequence[SSAValue], emitter: Emitter, lanes: LaneContext) -> Operation:
    """Writes the operation on vectors. A uniform condition of a select stays scalar."""
    keep_first = isinstance(op, arith.SelectOp) and not is_vector(operands[0])
    vectors = [
        operand if keep_first and position == 0 else splat(emitter, operand, lanes.count)
        for position, operand in enumerate(operands)
    ]
    if op.name in _DIVISIONS and lanes.mask is not None:
        # Masked-off lanes may hold a zero, and an integer division by zero traps.
        ones = splat(emitter, number(emitter, 1, op.results[0].type), lanes.count)
        vectors[1] = emitter.add(SelectOp(lanes.mask.value, vectors[1], ones)).result
    cls = _ON_VECTORS.get(op.name, type(op))
    types = [lanes.vector_of(result.type) for result in op.results]
    new = emitter.add(make(cls, vectors, types, op.properties))
    new.attributes.update(op.attributes)
    return new


def _note_range(op: Operation, emitter: Emitter) -> None:
    """Records the range of a minimum of indices, for accesses that use it."""
    if isinstance(op, arith.MinSIOp) and isinstance(op.result.type, IndexType):
        ends = [_range(side, emitter) for side in op.operands]
        known = [end for end in ends if end is not None]
        if len(known) == len(ends):
            emitter.ranges[op.result] = (min(low for low, _ in known), min(high for _, high in known))


def _range(value: SSAValue, emitter: Emitter) -> tuple[int, int] | None:
    if isinstance(value, OpResult) and isinstance(value.op, arith.ConstantOp):
        constant = value.op.value
        return (constant.value.data, constant.value.data) if isinstance(constant, IntegerAttr) else None
    return emitter.ranges.get(value)


# --- conditions


def logic(op: arith.AndIOp | arith.OrIOp, values: Values, emitter: Emitter) -> Condition | None:
    """Lowers an `and` or `or` of masks, or with a condition known at compile time; returns None for other operands."""
    if op.result.type != i1:
        return None
    left, right = (values.condition(operand) for operand in op.operands)
    if isinstance(op, arith.AndIOp):
        return conjunction(emitter, left, right)
    for side, other in ((left, right), (right, left)):
        if side.known is not None:
            return side if side.known else other
    return None


# --- fused multiply-add

_CONTRACTED = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


def _may_contract(op: Operation) -> bool:
    flags = op.fastmath if isinstance(op, arith.AddfOp | arith.MulfOp) else None
    return flags is not None and FastMathFlag.ALLOW_CONTRACT in flags.data


def _is_fused_product(op: Operation) -> bool:
    """Whether the only user of a product is a sum that is fused with it."""
    if not isinstance(op, arith.MulfOp) or not _may_contract(op) or len(uses := list(op.result.uses)) != 1:
        return False
    user = uses[0].operation
    return user.parent is op.parent and isinstance(user, arith.AddfOp) and _product_of(user) is op


def _product_of(op: arith.AddfOp) -> arith.MulfOp | None:
    """Returns the product that is fused with a sum: f32 or f64, both with `contract`, without other uses."""
    if not isinstance(op.result.type, Float32Type | Float64Type) or not _may_contract(op):
        return None
    for operand in (op.rhs, op.lhs):
        owner = operand.owner
        if not isinstance(owner, arith.MulfOp) or owner.parent is not op.parent:
            continue
        if _may_contract(owner) and operand.has_one_use():
            return owner
    return None


def _fused_multiply_add(op: Operation, values: Values, emitter: Emitter, lanes: LaneContext) -> SSAValue | None:
    """Writes `a * b + c` of vectors as a product and a sum that LLVM fuses if the CPU has FMA.

    `llvm.fma` would be a call per lane on a CPU without FMA. The sum has no `reassoc` flag: LLVM would otherwise add up
    the products of unrolled terms first.
    """
    product = _product_of(op) if isinstance(op, arith.AddfOp) else None
    if product is None or not isinstance(op, arith.AddfOp):
        return None
    addend = op.lhs if op.rhs is product.result else op.rhs
    parts = [values.get(value) for value in (product.lhs, product.rhs, addend)]
    if not any(is_vector(part) for part in parts):
        scaled = emitter.add(arith.MulfOp(parts[0], parts[1], product.fastmath)).result
        return emitter.add(arith.AddfOp(scaled, parts[2], op.fastmath)).result
    a, b, c = (splat(emitter, part, lanes.count) for part in parts)
    return emitter.add(arith.AddfOp(c, emitter.add(arith.MulfOp(a, b, _CONTRACTED)), _CONTRACTED)).result
