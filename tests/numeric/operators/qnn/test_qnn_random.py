"""Random chains of quantised operators: native code is bit-equal to the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.one_op import check

from xrelay import relay

NARROW = ("int8", "uint8", "int16", "uint16")
Draw = Callable[[Any], Any]
Step = Callable[[Draw, relay.Expr, str], tuple[relay.Expr, str]]

scales = st.floats(2.0**-12, 4.0, width=32) | st.sampled_from([2.0**-20, 0.5, 1.0, 2.0, 2.0**12])
zeros = st.integers(-40, 300)


def requantize(draw: Draw, x: relay.Expr, dtype: str) -> tuple[relay.Expr, str]:
    result = draw(st.sampled_from([*NARROW, "int32"]))
    how = {
        "rounding": draw(st.sampled_from(["UPWARD", "TONEAREST"])),
        "compute_dtype": draw(st.sampled_from(["int64", "float32", "float64"])),
        "out_dtype": result,
    }
    return relay.qnn.op.requantize(x, draw(scales), draw(zeros), draw(scales), draw(zeros), **how), result


def through_floats(draw: Draw, x: relay.Expr, dtype: str) -> tuple[relay.Expr, str]:
    result, wide = draw(st.sampled_from([*NARROW, "int32"])), draw(st.sampled_from(["float16", "float32", "float64"]))
    floats = relay.qnn.op.dequantize(x, draw(scales), draw(zeros), out_dtype=wide)
    return relay.qnn.op.quantize(floats, draw(scales), draw(zeros), out_dtype=result), result


def arithmetic(draw: Draw, x: relay.Expr, dtype: str) -> tuple[relay.Expr, str]:
    op = getattr(relay.qnn.op, draw(st.sampled_from(["add", "subtract", "mul"])))
    other = x if draw(st.booleans()) else relay.const(np.array(draw(st.integers(0, 127)), dtype))
    parameters = [draw(strategy) for _ in range(3) for strategy in (scales, zeros)]
    return op(x, other, *parameters), dtype


def leaky_relu(draw: Draw, x: relay.Expr, dtype: str) -> tuple[relay.Expr, str]:
    alpha = draw(st.floats(-2, 2))
    parameters = [draw(strategy) for _ in range(2) for strategy in (scales, zeros)]
    return relay.qnn.op.leaky_relu(x, alpha, *parameters), dtype


def dense(draw: Draw, x: relay.Expr, dtype: str) -> tuple[relay.Expr, str]:
    weight = np.random.default_rng(draw(st.integers(0, 99))).integers(-128, 128, (6, 6)).astype(np.int8)
    return relay.qnn.op.dense(x, weight, draw(zeros), draw(zeros), 0.5, 0.5), "int32"


STEPS: tuple[Step, ...] = (requantize, through_floats, arithmetic, leaky_relu, dense)


@settings(max_examples=examples(6, more=2), deadline=None)
@given(data=st.data())
def test_chains(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([*NARROW, "int32"]))
    limits = np.iinfo(dtype)
    numbers: NDArray[Any] = np.random.default_rng(data.draw(st.integers(0, 999))).integers(
        limits.min, limits.max, (data.draw(st.integers(0, 5)), 6), endpoint=True, dtype=dtype
    )
    x = relay.var("x", shape=numbers.shape, dtype=dtype)
    y: relay.Expr = x
    for _ in range(data.draw(st.integers(1, 4))):
        y, dtype = data.draw(st.sampled_from(STEPS))(data.draw, y, dtype)
    check(relay.Module.from_expr(relay.Function([x], y)), [numbers])
