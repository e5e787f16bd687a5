"""Tensor expressions and schedules: their values, their lowering, and errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.tensor_expressions import computed, value_of

import xrelay
from xrelay import te
from xrelay.errors import XRelayError
from xrelay.transform import create_pass

RNG = np.random.default_rng(3)


X = te.placeholder((6,), name="X")
N = te.placeholder((6,), "int32", name="N")
VALUES = np.array([-2.5, -1, -0.5, 0.25, 1, 3], np.float32)
NUMBERS = np.array([-7, -3, -1, 0, 4, 9], np.int32)

SCALARS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "arithmetic": (lambda i: (1 - X[i]) * 2 + X[i] / 4, lambda x: (1 - x) * 2 + x / 4),
    "negative": (lambda i: -X[i], lambda x: -x),
    "exp": (lambda i: te.exp(X[i]), np.exp),
    "sigmoid": (lambda i: te.sigmoid(X[i]), lambda x: 1 / (1 + np.exp(-x))),
    "rsqrt": (lambda i: te.rsqrt(te.abs(X[i])), lambda x: 1 / np.sqrt(np.abs(x))),
    "rounding": (lambda i: te.floor(X[i]) + te.ceil(X[i]) + te.trunc(X[i]) + te.round(X[i]),
                 lambda x: np.floor(x) + np.ceil(x) + np.trunc(x) + np.round(x)),
    "power": (lambda i: te.power(te.abs(X[i]), 1.5), lambda x: np.abs(x) ** 1.5),
    "extrema": (lambda i: te.max(X[i], 0) + te.min(X[i], 1.0), lambda x: np.maximum(x, 0) + np.minimum(x, 1)),
    "choice": (lambda i: te.if_then_else(te.all(X[i] > -2, X[i] <= 1), X[i], 9.0),
               lambda x: np.where((x > -2) & (x <= 1), x, 9)),
    "either": (lambda i: te.if_then_else(te.any(X[i] < -2, X[i].equal(3.0)), 0.0, X[i]),
               lambda x: np.where((x < -2) | (x == 3), 0, x)),
    "index": (lambda i: X[i] + (i * 2 - 1).astype("float32"), lambda x: x + np.arange(6) * 2 - 1),
    "reversed": (lambda i: X[5 - i], lambda x: x[::-1]),
    "blocks": (lambda i: X[i // 4 + i % 2], lambda x: x[np.arange(6) // 4 + np.arange(6) % 2]),
    "cast": (lambda i: X[i].astype("int32").astype("float32"), np.trunc),
    "constant": (lambda i: 2.5, lambda x: np.full(6, 2.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_expressions(name: str) -> None:
    body, meaning = SCALARS[name]
    result = value_of(te.compute((6,), body, name="Y"), (X, VALUES))
    np.testing.assert_allclose(result, meaning(VALUES), rtol=1e-5)


@pytest.mark.parametrize("divisor", [4, -4])
def test_integers_divide_towards_minus_infinity(divisor: int) -> None:
    for body, meaning in (
        (lambda i: N[i] // divisor, NUMBERS // divisor),
        (lambda i: N[i] % divisor, NUMBERS % divisor),
        (lambda i: divisor // (N[i] * 2 + 1), divisor // (NUMBERS * 2 + 1)),
        (lambda i: divisor % (N[i] * 2 + 1), divisor % (NUMBERS * 2 + 1)),
    ):
        np.testing.assert_array_equal(value_of(te.compute((6,), body), (N, NUMBERS)), meaning)


def test_padding_reads_only_inside() -> None:
    padded = te.compute((8,), lambda i: te.if_then_else(te.all(i >= 1, i < 7), X[i - 1], 0.0))
    np.testing.assert_array_equal(value_of(padded, (X, VALUES)), np.pad(VALUES, 1))


def test_gathers_read_at_indices_that_are_read() -> None:
    places = te.placeholder((4,), "int32", name="P")
    taken = te.compute((4,), lambda i: X[places[i] + 1])
    at = np.array([0, 4, 2, -1], np.int32)
    np.testing.assert_array_equal(value_of(taken, (X, VALUES), (places, at)), VALUES[at + 1])


@pytest.mark.parametrize(("reduce", "meaning"), [(te.sum, np.sum), (te.max, np.max), (te.min, np.min)])
def test_reductions(reduce: Callable[..., te.PrimExpr], meaning: Callable[..., np.ndarray]) -> None:
    data = te.placeholder((3, 4, 5), name="D")
    k, m = te.reduce_axis((0, 4), "k"), te.reduce_axis(5, "i")
    values = RNG.standard_normal((3, 4, 5)).astype(np.float32)
    whole = te.compute((3,), lambda i: reduce(data[i, k, m], axis=[k, m]))
    np.testing.assert_allclose(value_of(whole, (data, values)), meaning(values, axis=(1, 2)), rtol=1e-5)


def matmul(n: int = 30, m: int = 50, depth: int = 20) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a, b = te.placeholder((n, depth), name="A"), te.placeholder((depth, m), name="B")
    k = te.reduce_axis((0, depth), name="k")
    return a, b, te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def tiled(s: te.Schedule, c: te.Tensor) -> None:
    i, j = s[c].op.axis
    (k,) = s[c].op.reduce_axis
    io, _, ii, ji = s[c].tile(i, j, 8, 16)
    ko, ki = s[c].split(k, factor=4)
    s[c].reorder(*[axis for axis in s[c].leaf_iter_vars if axis not in (ko, ki, ii, ji)], ko, ki, ii, ji)
    s[c].unroll(ki)
    s[c].vectorize(ji)
    s[c].parallel(io)


def cached(s: te.Schedule, c: te.Tensor) -> None:
    cc = s.cache_write(c, "local")
    xo, yo, _, yi = s[c].tile(*s[c].op.axis, 6, 16)
    s[cc].compute_at(s[c], yo)
    xc, yc = s[cc].op.axis
    (k,) = s[cc].op.reduce_axis
    s[cc].reorder(k, xc, yc)
    s[cc].vectorize(yc)
    s[c].vectorize(yi)
    s[c].parallel(s[c].fuse(xo, yo))


def fused(s: te.Schedule, c: te.Tensor) -> None:
    whole = s[c].fuse(*s[c].op.axis)
    outer, _ = s[c].split(whole, nparts=4)
    s[c].parallel(outer)


@pytest.mark.parametrize("plan", [tiled, fused])
@pytest.mark.parametrize("shape", [(30, 50, 20), (32, 64, 16), (1, 50, 20), (30, 1, 1), (3, 7, 2)])
def test_schedules_keep_what_is_computed(plan: Callable[..., None], shape: tuple[int, int, int]) -> None:
    a, b, c = matmul(*shape)
    s = te.create_schedule(c.op)
    plan(s, c)
    left, right = (RNG.standard_normal(one.shape).astype(np.float32) for one in (a, b))
    (result,) = computed(te.lower(s, [a, b, c]), left, right)
    np.testing.assert_allclose(result, left @ right, rtol=1e-4, atol=1e-4)


def test_a_tile_of_registers() -> None:
    a, b, c = matmul(30, 48)
    s = te.create_schedule(c.op)
    cc = s.cache_write(c, "local")
    _, yo, _, yi = s[c].tile(*s[c].op.axis, 6, 16)
    s[cc].compute_at(s[c], yo)
    (k,) = s[cc].op.reduce_axis
    s[cc].reorder(k, *s[cc].op.axis)
    s[cc].vectorize(s[cc].op.axis[1])
    s[c].vectorize(yi)
    module = te.lower(s, [a, b, c])
    assert 'cache_write("C", "local", names = ["C_write_0", "C_write_1"])' in str(module) or "cache_write" in str(
        module
    )
    assert 'memref<6x16xf32, "local">' in str(create_pass("loop-apply-schedules")(module))
    left, right = (RNG.standard_normal(one.shape).astype(np.float32) for one in (a, b))
    np.testing.assert_allclose(computed(module, left, right)[0], left @ right, rtol=1e-4, atol=1e-4)


def chain() -> tuple[te.Tensor, te.Tensor, te.Tensor, te.Tensor]:
    a, b, c = matmul()
    d = te.compute(c.shape, lambda i, j: te.max(c[i, j] + 1, 0), name="D")
    return a, b, c, te.compute(c.shape, lambda i, j: d[i, j] * te.exp(a[i, 3]), name="E")


def test_stages_are_inlined_and_computed_at_axes() -> None:
    a, b, c, e = chain()
    s = te.create_schedule(e.op)
    te.AutoInlineInjective(s)
    assert [stage.op.name for stage in s.stages if stage.is_inlined] == ["D"]
    _, jo, _, ji = s[e].tile(*s[e].op.axis, 5, 16)
    s[e].vectorize(ji)
    s[c].compute_at(s[e], jo)
    (k,) = s[c].op.reduce_axis
    s[c].reorder(k, *s[c].op.axis)
    text = str(te.lower(s, [a, b, e]))
    assert 'loop.block "D"' not in text
    assert 'compute_at("C", "E_j_o")' in text
    left, right = (RNG.standard_normal(one.shape).astype(np.float32) for one in (a, b))
    (result,) = computed(te.lower(s, [a, b, e]), left, right)
    np.testing.assert_allclose(result, np.maximum(left @ right + 1, 0) * np.exp(left[:, 3:4]), rtol=1e-4, atol=1e-5)


def test_steps_become_the_schedule_of_the_kernel() -> None:
    y = te.compute((4, 64), lambda i, j: te.exp(te.placeholder((4, 64), name="P")[i, j]), name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(s[y].op.axis[1], factor=16)
    s[y].vectorize(inner)
    s[y].parallel(s[y].fuse(s[y].op.axis[0], outer))
    text = str(te.lower(s, [y.op.input_tensors[0], y], name="scale"))
    assert "func.func private @scale(%P: " in text
    (steps,) = re.findall("loop.schedule = (#loop.schedule<.*>)}", text)
    assert steps == '#loop.schedule<[split("j", 16), vectorize("j_i"), fuse("i", "j_o"), parallelize("i_j_o")]>'


def test_several_outputs_and_names_that_are_equal() -> None:
    one = te.compute((6,), lambda i: X[i] + 1, name="same")
    two = te.compute((6,), lambda i: one[i] * 2, name="same")
    s = te.create_schedule([one.op, two.op])
    module = te.lower(s, [two, X, one])
    second, first = computed(module, VALUES)
    np.testing.assert_array_equal(first, VALUES + 1)
    np.testing.assert_array_equal(second, (VALUES + 1) * 2)


def test_long_chains_do_not_recurse() -> None:
    value = te.compute((6,), lambda i: X[i] + 1)
    for _ in range(300):
        previous = value
        value = _next(previous)
    s = te.create_schedule(value.op)
    te.AutoInlineInjective(s)
    np.testing.assert_allclose(computed(te.lower(s, [X, value]), VALUES)[0], VALUES + 301)
    deep: te.PrimExpr = X[te.placeholder((1,), "int32", name="Z")[0]]
    for _ in range(1500):
        deep = deep + 1
    assert len(te.compute((6,), lambda i: deep).op.input_tensors) == 2


def _next(tensor: te.Tensor) -> te.Tensor:
    return te.compute(tensor.shape, lambda i: tensor[i] + 1)


def _on(steps: Callable[[te.Schedule, te.Tensor, Any], object]) -> Callable[[], object]:
    def run() -> object:
        a, b, c = matmul()
        s = te.create_schedule(c.op)
        steps(s, c, s[c])
        return te.lower(s, [a, b, c])

    return run


def _value_outside() -> object:
    y = te.compute((8,), lambda i: X[i], name="Y")
    return te.lower(te.create_schedule(y.op), [X, y])


K = te.reduce_axis((0, 6), "k")
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "open extent": (lambda: te.placeholder((te.var("n"),)), "the extent 'n' "),  # pyright: ignore
    "name of an extent": (lambda: te.size_var("a b"), "a dimension cannot be called 'a b'"),
    "shape": (lambda: te.placeholder((2.5,)), "the shape is"),  # pyright: ignore
    "negative extent": (lambda: te.placeholder((-1,)), "the shape is"),
    "dtype": (lambda: te.placeholder((2,), "float31"), "'float31'"),
    "axes of the function": (lambda: te.compute((2, 3), lambda i: 1.0), "takes 1 axes, the shape has 2"),
    "no function": (lambda: te.compute((2,), 3), "3 .*"),  # pyright: ignore
    "outside": (_value_outside, r"compute 'Y': .*index 0 runs from 0 to 7.*help: .*te.if_then_else"),
    "name": (lambda: te.lower(te.create_schedule(matmul()[2].op), [], name="main"), "a kernel cannot be called 'main'"),
    "nothing returned": (lambda: te.compute((2,), lambda i: None), "compute .* None"),
    "number of indices": (lambda: te.compute((6,), lambda i: X[i, i]), "X has 1 axes, .*2 indices"),
    "float index": (lambda: te.compute((6,), lambda i: X[X[i]]), "index of X"),
    "unpacking a tensor": (lambda: list(X), "X .*sequence"),  # pyright: ignore
    "truth of a condition": (lambda: te.compute((6,), lambda i: X[i] if X[i] > 0 else 0), "truth.*value"),
    "dtypes differ": (lambda: te.compute((6,), lambda i: X[i] + N[i]), r"float32 \+ int32: the dtypes differ"),
    "float to integers": (lambda: te.compute((6,), lambda i: N[i] + 1.5), r"1\.5 is not of dtype int32"),
    "quotient of integers": (lambda: te.compute((6,), lambda i: N[i] / 2), "/ of int32"),
    "rest of floats": (lambda: te.compute((6,), lambda i: X[i] % 2), "% of float32"),
    "exp of integers": (lambda: te.compute((6,), lambda i: te.exp(N[i])), "exp of int32"),
    "no condition": (lambda: te.if_then_else(X[0], 1.0, 2.0), "a condition of dtype float32"),
    "choice of two dtypes": (lambda: te.if_then_else(X[0] > 0, X[0], N[0]), "float32 or int32"),
    "sum over a spatial axis": (lambda: te.compute((6,), lambda i: te.sum(X[i], axis=i)), "te.sum is over i"),
    "sum of conditions": (lambda: te.sum(X[K] > 0, axis=K), "te.sum of bool"),
    "reduction inside": (lambda: te.compute((1,), lambda i: te.sum(X[K], axis=K) + 1), "a reduction inside"),
    "another's axis": (lambda: te.compute((6,), lambda i: X[K]), "uses axis 'k', .*"),
    "reduction from 1": (lambda: te.reduce_axis((1, 4), "r"), "runs from 1"),
    "schedule of a placeholder": (lambda: te.create_schedule(X.op), "compute"),
    "stage of another": (_on(lambda s, c, st: s[X]), "no stage 'X'; help: it has A, B, C"),
    "missing argument": (lambda: te.lower(te.create_schedule(matmul()[2].op), []), "the arguments lack A, B, C"),
    "argument that is no tensor": (lambda: te.lower(te.create_schedule(matmul()[2].op), [3]), "3 is .*tensor"),  # pyright: ignore
    "axis of another stage": (_on(lambda s, c, st: st.vectorize(K)), "'k' .*; help: they are i"),
    "no axis": (_on(lambda s, c, st: st.vectorize("i")), "a str .*"),
    "split by two": (_on(lambda s, c, st: st.split(c.op.axis[0])), "split of 'i'; help: "),
    "split by nothing": (_on(lambda s, c, st: st.split(c.op.axis[0], 0)), "split of 'i' by 0"),
    "fuse apart": (_on(lambda s, c, st: st.fuse(c.op.axis[0], c.op.reduce_axis[0])), "fuse of .*i.*k"),
    "fuse nothing": (_on(lambda s, c, st: st.fuse()), "fuse.*axes"),
    "reorder twice": (_on(lambda s, c, st: st.reorder(c.op.axis[0], c.op.axis[0])), "an axis twice"),
    "vectorized reduction": (_on(lambda s, c, st: st.vectorize(c.op.reduce_axis[0])), "'C': .*reduces over it"),
    "vectorized outer loop": (_on(lambda s, c, st: st.vectorize(c.op.axis[0])), "stage 'C': .*not innermost"),
    "parallel reduction": (_on(lambda s, c, st: st.parallel(c.op.reduce_axis[0])), "'C': .*reduces over it"),
    "inlined output": (_on(lambda s, c, st: st.compute_inline()), "an output cannot be inlined"),
    "output inside itself": (_on(lambda s, c, st: st.compute_at(st, c.op.axis[0])), "output"),
    "threads of a GPU": (_on(lambda s, c, st: st.bind(1, 2)), "cannot bind: .*CPU.*help: use parallel"),
    "tensorize": (_on(lambda s, c, st: st.tensorize(1, 2)), "cannot tensorize"),
    "unknown primitive": (_on(lambda s, c, st: st.vectorise(1)), "did you mean 'vectorize'"),
    "memory": (_on(lambda s, c, st: s.cache_write(c, "shared")), "memory .*'shared'"),
    "cache after steps": (_on(lambda s, c, st: (st.split(c.op.axis[0], 2), s.cache_write(c))), "'C' is already"),
    "cache for reading": (_on(lambda s, c, st: s.cache_read(c, "local", [])), "cannot be cached for reading"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_one_line(mistake: str) -> None:
    make, words = MISTAKES[mistake]
    with pytest.raises(XRelayError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_names_are_the_packages() -> None:
    assert xrelay.te is te
    assert xrelay.lower is te.lower
    assert te.tensor.Tensor is te.Tensor
    assert te.schedule.AutoInlineInjective is te.AutoInlineInjective
