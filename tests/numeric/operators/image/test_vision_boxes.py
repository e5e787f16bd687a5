"""Detector boxes with scores: which are valid, and which overlap better ones, at all levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.one_op import Array, check, checked, program


def rows(batch: int, count: int, dtype: str = "float32", seed: int = 0) -> Array:
    """Class, score, and corners in any order."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0, 1, (batch, count, 2))[..., [0, 1, 0, 1]] + rng.uniform(-0.3, 0.3, (batch, count, 4))
    kinds, scores = rng.integers(-1, 3, (batch, count, 1)), rng.uniform(-0.2, 1, (batch, count, 1)).round(1)
    return np.concatenate([kinds, scores, corners], -1).astype(dtype)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("id_index", [0, -1])
def test_get_valid_counts(id_index: int, dtype: str) -> None:
    data, threshold = rows(3, 9, dtype), np.array(0.3, np.float32)
    data[0, 4, 1] = np.nan
    data[1, :, 1] = 0
    module = program("vision.get_valid_counts", data, threshold, id_index=id_index)
    counts, front, places = check(module, [data, threshold])
    wide = data.astype(np.float64)
    for batch in range(3):
        valid = np.flatnonzero(
            (wide[batch, :, 1] > np.float64(threshold)) & ((wide[batch, :, 0] >= 0) | (id_index < 0))
        )
        assert counts[batch] == len(valid)
        np.testing.assert_array_equal(
            front[batch], np.concatenate([data[batch, valid], np.full((9 - len(valid), 6), -1)])
        )
        np.testing.assert_array_equal(places[batch], [*valid, *[-1] * (9 - len(valid))])


def test_no_boxes() -> None:
    threshold = np.array(0, np.float32)
    for shape in ((0, 4, 6), (2, 0, 6)):
        data = np.zeros(shape, np.float32)
        assert check(program("vision.get_valid_counts", data, threshold), [data, threshold])[0].sum() == 0


def overlap(one: Array, other: Array) -> float:
    low, high = (np.minimum(b[:2], b[2:]) for b in (one, other)), (np.maximum(b[:2], b[2:]) for b in (one, other))
    (first, second), (third, fourth) = tuple(low), tuple(high)
    sides = np.maximum(np.minimum(third, fourth) - np.maximum(first, second), 0)
    shared = float(sides.prod())
    union = float((third - first).prod() + (fourth - second).prod()) - shared
    return shared / union if union > 0 else 0.0


def taken(data: Array, count: int, most: int, iou: float, *, forces: bool, top_k: int, by_kind: bool) -> list[int]:
    """The indices of the selected boxes among the candidates by score; -1 for those not selected."""
    wide = data.astype(np.float64)
    order = sorted(range(count), key=lambda box: -wide[box, 1])
    order = [box for box in order if wide[box, 1] > 0 and (wide[box, 0] >= 0 or not by_kind)]
    found: list[int] = []
    for box in order[:top_k] if top_k > 0 else order:
        rivals = [each for each in found if each >= 0 and (forces or not by_kind or wide[each, 0] == wide[box, 0])]
        is_free = all(overlap(wide[box, 2:6], wide[each, 2:6]) < iou for each in rivals)
        is_full = 0 <= most <= sum(each >= 0 for each in found)
        found.append(box if is_free and not is_full else -1)
    return found + [-1] * (len(data) - len(found))


OPTIONS: list[dict[str, Any]] = [
    {},
    {"force_suppress": True},
    {"top_k": 4},
    {"id_index": -1},
    {"id_index": -(2**31)},
    {"return_indices": False},
    {"return_indices": False, "invalid_to_bottom": True, "top_k": 6},
]


@pytest.mark.grid(14)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("most", [-1, 0, 3])
def test_non_max_suppression(most: int, options: dict[str, Any]) -> None:
    data, counts = rows(2, 20, seed=len(str(options))), np.array([20, 13], np.int32)
    numbers = np.random.default_rng(1).permuted(np.tile(np.arange(20), (2, 1)), axis=1).astype(np.int32)
    arrays = [data, counts, numbers, np.array(most, np.int32), np.array(0.4, np.float32)]
    results = check(program("vision.non_max_suppression", *arrays, **options), arrays)
    for batch in range(2):
        forces, top_k, by_kind = (
            options.get("force_suppress", False), options.get("top_k", -1), options.get("id_index", 0) >= 0,
        )  # fmt: skip
        places = taken(data[batch], int(counts[batch]), most, 0.4, forces=forces, top_k=top_k, by_kind=by_kind)
        kept = [place for place in places if place >= 0]
        if options.get("return_indices", True):
            assert results[1][batch] == [len(kept)]
            np.testing.assert_array_equal(results[0][batch], [*numbers[batch, kept], *[-1] * (20 - len(kept))])
            continue
        places = kept + [-1] * (20 - len(kept)) if options.get("invalid_to_bottom") else places
        for found, place in zip(results[0][batch], places, strict=True):
            np.testing.assert_array_equal(found, data[batch, place] if place >= 0 else np.full(6, -1))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_a_threshold_that_is_reached(dtype: str) -> None:
    """Two boxes that share exactly half of their union."""
    data = np.array([[[0, 0.9, 0, 0, 1, 1], [0, 0.8, 0, 0, 1, 0.5], [0, 0.7, 2, 2, 2, 3]]], dtype)
    others = [data, np.array([3]), np.arange(3)[None], np.array(-1)]
    run = checked(program("vision.non_max_suppression", *others, np.array(0, np.float32)))
    for iou, wanted in ((0.5, [0, 2, -1]), (0.75, [0, 1, 2]), (0.0, [0, 1, 2]), (np.nan, [0, 1, 2]), (-1.0, [0, 1, 2])):
        np.testing.assert_array_equal(run([*others, np.array(iou, np.float32)])[0][0], wanted)


def test_counts_that_are_no_numbers_of_boxes() -> None:
    others = [rows(3, 5), np.array([-3, 99, 0]), np.tile(np.arange(5), (3, 1)), np.array(-1)]
    run = checked(program("vision.non_max_suppression", *others, np.array(0, np.float32)))
    for iou in (0.5, 0.0):
        found, counts = run([*others, np.array(iou, np.float32)])
        assert counts[0] == counts[2] == 0
        assert (found[0] == -1).all()
