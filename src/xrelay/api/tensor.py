"""The arrays that models return, with the methods of Relay's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Tensor(np.ndarray[Any, Any]):
    """A numpy array with Relay's `numpy()` method."""

    def numpy(self) -> NDArray[Any]:
        """Returns the values as a plain numpy array that shares no memory with this one."""
        return np.array(self, subok=False)

    def asnumpy(self) -> NDArray[Any]:
        """Same as `numpy`."""
        return self.numpy()
