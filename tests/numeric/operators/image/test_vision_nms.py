"""Non-maximum suppression: every level and native code select the same boxes as a plain search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels, outputs

import xrelay
from xrelay.api.compile import compile
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]
RNG = np.random.default_rng(11)


def module(batch: int, classes: int, count: int, element: str = "f32") -> Any:
    return program(
        f"tensor<{batch}x{count}x4x{element}>", f"tensor<{batch}x{classes}x{count}x{element}>", f"tensor<{element}>"
    )


def program(boxes: str, scores: str, number: str) -> Any:
    made = xrelay.parse(f"""func.func @main(%b: {boxes}, %s: {scores}, %m: tensor<i64>, %i: {number}, %t: {number})
        -> !relay.incomplete {{
      %r = relay.vision.all_class_non_max_suppression(%b, %s, %m, %i, %t)
          : ({boxes}, {scores}, tensor<i64>, {number}, {number}) -> !relay.incomplete
      func.return %r : !relay.incomplete
    }}""")
    infer_types(made)
    return made


def overlap(one: Array, other: Array, threshold: float) -> bool:
    """Computes the overlap in f32 from the corners."""
    sides = []
    for axis in (0, 1):
        lows, highs = ([f(box[axis], box[axis + 2]) for box in (one, other)] for f in (min, max))
        sides.append((min(highs) - max(lows), highs[0] - lows[0], highs[1] - lows[1]))
    shared, *areas = (a * b for a, b in zip(*sides, strict=True))
    if not all(side[0] > 0 for side in sides) or not (shared > 0 and min(areas) > 0):
        return False
    return bool(shared / (areas[0] + areas[1] - shared) > threshold)


def expected(boxes: Array, scores: Array, most: int, iou: float, score: float) -> list[list[int]]:
    """By the definition: takes the best candidate, drops the ones it suppresses, and repeats."""
    rows: list[list[int]] = []
    for batch, number in np.ndindex(scores.shape[:2]):
        of_class = scores[batch, number]
        left = [box for box in range(len(of_class)) if of_class[box] > score]
        selected: list[int] = []
        while left and len(selected) < most:
            best = max(left, key=lambda box: (of_class[box], -box))
            selected.append(best)
            left = [
                box
                for box in left
                if box != best and not overlap(boxes[batch, best], boxes[batch, box], np.float32(iou))
            ]
        rows += [[batch, number, box] for box in selected]
    return rows


def special(count: int) -> tuple[Array, Array]:
    """Boxes on a grid, flipped, empty, or NaN; scores that are equal, infinite, or NaN."""
    boxes = RNG.integers(-2, 4, (2, count, 4)).astype(np.float32)
    boxes[0, 1] = boxes[0, 0]
    boxes[1, 0, 2], boxes[1, 2] = np.nan, [-np.inf, 0, np.inf, 1]
    scores = RNG.integers(0, 3, (2, 2, count)).astype(np.float32)
    scores[0, 0, :3], scores[1, 1, 1:4] = [np.nan, np.inf, 0.0], [-np.inf, -0.0, np.nan]
    return boxes, scores


def check(native: Any, made: Any, *inputs: Array) -> None:
    with np.errstate(all="ignore"):
        rows = expected(*(each if each.ndim else each.item() for each in inputs))  # type: ignore[arg-type]
    wanted = np.zeros((inputs[1].size, 3), np.int64)
    wanted[: len(rows)] = np.array(rows, np.int64).reshape(-1, 3)
    for found, number in (native.run(list(inputs)), outputs(made, inputs)):
        assert number.tolist() == [len(rows)]
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_special_boxes_and_scores() -> None:
    made = module(2, 2, 9)
    native = compile(made.clone(), cache=False, threads=2)
    for most, iou, score in [
        (9, 0.0, -np.inf),
        (2, 0.3, 0.0),
        (3, 0.5, np.nan),
        (0, 0.5, 0.0),
        (-1, 0, 0),
        (99, 1, 0.5),
    ]:
        numbers = np.array(most), np.array(iou, np.float32), np.array(score, np.float32)
        check(native, made, *special(9), *numbers)
    check_levels(made, [*special(9), np.array(4), np.array(0.2, np.float32), np.array(0.0, np.float32)])


def test_any_number_of_boxes() -> None:
    """Named extents; as many boxes as fill chunks of selected ones, one less and one more."""
    made = program("tensor<?x?x4xf32, #relay.dims<b, n>>", "tensor<?x?x?xf32, #relay.dims<b, c, n>>", "tensor<f32>")
    native = compile(made.clone(), cache=False, threads=2)
    for batch, classes, count in [(1, 2, 131), (1, 1, 1), (2, 1, 8), (1, 3, 9), (1, 2, 0), (0, 1, 4)]:
        corners = RNG.random((batch, count, 2), np.float32)
        boxes = np.concatenate([corners, corners + RNG.random((batch, count, 2), np.float32) * np.float32(0.3)], 2)
        numbers = np.array(100), np.array(0.25, np.float32), np.array(0.1, np.float32)
        check(native, made, boxes, RNG.random((batch, classes, count), np.float32), *numbers)


@pytest.mark.parametrize("shape", [(0, 1, 3), (1, 0, 3), (1, 2, 0)])
def test_nothing_to_select(shape: tuple[int, int, int]) -> None:
    batch, classes, count = shape
    made = module(*shape, "f64")
    inputs = [np.ones((batch, count, 4)), np.ones((batch, classes, count)), np.array(2), np.array(0.5), np.array(0.0)]
    found, number = compile(made.clone(), cache=False).run(inputs)
    assert found.shape == (0, 3)
    assert number.tolist() == [0]
    check_levels(made, inputs)
