"""`InferTypeLocal`: the type of one expression, outside of any module."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FunctionType, TensorType, f32

from xrelay import relay
from xrelay.errors import TypeInferenceError, XRelayError
from xrelay.relay.types import FuncTypeView
from xrelay.transform import InferTypeLocal

X = relay.var("x", shape=(1, 3, 8, 8))


def test_of_what_is_not_known_yet() -> None:
    weight = relay.var("w")
    conv = relay.nn.conv2d(X, weight, channels=4, kernel_size=(3, 3))
    assert InferTypeLocal(conv) == TensorType(f32, [1, 4, 6, 6])
    pair = InferTypeLocal(relay.Tuple([conv, relay.cast(X, "int32")]))
    assert str(pair) == "tuple<tensor<1x4x6x6xf32>, tensor<1x3x8x8xi32>>"


def test_of_what_is_known() -> None:
    assert InferTypeLocal(X) == X.checked_type
    assert InferTypeLocal(2.0) == TensorType(f32, [])


def test_of_a_function() -> None:
    weight = relay.var("w")
    function = relay.Function([X, weight], relay.nn.conv2d(X, weight, channels=4, kernel_size=(3, 3)))
    found = InferTypeLocal(function)
    assert isinstance(found, FuncTypeView)
    assert found.ret_type == TensorType(f32, [1, 4, 6, 6])
    assert isinstance(found.plain, FunctionType)


def test_what_nothing_decides_is_refused() -> None:
    with pytest.raises(TypeInferenceError, match="not enough is known"):
        InferTypeLocal(relay.exp(relay.var("unknown")))
    with pytest.raises(TypeInferenceError):
        InferTypeLocal(relay.var("unknown"))
    with pytest.raises(TypeInferenceError):
        InferTypeLocal(relay.add(relay.nn.conv2d(X, relay.var("w"), channels=4, kernel_size=(3, 3)), relay.var("c")))
    # The error appears once the convolution's type is known.
    conv = relay.nn.conv2d(X, relay.var("w"), channels=4, kernel_size=(3, 3))
    with pytest.raises(XRelayError):
        InferTypeLocal(relay.add(conv, relay.var("a", shape=(5, 1, 1))))
