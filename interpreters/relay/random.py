"""Random numbers from keys, with Python integers."""

from __future__ import annotations

from math import prod

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.random import (
    DistributionOp,
    MultinomialOp,
    NormalOp,
    ThreefryGenerateOp,
    ThreefrySplitOp,
    UniformOp,
    blocks,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.threefry import ONES, hashed, shifted
from xrelay.interpreters.relay.registry import evaluates

Words = list[int]


@evaluates(ThreefryGenerateOp)
def evaluate_threefry_generate(op: ThreefryGenerateOp, key: Array) -> tuple[Array, ...]:
    """Returns a new key and random words."""
    return _words(key, ints(op.out_shape))


@evaluates(ThreefrySplitOp)
def evaluate_threefry_split(op: ThreefrySplitOp, key: Array) -> tuple[Array, ...]:
    """Extends the path by either bit, or resets a full path."""
    words: Words = key.tolist()
    if words[8] == words[9] == 0:
        new, place = hashed(words[:4], words[4:8]), [1 << 62, 0]
        sides = [[*new, 0, 0, 0, 0, *place], [*new, 1 << 63, 0, 0, 0, *place]]
    else:
        place = shifted(words[8], words[9])
        stepped = [words[4] | words[8], words[5] | words[9]]
        sides = [words[:8] + place, words[:4] + stepped + words[6:8] + place]
    left, right = (np.array(side, np.uint64) for side in sides)
    return left, right


@evaluates(UniformOp)
def evaluate_uniform(op: UniformOp, key: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Scales fractions to the interval."""
    new, values = _fractions(op, key, ints(op.out_shape))
    return new, values * (high - low) + low


@evaluates(NormalOp)
def evaluate_normal(op: NormalOp, key: Array, mean: Array, scale: Array) -> tuple[Array, ...]:
    """Computes a radius and an angle from each pair of fractions."""
    new, (u, v) = _fractions(op, key, (2, *ints(op.out_shape)))
    wide = np.sqrt(-2 * np.log(1 - u.astype(np.float64))) * np.sin(2 * np.pi * v.astype(np.float64))
    return new, np.asarray(wide * scale.astype(np.float64) + mean.astype(np.float64)).astype(u.dtype)


@evaluates(MultinomialOp)
def evaluate_multinomial(op: MultinomialOp, key: Array, probs: Array) -> tuple[Array, ...]:
    """Finds the first class whose cumulative sum is greater than the random limit."""
    shape = (*probs.shape[:-1], op.num_samples.value.data)
    new, bits = _words(key, shape)
    fractions = (bits >> np.uint64(41)).astype(np.float32) / np.float32(1 << 23)
    rows = probs.astype(np.float32)
    sums = np.cumsum(np.where(rows > 0, rows, np.float32(0)), -1, dtype=np.float32)
    limits = fractions * sums[..., -1:]
    classes = (~(sums[..., None] > limits[..., None, :])).sum(-2)
    return new, np.minimum(classes, probs.shape[-1] - 1).astype(np.int32)


def _words(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Returns a new key and the words of a draw."""
    (count, moved), words = blocks(shape), _with_room(key.tolist(), prod(shape))
    numbers: Words = []
    for block in range(-(-count // 4)):
        step = block if block < count // 4 else count // 4 * 4
        counter = [word + step & ONES for word in words[4:8]]
        numbers += hashed(words[:4], counter)
    new = [*words[:6], 0, words[7] + moved & ONES, *words[8:]]
    return np.array(new, np.uint64), np.array(numbers[:count], np.uint64).reshape(shape)


def _with_room(words: Words, count: int) -> Words:
    """Returns the key, or a derived key if the counter would overflow."""
    if words[7] < (ONES - count) & ONES:
        return words
    if words[8] == words[9] == 0:
        return [*hashed(words[:4], [*words[4:6], ONES, ONES]), 0, 0, 0, 0, 1 << 63, 0]
    return [*words[:4], words[4] | words[8], words[5] | words[9], 0, 0, *shifted(words[8], words[9])]


def _fractions(op: DistributionOp, key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Returns a new key and floats in [0, 1)."""
    dtype = numpy_dtype(op.out_dtype)
    bits = 52 if dtype == np.float64 else 23
    new, words = _words(key, shape)
    return new, (words >> np.uint64(64 - bits)).astype(dtype) / dtype.type(1 << bits)
