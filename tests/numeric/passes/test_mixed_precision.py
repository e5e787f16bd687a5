"""Mixed precision: results approximate those of f32, also in native code, and hooks may override an op's category."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute

import xrelay
from xrelay import relay, transform
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import PassError
from xrelay.instrument import NumericCheck
from xrelay.interpreters.relay import run_relay
from xrelay.relay.passes import to_mixed_precision

Array = NDArray[Any]


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resets the hooks that a test registers."""
    monkeypatch.setattr(to_mixed_precision, "_HOOKS", {})


def network() -> tuple[relay.Module, list[Array]]:
    """A convolution with its norm, a pool, a product and a softmax, and the arguments."""
    rng = np.random.default_rng(0)
    shapes = {
        "x": (1, 3, 10, 10),
        "w": (8, 3, 3, 3),
        "gamma": (8,),
        "beta": (8,),
        "mean": (8,),
        "var": (8,),
        "v": (5, 128),
    }
    arrays = [rng.uniform(0.1, 1, shape).astype(np.float32) for shape in shapes.values()]
    x, w, gamma, beta, mean, var, v = variables = [relay.var(name, shape=shape) for name, shape in shapes.items()]
    y = relay.nn.batch_norm(relay.nn.conv2d(x, w), gamma, beta, mean, var)[0]
    y = relay.nn.max_pool2d(relay.nn.relu(y), pool_size=(2, 2), strides=(2, 2))
    y = relay.nn.softmax(relay.multiply(relay.nn.dense(relay.nn.batch_flatten(y), v), relay.const(0.01, "float32")))
    return relay.Module.from_expr(relay.Function(list(variables), y)), arrays


def dense() -> relay.Module:
    x, w = relay.var("x", shape=(2, 8)), relay.var("w", shape=(4, 8))
    return relay.Module.from_expr(relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w))))


@pytest.mark.parametrize(("dtype", "rtol"), [("float16", 2e-3), ("bfloat16", 2e-2), ("float64", 1e-5)])
def test_a_network_gives_what_it_gave(dtype: str, rtol: float) -> None:
    module, arrays = network()
    changed = transform.ToMixedPrecision(dtype)(module)
    (expected,), (found,) = run_relay(module, arrays), run_relay(changed, arrays)
    (native,) = xrelay.compile(changed, cache=False, threads=1).run(arrays)
    assert found.dtype == native.dtype == np.float32
    for result in (found, native):
        np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol * expected.max())
    text = str(changed)
    assert "relay.nn.softmax" in text
    assert text.count('dtype = "float') == 0


def test_the_check_of_numbers_knows_the_pass() -> None:
    check = NumericCheck()
    with transform.PassContext(instruments=[check]):
        transform.ToMixedPrecision("float16")(dense())
    assert check.checked == ["ToMixedPrecision"]


def test_results_are_cast_back_where_the_context_asks() -> None:
    text = str(transform.ToMixedPrecision("float16", 1)(dense()))
    assert "func.return %1 : tensor<2x4xf16>" in text
    with transform.PassContext(config={"relay.ToMixedPrecision.keep_orig_output_dtype": True}):
        text = str(transform.ToMixedPrecision("float16")(dense()))
    assert "func.return %2 : tensor<2x4xf32>" in text


def test_each_operator_says_what_it_is() -> None:
    ours = [op for op in relay_ops().values() if op.__module__.startswith("xrelay.")]
    assert not [op.name for op in ours if op.MIXED_PRECISION is None]
    for op in ours:
        assert op.RESULT_ELEMENT is None or op.RESULT_ELEMENT in op.get_irdl_definition().properties, op.name
    # Their scales are f32 operands.
    assert all(op.MIXED_PRECISION is MixedPrecision.NEVER for op in ours if ".qnn." in op.name)


def test_an_operator_that_says_nothing_follows_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_ops()["nn.relu"], "MIXED_PRECISION", None)
    for mode in (1, 2):
        assert "relay.nn.relu(%0) : (tensor<2x4xf16>)" in str(transform.ToMixedPrecision("float16", mode)(dense()))
    with pytest.raises(PassError, match=r"relay\.nn\.relu has no category for mixed precision and occurs 1 times"):
        transform.ToMixedPrecision("float16", 0)(dense())


@pytest.mark.usefixtures("hooks")
def test_sums_of_another_type_are_cast_for_others() -> None:
    @to_mixed_precision.sets_precision(DenseOp)
    def in_single(op: RelayOp, mixed: Attribute) -> to_mixed_precision.Precision:
        return to_mixed_precision.Precision(MixedPrecision.ALWAYS, f32, mixed)

    assert in_single is not None
    x, w = relay.var("x", shape=(2, 8)), relay.var("w", shape=(4, 8))
    product = relay.nn.dense(x, w)
    outputs = relay.Tuple([relay.nn.relu(product), relay.nn.softmax(product)])
    changed = transform.ToMixedPrecision("float16")(relay.Module.from_expr(relay.Function([x, w], outputs)))
    ops = [op for op in changed.walk() if isinstance(op, RelayOp)]
    product_op = next(op for op in ops if isinstance(op, DenseOp))
    softmax = next(op for op in ops if op.name == "relay.nn.softmax")
    rectifier = next(op for op in ops if op.name == "relay.nn.relu")
    assert element_type_of(product_op.result.type) == f32
    assert softmax.operands[0] is product_op.result  # without a cast to f16 and back
    assert element_type_of(rectifier.results[0].type) == f16


def answering(category: int) -> Callable[[relay.Call, str], list[object]]:
    return lambda _, dtype: [category, dtype, dtype]


@pytest.mark.usefixtures("hooks")
def test_relays_registration() -> None:
    seen: list[tuple[object, str]] = []

    @relay.op.register_mixed_precision_conversion("nn.dense", level=11)
    def never(call: relay.Call, dtype: str) -> list[object]:
        seen.append((call.attrs, dtype))
        return [2, dtype, dtype]

    assert never is not None
    relay.op.register_mixed_precision_conversion("nn.dense", answering(0), level=10)
    assert "f16" not in str(transform.ToMixedPrecision("float16")(dense()))
    assert [dtype for _, dtype in seen] == ["float16"]
    relay.op.register_mixed_precision_conversion("nn.dense", answering(3), level=12)
    with pytest.raises(PassError, match="not a list of a category, 0 to 2, and two dtypes"):
        transform.ToMixedPrecision("float16")(dense())


def test_wrong_options() -> None:
    with pytest.raises(PassError, match="'float15' is not a float type"):
        transform.ToMixedPrecision("float15")(dense())
