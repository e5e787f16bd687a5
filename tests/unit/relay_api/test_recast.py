"""`transform.recast`: operators that compute in another element type."""

from __future__ import annotations

import numpy as np

import xrelay
from xrelay import relay, transform
from xrelay.ir import assert_structural_equal, structural_equal


def layers(count: int, first: str = "", later: str = "") -> relay.Function:
    """A chain of dense layers that compute in the dtypes `first` and `later`, or in float32 if these are empty."""
    x = relay.var("x", shape=(2, 2))
    weights = [relay.var(f"w{number}", shape=(2, 2)) for number in range(count)]
    value: relay.Expr = x
    for number, weight in enumerate(weights):
        dtype = later if number else first
        value = (
            relay.nn.dense(value.astype(dtype), weight.astype(dtype), out_dtype="float32").astype("float32")
            if dtype
            else relay.nn.dense(value, weight)
        )
    return relay.Function([x, *weights], value)


def test_layers_that_stay() -> None:
    both, last, none = ([], [0], [0, -1])
    half = "float16"
    for skipped, wanted in ((both, layers(2, half, half)), (last, layers(2, "", half)), (none, layers(2))):
        made = transform.recast(layers(2), half, "float32", ops=["nn.dense"], skip_layers=skipped)
        assert_structural_equal(made, wanted)
    assert not structural_equal(layers(2, half, half), layers(2, "", half))


def test_fields_of_tuples_and_what_is_no_float() -> None:
    x, y, places = relay.var("x", shape=(2, 2)), relay.var("y", shape=(1, 2)), relay.var("i", shape=(1,), dtype="int32")

    def net(cast: bool) -> relay.Function:
        half = "float16" if cast else "float32"
        a, b = (x.astype(half), y.astype(half)) if cast else (x, y)
        joined = relay.concatenate(relay.Tuple([a, b]), 0)
        given = joined.astype("float32") if cast else joined
        taken = relay.take(given.astype(half) if cast else given, places, axis=0)
        return relay.Function([x, y, places], taken.astype("float32") if cast else taken)

    assert_structural_equal(transform.recast(net(False), "float16", "float16", ["concatenate", "take"]), net(True))


def test_results_that_are_tuples() -> None:
    x = relay.var("x", shape=(4,))
    parts = relay.split(x, 2)
    function = relay.Function([x], parts[1] - parts[0])
    made = transform.recast(function, "float16", "float16", ["split"])
    assert isinstance(made, relay.Function)
    module = relay.IRModule.from_expr(made)
    assert str(module).count("tensor<4xf16>) ->") == 1
    assert xrelay.compile(module).run([np.array([1, 2, 5, 7], np.float32)])[0].tolist() == [4, 5]


def test_an_expression_keeps_its_variables() -> None:
    x = relay.var("x", shape=(2, 2))
    made = transform.recast(relay.nn.dense(x, x), "int8", "int32", ["nn.dense"])
    assert relay.analysis.free_vars(made) == [x]
    assert_structural_equal(
        made, relay.nn.dense(x.astype("int8"), x.astype("int8"), out_dtype="int32").astype("float32")
    )
