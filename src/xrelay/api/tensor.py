"""Arrays that programs get, with the methods that Relay's users call on theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Tensor(np.ndarray[Any, Any]):
    """A numpy array that also answers `numpy()`, as Relay's users write it."""

    def numpy(self) -> NDArray[Any]:
        """The values as a plain numpy array that shares no memory with this one."""
        return np.array(self, subok=False)

    def asnumpy(self) -> NDArray[Any]:
        """As `numpy`."""
        return self.numpy()
