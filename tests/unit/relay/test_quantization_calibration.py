"""Distributions of values, thresholds, and the resulting quantisation steps: against plain definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples

from xrelay.passes.qnn.quantization_points import Bounds, activation_grid, weight_grid
from xrelay.relay.quantize.histogram import BINS, Histogram, kl_divergences, kl_threshold, percentile_threshold

Array = NDArray[Any]
FINITE = st.floats(-1e30, 1e30, allow_subnormal=False)


def histogram_of(*arrays: Array) -> Histogram:
    histogram = Histogram()
    for array in arrays:
        histogram.add(array)
    return histogram


# --- histograms ----------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(FINITE, max_size=20), max_size=6))
@settings(max_examples=examples(100))
def test_every_value_is_counted_once_and_in_its_bin(batches: list[list[float]]) -> None:
    histogram = histogram_of(*(np.array(batch, np.float64) for batch in batches))
    values = np.array([value for batch in batches for value in batch], np.float64)
    assert histogram.total == values.size
    assert histogram.zeros == np.count_nonzero(values == 0)
    assert (histogram.low, histogram.high) == (min([0.0, *values]), max([0.0, *values]))
    sizes = np.sort(np.abs(values[values != 0]))
    assert not sizes.size or histogram.limit / 2 < sizes[-1] <= histogram.limit or len(batches) == 1
    # A value on a border may be counted in the adjacent bin.
    counted = np.repeat(np.arange(BINS), histogram.counts)
    own = sizes / histogram.limit * BINS if sizes.size else sizes
    assert np.abs(counted + 0.5 - own).max(initial=0) <= 0.5 + 1e-6


def test_batches_count_as_one_array() -> None:
    array = np.random.default_rng(0).normal(size=4096)
    array[0] = np.abs(array).max() * 1.001
    assert (histogram_of(array).counts == histogram_of(array[:100], array[100:]).counts).all()


def test_large_arrays_are_counted_in_parts() -> None:
    array = np.full((1025, 1024), 0.5, np.float16)
    array[-1, -1] = 4.0
    histogram = histogram_of(array)
    assert (histogram.total, histogram.limit, histogram.counts[BINS - 1]) == (array.size, 4.0, 1)
    # Merged bins keep their lower border: 0.5 ended the last bin, and is now just below a border.
    assert histogram.counts[BINS // 8 - 1] + histogram.counts[BINS // 8] == array.size - 1


def test_a_greater_number_widens_bins() -> None:
    histogram = histogram_of(np.full(10, 1.0), np.full(1, -5.0))
    assert histogram.limit == 8.0
    assert histogram.counts[BINS // 8 - 1] == 10
    assert histogram.counts[BINS * 5 // 8] == 1


@pytest.mark.parametrize(
    "batches", [[], [np.zeros((0, 3))], [np.zeros(5), np.zeros(2)]], ids=["none", "empty", "zeros"]
)
def test_nothing_but_zeros(batches: list[Array]) -> None:
    histogram = histogram_of(*batches)
    assert histogram.most == histogram.limit == 0.0
    assert kl_threshold(histogram, 128) == percentile_threshold(histogram) == 0.0


def test_what_is_not_finite_is_told_and_not_counted() -> None:
    histogram = histogram_of(np.array([1.0, np.nan, np.inf, -np.inf], np.float32))
    assert (histogram.is_finite, histogram.total, histogram.most) == (False, 1, 1.0)


def test_extreme_numbers() -> None:
    histogram = histogram_of(np.array([5e-324]), np.array([1e308, 1.7e308]))
    assert histogram.total == 3
    assert np.isfinite(kl_threshold(histogram, 128))
    assert percentile_threshold(histogram) == 1.7e308


# --- thresholds ----------------------------------------------------------------------------------------------------


def divergence(counts: list[int], cut: int, levels: int) -> float:
    """The definition, bin by bin."""
    inside = counts[:cut]
    p = [float(count) for count in inside]
    p[-1] += sum(counts[cut:])
    q = [0.0] * cut
    for level in range(levels):
        start, stop = level * cut // levels, (level + 1) * cut // levels
        filled = [index for index in range(start, stop) if inside[index]]
        for index in filled:
            q[index] = sum(inside[start:stop]) / len(filled)
    n = sum(counts)
    return sum(own / n * np.log(own / other) - own / n + other / n for own, other in zip(p, q, strict=True) if own)


@given(st.lists(st.integers(0, 50), min_size=16, max_size=64), st.sampled_from([4, 8]))
@settings(max_examples=examples(100))
def test_divergences_are_those_of_the_definition(counts: list[int], levels: int) -> None:
    array = np.array(counts, np.int64)
    cuts = np.flatnonzero(array) + 1
    found = kl_divergences(array, cuts, levels)
    expected = [divergence(counts, int(cut), levels) for cut in cuts]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert (found > -1e-12).all()


def test_a_lonely_outlier_is_cut() -> None:
    values = np.random.default_rng(0).normal(size=200_000)
    values[0] = 100.0
    threshold = kl_threshold(histogram_of(values), 128)
    assert 2.5 < threshold < 8.0


def test_uniform_numbers_are_not_cut() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, size=200_000)
    assert kl_threshold(histogram_of(values), 128) > 0.95


def test_numbers_far_from_zero_are_not_cut_away() -> None:
    values = np.random.default_rng(0).normal(70, 3, size=200_000)
    assert kl_threshold(histogram_of(values), 128) > 72


def test_numbers_with_spikes_are_not_cut_at_the_first_one() -> None:
    values = np.clip(np.random.default_rng(0).normal(0.5, 1.5, size=200_000), -1, 2)
    assert kl_threshold(histogram_of(values), 128) > 1.9


@given(st.lists(FINITE, min_size=1, max_size=50), st.sampled_from([8, 128]))
@settings(max_examples=examples(100))
def test_thresholds_lie_within_the_values(values: list[float], levels: int) -> None:
    histogram = histogram_of(np.array(values))
    for threshold in (kl_threshold(histogram, levels), percentile_threshold(histogram)):
        assert 0 <= threshold <= histogram.most
        assert threshold > 0 or histogram.most == 0


def test_the_percentile_is_numpys_but_for_a_bin() -> None:
    values = np.random.default_rng(1).standard_cauchy(size=300_000)
    histogram = histogram_of(values)
    expected = np.quantile(np.abs(values), 0.99)
    assert 0 <= percentile_threshold(histogram, 0.99) - expected <= 2 * histogram.width


def test_the_percentile_counts_zeros() -> None:
    values = np.concatenate([np.zeros(99_000), np.linspace(0.001, 1, 1000)])
    assert percentile_threshold(histogram_of(values), 0.995) == pytest.approx(0.5, abs=0.01)
    assert percentile_threshold(histogram_of(values), 0.9) == 1.0


# --- steps ---------------------------------------------------------------------------------------------------------


@given(FINITE, FINITE, st.integers(2, 8), st.sampled_from(["int8", "uint8"]))
@settings(max_examples=examples(200))
def test_numbers_within_bounds_are_half_a_step_off_at_most(one: float, other: float, bits: int, dtype: str) -> None:
    bounds = Bounds(min(one, other), max(one, other))
    grid = activation_grid(bounds, bits, dtype)
    assert grid.scale.dtype == np.float32
    assert grid.scale > 0
    assert np.iinfo(dtype).min <= grid.least <= grid.zero_point <= grid.greatest <= np.iinfo(dtype).max
    values = np.linspace(bounds.low, bounds.high, 33)
    scale, zero_point = float(grid.scale), int(grid.zero_point)
    steps = np.clip(np.round(values / scale) + zero_point, grid.least, grid.greatest)
    # Zero point and scale are rounded, which moves the ends of unsigned numbers by up to half a step.
    slack = 0.5 if dtype == "int8" else 1.0
    assert np.abs((steps - zero_point) * scale - values).max() <= scale * slack * (1 + 1e-5)


@pytest.mark.parametrize("how", ["max", "power2"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_weights(how: str, axis: int | None) -> None:
    weight = np.random.default_rng(0).normal(size=(4, 6, 3)).astype(np.float32)
    weight[0] = weight[:, 1] = 0
    grid = weight_grid(weight, axis, 8, "int8", how)
    assert grid.scale.shape == (() if axis is None else (weight.shape[axis],))
    if axis is not None:
        assert grid.scale[1 if axis == 1 else 0] == 1.0
    if how == "power2":
        exponents = np.log2(grid.scale.astype(np.float64))
        assert (exponents == np.round(exponents)).all()
    scale = np.moveaxis(np.broadcast_to(grid.scale, (*np.moveaxis(weight, axis or 0, -1).shape[:-1], grid.scale.size))
                        if axis is not None else np.broadcast_to(grid.scale, np.moveaxis(weight, 0, -1).shape),
                        -1, axis or 0)  # fmt: skip
    steps = np.clip(np.round(weight / scale), -127, 127)
    assert np.abs(steps * scale - weight).max() <= scale.max() * (0.5 if how == "max" else 1.0) * (1 + 1e-5)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 0)])
def test_small_weights(shape: tuple[int, ...]) -> None:
    for axis in (None, 0, 1):
        for how in ("max", "power2"):
            grid = weight_grid(np.full(shape, 3.0, np.float32), axis, 8, "int8", how)
            assert (grid.scale > 0).all()
            assert np.isfinite(grid.scale).all()


def test_a_global_scale_gives_relays_steps() -> None:
    assert activation_grid(Bounds.of_domain(8.0, 8), 8, "int8").scale == 8 / 128
    assert activation_grid(Bounds.of_domain(8.0, 4), 4, "int8").scale == 8 / 8
