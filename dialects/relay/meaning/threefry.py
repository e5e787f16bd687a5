"""Draws of random words from keys, with Python integers."""

from __future__ import annotations

from math import prod

import numpy as np

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics import ONES, hash_counter, shifted


def drawn_words(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Returns a new key and words of `shape`."""
    count, numbers = prod(shape), list[int]()
    words = _with_room(key.tolist(), count)
    for block in range(-(-count // 4)):
        step = block if block < count // 4 else count // 4 * 4
        numbers += hash_counter(words[:4], [word + step & ONES for word in words[4:8]])
    new = [*words[:6], 0, words[7] + len(numbers) & ONES, *words[8:]]
    return np.array(new, np.uint64), np.array(numbers[:count], np.uint64).reshape(shape)


def drawn_fractions(key: Array, shape: tuple[int, ...], dtype: np.dtype) -> tuple[Array, Array]:
    """Returns a new key and floats in [0, 1) of `shape`."""
    bits = 52 if dtype == np.float64 else 23
    new, words = drawn_words(key, shape)
    return new, (words >> np.uint64(64 - bits)).astype(dtype) / dtype.type(1 << bits)


def _with_room(words: list[int], count: int) -> list[int]:
    """Returns the key, or a derived key if the counter would overflow."""
    if words[7] < (ONES - count) & ONES:
        return words
    if words[8] == words[9] == 0:
        return [*hash_counter(words[:4], [*words[4:6], ONES, ONES]), 0, 0, 0, 0, 1 << 63, 0]
    return [*words[:4], words[4] | words[8], words[5] | words[9], 0, 0, *shifted(words[8], words[9])]


def split_key(key: Array) -> tuple[Array, Array]:
    """Extends the path of a key by either bit, or resets a full path."""
    words: list[int] = key.tolist()
    if words[8] == words[9] == 0:
        new, place = hash_counter(words[:4], words[4:8]), [1 << 62, 0]
        sides = [[*new, 0, 0, 0, 0, *place], [*new, 1 << 63, 0, 0, 0, *place]]
    else:
        place = shifted(words[8], words[9])
        stepped = [words[4] | words[8], words[5] | words[9]]
        sides = [words[:8] + place, words[:4] + stepped + words[6:8] + place]
    left, right = (np.array(side, np.uint64) for side in sides)
    return left, right
