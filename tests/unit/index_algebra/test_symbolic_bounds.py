"""Proofs about expressions whose dimensions have symbolic bounds: tiles of a dynamic extent."""

from __future__ import annotations

from random import Random

import pytest
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from xrelay.index_algebra import affine_bounds
from xrelay.index_algebra.affine_bounds import Box, is_nonnegative, linear_form
from xrelay.index_algebra.linear_form import LinearForm

n, i, j, k = (AffineDimExpr(d) for d in range(4))
BOX = [(0, 1 << 47), None, (0, 15), (0, 3)]
TILES = (n + 15) // 16


@pytest.mark.parametrize(
    ("expr", "limit", "holds"),
    [
        (n - 1 - i, n, True),
        (n - 2 - i, n, False),
        (n - 1 - (i * 16 + j), n // 16, True),
        (n - 1 - (i * 16 + j), TILES, False),
        (n - 1 - (i * 64 + k * 16 + j), n // 64, True),
        (TILES - n // 16, n, True),
        (n // 16 + 1 - TILES, n, True),
        (n // 16 - TILES, n, False),
        ((TILES + 3) // 4 - n // 64, n, True),
        (n // 64 + 1 - (TILES + 3) // 4, n, True),
        (TILES * 16 - n, n, True),
        (n - TILES * 16, n, False),
        (n // 2 * 2 - 2 - i // 27 * 2, n // 2 * 27, True),
        (n // 2 * 2 - 3 - i // 27 * 2, n // 2 * 27, False),
        (n // 64 * 64 - 1 - (k * 16 + j + i // 7 * 64), n // 64 * 7, True),
        (n // 64 * 64 - 2 - (k * 16 + j + i // 7 * 64), n // 64 * 7, False),
        (i, n, True),
        (i * -1, n, False),
    ],
)
def test_proofs(expr: AffineExpr, limit: AffineExpr, holds: bool):
    assert is_nonnegative(expr, BOX, {1: limit}) is holds


def test_what_is_proven_holds():
    """Random inequalities between tiles of one extent, evaluated at every small extent."""
    random, proven = Random(1), 0
    for _ in range(300):
        factor, inner = random.randint(2, 9), random.randint(1, 4)
        limit = (n + random.choice([0, factor - 1])) // factor
        expr = n * random.randint(0, 2) + random.randint(-3, 9) - i * random.randint(0, factor) - k * inner
        if is_nonnegative(expr, BOX, {1: limit}):
            proven += 1
            for size in range(30):
                for index in range(limit.eval([size, 0, 0, 0], [])):
                    assert expr.eval([size, index, 0, 3], []) >= 0
    assert proven > 20


def test_a_proof_is_remembered(monkeypatch: pytest.MonkeyPatch):
    """The tiles of a kernel, and kernels alike, need the same proofs: only the first computes."""
    computed: list[AffineExpr] = []

    def count(expr: AffineExpr, box: Box = ()) -> LinearForm:
        computed.append(expr)
        return linear_form(expr, box)

    monkeypatch.setattr(affine_bounds, "linear_form", count)
    counts: list[int] = []
    for _ in range(2):
        assert is_nonnegative(n * 3 + 29 - (i * 23 + j), BOX, {1: n // 23 + 1})
        counts.append(len(computed))
    assert counts[0] == counts[1] > 0
