"""HannWindow, HammingWindow and BlackmanWindow in the interpreter against onnx's reference."""

from __future__ import annotations

import numpy as np
import pytest
from support.onnx_reference import check, results


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows(op: str, periodic: int) -> None:
    for size in (0, 2, 9, 16):
        check(op, {}, {"n": np.array(size, np.int32)}, opset=17, periodic=periodic)
    check(op, {}, {"n": np.array(5)}, opset=17, output_datatype=11)
    assert results(op, {}, {"n": np.array(1)}, opset=17, periodic=1)[0].shape == (1,)
