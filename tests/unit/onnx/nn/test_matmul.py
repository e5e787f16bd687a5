"""MatMul of vectors and stacks in the interpreter against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from support.onnx_models import model, value

from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((2, 5, 3), (2, 3, 4)),
        ((5, 3), (2, 2, 3, 4)),
        ((3,), (70, 3, 4)),
        ((9, 1, 5, 3), (8, 3, 4)),
        ((2, 5, 3), (3,)),
        ((0, 5, 3), (3, 4)),
        ((2, 3), (3, 3, 1)),
    ],
)
def test_products_of_vectors_and_stacks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in (left, right))
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    (found,) = run_relay(import_onnx(model([node], [value("a", left), value("b", right)], ["y"])), [a, b])
    np.testing.assert_allclose(found, a @ b, rtol=1e-5, atol=1e-5)


def test_a_product_keeps_an_open_batch() -> None:
    node = helper.make_node("MatMul", ["a", "w"], ["y"])
    proto = model([node], [value("a", ("n", 3))], ["y"], initializers={"w": np.ones((3, 4), np.float32)})
    import_onnx(proto).verify()
