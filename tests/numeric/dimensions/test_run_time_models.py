"""Models with sizes known only at run time: compiled once, equal to the interpreter and onnxruntime at each size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from support.run_time_models import NETWORKS, WHOLE, Array, RunTimeModel

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


def equal(found: Sequence[Array], expected: Sequence[Array]) -> None:
    for array, wanted in zip(found, expected, strict=True):
        assert array.dtype == wanted.dtype
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=2e-5, strict=True)


MODELS = [*NETWORKS, *WHOLE]
IN_MAKE_TEST = {"small_resnet", "nested_ifs", "lstm", "decoding", "best_k"}
VERSIONS_IN_MAKE_TEST = {"small_resnet", "decoding", "best_k"}
"""Convolutions, a loop, and extents that depend on the data."""


@pytest.mark.grid(len(MODELS), values=lambda model: IN_MAKE_TEST & {model.id})
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_one_compile_serves_all_sizes(model: RunTimeModel) -> None:
    proto = model.build()
    module, native = import_onnx(proto), compile(proto, cache=False, threads=2)
    for sizes in model.sizes:
        inputs = model.arrays(sizes)
        expected = run_relay(module, list(inputs.values()))
        theirs = onnxruntime_outputs(proto, inputs)
        assert theirs is not None, sizes
        equal(expected, theirs)
        equal(native.run(inputs), expected)


@pytest.mark.grid(len(MODELS), values=lambda model: VERSIONS_IN_MAKE_TEST & {model.id})
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_versions_for_sizes_agree_with_the_model_and_the_interpreter(model: RunTimeModel, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model.build().SerializeToString())
    module, native = import_onnx(model.build()), compile(path, cache=False, threads=2)
    dims = [spec.name for spec in native.inputs if spec.is_open]
    for sizes in (model.sizes[0], model.sizes[-2]):
        inputs = model.arrays(sizes)
        before = native.run(inputs)
        native.specialize({name: inputs[name].shape for name in dims})
        found = native.run(inputs)
        equal(found, run_relay(module, list(inputs.values())))
        equal(found, before)
    versions = native._versions  # pyright: ignore[reportPrivateUsage]
    assert versions is not None
    assert all(version.used for version in versions._found.values())  # pyright: ignore[reportPrivateUsage]
