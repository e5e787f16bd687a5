"""CenterCropPad against onnx's reference, with extents that are constant or an input."""

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


@pytest.mark.parametrize("shape", [(4, 5, 3), (7, 2, 3), (1, 8, 6), (0, 5, 3)])
def test_crops_and_pads(shape: tuple[int, ...]) -> None:
    check_settings("CenterCropPad", {"x": normal(4, 5, 3)}, {"s": shape})
    check_settings("CenterCropPad", {"x": normal(4, 5, 3)}, {"s": shape[:2]}, axes=[2, -3])


@pytest.mark.parametrize(
    ("data", "settings", "words", "message"),
    [
        ((2, 2), {"s": [2]}, {}, "2 extents are expected"),
        ((2, 2), {"s": [2, -1]}, {}, "an extent of -1 is expected"),
        ((2, 2), {"s": [2, 1]}, {"axes": [0, 0]}, "'axes' has the illegal value"),
    ],
)
def test_refusals(data: Any, settings: dict[str, Any], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        check_settings("CenterCropPad", {"x": np.zeros(data, np.float32)}, settings, **words)
