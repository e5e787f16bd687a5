"""Compares nodes of the domain com.microsoft with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from fuzz.onnx_oracles import onnxruntime_outputs

from support.one_node import Array, both, inputs_by_name, node_model

DOMAIN = "com.microsoft"


def check(op: str, inputs: Sequence[Array | None], *, domain: str = DOMAIN, opset: int = 17, **words: Any) -> None:
    """Checks that the interpreter and native code agree with onnxruntime."""
    proto = node_model(op, inputs, opset, domain=domain, **words)
    expected = onnxruntime_outputs(proto, inputs_by_name(proto, inputs))
    assert expected is not None
    for found in both(proto, inputs):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5)


def agrees(op: str, inputs: list[Array | None], expected: Array, **words: Any) -> None:
    """Checks that the interpreter and native code compute `expected`, for an operator that onnxruntime does not run."""
    for (found,) in both(node_model(op, inputs, 17, domain=DOMAIN, **words), inputs):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, strict=True)
