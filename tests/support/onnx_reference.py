"""Runs models of one ONNX node by the interpreter and by onnx's reference."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator

from support.onnx_models import model
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


def check_node(
    op: str, data: dict[str, NDArray[Any]], settings: dict[str, Any], *, opset: int = 20, **words: Any
) -> None:
    """Checks that a node agrees with onnx's reference, with constant settings and with settings as inputs."""
    arrays = {name: np.asarray(array) for name, array in settings.items()}
    node = helper.make_node(op, [*data, *arrays], ["y"], **words)
    for given in ({}, arrays):
        feeds = {**data, **given}
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
            for name, each in feeds.items()
        ]
        proto = model([node], inputs, ["y"], initializers={} if given else arrays, opset=opset)
        (found,) = run_relay(import_onnx(proto), list(feeds.values()))
        evaluator: Any = ReferenceEvaluator(proto)
        expected = cast(NDArray[Any], evaluator.run(None, feeds)[0])
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
