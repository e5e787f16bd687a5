"""Small networks and programs with irregular shapes: native code equals the interpreter at every optimisation level."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.networks import NETWORKS, Build, inception_block, residual_block, simplenet, split_and_swap
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.passes.infra.source import full_context, parse_module


@pytest.mark.grid(10)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("build", NETWORKS, ids=lambda build: build.__name__)
def test_native_equals_the_interpreter(build: Build, threads: int) -> None:
    module = relay.Module.from_expr(build())
    answer = xrelay.same(xrelay.compile(module, threads=threads, cache=False), module)
    assert answer, str(answer)


@pytest.mark.grid(5)
@pytest.mark.parametrize("opt_level", [0, 1, 2])
@pytest.mark.parametrize("build", [simplenet, inception_block, split_and_swap], ids=lambda build: build.__name__)
def test_every_optimisation_level_equals_the_interpreter(build: Build, opt_level: int) -> None:
    module = relay.Module.from_expr(build())
    answer = xrelay.same(xrelay.compile(module, opt_level=opt_level, cache=False), module)
    assert answer, str(answer)


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3"])
@pytest.mark.parametrize("build", [simplenet, residual_block], ids=lambda build: build.__name__)
def test_narrower_vectors_equal_the_interpreter(build: Build, target: str) -> None:
    module = relay.Module.from_expr(build())
    answer = xrelay.same(xrelay.compile(module, target=f"cpu -mcpu={target}", cache=False), module)
    assert answer, str(answer)


def test_squeezenet_from_onnx_equals_the_interpreter(tmp_path: Path) -> None:
    from xrelay.frontend.onnx.light_models import light_model

    path = tmp_path / "squeezenet.onnx"
    path.write_bytes(light_model("squeezenet").SerializeToString())
    answer = xrelay.same(xrelay.compile(path, cache=False), path)
    assert answer, str(answer)


def test_simplenet_becomes_one_kernel() -> None:
    # Without blocked layouts, which add a kernel for the image and another for the result.
    model = xrelay.compile(relay.Module.from_expr(simplenet()), opt_level=2)
    assert len(model.artifact.metadata.kernels) == 1


def test_functions_that_call_functions() -> None:
    text = """
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = relay.add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %z = func.call @twice(%y) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %z : tensor<4xf32>
    }"""
    module = parse_module(full_context(), text, "calls.mlir")
    answer = xrelay.same(xrelay.compile(module, cache=False), module)
    assert answer, str(answer)


def chain(length: int) -> ModuleOp:
    x = expr = relay.var("x", shape=(8,))
    for number in range(length):
        expr = relay.negative(expr) if number % 2 else relay.add(expr, x)
    return relay.Module.from_expr(expr)


def test_a_chain_of_2000_ops_compiles() -> None:
    model = xrelay.compile(chain(2_000), cache=False)
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    expected = x
    for number in range(2_000):
        expected = -expected if number % 2 else expected + x
    np.testing.assert_allclose(model(x)[0], expected, rtol=1e-3, atol=1e-3)
