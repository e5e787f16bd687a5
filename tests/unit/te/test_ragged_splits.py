"""Schedules with splits that do not divide, for any shape: in native code and in the loop interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import xrelay
from xrelay import te
from xrelay.errors import ScheduleError
from xrelay.transform import create_pass

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
