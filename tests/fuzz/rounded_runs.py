"""The interpreter with results that are rounded otherwise: how far rounding alone may move what a program gives.

    moved = run_rounded(module, inputs, k)        # the k-th way to round

Composite ops are their parts, since it is these that native code rounds: `1 + erf(x)` keeps few digits near -1. Every
float that an op computes is moved by a unit in the last place at most, and a zero, which may be what is left of a
difference of either sign, gets a sign by chance. What only moves values, as a concatenation or a maximum does, is
exact: elements that stand in an operand, in either sign, stay.
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
from xrelay.dialects.relay.ops.tensor_rounding import CeilOp, FloorOp, RoundOp, SignOp, TruncOp
from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.interpreters.relay import evaluate_op, run_relay
from xrelay.passes.graph.composites import expand_composites

EXACT = (CeilOp, FloorOp, RoundOp, SignOp, TruncOp)
MOVES = (OpPatternKind.INJECTIVE, OpPatternKind.TUPLE)
IN_PLACE = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST)
"""The patterns of ops of which an element is computed from the elements in its place."""


def run_rounded(module: ModuleOp, inputs: Sequence[Array], k: int) -> list[Array]:
    """The results of `@main` where every result on the way is rounded in another way; `InterpreterError` as ever."""
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
    """`value` with its floats moved by a unit in the last place at most, without those that stand in an operand.

    With `in_place` these are looked for in their own place. Halves are so few that most stand somewhere: elsewhere they
    are exact where all stand in operands, as what is sorted does. Zeros get a sign by chance wherever they come from.
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
