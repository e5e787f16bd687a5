"""Signed numbers of a few bits, packed along the last axis into words of 32 bits, the first in the lowest bits."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array

_WORD, _BYTE = 32, 8


def unpack(words: Array, bits: int) -> Array:
    """Returns the numbers in words of i32, as i32: `32 / bits` times as many along the last axis."""
    above = np.arange(_WORD - bits, -1, -bits, dtype=np.int32)
    numbers = np.left_shift(words[..., np.newaxis], above) >> np.int32(_WORD - bits)
    return numbers.reshape(*words.shape[:-1], words.shape[-1] * len(above))


def pack(numbers: Array, bits: int) -> Array:
    """Returns words of i32 with the lowest `bits` of bytes, with zeros in the rest of the last word of a row."""
    in_word, in_byte = _WORD // bits, _BYTE // bits
    missing = -numbers.shape[-1] % in_word
    filled = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, missing)]) if missing else numbers
    mask = np.uint8(2**bits - 1)
    packed = np.zeros((*filled.shape[:-1], filled.shape[-1] // in_byte), np.uint8)
    for place in range(in_byte):
        packed |= (filled[..., place::in_byte].view(np.uint8) & mask) << np.uint8(place * bits)
    return packed.view("<i4")
