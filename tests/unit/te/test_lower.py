"""Schedules in native code and in the loop interpreter, also with splits that do not divide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import xrelay
from xrelay import te
from xrelay.errors import InputError, ScheduleError
from xrelay.transform import create_pass

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


Stage = te.schedule.Stage


def check(schedule: te.Schedule, args: Sequence[te.Tensor], wanted: Callable[..., np.ndarray]) -> None:
    """Checks that the last of `args`, compiled and interpreted with the schedule, is `wanted` of the others."""
    rng = np.random.default_rng(5)
    arrays = [rng.integers(-9, 9, arg.shape).astype(np.float32) for arg in args[:-1]]
    result = np.full(args[-1].shape, np.nan, np.float32)
    xrelay.build(schedule, args, "llvm")(*arrays, result)
    np.testing.assert_array_equal(result, wanted(*arrays))
    scheduled = create_pass("loop-apply-schedules")(xrelay.lower(schedule, args))
    np.testing.assert_array_equal(xrelay.interpret(scheduled, arrays)[0], result)


@pytest.mark.grid(3)
@pytest.mark.parametrize("factor", [4, 7])
@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (16, 24), (7,), (1, 3, 5, 2), (1, 1)])
def test_all_axes_fused_split_and_vectorized(shape: tuple[int, ...], factor: int) -> None:
    a = te.placeholder(shape, name="A")
    b = te.compute(shape, lambda *i: a[i] + te.const(1, "float32"), name="B")
    s = te.create_schedule(b.op)
    axis = s[b].fuse(*s[b].op.axis) if len(shape) > 1 else s[b].op.axis[0]
    s[b].vectorize(s[b].split(axis, factor=factor)[1])
    check(s, [a, b], lambda x: x + 1)


def _twice(stage: Stage) -> None:
    _, inner = stage.split(stage.op.axis[1], factor=5)
    stage.unroll(stage.split(inner, factor=3)[1])


def _parts(stage: Stage) -> None:
    outer, inner = stage.split(stage.op.axis[0], nparts=4)
    stage.parallel(outer)
    stage.reorder(outer, stage.op.axis[1], inner)
    stage.vectorize(inner)


def _tiles(stage: Stage) -> None:
    _, _, inner, lanes = stage.tile(*stage.op.axis, 4, 3)
    stage.vectorize(lanes)
    stage.unroll(inner)


def _tiles_across(stage: Stage) -> None:
    _, _, rows, columns = stage.tile(*stage.op.axis, 4, 3)
    stage.reorder(columns, rows)
    stage.vectorize(rows)


def _reduced(stage: Stage) -> None:
    (k,) = stage.op.reduce_axis
    outer, inner = stage.split(k, factor=4)
    stage.reorder(outer, *stage.op.axis, inner)
    stage.unroll(stage.split(inner, factor=3)[1])


@pytest.mark.parametrize("change", [_twice, _parts, _tiles, _tiles_across, _reduced])
def test_a_product(change: Callable[[Stage], None]) -> None:
    a, b, k = te.placeholder((7, 9), name="A"), te.placeholder((9, 8), name="B"), te.reduce_axis((0, 9), name="k")
    c = te.compute((7, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    s[c].reorder(k, *c.op.axis)
    change(s[c])
    check(s, [a, b, c], np.matmul)


def test_a_producer_in_a_ragged_loop() -> None:
    a = te.placeholder((7, 9), name="A")
    b = te.compute((7, 9), lambda i, j: a[i, j] * te.const(2, "float32"), name="B")
    c = te.compute((7, 9), lambda i, j: b[i, j] + te.const(1, "float32"), name="C")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(s[c].fuse(*s[c].op.axis), factor=10)
    s[c].split(inner, factor=4)
    s[b].compute_at(s[c], outer)
    s[b].split(s[b].op.axis[1], factor=4)
    check(s, [a, c], lambda x: x * 2 + 1)


def test_lanes_on_different_branches() -> None:
    a = te.placeholder((4, 5), name="A")
    inside = lambda i, j: te.all(i >= 1, i < 5, j >= 1, j < 6)  # noqa: E731
    b = te.compute(
        (6, 7), lambda i, j: te.if_then_else(inside(i, j), a[i - 1, j - 1], te.const(0, "float32")), name="pad"
    )
    s = te.create_schedule(b.op)
    s[b].vectorize(s[b].split(s[b].fuse(*s[b].op.axis), factor=8)[1])
    check(s, [a, b], lambda x: np.pad(x, 1))


def test_an_axis_without_a_loop_has_a_place_in_a_reorder() -> None:
    a, k = te.placeholder((13, 8, 7), name="A"), te.reduce_axis((0, 7), name="k")
    c = te.compute((13, 8), lambda i, j: te.sum(a[i, j, k], axis=k), name="C")
    s = te.create_schedule(c.op)
    _, outer, _, _ = s[c].tile(k, s[c].op.axis[0], 9, 2)
    s[c].fuse(outer, s[c].op.axis[1])
    check(s, [a, c], lambda x: x.sum(2))


def test_a_refusal_names_stage_loop_and_reason() -> None:
    a = te.placeholder((7, 9), name="A")
    b = te.compute((7, 9), lambda i, j: a[i, j] * te.const(2, "float32"), name="B")
    c = te.compute((7, 9), lambda i, j: b[i, j] + te.const(1, "float32"), name="C")
    s = te.create_schedule(c.op)
    s[c].vectorize(s[c].op.axis[1])
    s[b].compute_at(s[c], s[c].op.axis[1])
    with pytest.raises(ScheduleError, match=r"^stage 'B': compute_at\(\"B\", \"C_j\"\): .*'C_j' is vectorized; help: "):
        xrelay.lower(s, [a, c])
