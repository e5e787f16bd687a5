"""Attention in one kernel, against the interpreter: partial tiles and blocks, masks, stacks, and threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay
from xrelay.interpreters.relay import run_relay

Floats = NDArray[np.float32]

SHAPES = [
    ((3,), 8, 16, 8, 16),
    ((1,), 8, 16, 4, 17),
    ((3,), 32, 48, 16, 16),
    ((1,), 37, 21, 5, 19),
    ((1, 2), 197, 197, 16, 24),
    ((2, 1), 150, 700, 8, 16),
    ((1, 1), 149, 900, 8, 33),
]
"""Stacks, queries, keys, and the elements of a key and of a value.

The scores of the first two are a single register tile; the last two have several blocks of queries.
"""


def attention(query: relay.Expr, key: relay.Expr, mask: relay.Expr, value: relay.Expr) -> relay.Expr:
    scores = relay.nn.batch_matmul(query, key) * relay.const(0.25)
    weights = relay.nn.softmax(scores + mask, axis=-1)
    return relay.nn.relu(relay.nn.batch_matmul(weights, value, transpose_b=False))


def compiled_and_interpreted(arrays: Sequence[Floats], threads: int) -> tuple[Floats, Floats]:
    """Returns the results of the native code, whose kernel is one, and of the interpreter."""
    given = [relay.var(name, shape=array.shape) for name, array in zip("qkmv", arrays, strict=True)]
    module = relay.Module.from_expr(attention(*given))
    model = xrelay.compile(module, threads=threads, cache=False)
    assert len(model.artifact.metadata.kernels) == 1
    (found,) = model.run(list(arrays))
    (expected,) = run_relay(module, list(arrays))
    return found, expected


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("stacks", "queries", "keys", "width", "size"), SHAPES)
def test_attention(stacks: tuple[int, ...], queries: int, keys: int, width: int, size: int, threads: int) -> None:
    rng = np.random.default_rng(queries)
    shapes = (*stacks, queries, width), (*stacks, keys, width), (queries, keys), (*stacks, keys, size)
    query, key, mask, value = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    mask[np.triu_indices(queries, 1, keys)] = -1e9
    found, expected = compiled_and_interpreted([query, key, mask, value], threads)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def by_parts(query: relay.Expr, key: relay.Expr, mask: relay.Expr, value: relay.Expr, rank: int) -> relay.Expr:
    """Attention as `relay-split-attention` writes it."""
    stack, split = "AB"[: rank - 2], relay.nn.contrib_split_floats
    keys, values = (
        relay.layout_transform(each, f"{stack}{layout}", f"{stack}NC16n2c")
        for each, layout in ((key, "NC"), (value, "CN"))
    )
    scores = relay.nn.contrib_dense_split(split(query), split(keys)) * relay.const(0.25)
    weights = relay.nn.softmax(scores + mask, axis=-1)
    return relay.nn.relu(relay.nn.contrib_dense_split(split(weights), split(values)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("stacks", "queries", "keys", "width", "size"),
    [
        ((1,), 16, 32, 32, 16),
        ((3,), 32, 96, 64, 32),
        ((1, 2), 48, 64, 32, 48),
        ((2, 1), 96, 32, 96, 80),
        ((1, 1), 37, 64, 32, 16),
        ((2,), 5, 32, 32, 16),
        ((2,), 32, 48, 16, 16),
    ],
)
def test_parts(stacks: tuple[int, ...], queries: int, keys: int, width: int, size: int, threads: int) -> None:
    """Blocks of queries are whole or partial; one query has no keys that the mask leaves."""
    rng = np.random.default_rng(queries)
    shapes = (*stacks, queries, width), (*stacks, keys, width), (queries, keys), (*stacks, keys, size)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    arrays[2][np.triu_indices(queries, 2, keys)] = -np.inf
    arrays[2][3] = -np.inf
    given = [relay.var(name, shape=array.shape) for name, array in zip("qkmv", arrays, strict=True)]
    module = relay.Module.from_expr(by_parts(*given, rank=len(stacks) + 2))
    plain = relay.Module.from_expr(attention(*given))
    (found,) = xrelay.compile(module, threads=threads, cache=False).run(arrays)
    (interpreted,), (expected,) = run_relay(module, arrays), run_relay(plain, arrays)
    for each in (found, interpreted):
        np.testing.assert_allclose(each, expected, rtol=0, atol=2e-5 * np.nanmax(np.abs(expected)))


DYNAMIC = """
func.func @main(%q: tensor<2x?x12xf32, #relay.dims<n>>, %k: tensor<2x?x12xf32, #relay.dims<n>>,
                %v: tensor<2x?x17xf32, #relay.dims<n>>) -> !relay.incomplete {
  %s = relay.nn.batch_matmul(%q, %k)
    : (tensor<2x?x12xf32, #relay.dims<n>>, tensor<2x?x12xf32, #relay.dims<n>>) -> !relay.incomplete
  %w = relay.nn.softmax(%s) : (!relay.incomplete) -> !relay.incomplete
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false}
    : (!relay.incomplete, tensor<2x?x17xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_dynamic_lengths(threads: int) -> None:
    """As many queries as keys: none, fewer than a tile, whole tiles, and partial ones."""
    module = xrelay.parse(DYNAMIC)
    model = xrelay.compile(module, threads=threads, cache=False)
    assert len(model.artifact.metadata.kernels) == 1
    rng = np.random.default_rng(0)
    for length in (0, 1, 3, 13, 16, 31, 32, 33, 70):
        arrays = [rng.standard_normal((2, length, size)).astype(np.float32) for size in (12, 12, 17)]
        (found,), (expected,) = model.run(arrays), xrelay.interpret(module, arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
