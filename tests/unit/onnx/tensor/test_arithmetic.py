"""Arithmetic and comparison before opset 7, with the second operand at an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)


def both(proto: onnx.ModelProto, *inputs: Array) -> list[Array]:
    return [run_relay(import_onnx(proto), list(inputs))[0], compile(proto, cache=False, threads=1).run(list(inputs))[0]]


def arithmetic(op: str, shape: tuple[int | str, ...], **attributes: Any) -> onnx.ModelProto:
    given = [value("x", ("n", 3, 4)), value("o", shape)]
    return model([helper.make_node(op, ["x", "o"], ["y"], **attributes)], given, ["y"], opset=6)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("shape", "attributes", "seen"),
    [
        ((2, 3, 4), {}, (2, 3, 4)),
        ((4,), {"broadcast": 1}, (4,)),
        ((3, 4), {"broadcast": 1}, (3, 4)),
        ((), {"broadcast": 1}, ()),
        ((3,), {"broadcast": 1, "axis": 1}, (3, 1)),
        ((2, 3), {"broadcast": 1, "axis": 0}, (2, 3, 1)),
        ((3,), {"broadcast": 1, "axis": -2}, (3, 1)),
        ((1, 1), {"broadcast": 1, "axis": 1}, (1, 1)),
    ],
)
@pytest.mark.parametrize(("op", "function"), [("Sub", np.subtract), ("Pow", np.power), ("Less", np.less)])
def test_the_second_operand_lies_at_an_axis(
    op: str, function: np.ufunc, shape: tuple[int, ...], attributes: dict[str, int], seen: tuple[int, ...]
) -> None:
    other = np.asarray(np.random.default_rng(2).integers(0, 3, shape), np.float32)
    for found in both(arithmetic(op, shape, **attributes), X, other):
        np.testing.assert_allclose(found, function(X, other.reshape(seen)), rtol=1e-6, strict=True)


@pytest.mark.parametrize(
    ("shape", "attributes", "words"),
    [
        ((4,), {}, r"shapes \(n, 3, 4\) and \(4\) differ"),
        ((2, 3, 1), {}, "differ"),
        ((3,), {"broadcast": 1}, "differ"),
        ((2, 2, 3, 4), {"broadcast": 1}, "rank 4, the first 3"),
        ((3, 4), {"broadcast": 1, "axis": 2}, "'axis' has the illegal value 2"),
        ((3,), {"broadcast": 1, "axis": 3}, "'axis' has the illegal value 3"),
        ((3,), {"broadcast": 2}, "'broadcast' has the illegal value 2"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shape: tuple[int, ...], attributes: dict[str, int], words: str) -> None:
    with pytest.raises(ModelImportError, match=words):
        import_onnx(arithmetic("Add", shape, **attributes))
