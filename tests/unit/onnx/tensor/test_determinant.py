"""Det against numpy: stacks, exchanged rows, singular matrices, dynamic extents."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(3)


@pytest.mark.grid(11)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 4, 4), (0, 3, 3), (2, 0, 0), (17, 17)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_determinants(shape: tuple[int, ...], dtype: type[np.floating]) -> None:
    x = (RNG.normal(size=shape) / max(shape[-1], 1) ** 0.5).astype(dtype)
    expected = np.linalg.det(x.astype(np.float64))
    rtol = {2: 5e-3, 4: 1e-4, 8: 1e-10}[np.dtype(dtype).itemsize]
    for (found,) in both(node_model("Det", [x], 11), [x]):
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=rtol, atol=rtol)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1], [1, 0]],
        [[0, 2, 0], [0, 0, 3], [4, 0, 0]],
        [[1, 2], [2, 4]],
        [[0, 0], [0, 0]],
        [[1e-30, 1], [1, 1]],
        [[0, 0, 1], [0, 0, 2], [1, 2, 3]],
    ],
)
def test_pivots_that_are_zero_or_small(rows: list[list[float]]) -> None:
    x = np.array(rows, np.float32)
    for (found,) in both(node_model("Det", [x], 22, dims={0: ("m", "m")}), [x]):
        np.testing.assert_allclose(found, np.linalg.det(x.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_stays_none(special: float) -> None:
    x = np.array([[special, 1.0], [2.0, special]], np.float32)
    for (found,) in both(node_model("Det", [x]), [x]):
        assert not np.isfinite(found)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 3, 2)])
def test_matrices_that_are_not_square_are_refused(shape: tuple[int, ...]) -> None:
    x: Array = np.ones(shape, np.float32)
    with pytest.raises(ModelImportError, match="square matrices are expected"):
        import_onnx(node_model("Det", [x]))


@pytest.mark.parametrize("extents", ["r, c", "n, 4", "?, ?"])
@pytest.mark.parametrize("op", ["Det", "com.microsoft.Inverse"])
def test_matrices_of_open_extents_are_square_where_they_run(op: str, extents: str) -> None:
    opsets = 'opset_import: ["" : 17, "com.microsoft" : 1]'
    text = f"<ir_version: 8, {opsets}> graph (float[{extents}] x) => (float y) {{ y = {op} (x) }}"
    module = import_onnx(onnx.parser.parse_model(text))
    run_relay(module, [np.eye(4, dtype=np.float32)])
    with pytest.raises(XRelayError, match="reshape_like"):
        run_relay(module, [np.ones((1, 4), np.float32)])
