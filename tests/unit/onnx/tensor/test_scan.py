"""CumProd along an axis that is constant or known only at run time."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_node import both, node_model


@pytest.mark.parametrize("computed", [False, True])
def test_products_so_far(computed: bool) -> None:
    x = np.array([[2, 3, 0], [5, -1, 4]], np.int32)
    inputs, constants = [x, np.array(1)], () if computed else (1,)
    proto = node_model("CumProd", inputs, 26, constants=constants, dims={0: ("n", 3)}, exclusive=1, reverse=1)
    for (found,) in both(proto, inputs):
        np.testing.assert_array_equal(found, np.array([[0, 0, 1], [-4, 4, 1]], np.int32), strict=True)
