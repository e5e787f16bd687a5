"""AffineGrid against onnx's reference, with sizes that are constant or an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.onnx_reference import check_settings

from xrelay.errors import XRelayError

RNG = np.random.default_rng(12)


def normal(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("align_corners", [0, 1])
def test_affine_grids(align_corners: int) -> None:
    check_settings("AffineGrid", {"t": normal(2, 2, 3)}, {"s": [2, 4, 3, 5]}, align_corners=align_corners)
    check_settings("AffineGrid", {"t": normal(1, 3, 4)}, {"s": [1, 4, 2, 3, 5]}, align_corners=align_corners)


@pytest.mark.parametrize(
    ("data", "sizes", "message"),
    [
        ((2, 2, 2), [2, 4, 3, 5], r"matrices of shape \(2, 2, 2\)"),
        ((2, 2, 3), [2, 1, 2**20, 2**20], "would take"),
    ],
)
def test_refusals(data: tuple[int, ...], sizes: list[int], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        check_settings("AffineGrid", {"t": np.zeros(data, np.float32)}, {"s": sizes})
