"""Functions on numpy arrays that the evaluators of several levels share: powers, rounding, sorting, random bits.

numpy's casts between its own types round once. ml_dtypes casts to bfloat16 through float32, which rounds other values
twice. Random bits are those of Threefry with four 64-bit words and twenty rounds; the key is added before every fourth
round.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray


def float_power(base: NDArray[Any], exponent: NDArray[Any] | float) -> NDArray[Any]:
    """Returns `base` to the power of `exponent`, for numpy floats and arrays of floats.

    numpy computes square roots if every exponent is one half. The square roots of -0.0 and -infinity are -0.0 and NaN,
    but their powers are 0.0 and infinity.
    """
    rooted = (exponent == 0.5) & ((base == 0) | (base == -np.inf))
    return np.power(np.where(rooted, np.abs(base), base), exponent)


def integer_power(base: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    """Returns `base` to the power of `exponent`, for integers of the same dtype, modulo the width.

    A negative exponent yields the truncated reciprocal: 1 or -1 for a base of 1 or -1, else 0.
    """
    negative = exponent < 0
    # Negative powers of 1 and -1 depend only on the parity of the exponent; those of other integers are 0.
    kept = np.where(negative & (base != 1) & (base != -1), base.dtype.type(0), base)
    return np.power(kept, np.where(negative, 2 - (exponent & 1), exponent))


BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
EXACT_IN_FLOAT64 = 1 << 53


def cast_once(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Converts `array` to `dtype`: floats are rounded to nearest even, integers wrap, fractions are truncated."""
    if dtype != BFLOAT16 or array.dtype.itemsize < 4 or array.dtype.kind not in "iuf":
        return array.astype(dtype)
    exact = array.astype(np.float64) if array.dtype.kind == "f" else _integers_to_odd(array)
    return _floats_to_odd(exact).astype(dtype)


def _integers_to_odd(array: NDArray[Any]) -> NDArray[np.float64]:
    """Converts integers to float64: exact up to 2⁵³, else rounded to an odd multiple of 2¹¹ if bits are lost."""
    if array.dtype.itemsize < 8:
        return array.astype(np.float64)
    lost: NDArray[Any] = array & array.dtype.type(0x7FF)
    last: NDArray[Any] = (lost != 0).astype(array.dtype) << array.dtype.type(11)
    odd: NDArray[Any] = np.bitwise_or(array - lost, last)
    large = (array > EXACT_IN_FLOAT64) | (array < -EXACT_IN_FLOAT64)
    return np.where(large, odd, array).astype(np.float64)


def _floats_to_odd(exact: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rounds inexact numbers to the neighbouring float32 with an odd last bit, so that another rounding is correct."""
    with np.errstate(all="ignore"):
        near = np.asarray(exact.astype(np.float32))
        back = near.astype(np.float64)
    bits = near.view(np.int32)
    step = np.where(np.abs(back) > np.abs(exact), np.int32(-1), np.int32(1))
    moves = (bits & 1 == 0) & (back != exact) & ~np.isnan(exact)
    return np.where(moves, bits + step, bits).view(np.float32)


def stable_order(keys: NDArray[Any], axis: int = -1, *, descending: bool = False) -> NDArray[np.int64]:
    """Returns the indices that stably sort `keys` along `axis`.

    Ascending and descending sorts are stable, 0.0 and -0.0 are equal, NaN is greater than all numbers.
    """
    if keys.dtype.kind not in "biu":
        # numpy sorts f64 with NaN last; the conversion is exact.
        keys = keys.astype(np.float64)
    if not descending:
        return np.argsort(keys, axis=axis, kind="stable").astype(np.int64)
    # Reversing the elements and their ascending order results in a stable descending order.
    reverse = np.flip(np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)
    return (keys.shape[axis] - 1 - reverse).astype(np.int64)


ONES = (1 << 64) - 1
PARITY = 0x1BD11BDAA9FC1A22
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))


def hash_counter(key: list[int], counter: list[int]) -> list[int]:
    """Returns the hash of the four words `counter` with `key`."""
    keys = [*key, PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    words = list(counter)
    for turn in range(20):
        if turn % 4 == 0:
            step = turn // 4
            added = [keys[(step + place) % 5] + (step if place == 3 else 0) for place in range(4)]
            words = [word + more & ONES for word, more in zip(words, added, strict=True)]
        for place, count in zip((0, 2), ROTATIONS[turn % 8], strict=True):
            first, second = words[place], words[place + 1]
            first = first + second & ONES
            words[place], words[place + 1] = first, first ^ (second << count & ONES | second >> 64 - count)
        words[1], words[3] = words[3], words[1]
    return words


def shifted(high: int, low: int) -> list[int]:
    """Shifts a single bit in two words to the next position."""
    if high == 0:
        return [0, low >> 1]
    return [0, 1 << 63] if high == 1 else [high >> 1, 0]
