"""Random numbers: known hashes, keys with a full counter or path, and distributions, at all levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import Array, check, program

from xrelay import relay
from xrelay.dialects.shared.numerics import ONES, hash_counter

TOP = 1 << 63


def key_of(*words: int) -> Array:
    return np.array(words, np.uint64)


FRESH = key_of(7, 0, 0, 0, 0, 0, 0, 0, TOP, 0)
KEYS = {
    "fresh": FRESH,
    "deep path": key_of(1, 2, 3, 4, TOP, 5, 0, 9, 1, 0),
    "second word of the path": key_of(1, 2, 3, 4, TOP, 5, 0, 9, 0, TOP),
    "full counter": key_of(1, 2, 3, 4, TOP, 5, 0, ONES - 3, 1, 0),
    "full counter and path": key_of(1, ONES, 3, 4, TOP, 5, 0, ONES - 3, 0, 0),
}


def drawn(op: str, key: Array, *arrays: Array, rtol: float = 0.0, **attributes: object) -> list[Array]:
    return check(program(op, key, *arrays, **attributes), [key, *arrays], rtol=rtol, atol=rtol)


def test_the_hash_is_threefry_but_for_the_last_addition_of_the_key() -> None:
    """For zeros, by the authors' table of known answers; the key schedule adds 5 to the last word at the end."""
    known = [0x09218EBDE6C85537, 0x55941F5266D86105, 0x4BD25E16282434DC, 0xEE29EC846BD2E40B - 5]
    assert hash_counter([0] * 4, [0] * 4) == known
    added = [ONES, ONES, ONES, ONES + 5]
    found = [word + more & ONES for word, more in zip(hash_counter([ONES] * 4, [ONES] * 4), added, strict=True)]
    assert found == [0x29C24097942BBA1B, 0x0371BBFB0F6F4E11, 0x3C231FFA33F83A1C, 0xCD29113FDE32D168]


@pytest.mark.grid(13)
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("shape", [(7,), (2, 4), (2,), (), (3, 0)])
def test_words(name: str, shape: tuple[int, ...]) -> None:
    key = KEYS[name]
    new, words = drawn("random.threefry_generate", key, shape=shape)
    assert words.shape == shape
    if name == "deep path" and shape == (2, 4):
        numbers: list[int] = key.tolist()
        wanted = [hash_counter(numbers[:4], [each + block for each in numbers[4:8]]) for block in (0, 1)]
        np.testing.assert_array_equal(words, np.array(wanted, np.uint64), strict=True)
        np.testing.assert_array_equal(new, key_of(1, 2, 3, 4, TOP, 5, 0, 17, 1, 0), strict=True)


@pytest.mark.grid(5)
@pytest.mark.parametrize("name", KEYS)
def test_both_keys_of_a_split_draw_other_words(name: str) -> None:
    left, right = drawn("random.threefry_split", KEYS[name])
    words = [drawn("random.threefry_generate", key, shape=(4,))[1] for key in (left, right)]
    assert (words[0] != words[1]).all()


def floats(op: str, low: float, high: float, shape: tuple[int, ...], dtype: str, rtol: float = 0.0) -> Array:
    """Random numbers with distribution parameters that are inputs."""
    given = [FRESH, np.array(low, dtype), np.array(high, dtype)]
    key, first, second = (relay.var(f"x{k}", shape=each.shape, dtype=each.dtype.name) for k, each in enumerate(given))
    module = relay.Module.from_expr(relay.op_function(op)(key, shape, dtype, first, second))
    return check(module, given, rtol=rtol, atol=rtol)[1]


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform(dtype: str) -> None:
    values = floats("random.uniform", -2, 3, (50, 40), dtype)
    assert values.dtype == np.dtype(dtype)
    assert (values >= -2).all()
    assert (values < 3).all()
    np.testing.assert_allclose([values.mean(), values.std()], [0.5, 5 / 12**0.5], rtol=0.1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal(dtype: str) -> None:
    values = floats("random.normal", 1, 2, (50, 41), dtype, rtol=4e-6 if dtype == "float32" else 1e-13)
    np.testing.assert_allclose([values.mean(), values.std()], [1, 2], rtol=0.1)


def test_multinomial() -> None:
    probs = np.array([[1, 0, 3], [0, -5, 1], [0, 0, 0], [np.nan, np.inf, 1]], np.float32)
    _, classes = drawn("random.multinomial", FRESH, probs, num_samples=500)
    assert classes.dtype == np.int32
    np.testing.assert_allclose(np.bincount(classes[0], minlength=3) / 500, [0.25, 0, 0.75], atol=0.06)
    assert (classes[1:3] == 2).all()
    _, single = drawn("random.multinomial", FRESH, np.array([0.5, 0.5], np.float16), num_samples=3)
    assert single.shape == (3,)


def test_keys_in_python() -> None:
    module = relay.Module.from_expr(relay.random.uniform(relay.random.threefry_key(3), (2, 3), high=10.0))
    new, values = check(module, [])
    np.testing.assert_array_equal(new, key_of(3, 0, 0, 0, 0, 0, 0, 8, TOP, 0), strict=True)
    assert values.shape == (2, 3)
    assert values.max() > 1
