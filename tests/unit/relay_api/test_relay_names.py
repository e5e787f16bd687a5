"""Wrappers with Relay's names for the passes that move whole functions and layouts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay, transform
from xrelay.errors import PassError


def module() -> ModuleOp:
    data = relay.var("data", shape=(1, 3, 8, 8))
    weight = relay.const(np.ones((4, 3, 3, 3), np.float32))
    return relay.Module.from_expr(
        relay.Function([data], relay.nn.relu(relay.nn.conv2d(data, weight, channels=4, kernel_size=(3, 3))))
    )


def test_convert_layout_takes_relays_mapping() -> None:
    converted = str(transform.ConvertLayout({"nn.conv2d": ["NHWC", "HWIO"]})(module()))
    assert 'data_layout = "NHWC", kernel_layout = "HWIO"' in converted


def test_convert_layout_takes_text() -> None:
    by_mapping = str(transform.ConvertLayout({"nn.conv2d": ["NHWC", "HWIO"]})(module()))
    assert str(transform.ConvertLayout(["nn.conv2d:NHWC:HWIO"])(module())) == by_mapping
    written = transform.create_pass('ConvertLayout{desired-layouts="nn.conv2d:NHWC:HWIO"}')
    assert str(written(module())) == by_mapping
    assert written.info.spec == 'relay-convert-layout{desired_layouts="nn.conv2d:NHWC:HWIO"}'


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: transform.ConvertLayout(3), r"'desired_layouts' must be a mapping from operators to .*, found 3"),
        (lambda: transform.ConvertLayout({"nn.conv2d": None}), "must be a mapping from operators to lists of layouts"),
        (lambda: transform.ConvertLayout({"nn.conv2d": ["NHWC", 3]}), "must be a mapping from operators to lists"),
        (lambda: transform.EliminateCommonSubexpr(3), "'fskip' must be a function of an expression, found 3"),
        (lambda: transform.AlterOpLayout(hooks=3), "'hooks' must be a mapping from classes of ops to hooks, found 3"),
        (lambda: transform.AlterOpLayout(hooks={"nn.conv2d": print}), "must be a mapping from classes of ops"),
    ],
)
def test_options_that_are_values_are_checked_at_once(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PassError, match=message):
        make()


def test_remove_unused_functions_takes_a_list() -> None:
    before = module()
    assert str(transform.RemoveUnusedFunctions(["main"])(before)) == str(before)


def test_normal_forms_there_and_back() -> None:
    before = module()
    bound = transform.ToANormalForm()(before)
    assert str(bound).count("relay.let") == 2
    assert "relay.let" not in str(transform.ToGraphNormalForm()(bound))
