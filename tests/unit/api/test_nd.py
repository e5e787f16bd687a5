"""Arrays and devices under Relay's names."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay.contrib import graph_executor
from xrelay.errors import InputError


def test_arrays_are_numpy_arrays_with_numpy() -> None:
    source = np.arange(4)
    made = xrelay.nd.array(source)
    source[0] = 9
    assert isinstance(made, np.ndarray)
    assert made.numpy().tolist() == [0, 1, 2, 3]
    assert xrelay.nd.empty((2, 3), "int8").dtype == np.int8


def test_there_is_one_device() -> None:
    assert xrelay.cpu() == xrelay.cpu(0)
    with pytest.raises(InputError, match=r"CPU .*1"):
        xrelay.cpu(1)


def test_the_graph_executor_is_where_relays_users_import_it() -> None:
    assert graph_executor.GraphModule is xrelay.GraphModule
