"""Models that draw random numbers: distributions, sources of variation, and the required seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value

import xrelay
from xrelay.errors import InputError, ModelImportError
from xrelay.extend.random_numbers import drawn_numbers
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
node = helper.make_node
SHAPE = (40, 50)


def drawn(*nodes: Any, inputs: Sequence[Array] = (), seed: int = 0) -> list[Array]:
    """The outputs of the nodes; native code and the interpreter agree."""
    names = [f"i{number}" for number, _ in enumerate(inputs)]
    declared = [value(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype)) for name, array in
                zip(names, inputs, strict=True)]  # fmt: skip
    proto = model(list(nodes), declared, [name for each in nodes for name in each.output], opset=22)
    with drawn_numbers(seed):
        found = xrelay.compile(proto, threads=1).run(list(inputs))
        for ours, theirs in zip(found, run_relay(import_onnx(proto), list(inputs)), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    return found


def test_uniform_numbers() -> None:
    found, halves = drawn(
        node("RandomUniform", [], ["a"], shape=SHAPE, low=-2.0, high=3.0),
        node("RandomUniform", [], ["b"], shape=SHAPE, dtype=TensorProto.FLOAT16),
    )
    assert (found.shape, found.dtype, halves.dtype) == (SHAPE, np.float32, np.float16)
    assert -2 <= found.min() < -1.9
    assert 2.9 < found.max() <= 3
    assert abs(found.mean() - 0.5) < 0.1


def test_normal_numbers() -> None:
    data = np.zeros(SHAPE, np.int32)
    found, like = drawn(
        node("RandomNormal", [], ["a"], shape=SHAPE, mean=1.0, scale=4.0, dtype=TensorProto.DOUBLE),
        node("RandomNormalLike", ["i0"], ["b"], dtype=TensorProto.FLOAT),
        inputs=[data],
    )
    assert (found.dtype, like.dtype, like.shape) == (np.float64, np.float32, SHAPE)
    assert abs(found.mean() - 1) < 0.3
    assert abs(found.std() - 4) < 0.3
    assert abs(like.std() - 1) < 0.1


def test_decisions_have_their_probability() -> None:
    """The standard's function body for Bernoulli would yield the complementary probability."""
    found, doubles = drawn(
        node("Bernoulli", ["i0"], ["a"], dtype=TensorProto.BOOL),
        node("Bernoulli", ["i0"], ["b"]),
        inputs=[np.linspace(0, 1, 2000)],
    )
    assert (found.dtype, doubles.dtype) == (np.bool_, np.float64)
    for row in (found, doubles):
        assert not row[:5].any()
        assert abs(row[:1000].mean() - 0.25) < 0.06
        assert abs(row[1000:].mean() - 0.75) < 0.06


def test_classes_have_their_probabilities() -> None:
    """Logarithms of probabilities, to which a constant may be added."""
    rows = np.array([np.log([0.2, 0.5, 0.3]), [7, -np.inf, 7]], np.float32)
    (found,) = drawn(node("Multinomial", ["i0"], ["a"], sample_size=3000, dtype=TensorProto.INT64), inputs=[rows])
    assert (found.shape, found.dtype) == ((2, 3000), np.int64)
    np.testing.assert_allclose(np.bincount(found[0]) / 3000, [0.2, 0.5, 0.3], atol=0.04)
    np.testing.assert_allclose(np.bincount(found[1]) / 3000, [0.5, 0, 0.5], atol=0.04)


def test_what_numbers_follow_from() -> None:
    """Nodes without a seed differ, nodes with equal seeds agree; the program's seed affects both."""
    nodes = [node("RandomNormal", [], [name], shape=[4], **words) for name, words in
             (("a", {}), ("b", {}), ("c", {"seed": 1.0}), ("d", {"seed": 1.0}))]  # fmt: skip
    a, b, c, d = drawn(*nodes)
    again = drawn(*nodes)
    others = drawn(*nodes, seed=1)
    np.testing.assert_array_equal(c, d)
    np.testing.assert_array_equal([a, b, c, d], again)
    rows = [a, b, c, *others[:3]]
    assert len({row.tobytes() for row in rows}) == len(rows)


def test_iterations_differ() -> None:
    """In a nested loop."""
    inner = helper.make_graph(
        [node("RandomNormal", [], ["r"], shape=[2]), node("Identity", ["c"], ["d"])],
        "inner",
        [value("i", (), TensorProto.INT64), value("c", (), TensorProto.BOOL)],
        [value("d", (), TensorProto.BOOL), value("r", (2,))],
    )
    outer = helper.make_graph(
        [node("Loop", ["n", "t"], ["rs"], body=inner), node("Identity", ["k"], ["l"])],
        "outer",
        [value("j", (), TensorProto.INT64), value("k", (), TensorProto.BOOL)],
        [value("l", (), TensorProto.BOOL), value("rs", ("n", 2))],
    )
    proto = model(
        [node("Loop", ["n", "t"], ["y"], body=outer)],
        [value("n", (), TensorProto.INT64), value("t", (), TensorProto.BOOL)],
        ["y"],
        opset=22,
    )
    with drawn_numbers(0):
        (found,) = xrelay.compile(proto, threads=1).run([np.int64(3), np.bool_(True)])
    assert found.shape == (3, 3, 2)
    assert len(np.unique(found)) == found.size


def test_a_seed_is_asked_for() -> None:
    proto = model([node("RandomNormal", [], ["a"], shape=[4])], [], ["a"], opset=22)
    with pytest.raises(ModelImportError, match=r"only inside `with xrelay\.extend\.random_numbers\.drawn_numbers"):
        import_onnx(proto)
    with pytest.raises(InputError, match=r"seed is -1, must be between 0 and 2\^64 - 1"), drawn_numbers(-1):
        pass


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (node("RandomNormal", [], ["a"]), "attribute 'shape' is missing"),
        (node("RandomNormal", [], ["a"], shape=[4], dtype=TensorProto.INT32), "'dtype' has the illegal value 6"),
        (node("RandomUniformLike", ["i0"], ["a"]), "attribute"),
        (node("Multinomial", ["i0"], ["a"], sample_size=0), "'sample_size' has the illegal value 0"),
        (node("Multinomial", ["i0"], ["a"]), "rows of classes are expected"),
    ],
)
def test_what_is_wrong_with_a_node_is_said(made: Any, said: str) -> None:
    proto = model([made], [value("i0", (4,), TensorProto.INT32)], ["a"], opset=22)
    with drawn_numbers(0), pytest.raises(ModelImportError, match=said):
        import_onnx(proto)
