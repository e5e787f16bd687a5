"""Runs models of one ONNX node by the interpreter and by onnx's reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator

from support.onnx_models import model
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]


def results(
    op: str,
    data: dict[str, Array],
    constants: dict[str, Any],
    *,
    opset: int = 20,
    dims: Sequence[int | str] | None = None,
    **words: Any,
) -> tuple[Array, Array]:
    """Returns the results of the interpreter and of onnx; constants whose name begins with `_` are omitted.

    `dims` overrides the shape of each input, to make it dynamic.
    """
    arrays = {name: np.asarray(array) for name, array in constants.items() if name[0] != "_"}
    node = helper.make_node(op, [*data, *(name if name in arrays else "" for name in constants)], ["y"], **words)
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in data.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], dims or each.shape) for name, each in data.items()]
    proto = model([node], inputs, ["y"], initializers=arrays, opset=opset)
    (found,) = run_relay(import_onnx(proto), list(data.values()))
    evaluator: Any = ReferenceEvaluator(proto)
    return found, cast(Array, evaluator.run(None, data)[0])


def check(op: str, data: dict[str, Array], constants: dict[str, Any], *, rtol: float = 1e-4, **words: Any) -> None:
    """Checks that a node agrees with onnx's reference."""
    found, expected = results(op, data, constants, **words)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-5)


def check_settings(op: str, data: dict[str, Array], settings: dict[str, Any], **words: Any) -> None:
    """Checks that a node agrees with onnx's reference, with constant settings and with settings as inputs."""
    check(op, data, settings, rtol=1e-5, **words)
    check(op, data | {name: np.asarray(array) for name, array in settings.items()}, {}, rtol=1e-5, **words)
