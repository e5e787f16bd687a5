"""`vision.regular_non_max_suppression` and `vision.proposal` at all levels, against plain searches."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from support.one_op import Array, applied, check, program

import xrelay
from xrelay import relay

RNG = np.random.default_rng(5)


def area(box: Array) -> float:
    return float((box[2] - box[0]) * (box[3] - box[1]))


def overlap(one: Array, other: Array) -> float:
    height, width = (float(min(one[k + 2], other[k + 2]) - max(one[k], other[k])) for k in (0, 1))
    if min(height, width) <= 0:
        return 0.0
    return height * width / (area(one) + area(other) - height * width)


def selected(boxes: Array, scores: Array, candidates: list[int], iou: float, most: int) -> list[int]:
    """By the definition: takes the best candidate, drops the ones it suppresses, and repeats."""
    left: list[int] = list(candidates)
    taken: list[int] = []
    while left and len(taken) < most:
        best = max(left, key=lambda box: (float(scores[box]), -box))
        taken.append(best)
        left = [box for box in left if box != best and not overlap(boxes[box], boxes[best]) > iou]
    return taken


def detector(dtype: str, count: int = 9) -> tuple[Array, Array]:
    """Boxes and scores of four classes, some of them equal."""
    boxes = np.sort(RNG.uniform(0, 1, (2, count, 2, 2)), 2).reshape(2, count, 4)
    return boxes.astype(dtype), RNG.uniform(0, 1, (2, count, 4)).round(1).astype(dtype)


@pytest.mark.grid(5)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("per_class", "most", "classes"), [(3, 5, 3), (100, 50, 2), (1, 2, 4)])
def test_regular_non_max_suppression(dtype: str, per_class: int, most: int, classes: int) -> None:
    boxes, scores = detector(dtype)
    module = program(
        "vision.regular_non_max_suppression", boxes, scores, max_detections_per_class=per_class, max_detections=most,
        num_classes=classes, iou_threshold=0.3, score_threshold=0.25,
    )  # fmt: skip
    found = check(module, [boxes, scores])
    for image in range(2):
        own, wide = scores[image, :, 4 - classes :], boxes[image].astype(np.float32 if dtype == "float16" else dtype)
        rows = [
            (box, number)
            for number in range(classes)
            for box in selected(wide, own[:, number], np.flatnonzero(own[:, number] >= 0.25).tolist(), 0.3, per_class)
        ]
        rows = sorted(rows, key=lambda row: -own[row])[:most]
        assert found[3][image] == len(rows)
        assert found[1][image, : len(rows)].tolist() == [number for _, number in rows]
        assert found[2][image, : len(rows)].tolist() == [own[row] for row in rows]
        np.testing.assert_array_equal(found[0][image, : len(rows)], [boxes[image, box] for box, _ in rows])
        assert all(not field[image, len(rows) :].any() for field in found[:3])


def test_detections_of_strange_scores_and_boxes() -> None:
    boxes, scores = detector("float32")
    scores[0, :4, 1] = np.nan, np.inf, -np.inf, np.nan
    boxes[0, 1] = boxes[0, 1, [2, 3, 0, 1]]
    options = {"max_detections_per_class": 9, "max_detections": 40, "num_classes": 3, "iou_threshold": 0.0}
    check(
        program("vision.regular_non_max_suppression", boxes, scores, score_threshold=-np.inf, **options),
        [boxes, scores],
    )


def test_detections_of_sizes_that_the_run_tells() -> None:
    boxes, scores = detector("float32", 6)
    b = relay.var("b", shape=("n", "k", 4))
    s = relay.var("s", shape=("n", "k", 4))
    detections = relay.vision.regular_non_max_suppression(b, s, 2, 8, 3, 0.4, 0.2)
    model = xrelay.compile(relay.Module.from_expr(relay.Function([b, s], detections)), cache=False)
    fixed = program(
        "vision.regular_non_max_suppression", boxes, scores, max_detections_per_class=2, max_detections=8,
        num_classes=3, iou_threshold=0.4, score_threshold=0.2,
    )  # fmt: skip
    for one, other in zip(model.run([boxes, scores]), check(fixed, [boxes, scores]), strict=True):
        np.testing.assert_array_equal(one, other)


def regions(dtype: str, iou_loss: bool) -> list[Array]:
    """Scores, predictions and sizes of two images, with six anchors at 5 by 4 positions."""
    moves = RNG.standard_normal((2, 24, 5, 4)) * (6 if iou_loss else 0.3)
    arrays = (RNG.uniform(0, 1, (2, 12, 5, 4)), moves, np.array([[75, 60, 1], [64, 50, 0.5]]))
    return [array.astype(dtype) for array in arrays]


SCALES, RATIOS = (2.0, 4.0), (0.5, 1.0, 2.0)


def boxes_of(arrays: list[Array], image: int, iou_loss: bool) -> tuple[Array, Array]:
    """The boxes and their scores, position by position, in double precision."""
    scores, moves, info = (array[image].astype(np.float64) for array in arrays)
    height, width, factor = info
    found, values = list[Array](), list[float]()
    for row, column, k in product(range(5), range(4), range(6)):
        wide, down = math.floor(math.sqrt(math.floor(256 / RATIOS[k // 2])) + 0.5), RATIOS[k // 2]
        extents: Array = np.array([wide, math.floor(wide * down + 0.5)]) * SCALES[k % 2]
        centre: Array = 7.5 + 16 * np.array([column, row])
        move: Array = moves[4 * k : 4 * k + 4, row, column]
        if not iou_loss:
            centre, extents = centre + move[:2] * extents, np.exp(move[2:]) * extents
        ends: Array = np.concatenate([centre - (extents - 1) / 2, centre + (extents - 1) / 2])
        ends = np.clip(ends + move if iou_loss else ends, 0, [width - 1, height - 1, width - 1, height - 1])
        score = scores[6 + k, row, column]
        if row >= int(height / 16) or column >= int(width / 16):
            score = -1.0
        if bool(np.any(ends[2:] - ends[:2] + 1 < 10 * factor)):
            ends, score = ends + np.array([-5, -5, 5, 5]) * factor, -1.0
        found.append(ends)
        values.append(score)
    return np.array(found), np.array(values)


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("iou_loss", "before", "after"), [(False, 20, 6), (True, 20, 6), (False, -1, 140)])
def test_proposal(dtype: str, iou_loss: bool, before: int, after: int) -> None:
    arrays = regions(dtype, iou_loss)
    found = applied(
        "vision.proposal", *arrays, rtol=1e-5, atol=1e-4, scales=SCALES, ratios=RATIOS, rpn_pre_nms_top_n=before,
        rpn_post_nms_top_n=after, iou_loss=iou_loss, threshold=0.5, rpn_min_size=10,
    )  # fmt: skip
    for image in range(2):
        boxes, scores = boxes_of(arrays, image, iou_loss)
        order = np.argsort(-scores, kind="stable").tolist()
        ends = boxes + np.array([0, 0, 1, 1])
        taken = selected(ends, scores, order[:before] if before > 0 else order, 0.5, len(order))
        wanted = [boxes[taken[place % len(taken)]] for place in range(after)]
        rows = found[image * after : (image + 1) * after]
        assert (rows[:, 0] == image).all()
        np.testing.assert_allclose(rows[:, 1:], wanted, rtol=1e-5, atol=1e-3)


def test_proposals_of_an_image_without_scores() -> None:
    arrays = regions("float32", iou_loss=False)
    arrays[0][1], arrays[2][1, :2] = np.nan, 1000
    found = applied(
        "vision.proposal", *arrays, rtol=1e-5, atol=1e-4, scales=SCALES, ratios=RATIOS, rpn_post_nms_top_n=3,
        rpn_min_size=0,
    )  # fmt: skip
    assert found[3:].tolist() == [[1, 0, 0, 0, 0]] * 3
