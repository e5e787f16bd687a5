"""`relay-simplify-rounding`: removes steps of rounding and saturation that do not change the result.

A layer of a quantised network rounds its sums to bytes: NaN becomes 0, the zero point is added, and the sums are
clipped. These steps take longer than the products, which an instruction adds up four or more at a time. Exact, except
for the sign of a zero.

Before:

    %r = relay.round(relay.multiply(relay.cast(%p) {dtype = f32}, %s))             %p : i32, %s : a constant
    %n = relay.where(relay.isnan(%r), %zero, %r)
    %q = relay.cast(relay.clip(relay.add(%n, %z)) {a_min = 0.0, a_max = 255.0}) {dtype = ui8}
    %y = relay.cast(relay.subtract(relay.cast(%q) {dtype = i32}, %k)) {dtype = f32}        %z and %k are 137

After:

    %r = relay.round(relay.multiply(relay.cast(%p) {dtype = f32}, %s))
    %y = relay.clip(%r) {a_min = -137.0, a_max = 118.0}

The pass refuses: numbers that may be infinite, for which it finds no bound, because their sums and products may be NaN;
bytes with other uses, which are computed anyway; zero points that differ or are not known.
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
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
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

WHOLE = 1 << 24
"""f32 represents all whole numbers up to this one."""


@dataclass(frozen=True)
class RelaySimplifyRoundingPass(XRelayPass):
    """Removes steps of rounding that change nothing; see the module's docstring."""

    name = "relay-simplify-rounding"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite_once(op, WhereOp, DropNanCheck(_bounds(op)))
        rewrite_once(op, CastOp, KeepFloats())
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


class KeepFloats(RewritePattern):
    """Replaces whole numbers that are cast to integers and back. Exact, except for the sign of a zero.

    Before:

        %q = relay.cast(relay.clip(relay.add(relay.round(%x), %z)) {a_min = 0.0, a_max = 255.0}) {dtype = ui8}
        %y = relay.cast(relay.subtract(relay.cast(%q) {dtype = i32}, %k)) {dtype = f32}

    After, if %z and %k are 137:

        %y = relay.clip(relay.round(%x)) {a_min = -137.0, a_max = 118.0}
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it casts the distance of a rounded number from its zero point to f32."""
        distance = owner_of(op.operands[0], SubtractOp)
        wide = None if distance is None else owner_of(distance.operands[0], CastOp)
        narrow = None if wide is None else owner_of(wide.operands[0], CastOp)
        clip = None if narrow is None else owner_of(narrow.operands[0], ClipOp)
        shifted = None if clip is None else owner_of(clip.operands[0], AddOp)
        if distance is None or narrow is None or clip is None or shifted is None:
            return
        zero_point, (whole, other) = uniform_number(distance.operands[1]), shifted.operands
        if zero_point is None or uniform_number(other) != zero_point:
            return
        if not _is_f32(op.results[0]) or whole.type != op.results[0].type or not _is_whole(whole):
            return
        limits = clip.a_min.value.data, clip.a_max.value.data
        if narrow.results[0].has_one_use() and _holds(numpy_dtype(element_type_of(narrow.results[0].type)), limits):
            low, high = (limit - zero_point for limit in limits)
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(ClipOp, whole, a_min=low, a_max=high))


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


def _is_f32(value: SSAValue) -> bool:
    return is_complete(value.type) and numpy_dtype(element_type_of(value.type)) == np.float32


def _holds(dtype: np.dtype, limits: tuple[float, float]) -> bool:
    """Whether an integer type has all whole numbers between limits, and f32 all numbers of the type."""
    range_ = np.iinfo(dtype) if dtype.kind in "iu" else None
    return range_ is not None and range_.min <= limits[0] and limits[1] <= range_.max <= WHOLE


def _is_whole(value: SSAValue) -> bool:
    """Whether a value consists of rounded numbers, in which 0 may replace NaN."""
    choice = owner_of(value, WhereOp)
    if choice is not None and uniform_number(choice.x) == 0:
        value = choice.y
    return owner_of(value, RoundOp) is not None


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
        rule = _RULES.get(type(op))
        if rule is None or not _is_f32(op.results[0]):
            continue
        bounds = [_bound(operand, found) for operand in op.operands]
        if isinstance(op, DivideOp):
            bounds[1] = _reciprocal(op.operands[1])
        known = [bound for bound in bounds if bound is not None]
        if len(known) == len(bounds) and (bound := rule(known)) < LARGEST:
            found[op.results[0]] = bound
    return found


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
