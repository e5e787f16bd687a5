"""The interpreter with other roundings: the effect of rounding alone on a program's results.

    moved = run_rounded(module, inputs, k)        # the k-th way to round

Composite ops are expanded, since native code rounds their parts: `1 + erf(x)` keeps few digits near -1. Every float
that an op computes is moved by at most a unit in the last place. A zero, which may be a difference of either sign, gets
a random sign. Ops that only move values, such as a concatenation or a maximum, are exact: elements that occur in an
operand, with either sign, are unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
from ml_dtypes import finfo
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fuzz.special_values import Array, is_float
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.tensor.rounding import CeilOp, FloorOp, RoundOp, SignOp, TruncOp
from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.interpreters.relay import evaluate_op, run_relay
from xrelay.passes.graph.composites import expand_composites

EXACT = (CeilOp, FloorOp, RoundOp, SignOp, TruncOp)
MOVES = (OpPatternKind.INJECTIVE, OpPatternKind.TUPLE)
IN_PLACE = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST)
"""The patterns of ops whose elements are computed from the operands' elements at the same position."""


def run_rounded(module: ModuleOp, inputs: Sequence[Array], k: int) -> list[Array]:
    """Returns the results of `@main` with another rounding of each intermediate result."""
    rng, parts = np.random.default_rng(k), module.clone()
    expand_composites(parts, *Expansion)

    def evaluate(op: Operation, operands: Sequence[Any]) -> Any:
        value = evaluate_op(op, operands)
        if not isinstance(op, RelayOp) or op.fusion_pattern in MOVES or isinstance(op, EXACT):
            return value
        return moved(rng, value, operands, in_place=op.fusion_pattern in IN_PLACE)

    with patch("xrelay.interpreters.relay.machine.evaluate_op", evaluate):
        return [np.asarray(out) for out in run_relay(parts, list(inputs))]


def moved(rng: np.random.Generator, value: Any, operands: Sequence[Any], *, in_place: bool = False) -> Any:
    """Moves the floats of `value` by at most a unit in the last place, except elements that occur in operands.

    With `in_place` only the same position of an operand counts. As there are few half-precision values, most of them
    occur somewhere: without `in_place` a half-precision result is exact only if all its elements occur in operands, as
    those of a sort do. Zeros get a random sign in any case.
    """
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray) and operand.dtype != np.bool_]
    if type(value) is tuple:
        return tuple(moved(rng, field, operands, in_place=in_place) for field in value)
    if not isinstance(value, np.ndarray) or not is_float(value.dtype) or not arrays:
        return value
    wide = value.astype(np.float64)
    given = [np.abs(array.astype(np.float64)) for array in arrays]
    if in_place:
        alike = [array for array in given if array.shape == wide.shape or array.size == 1]
        taken = np.logical_or.reduce([np.abs(wide) == array for array in alike], axis=0, initial=False)
    else:
        taken = np.isin(np.abs(wide), np.concatenate([array.ravel() for array in given]))
        taken &= value.dtype.itemsize > 2 or bool(taken.all())
    taken |= ~np.isfinite(wide)
    with np.errstate(all="ignore"):
        away = wide * (1 + float(finfo(value.dtype).eps) * rng.uniform(-1, 1, value.shape))
    found = np.where(taken, value, away.astype(value.dtype))
    return np.where((wide == 0) & (rng.random(value.shape) < 0.5), -found, found)
