"""Whether two ways to run a model agree, as closely as the model itself allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from ml_dtypes import finfo

from fuzz.special_values import Array, is_float
from xrelay.api.comparison import compare_outputs

RTOL = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
DISTURBED_RUNS = 6
ALLOWANCE = 16.0
"""How many times the effect of a disturbed input may be exceeded."""


def disagreement(names: Sequence[str], found: Sequence[Array], expected: Sequence[Array], what: str) -> str:
    """How `found` differs from `expected`; empty where it does not."""
    for name, a, b in zip(names, found, expected, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{what}: output {name!r} is {a.dtype}{list(a.shape)}, must be {b.dtype}{list(b.shape)}"
        answer = compare_outputs([name], [a], [b], levels=("found", "expected"), rtol=RTOL.get(str(b.dtype), 0.0))
        if not answer:
            return f"{what}: {answer}"
    return ""


def excused(
    found: Sequence[Array], expected: Sequence[Array], disturbed_run: Callable[[int], Sequence[Array] | None]
) -> bool:
    """Whether the model is so sensitive that the difference means nothing.

    `disturbed_run(k)` runs the reference on inputs that are moved by a few units in the last place. A difference is
    excused where it is no larger than `ALLOWANCE` times the largest effect seen there, or where that effect makes an
    element another integer, NaN or infinity.
    """
    runs = [run for k in range(DISTURBED_RUNS) if (run := disturbed_run(k)) is not None]
    for position, (a, b) in enumerate(zip(found, expected, strict=True)):
        others = [run[position] for run in runs if run[position].shape == b.shape]
        if a.shape != b.shape or a.dtype != b.dtype or not others:
            return False
        if not _within(a, b, others):
            return False
    return True


def _within(a: Array, b: Array, others: Sequence[Array]) -> bool:
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        effect = np.zeros(b.shape)
        unstable = np.zeros(b.shape, np.bool_)
        for other in others:
            wide = other.astype(np.float64)
            unstable |= np.isfinite(wide) != np.isfinite(wide_b)
            moved = np.abs(wide - wide_b)
            effect = np.fmax(effect, np.where(np.isfinite(moved), moved, 0.0))
        equal = (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b))
        scale = float(np.max(np.abs(wide_b), where=np.isfinite(wide_b), initial=0.0))
        base = RTOL.get(str(b.dtype), 0.0)
        allowed = ALLOWANCE * effect + base * (np.abs(np.where(np.isfinite(wide_b), wide_b, 0.0)) + 0.1 * scale)
        return bool(np.all(equal | unstable | (np.abs(wide_a - wide_b) <= allowed)))


def disturbed(rng: np.random.Generator, array: Array) -> Array:
    """`array` with every finite float moved by a few units in the last place."""
    if not is_float(array.dtype) or array.size == 0:
        return array
    epsilon = float(finfo(array.dtype).eps)
    with np.errstate(all="ignore"):
        return (array.astype(np.float64) * (1 + epsilon * rng.uniform(-2, 2, array.shape))).astype(array.dtype)
