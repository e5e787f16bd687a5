"""Sparse initializers and constants are equivalent to dense tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

X = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
DENSE = np.zeros((4, 5), np.float32)
DENSE[0, 0], DENSE[1, 2], DENSE[3, 4] = 1, 2, 3
BY_NUMBER, BY_AXIS = [0, 7, 19], [[0, 0], [1, 2], [3, 4]]


def sparse(places: list[int] | list[list[int]], values: tuple[float, ...] = (1, 2, 3)) -> onnx.SparseTensorProto:
    stored = numpy_helper.from_array(np.array(values, np.float32), "w")
    return helper.make_sparse_tensor(stored, numpy_helper.from_array(np.array(places, np.int64), "places"), [4, 5])


def product(weight: onnx.SparseTensorProto) -> onnx.ModelProto:
    """`x` times a sparse initializer."""
    made = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", (3, 4))], ["y"])
    made.graph.sparse_initializer.append(weight)
    return made


@pytest.mark.parametrize("places", [BY_NUMBER, BY_AXIS])
def test_initializers(places: list[int] | list[list[int]]) -> None:
    (found,) = run_relay(import_onnx(product(sparse(places))), [X])
    np.testing.assert_allclose(np.asarray(found), X @ DENSE, rtol=1e-6)


def test_one_that_is_an_input_as_well_needs_no_value() -> None:
    made = product(sparse(BY_NUMBER))
    made.graph.input.append(value("w", (4, 5)))
    (found,) = run_relay(import_onnx(made), [X])
    np.testing.assert_allclose(np.asarray(found), X @ DENSE, rtol=1e-6)


def test_in_bodies() -> None:
    own = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["z"])], "own", [], [value("z", None)])
    own.sparse_initializer.append(sparse(BY_AXIS))
    other = helper.make_graph([helper.make_node("MatMul", ["x", "k"], ["z"])], "other", [], [value("z", None)])
    nodes = [
        helper.make_node("Constant", [], ["k"], sparse_value=sparse(BY_NUMBER)),
        helper.make_node("If", ["c"], ["y"], then_branch=own, else_branch=other),
    ]
    module = import_onnx(model(nodes, [value("x", (3, 4)), value("c", (), onnx.TensorProto.BOOL)], ["y"]))
    for condition in (True, False):
        (found,) = run_relay(module, [X, np.array(condition)])
        np.testing.assert_allclose(np.asarray(found), X @ DENSE, rtol=1e-6)


def test_bytes_in_a_file_of_their_own(tmp_path: Path) -> None:
    made = product(sparse(BY_NUMBER))
    stored = made.graph.sparse_initializer[0].values
    (tmp_path / "weights.bin").write_bytes(stored.raw_data)
    stored.ClearField("raw_data")
    stored.data_location = onnx.TensorProto.EXTERNAL
    stored.external_data.add(key="location", value="weights.bin")
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    (found,) = run_relay(import_onnx(tmp_path / "model.onnx"), [X])
    np.testing.assert_allclose(np.asarray(found), X @ DENSE, rtol=1e-6)


def test_places_that_are_none() -> None:
    for places, complaint in (
        ([0, 7, 20], "outside of the shape"),
        ([[0, 0], [1, 2], [3, -1]], "outside of the shape"),
        ([0, 7], "one 64-bit place each"),
        ([[0], [1], [2]], "one 64-bit place each"),
    ):
        with pytest.raises(ModelImportError, match=rf"sparse tensor 'w'.*{complaint}"):
            import_onnx(product(sparse(places)))


def test_shapes_that_are_none() -> None:
    for extents, complaint in (([4, -5], "negative extent"), ([1 << 20, 1 << 20], "would take 4398046511104 bytes")):
        weight = sparse(BY_NUMBER)
        weight.dims[:] = extents
        with pytest.raises(ModelImportError, match=f"sparse tensor 'w': .*{complaint}"):
            import_onnx(product(weight))


def test_of_rank_0_has_no_places_by_axis() -> None:
    stored = numpy_helper.from_array(np.ones(1, np.float32), "w")
    weight = helper.make_sparse_tensor(stored, numpy_helper.from_array(np.zeros((1, 0), np.int64), "places"), [])
    with pytest.raises(ModelImportError, match="a list of values is expected"):
        import_onnx(product(weight))
