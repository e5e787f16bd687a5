"""LpPool and GlobalLpPool of halves: powers that a half cannot hold, roots that it can."""

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
