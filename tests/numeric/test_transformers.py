"""Transformers and a ConvNeXt as exporters write them: the interpreter and native code equal onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from support.exported_models import EXPORTED, ExportedModel, random_inputs

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


@pytest.mark.grid(2)
@pytest.mark.parametrize("exported", EXPORTED, ids=lambda exported: exported.id)
def test_native_code_and_the_interpreter_equal_onnxruntime(exported: ExportedModel) -> None:
    model = exported.proto()
    inputs = random_inputs(model, seed=1)
    expected = onnxruntime_outputs(model, inputs)
    assert expected is not None
    for found in (
        run_relay(import_onnx(model), list(inputs.values())),
        compile(model, cache=False, threads=2).run(inputs),
    ):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-5)


@pytest.mark.grid(2)
@pytest.mark.parametrize("exported", EXPORTED, ids=lambda exported: exported.id)
def test_equal_seeds_give_equal_models_with_outputs_that_depend_on_the_inputs(exported: ExportedModel) -> None:
    model = exported.proto()
    assert model == exported.proto()
    first, second = (onnxruntime_outputs(model, random_inputs(model, seed)) for seed in (1, 2))
    assert first is not None
    assert second is not None
    for one, other in zip(first, second, strict=True):
        assert np.isfinite(one).all()
        assert not np.allclose(one, other, rtol=1e-2)
