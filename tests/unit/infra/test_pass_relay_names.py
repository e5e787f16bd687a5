"""Relay's faces of the passes that move whole functions and layouts."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay, transform


def module() -> ModuleOp:
    data = relay.var("data", shape=(1, 3, 8, 8))
    weight = relay.const(np.ones((4, 3, 3, 3), np.float32))
    return relay.Module.from_expr(
        relay.Function([data], relay.nn.relu(relay.nn.conv2d(data, weight, channels=4, kernel_size=(3, 3))))
    )


def test_convert_layout_takes_relays_mapping() -> None:
    converted = str(transform.ConvertLayout({"nn.conv2d": ["NHWC", "HWIO"]})(module()))
    assert 'data_layout = "NHWC", kernel_layout = "HWIO"' in converted


def test_remove_unused_functions_takes_a_list() -> None:
    before = module()
    assert str(transform.RemoveUnusedFunctions(["main"])(before)) == str(before)


def test_normal_forms_there_and_back() -> None:
    before = module()
    bound = transform.ToANormalForm()(before)
    assert str(bound).count("relay.let") == 2
    assert "relay.let" not in str(transform.ToGraphNormalForm()(bound))
