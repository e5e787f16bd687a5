"""The default rounding of nearest elements in `image.resize1d`, which is Relay's."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import applied


@pytest.mark.parametrize(
    ("coordinates", "rounded"), [("half_pixel", False), ("asymmetric", False), ("align_corners", True)]
)
def test_only_aligned_corners_are_rounded(coordinates: str, rounded: bool) -> None:
    step = np.arange(18)
    places = {"half_pixel": (step + 0.5) / 3 - 0.5, "asymmetric": step / 3, "align_corners": step * 5 / 17}[coordinates]
    wanted = np.floor(places + 0.5 * rounded + 1e-9).clip(0, 5).astype(np.float32).reshape(1, 1, 18)
    words = {"method": "nearest_neighbor", "coordinate_transformation_mode": coordinates}
    found = applied("image.resize1d", np.arange(6, dtype=np.float32).reshape(1, 1, 6), size=(18,), **words)
    np.testing.assert_array_equal(found, wanted)
