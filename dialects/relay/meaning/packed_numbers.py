"""Signed numbers of a few bits, packed along the last axis into words of 32 bits, the first in the lowest bits."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array

_WORD = 32


def unpack(words: Array, bits: int) -> Array:
    """Returns the numbers in words of i32, as i32: `32 / bits` times as many along the last axis."""
    above = np.arange(_WORD - bits, -1, -bits, dtype=np.int32)
    numbers = np.left_shift(words[..., np.newaxis], above) >> np.int32(_WORD - bits)
    return numbers.reshape(*words.shape[:-1], -1)


def pack(numbers: Array, bits: int) -> Array:
    """Returns words of i32 with the lowest `bits` of integers, with zeros in the rest of the last word of a row."""
    in_word = _WORD // bits
    missing = -numbers.shape[-1] % in_word
    masked = np.pad(numbers.astype(np.uint32) & np.uint32(2**bits - 1), [(0, 0)] * (numbers.ndim - 1) + [(0, missing)])
    words = np.zeros((*masked.shape[:-1], masked.shape[-1] // in_word), np.uint32)
    for place in range(in_word):
        words |= masked[..., place::in_word] << np.uint32(place * bits)
    return words.view(np.int32)
