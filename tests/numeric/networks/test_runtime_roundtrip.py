"""The runtime stores and converts arrays of any dtype, shape and layout without change."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.examples import examples

from xrelay.errors import InputError
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.inputs import InputSpec
from xrelay.runtime.metadata import KernelInfo, ModelMetadata, TensorSpec

Array = np.ndarray[Any, Any]
DTYPES = ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "float16", "float32", "float64"]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)
ARRAYS = st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, SHAPES))
NAMES = st.text(max_size=8)


def spec_of(name: str, array: Array) -> TensorSpec:
    return TensorSpec(name, array.dtype.name, array.shape)


@settings(max_examples=examples(15, more=4), deadline=None)
@given(st.lists(st.tuples(NAMES, ARRAYS), max_size=5), st.lists(st.binary(max_size=80), min_size=1, max_size=3), NAMES)
def test_artifacts_come_back(weights: list[tuple[str, Array]], objects: list[bytes], name: str):
    specs = tuple(spec_of(weight, array) for weight, array in weights)
    metadata = ModelMetadata(specs, specs, specs, 7, (KernelInfo(name, (name, "")),), name=name)
    with tempfile.TemporaryDirectory() as folder:
        Artifact(tuple(objects), metadata, tuple(array for _, array in weights)).save(Path(folder) / "m")
        loaded = Artifact.load(Path(folder) / "m")
        assert loaded.metadata == metadata
        assert loaded.objects == tuple(objects)
        for (_, expected), array in zip(weights, loaded.weights, strict=True):
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array, expected)


@settings(max_examples=examples(30, more=2), deadline=None)
@given(ARRAYS, st.randoms(use_true_random=False))
def test_layout_does_not_matter(array: Array, random: Any):
    """A transposed and reversed view is converted to the same values as the array."""
    axes = list(range(array.ndim))
    random.shuffle(axes)
    view = np.flip(array.transpose(axes)).copy()
    same = np.flip(view).transpose(np.argsort(axes))
    bound = InputSpec(spec_of("x", array)).array(same)
    assert bound.flags.c_contiguous
    assert bound.shape == array.shape
    np.testing.assert_array_equal(bound, array)


@settings(max_examples=examples(50, more=2), deadline=None)
@given(
    st.sampled_from(["int8", "uint8", "int32", "int64", "float32", "float64", "bool"]),
    st.lists(st.integers(-(2**40), 2**40) | st.integers(-300, 300), min_size=1, max_size=4),
)
def test_lists_of_integers_keep_their_values_or_are_refused(dtype: str, values: list[int]):
    spec = InputSpec(TensorSpec("x", dtype, (len(values),)))
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    low, high = (0, 1) if dtype == "bool" else (info.min, info.max) if info else (-np.inf, np.inf)
    fits = all(low <= value <= high for value in values)
    try:
        array = spec.array(values)
    except InputError:
        assert not fits
    else:
        assert fits
        np.testing.assert_array_equal(array.astype(np.float64), np.array(values, np.float64).astype(dtype))
