"""`relay-keep-floats`: keeps rounded numbers that a kernel casts to bytes and back.

Quantised networks round values that floats are computed from, such as the sums of a layer to which another layer is
added. If both steps are in one kernel, the numbers need not become bytes. The pass runs after fusion, because between
two kernels bytes need a quarter of the memory. Exact, except for the sign of a zero.

Before:

    %a = relay.add(relay.round(%x), %z)                                            %z and %k are 137
    %q = relay.cast(relay.clip(%a) {a_min = 0.0, a_max = 255.0}) {dtype = ui8}
    %y = relay.cast(relay.subtract(relay.cast(%q) {dtype = i32}, %k)) {dtype = f32}

After:

    %y = relay.clip(relay.round(%x)) {a_min = -137.0, a_max = 118.0}

Left alone: bytes with other uses, which are computed anyway; zero points that differ or are not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import WhereOp
from xrelay.dialects.relay.ops.tensor.rounding import RoundOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.simplify_numbers import uniform_number
from xrelay.passes.relay.simplify_rounding import is_f32

WHOLE = 1 << 24
"""f32 represents all whole numbers up to this one."""


@dataclass(frozen=True)
class RelayKeepFloatsPass(XRelayPass):
    """Keeps rounded numbers that become bytes and floats again; see the module's docstring."""

    name = "relay-keep-floats"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite_once(op, CastOp, KeepFloats())
        rewrite(op, {})


class KeepFloats(RewritePattern):
    """Replaces whole numbers that are cast to integers and back.

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
        if distance is None or narrow is None or clip is None or not is_f32(op.results[0]):
            return
        zero_point = uniform_number(distance.operands[1])
        whole = None if zero_point is None else _without_zero_point(clip.operands[0], zero_point)
        if zero_point is None or whole is None or whole.type != op.results[0].type or not _is_whole(whole):
            return
        limits = clip.a_min.value.data, clip.a_max.value.data
        if narrow.results[0].has_one_use() and _holds(numpy_dtype(element_type_of(narrow.results[0].type)), limits):
            low, high = (limit - zero_point for limit in limits)
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(ClipOp, whole, a_min=low, a_max=high))


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


def _without_zero_point(value: SSAValue, zero_point: float) -> SSAValue | None:
    """Returns the value to which a zero point is added, or None. Nothing adds a zero point of 0."""
    if zero_point == 0:
        return value
    shifted = owner_of(value, AddOp)
    is_same = shifted is not None and uniform_number(shifted.operands[1]) == zero_point
    return shifted.operands[0] if shifted is not None and is_same else None
