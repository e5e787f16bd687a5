"""Random arrays with the values on which arithmetic fails most often."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

DOMAINS = ("any", "nonzero", "moderate", "small", "positive", "finite")
"""The sets from which values are drawn.

- `any`: any value; `nonzero`: any but 0.
- `moderate`: without the largest numbers, whose sums overflow in some orders only.
- `small`: integers from -4 to 4; `positive`: above 0.1; `finite`: within ±100. These exclude infinities and NaN.
- `whole LOW HIGH`: integers from LOW to HIGH, exclusive, such as indices.
"""


def is_float(dtype: np.dtype) -> bool:
    """Whether the dtype is a float; numpy has no kind for ml_dtypes' bfloat16."""
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def random_array(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, domain: str = "any", *, special: bool = True
) -> Array:
    """Returns an array of the shape and dtype with values in the domain."""
    if dtype == np.bool_:
        return np.asarray(rng.random(shape) < 0.5)
    if domain.startswith("whole "):
        low, high = map(int, domain.split()[1:])
        return np.asarray(rng.integers(low, high, shape) if high > low else np.zeros(shape)).astype(dtype)
    if domain == "small":
        low = 0 if dtype.kind == "u" else -4
        return np.asarray(rng.integers(low, 5, shape)).astype(dtype)
    values = _floats(rng, shape, dtype) if is_float(dtype) else _integers(rng, shape, dtype)
    if special and domain in ("any", "nonzero", "moderate"):
        chosen = _specials(dtype, extremes=domain != "moderate")
        places = np.asarray(rng.random(shape) < 0.2)
        values = np.where(places, chosen[rng.integers(len(chosen), size=shape)], values)
    if domain == "positive":
        values = np.abs(values) + np.asarray(0.125).astype(dtype) if is_float(dtype) else np.maximum(values, 1)
    if domain == "nonzero":
        values = np.where(values == 0, np.asarray(1, dtype), values)
    return np.asarray(values, dtype)


def _floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    scale = (1.0, 1.0, 10.0)[int(rng.integers(3))]
    return np.asarray(np.clip(rng.standard_normal(shape) * scale, -100, 100)).astype(dtype)


def _integers(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    return np.asarray(rng.integers(0 if dtype.kind == "u" else -100, 101, shape)).astype(dtype)


def _specials(dtype: np.dtype, *, extremes: bool) -> Array:
    if not is_float(dtype):
        limits = np.iinfo(dtype)
        numbers = [limits.min, limits.min + 1, limits.max, limits.max - 1] if extremes else []
        return np.array([*numbers, 0, 1], dtype)
    limits = ml_dtypes.finfo(dtype)
    small = [limits.tiny, limits.smallest_subnormal, limits.eps]
    numbers = [limits.max, limits.min, *small] if extremes else small
    plain = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5]).astype(dtype)
    return np.concatenate([plain, np.array([np.asarray(value, dtype) for value in numbers], dtype)])
