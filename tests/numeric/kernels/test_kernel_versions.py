"""Kernels with a version for certain sizes compute the same at these sizes, at others, and at 0."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import xrelay

PRODUCTS = """
func.func @main(%x: tensor<?x24xf32, #relay.dims<n>>, %w: tensor<40x24xf32>, %a: tensor<3x?x16xf32, #relay.dims<n>>)
    -> (!relay.incomplete, !relay.incomplete) {
  %d = relay.nn.dense(%x, %w) : (tensor<?x24xf32, #relay.dims<n>>, tensor<40x24xf32>) -> !relay.incomplete
  %r = relay.nn.relu(%d) : (!relay.incomplete) -> !relay.incomplete
  %m = relay.nn.batch_matmul(%a, %a)
    : (tensor<3x?x16xf32, #relay.dims<n>>, tensor<3x?x16xf32, #relay.dims<n>>) -> !relay.incomplete
  func.return %r, %m : !relay.incomplete, !relay.incomplete
}
"""


@pytest.mark.parametrize("shapes", [None, {"n": (0, 100, 8)}], ids=["one", "usual"])
def test_versions_compute_the_same(shapes: dict[str, tuple[int, int, int]] | None) -> None:
    module = xrelay.parse(PRODUCTS)
    model = xrelay.compile(module, shapes=shapes, threads=2, cache=False)
    rng = np.random.default_rng(0)
    w = rng.standard_normal((40, 24), np.float32)
    for n in (0, 1, 7, 8, 9, 67):
        x, a = rng.standard_normal((n, 24), np.float32), rng.standard_normal((3, n, 16), np.float32)
        first, second = model(x, w, a)
        np.testing.assert_allclose(first, np.maximum(x @ w.T, 0), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(second, a @ a.transpose(0, 2, 1), rtol=1e-4, atol=1e-4)
    # Versions are part of their kernels, not kernels themselves.
    symbols = [kernel.symbol for kernel in model.artifact.metadata.kernels]
    assert not [symbol for symbol in symbols if symbol.endswith(("_any", "_n1", "_n8"))]


def test_names_of_which_nothing_is_said_count_rows() -> None:
    """A version for 4 rows in the hinted name and 1 in the other, used only at these sizes."""
    text = """
    func.func @main(%x: tensor<?x?x24xf32, #relay.dims<b, s>>, %w: tensor<40x24xf32>) -> !relay.incomplete {
      %d = relay.nn.dense(%x, %w) : (tensor<?x?x24xf32, #relay.dims<b, s>>, tensor<40x24xf32>) -> !relay.incomplete
      func.return %d : !relay.incomplete
    }"""
    model = xrelay.compile(xrelay.parse(text), shapes={"b": (1, 9, 4)}, threads=1, cache=False)
    rng = np.random.default_rng(1)
    w = rng.standard_normal((40, 24), np.float32)
    for b, s in ((4, 1), (1, 4), (1, 1), (4, 0), (9, 5), (2, 2)):
        x = rng.standard_normal((b, s, 24), np.float32)
        np.testing.assert_allclose(model(x, w)[0], x @ w.T, rtol=1e-4, atol=1e-4)


def test_inner_batches_of_one_have_a_version() -> None:
    """Rows of time x batch, used at a batch of 1 for any time."""
    text = """
    func.func @main(%x: tensor<?x?x24xf32, #relay.dims<b, t>>, %w: tensor<40x24xf32>) -> !relay.incomplete {
      %s = relay.nn.softmax(%x) : (tensor<?x?x24xf32, #relay.dims<b, t>>) -> !relay.incomplete
      %r = relay.transpose(%s) {axes = [1, 0, 2]} : (!relay.incomplete) -> !relay.incomplete
      %d = relay.nn.dense(%r, %w) : (!relay.incomplete, tensor<40x24xf32>) -> !relay.incomplete
      func.return %d : !relay.incomplete
    }"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    rng = np.random.default_rng(3)
    w = rng.standard_normal((40, 24), np.float32)
    for b, t in ((1, 24), (1, 1), (1, 0), (0, 3), (3, 5), (14, 1)):
        x = rng.standard_normal((b, t, 24), np.float32)
        chances = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
        np.testing.assert_allclose(model(x, w)[0], chances.transpose(1, 0, 2) @ w.T, rtol=1e-4, atol=1e-4)


ATTENTION = """
func.func @main(%q: tensor<?x?x16xf32, #relay.dims<b, s>>, %k: tensor<?x?x16xf32, #relay.dims<b, m>>,
                %v: tensor<?x?x8xf32, #relay.dims<b, m>>) -> !relay.incomplete {
  %p = relay.nn.batch_matmul(%q, %k)
    : (tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x?x16xf32, #relay.dims<b, m>>) -> !relay.incomplete
  %r = relay.nn.relu(%p) : (!relay.incomplete) -> !relay.incomplete
  %o = relay.nn.batch_matmul(%r, %v) {transpose_b = false}
    : (!relay.incomplete, tensor<?x?x8xf32, #relay.dims<b, m>>) -> !relay.incomplete
  func.return %o : !relay.incomplete
}"""


@pytest.mark.grid(3)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shapes", [None, {"s": (0, 99, 4)}, {"s": (0, 99, 4), "m": (0, 99, 7)}], ids=str)
def test_versions_leave_names_open(shapes: dict[str, tuple[int, int, int]] | None, threads: int) -> None:
    """One query, or the typical number of queries, with any number of keys in any batch."""
    model = xrelay.compile(xrelay.parse(ATTENTION), shapes=shapes, threads=threads, cache=False)
    rng = np.random.default_rng(2)
    for b, s, m in (
        (2, 1, 33),
        (3, 1, 1),
        (1, 4, 7),
        (5, 4, 9),
        (0, 1, 5),
        (2, 0, 5),
        (2, 1, 0),
        (1, 5, 18),
        (1, 1, 7),
    ):
        q, k, v = (rng.standard_normal(shape, np.float32) for shape in ((b, s, 16), (b, m, 16), (b, m, 8)))
        expected = np.maximum(q @ k.transpose(0, 2, 1), 0) @ v
        np.testing.assert_allclose(model(q, k, v)[0], expected, rtol=1e-4, atol=1e-4)


def test_a_version_shares_the_scratch_buffers_of_its_kernel() -> None:
    """A product of bytes with a zero point of the run has buffers for the sums of the weight."""
    rng = np.random.default_rng(2)
    w = rng.integers(-127, 127, (64, 48), np.int8)
    nodes = [
        onnx.helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        onnx.helper.make_node("MatMulInteger", ["q", "w", "z"], ["y"]),
    ]
    values = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [values("x", onnx.TensorProto.FLOAT, ["n", 64])],
        [values(name, kind, None) for name, kind in (("y", 6), ("q", 2), ("z", 2))],
        [onnx.numpy_helper.from_array(w, "w")],
    )
    opsets = [onnx.helper.make_opsetid("", 18)]
    model = xrelay.compile(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), threads=1, cache=False)
    for n in (1, 2, 7, 1, 20):
        y, q, z = model(rng.standard_normal((n, 64), np.float32))
        np.testing.assert_array_equal(y, (q.astype(np.int32) - int(z)) @ w.astype(np.int32))
