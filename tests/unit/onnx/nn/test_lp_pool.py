"""LpPool and GlobalLpPool of f16: powers beyond its range, with roots within it."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_node import both, node_model


@pytest.mark.parametrize(("op", "window"), [("GlobalLpPool", {}), ("LpPool", {"kernel_shape": [2, 2]})])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_powers_are_summed_in_more_bits(op: str, window: dict[str, list[int]], p: int) -> None:
    x = np.array([[[[40, -300], [7, 0.5]]]], np.float16)
    expected = (np.abs(x.astype(np.float64)) ** p).sum() ** (1 / p)
    for (found,) in both(node_model(op, [x], 18, p=p, **window), [x]):
        assert found.dtype == np.float16
        np.testing.assert_allclose(found.ravel(), [expected], rtol=1e-3)


def test_channels_may_be_open() -> None:
    x = np.arange(-12, 12, dtype=np.float32).reshape(1, 2, 3, 4)
    model = node_model("LpPool", [x], 18, dims={0: ("n", "c", "h", "w")}, kernel_shape=[3, 2], strides=[1, 2])
    expected = np.sqrt((x.reshape(1, 2, 3, 2, 2) ** 2).sum(axis=(2, 4)))[:, :, None]
    for (found,) in both(model, [x]):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
