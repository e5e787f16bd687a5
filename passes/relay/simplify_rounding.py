"""`relay-simplify-rounding`: removes steps of rounding and saturation that do not change the result.

A layer of a quantised network rounds its sums to bytes: NaN becomes 0, the zero point is added, and the sums are
clipped. These steps take longer than the products, which an instruction adds up four or more at a time. Exact.

Before:

    %r = relay.round(relay.multiply(relay.cast(%p) {dtype = f32}, %s))             %p : i32, %s : a constant
    %n = relay.where(relay.isnan(%r), %zero, %r)
    %q = relay.cast(relay.clip(relay.add(%n, %z)) {a_min = 0.0, a_max = 255.0}) {dtype = ui8}          %z is 0

After:

    %r = relay.round(relay.multiply(relay.cast(%p) {dtype = f32}, %s))
    %q = relay.cast(relay.clip(%r) {a_min = 0.0, a_max = 255.0}) {dtype = ui8}

Integers, and elementwise ops, convolutions and matrix products of them by constants have a bound. The pass refuses
numbers that may be infinite, for which it finds no bound: their sums and products may be NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import WhereOp
from xrelay.dialects.relay.ops.tensor.rounding import IsnanOp, RoundOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite, rewrite_once
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.simplify_numbers import uniform_number

LARGEST = 1e30
"""The greatest bound that counts: f32 represents sums of numbers below it, with the error of their rounding."""


@dataclass(frozen=True)
class RelaySimplifyRoundingPass(XRelayPass):
    """Removes steps of rounding that change nothing; see the module's docstring."""

    name = "relay-simplify-rounding"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite_once(op, WhereOp, DropNanCheck(_bounds(op)))
        rewrite_once(op, AddOp, DropZeroPoint())
        rewrite(op, {})


class DropNanCheck(RewritePattern):
    """Removes the replacement of NaN in a value that has a bound. Exact.

    Before:

        %n = relay.where(relay.isnan(%x), %c, %x)

    After: `%x` replaces `%n`.
    """

    def __init__(self, bounds: Mapping[SSAValue, float]):
        self._bounds = bounds

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its condition is whether its last operand is NaN, which it never is."""
        if not isinstance(op, WhereOp) or (check := owner_of(op.condition, IsnanOp)) is None:
            return
        if check.operands[0] is op.y and op.y in self._bounds and op.y.type == op.results[0].type:
            Emitter(rewriter, op).replace(op.y)


class DropZeroPoint(RewritePattern):
    """Removes the addition of 0 to a number that is clipped and cast to an integer. Exact.

    Before:

        %q = relay.cast(relay.clip(relay.add(%x, %zero)) {…}) {dtype = ui8}

    After:

        %q = relay.cast(relay.clip(%x) {…}) {dtype = ui8}
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it adds 0 and its sign is lost."""
        clip = op.results[0].get_user_of_unique_use()
        cast = clip.results[0].get_user_of_unique_use() if isinstance(clip, ClipOp) else None
        if not isinstance(clip, ClipOp) or not isinstance(cast, CastOp):
            return
        is_integer = numpy_dtype(element_type_of(cast.results[0].type)).kind in "iu"
        if is_integer and op.operands[0].type == op.results[0].type and uniform_number(op.operands[1]) == 0:
            Emitter(rewriter, op).replace(op.operands[0])


def is_f32(value: SSAValue) -> bool:
    """Whether a value is a tensor of f32 with a complete type."""
    return is_complete(value.type) and numpy_dtype(element_type_of(value.type)) == np.float32


# --- bounds

_Rule = Callable[[list[float]], float]

_RULES: Mapping[type[Operation], _Rule] = {
    AddOp: sum,
    BiasAddOp: sum,
    SubtractOp: sum,
    MultiplyOp: prod,
    DivideOp: prod,
    RoundOp: lambda bounds: bounds[0] + 1,
    ReluOp: lambda bounds: bounds[0],
    ClipOp: lambda bounds: bounds[0],
    CastOp: lambda bounds: bounds[0],
}
"""Maps elementwise ops of floats to the bound of their results, given those of their operands.

The bound of a divisor is that of its reciprocal.
"""


def _bounds(module: ModuleOp) -> dict[SSAValue, float]:
    """Returns values of f32 whose elements are finite, with the greatest absolute value that an element may have."""
    found: dict[SSAValue, float] = {}
    for op in walk_ops(module):
        if isinstance(op, FilterOp | DenseOp | MatmulOp) and op.operands[0] in found and is_f32(op.results[0]):
            terms = _sum_of_sizes(op.operands[1])
            if terms is not None and (bound := found[op.operands[0]] * terms) < LARGEST:
                found[op.results[0]] = bound
        rule = _RULES.get(type(op))
        if rule is None or not is_f32(op.results[0]):
            continue
        bounds = [_bound(operand, found) for operand in op.operands]
        if isinstance(op, DivideOp):
            bounds[1] = _reciprocal(op.operands[1])
        known = [bound for bound in bounds if bound is not None]
        if len(known) == len(bounds) and (bound := rule(known)) < LARGEST:
            found[op.results[0]] = bound
    return found


def _sum_of_sizes(weight: SSAValue) -> float | None:
    """Returns the sum of the absolute values of a constant weight of f32; None for another one."""
    array = constant_of(weight) if is_f32(weight) else None
    return None if array is None else float(np.abs(array).sum(dtype=np.float64))


def _reciprocal(divisor: SSAValue) -> float | None:
    """Returns the greatest absolute value of the reciprocals of a constant; None if it is not constant or has zeros."""
    array = constant_of(divisor)
    least = 0.0 if array is None or not array.size else float(np.abs(array).min())
    return 1 / least if least > 1 / LARGEST else None


def _bound(value: SSAValue, found: Mapping[SSAValue, float]) -> float | None:
    """Returns the greatest absolute value of a constant, of an integer, or of a value in `found`; None if unknown."""
    if value in found or not is_complete(value.type):
        return found.get(value)
    dtype = numpy_dtype(element_type_of(value.type))
    if dtype.kind in "iu":
        return float(max(abs(int(np.iinfo(dtype).min)), int(np.iinfo(dtype).max)))
    array = constant_of(value) if dtype == np.float32 else None
    largest = None if array is None or not array.size else float(np.abs(array).max())
    return largest if largest is not None and largest < LARGEST else None
