"""`nn.upsampling` with dynamic extents and factors agrees with the static operator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.errors import ConstraintError, ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay

IMAGE = np.random.default_rng(0).random((1, 2, 3, 4), np.float32)
VOLUME = IMAGE.reshape(1, 1, 2, 3, 4)
S = relay.var("s", shape=())


def runs(result: relay.Expr, *parameters: relay.Var) -> tuple[Any, Any]:
    """Functions that run an expression on inputs: interpreted, and compiled."""
    module = module_of(result, *parameters)
    return partial(run_relay, module), xrelay.compile(module, cache=False, threads=1).run


def module_of(result: relay.Expr, *parameters: relay.Var) -> relay.IRModule:
    return relay.IRModule.from_expr(relay.Function(list(parameters), result))


@pytest.mark.grid(2)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(
    "words",
    [{}, {"method": "bilinear"}, {"method": "bicubic", "align_corners": True}],
    ids=["nearest", "lines", "cubic"],
)
def test_images(words: dict[str, Any], layout: str) -> None:
    words = {"layout": layout, **words}
    data = np.ascontiguousarray(IMAGE if layout == "NCHW" else IMAGE.transpose(0, 2, 3, 1))
    x, known = relay.var("x", shape=[f"d{axis}" for axis in range(4)]), relay.var("x", shape=data.shape)
    (wanted,) = run_relay(module_of(relay.nn.upsampling(known, 1.75, 3, **words), known), [data])
    for run in runs(relay.nn.upsampling(x, S, relay.const(3.0), **words), x, S):
        (found,) = run([data, np.array(1.75, np.float32)])
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    for run in runs(relay.nn.upsampling(x, 1.75, 3, **words), x):
        np.testing.assert_allclose(run([data])[0], wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["nearest_neighbor", "trilinear"])
def test_volumes(method: str) -> None:
    known = relay.var("x", shape=VOLUME.shape)
    (wanted,) = run_relay(module_of(relay.nn.upsampling3d(known, 2, 1.5, 0.75, method=method), known), [VOLUME])
    for run in runs(relay.nn.upsampling3d(known, S, 1.5, 0.75, method=method), known, S):
        np.testing.assert_allclose(run([VOLUME, np.array(2, np.float32)])[0], wanted, rtol=1e-6, atol=1e-6)


def test_extents_times_whole_numbers_are_known() -> None:
    x = relay.var("x", shape=(1, 2, "h", "w"))
    module = module_of(relay.nn.upsampling(x, 2, 3.0), x)
    assert "-> (tensor<1x2x?x?xf32, #relay.dims<2 * h, 3 * w>>" in str(transform.InferType()(module))


def test_what_is_refused() -> None:
    x = relay.var("x", shape=(1, 2, "h", "w"))
    with pytest.raises(ConstraintError, match=r"upsampling C4\] a factor of -2"):
        relay.nn.upsampling(x, -2)
    with pytest.raises(ConstraintError, match=r"upsampling C3\] data of rank 4 for layout NCDHW"):
        relay.nn.upsampling(x, S, layout="NCDHW")
    for run in runs(relay.nn.upsampling(x, S), x, S):
        with pytest.raises((InterpreterError, ExecutionError), match="-6"):
            run([IMAGE, np.array(-2, np.float32)])
