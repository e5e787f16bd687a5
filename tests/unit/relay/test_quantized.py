"""Simulated quantisation against the quantised operators, and the defaults of `requantize`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xrelay import relay
from xrelay.errors import InputError

DATA = np.array([[-100, 0.2, 300, 0.75], [7, -0.3, 80, 1e5]], np.float32)
SCALES = {"one": (relay.const(0.5), relay.const(3)), "along": tuple(map(relay.const, ([0.5, 0.25], [3, 1])))}
CODES = {"int8": 1, "uint8": 2, "int32": 3}


def value(expr: relay.Expr, *arguments: object) -> Any:
    return relay.create_executor().evaluate(relay.Function(relay.analysis.free_vars(expr), expr))(*arguments)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
@pytest.mark.parametrize("kind", SCALES)
def test_it_gives_what_the_operators_give(dtype: str, kind: str) -> None:
    scale, zero_point = SCALES[kind]
    quantized = relay.qnn.op.quantize(relay.const(DATA), scale, zero_point, 0, dtype)
    wanted = value(quantized)
    code = relay.var("code", shape=(), dtype="int32")
    simulated = relay.qnn.op.simulated_quantize(relay.const(DATA), scale, zero_point, 0, code)
    found = value(simulated, CODES[dtype])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, wanted.astype(np.float32))
    named = relay.qnn.op.simulated_quantize(relay.const(DATA), scale, zero_point, 0, dtype)
    np.testing.assert_array_equal(value(named), found)
    back = relay.qnn.op.simulated_dequantize(relay.const(found.numpy()), scale, zero_point, 0, dtype)
    np.testing.assert_allclose(value(back), value(relay.qnn.op.dequantize(quantized, scale, zero_point, 0)), rtol=1e-6)


def test_the_data_stays_where_it_is_disabled() -> None:
    scale, zero_point = SCALES["one"]
    code = relay.var("code", shape=(), dtype="int32")
    for simulate in (relay.qnn.op.simulated_quantize, relay.qnn.op.simulated_dequantize):
        np.testing.assert_array_equal(value(simulate(relay.const(DATA), scale, zero_point, -1, code), 0), DATA)
        np.testing.assert_array_equal(value(simulate(relay.const(DATA), scale, zero_point, -1, "disable")), DATA)


def test_what_cannot_be_simulated_is_refused() -> None:
    scale, zero_point = SCALES["one"]
    with pytest.raises(InputError, match=r"there is no quantisation to 'int9'; help: did you mean 'int8'\?"):
        relay.qnn.op.simulated_quantize(relay.const(DATA), scale, zero_point, -1, "int9")
    with pytest.raises(InputError, match="requires operands of known types"):
        relay.qnn.op.simulated_quantize(relay.var("x"), scale, zero_point)


def requantized(**options: Any) -> relay.Expr:
    data = relay.const(np.array([-3, 3], np.int32))
    one, zero = relay.const(1.0), relay.const(0)
    return relay.qnn.op.requantize(data, one, zero, relay.const(2.0), zero, **options)


def test_the_innermost_configuration_holds() -> None:
    assert value(requantized()).tolist() == [-1, 2]
    with relay.qnn.requantize_config(rounding="TONEAREST", compute_dtype="float32"):
        assert value(requantized()).tolist() == [-2, 2]
        attrs = requantized(rounding="None", compute_dtype="None").attrs
        assert (attrs.rounding, str(attrs.compute_dtype)) == ("TONEAREST", "float32")
        assert value(requantized(rounding="UPWARD")).tolist() == [-1, 2]
        with relay.qnn.requantize_config():
            assert value(requantized()).tolist() == [-1, 2]
        assert relay.qnn.current_requantize_config().rounding == "TONEAREST"
    assert value(requantized()).tolist() == [-1, 2]
