"""Rules of fake quantisation registered from outside, in Relay's form."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy as np
import pytest

from xrelay import relay, transform
from xrelay.errors import PassError, XRelayError
from xrelay.interpreters.relay import run_relay
from xrelay.ir import TensorAffineType, TupleAffineType

Types = Mapping[relay.Expr, Any]
DATA = np.arange(-24, 24, dtype=np.int8).reshape(1, 4, 12)
X = relay.var("x", shape=DATA.shape, dtype="int8")
REALS = relay.qnn.op.dequantize(X, relay.const(0.5), relay.const(3))


@pytest.fixture(autouse=True)
def forget() -> Generator[None]:
    yield
    for name in ("prod", "tanh", "split", "max"):
        for key in ("FTVMFakeQuantizationToInteger", "FTVMOptionalFakeQuantizationToInteger"):
            relay.op.get(name).reset_attr(key)


def quantized(value: relay.Expr, scale: float = 0.5, zero: int = 3) -> relay.Module:
    return relay.Module.from_expr(relay.qnn.op.quantize(value, relay.const(scale), relay.const(zero)))


def on_integers(module: relay.Module, **options: Any) -> str:
    return str(transform.Sequential([transform.FakeQuantizationToInteger(**options)])(module))


def register(name: str, rule: Callable[[Any, Any], object]) -> None:
    relay.op.register_fake_quantization_to_integer(name, rule, level=11)


def test_a_rule_sees_the_call_on_integers_and_what_they_stand_for() -> None:
    seen: list[Any] = []

    @relay.op.register_fake_quantization_to_integer("tanh", level=11)
    def rule(expr: relay.Call, type_map: Types) -> list[object]:  # pyright: ignore[reportUnusedFunction]
        (data,) = expr.args
        own, goal = type_map[data], type_map[expr]
        seen.extend([data.checked_type, own.dtype, own.axis, own.scale.data, own.zero_point.data, goal.scale.data])
        return [relay.reverse(data, axis=1), own]

    module = quantized(relay.tanh(REALS), 0.25)
    changed = transform.Sequential([transform.FakeQuantizationToInteger()])(module)
    assert seen == [X.type, "int8", -1, 0.5, 3, 0.25]
    assert "quantize(" in str(changed)
    assert "dequantize" not in str(changed)
    expected = np.clip(np.round((DATA[:, ::-1].astype(float) - 3) * 2 + 3), -128, 127)
    np.testing.assert_array_equal(run_relay(changed, [DATA])[0], expected)


def test_steps_may_be_computed() -> None:
    def doubled(expr: relay.Call, type_map: Types) -> list[object]:
        own = type_map[expr.args[0]]
        return [expr.args[0], TensorAffineType(relay.multiply(own.scale, relay.const(2.0)), own.zero_point, own.dtype)]

    register("tanh", doubled)
    changed = transform.Sequential([transform.FakeQuantizationToInteger()])(quantized(relay.tanh(REALS), 1.0))
    np.testing.assert_array_equal(run_relay(changed, [DATA])[0], DATA)


def test_a_tuple_stands_for_a_tuple() -> None:
    def parts(expr: relay.Call, type_map: Types) -> list[object]:
        own = type_map[expr.args[0]]
        return [relay.split(expr.args[0], 2, axis=1).astuple(), TupleAffineType([own, own])]

    register("split", parts)
    changed = transform.Sequential([transform.FakeQuantizationToInteger()])(quantized(relay.split(REALS, 2, axis=1)[1]))
    assert "quantize" not in str(changed)
    np.testing.assert_array_equal(run_relay(changed, [DATA])[0], DATA[:, 2:])


def test_a_rule_that_raises_keeps_floats_or_fails() -> None:
    def fails(expr: relay.Call, type_map: Types) -> list[object]:
        raise NotImplementedError("not yet")

    register("max", fails)
    module = quantized(relay.max(REALS, axis=2))
    assert on_integers(module) == str(transform.InferType()(module))
    with pytest.raises(PassError, match="fails raised NotImplementedError: not yet"):
        on_integers(module, hard_fail=True)
    relay.op.get("max").reset_attr("FTVMFakeQuantizationToInteger")
    assert "dequantize" not in on_integers(module)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda expr, types: None, "returned None, not a list"),
        (lambda expr, types: [expr.args[0], 3], "returned 3 as affine type"),
        (lambda expr, types: [relay.cast(expr.args[0], "int32"), types[expr.args[0]]], "as integers of int8"),
        (lambda expr, types: [relay.expand_dims(expr.args[0], 0), types[expr.args[0]]], "for one of type"),
    ],
)
def test_an_answer_that_is_none_is_an_error(answer: Callable[[Any, Any], object], message: str) -> None:
    register("tanh", answer)
    with pytest.raises(PassError, match=message):
        on_integers(quantized(relay.tanh(REALS)))


def test_an_optional_rule_counts_where_the_op_is_named() -> None:
    with pytest.raises(PassError, match="optional"):
        on_integers(quantized(relay.prod(REALS, axis=2)), optional_qnn_ops=("prod",))

    @relay.op.register_optional_fake_quantization_to_integer("prod")
    def same(expr: relay.Call, types: Types) -> list[object]:  # pyright: ignore[reportUnusedFunction]
        return [relay.max(expr.args[0], axis=2), types[expr.args[0]]]

    module = quantized(relay.exp(relay.prod(REALS, axis=2)))
    assert "relay.prod(" in on_integers(module)
    assert "relay.prod(" not in on_integers(module, optional_qnn_ops=("prod",))


def test_a_rule_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(XRelayError, match="cannot be called"):
        relay.op.register_fake_quantization_to_integer("tanh", 3)  # pyright: ignore[reportArgumentType]
