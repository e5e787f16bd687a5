"""BiasSoftmax against its formula."""

from __future__ import annotations

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, agrees
from support.one_node import Array, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(9)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "axis"), [((2, 1, 1, 5), 3), ((4, 5), -1), ((2, 3, 4, 5), 2)])
def test_softmax_of_sums(shape: tuple[int, ...], axis: int) -> None:
    x, bias = normal(2, 3, 4, 5), normal(*shape)
    last = (2, 3) if axis == 2 else (3,)
    weights = np.exp(x + bias)
    agrees("BiasSoftmax", [x, bias], weights / weights.sum(last, keepdims=True), axis=axis, is_inner_broadcast=1)


def test_a_bias_of_more_axes_is_refused() -> None:
    proto = node_model("BiasSoftmax", [normal(2, 5), normal(1, 2, 5)], 17, domain=DOMAIN, axis=1, is_inner_broadcast=0)
    with pytest.raises(ModelImportError, match="the bias tensor<1x2x5xf32> "):
        import_onnx(proto)
