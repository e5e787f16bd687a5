"""`transform.ChangeBatch`: the same network for another batch size."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.errors import PassError


def network() -> relay.IRModule:
    data, weight = relay.var("data", shape=(2, 3)), relay.var("weight", shape=(4, 3))
    return relay.IRModule.from_expr(relay.Function([data, weight], relay.nn.relu(relay.nn.dense(data, weight))))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("axis", [0, -2])
def test_a_batch_of_another_size(named: bool, axis: int) -> None:
    module = network()
    data = module["main"].params[0]
    change = transform.ChangeBatch({"data": axis} if named else {data: axis}, batch_size=5)
    main = relay.IRModule.of(transform.Sequential([change])(module))["main"]
    assert [param.shape for param in main.params] == [(5, 3), (4, 3)]
    assert main.body.shape == (5, 4)
    assert module["main"].params[0].shape == (2, 3)
    arrays = [np.arange(15, dtype=np.float32).reshape(5, 3), np.ones((4, 3), np.float32)]
    (result,) = xrelay.compile(relay.IRModule.from_expr(main)).run(arrays)
    assert result[:, 0].tolist() == [3, 12, 21, 30, 39]


def test_what_it_refuses() -> None:
    with pytest.raises(PassError, match="@main has no parameter 'x'; help: it has data, weight"):
        transform.ChangeBatch({"x": 0})(network())
    with pytest.raises(PassError, match="'data' is tensor<2x3xf32>, which has no axis 2"):
        transform.ChangeBatch({"data": 2})(network())
    with pytest.raises(PassError, match="a batch of 0 has no examples"):
        transform.ChangeBatch({"data": 0}, batch_size=0)
