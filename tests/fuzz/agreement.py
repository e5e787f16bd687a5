"""Compares two ways to run a model, within the model's own sensitivity to rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from ml_dtypes import finfo
from numpy.typing import NDArray

from fuzz.special_values import Array, is_float
from xrelay.api.comparison import compare_outputs

RTOL = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
DISTURBED_RUNS = 6
ALLOWANCE = 16.0
"""The factor by which a difference may exceed the effect of disturbed inputs."""
ROUNDING_ALLOWANCE = 4.0
"""The factor by which a difference may exceed the effect of other intermediate roundings."""
STEP_RUNS = 48
"""The number of further roundings, so that an element of a step function such as `Floor(Tanh(x))` may jump."""

Runs: TypeAlias = Callable[[int], Sequence[Array] | None]
"""Returns the outputs of run number k, or None if it fails."""


def disagreement(names: Sequence[str], found: Sequence[Array], expected: Sequence[Array], what: str) -> str:
    """Describes how `found` differs from `expected`; empty if they agree."""
    for name, a, b in zip(names, found, expected, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{what}: output {name!r} is {a.dtype}{list(a.shape)}, must be {b.dtype}{list(b.shape)}"
        answer = compare_outputs([name], [a], [b], levels=("found", "expected"), rtol=RTOL.get(str(b.dtype), 0.0))
        if not answer:
            return f"{what}: {answer}"
    return ""


def excused(found: Sequence[Array], expected: Sequence[Array], disturbed_run: Runs, rounded_run: Runs) -> bool:
    """Whether a difference is within the model's sensitivity.

    `disturbed_run(k)` runs the reference on inputs that are moved by a few units in the last place, `rounded_run(k)`
    with other intermediate roundings (`rounded_runs`). A difference is excused if it is at most `ALLOWANCE` or
    `ROUNDING_ALLOWANCE` times the largest effect of these runs, or at most the effect of further roundings, or if an
    effect makes an element NaN or infinite, or changes an infinity's sign.
    """
    effects = [Effect.none(array) for array in expected]
    few, many = range(DISTURBED_RUNS), range(DISTURBED_RUNS, STEP_RUNS)
    for runs, numbers, allowance in (
        (disturbed_run, few, ALLOWANCE),
        (rounded_run, few, ROUNDING_ALLOWANCE),
        (rounded_run, many, 1.0),
    ):
        for run in (run for k in numbers if (run := runs(k)) is not None):
            for effect, other in zip(effects, run, strict=True):
                effect.see(other, allowance)
        if all(effect.excuses(array) for effect, array in zip(effects, found, strict=True)):
            return True
    return False


@dataclass
class Effect:
    """The effects of disturbances on the elements of an output, and the resulting allowed differences."""

    expected: Array
    allowed: NDArray[np.float64]
    unstable: NDArray[np.bool_]
    """Elements that changed between finite and not finite, or to the other infinity."""
    seen: bool = False

    @staticmethod
    def none(expected: Array) -> Effect:
        """No effect so far."""
        return Effect(expected, np.zeros(expected.shape), np.zeros(expected.shape, np.bool_))

    def see(self, other: Array, allowance: float) -> None:
        """Records the output of another run; ignores it if its shape differs."""
        if other.shape != self.expected.shape:
            return
        wide, mine = other.astype(np.float64), self.expected.astype(np.float64)
        with np.errstate(all="ignore"):
            self.unstable |= (np.isfinite(wide) != np.isfinite(mine)) | (np.isinf(wide) & (wide == -mine))
            away = np.abs(wide - mine)
            self.allowed = np.fmax(self.allowed, allowance * np.where(np.isfinite(away), away, 0.0))
        self.seen = True

    def excuses(self, found: Array) -> bool:
        """Whether all elements of `found` are within the allowed difference of the expected ones."""
        if found.shape != self.expected.shape or found.dtype != self.expected.dtype or not self.seen:
            return False
        a, b = found.astype(np.float64), self.expected.astype(np.float64)
        with np.errstate(all="ignore"):
            equal = (a == b) | (np.isnan(a) & np.isnan(b))
            size = np.abs(np.where(np.isfinite(b), b, 0.0))
            base = RTOL.get(str(self.expected.dtype), 0.0) * (size + 0.1 * float(np.max(size, initial=0.0)))
            return bool(np.all(equal | self.unstable | (np.abs(a - b) <= self.allowed + base)))


def disturbed(rng: np.random.Generator, array: Array) -> Array:
    """Returns `array` with each finite float moved by a few units in the last place."""
    if not is_float(array.dtype) or array.size == 0:
        return array
    epsilon = float(finfo(array.dtype).eps)
    with np.errstate(all="ignore"):
        return (array.astype(np.float64) * (1 + epsilon * rng.uniform(-2, 2, array.shape))).astype(array.dtype)
