"""`xrelay.build` of a schedule: native code on arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import xrelay
from xrelay import te
from xrelay.errors import InputError

RNG = np.random.default_rng(5)


def gemm(plan: Callable[[te.Schedule, te.Tensor], None] | None = None) -> xrelay.BuiltFunction:
    a, b = te.placeholder((30, 20), name="A"), te.placeholder((20, 50), name="B")
    k = te.reduce_axis((0, 20), name="k")
    c = te.compute((30, 50), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    if plan is not None:
        plan(s, c)
    return xrelay.build(s, [a, b, c], "llvm", name="gemm")


def _tiled(s: te.Schedule, c: te.Tensor) -> None:
    io, _, ii, ji = s[c].tile(*s[c].op.axis, 6, 16)
    s[c].reorder(s[c].op.reduce_axis[0], ii, ji)
    s[c].vectorize(ji)
    s[c].parallel(io)


def _in_registers(s: te.Schedule, c: te.Tensor) -> None:
    cc = s.cache_write(c, "local")
    _, jo, _, ji = s[c].tile(*s[c].op.axis, 6, 16)
    s[cc].compute_at(s[c], jo)
    s[cc].reorder(s[cc].op.reduce_axis[0], *s[cc].op.axis)
    s[cc].unroll(s[cc].op.axis[0])
    s[cc].vectorize(s[cc].op.axis[1])
    s[c].vectorize(ji)


@pytest.mark.parametrize("plan", [None, _tiled, _in_registers])
def test_outputs_are_written(plan: Callable[[te.Schedule, te.Tensor], None] | None) -> None:
    run = gemm(plan)
    a, b = RNG.standard_normal((30, 20)).astype(np.float32), RNG.standard_normal((20, 50)).astype(np.float32)
    c = np.empty((30, 50), np.float32)
    run(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    assert run.entry_name == "gemm"


def test_computed_indices_conditions_and_dtypes_run() -> None:
    x, p = te.placeholder((6,), "float64", name="X"), te.placeholder((4,), "int32", name="P")
    y = te.compute((4,), lambda i: te.if_then_else(p[i] % 2 > 0, x[p[i]], -1.0), name="Y")
    n = te.compute((4,), lambda i: p[i] // -2 + i, name="N")
    run = xrelay.build(te.create_schedule([y.op, n.op]), [n, x, p, y])
    values, places = np.arange(6) * 1.5, np.array([5, 2, 1, 0], np.int32)
    first, second = np.empty(4, np.int32), np.empty(4)
    run(first, values, places, second)
    np.testing.assert_array_equal(second, np.where(places % 2, values[places], -1))
    np.testing.assert_array_equal(first, places // -2 + np.arange(4))


def test_a_schedule_is_built_for_the_target_that_is_named() -> None:
    with xrelay.Target("cpu -mcpu=x86-64"):
        assert gemm().model.artifact.metadata.cpu != "x86-64", "llvm is this machine"
        x = te.placeholder((4,), name="X")
        y = te.compute((4,), lambda i: x[i] * 2)
        assert xrelay.build(te.create_schedule(y.op), [x, y]).model.artifact.metadata.cpu == "x86-64"


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ((1, 2), "gemm takes 3 arrays, .*2; help: they are A, B, C"),
        ((np.ones((30, 20), np.float32), np.ones((20, 50), np.float32), [1]), "C is a list, .*"),
        (
            (np.ones((30, 20), np.float32), np.ones((20, 50), np.float32), np.ones((30, 50))),
            r"C .* float32\[30, 50\], got float64\[30, 50\]",
        ),
        ((np.ones((30, 2), np.float32), np.ones((20, 50), np.float32), np.ones((30, 50), np.float32)), "'A'"),
    ],
)
def test_mistakes_are_told_in_one_line(arrays: tuple[np.ndarray, ...], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        gemm()(*arrays)
    assert "\n" not in str(caught.value)
