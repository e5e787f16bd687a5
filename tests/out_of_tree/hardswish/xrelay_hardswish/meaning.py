"""The operator's definition in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.extend.interpreter import evaluates
from xrelay_hardswish.ops import HardSwishOp


@evaluates(HardSwishOp)
def evaluate_hard_swish(op: HardSwishOp, data: NDArray[Any]) -> NDArray[Any]:
    """Computes in f64, and returns the type of the data."""
    x = data.astype(np.float64)
    return (x * np.clip(x / 6 + 0.5, 0, 1)).astype(data.dtype)
