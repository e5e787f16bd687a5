"""Parameters as one blob: round trips, equality with TVM's bytes, and errors for damaged blobs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.contrib.graph_executor import GraphModule
from xrelay.errors import ArtifactError, InputError

PARAMS = {
    "weight": np.arange(20, dtype=np.float32).reshape(10, 2),
    "größe": np.array(3, np.int64),
    "none": np.zeros((0, 2), np.bool_),
    "half": np.ones(3, ml_dtypes.bfloat16),
    "turned": np.arange(6, dtype=np.uint8).reshape(2, 3).T,
    "big": np.arange(3).astype(">i4"),
}
X_IS_1_2 = (
    "b79c04054f8de5f7" + 8 * "00" + "0100000000000000" + "0100000000000000" + "78" + "0100000000000000"
    "3fa1b496f0405edd" + 8 * "00" + "01000000" + "00000000" + "01000000" + "02200100" + "0200000000000000"
    "0800000000000000" + "0000803f" + "00000040"
)
"""TVM's bytes for `{"x": [1, 2]}` in float32."""


def test_what_is_written_is_read() -> None:
    read = relay.load_param_dict(relay.save_param_dict(PARAMS))
    assert list(read) == list(PARAMS)
    for name, array in PARAMS.items():
        assert read[name].dtype == array.dtype.newbyteorder("=")
        assert np.array_equal(read[name].numpy(), array)
    read["weight"][0] = 7


def test_the_bytes_are_those_of_tvm() -> None:
    blob = bytes.fromhex(X_IS_1_2)
    assert relay.load_param_dict(blob)["x"].tolist() == [1, 2]
    assert relay.save_param_dict({"x": xrelay.nd.array(np.array([1, 2], np.float32))}) == blob


def test_a_blob_that_ends_early_or_late_is_refused() -> None:
    blob = bytes.fromhex(X_IS_1_2)
    for end in range(len(blob)):
        with pytest.raises(ArtifactError):
            relay.load_param_dict(blob[:end])
    with pytest.raises(ArtifactError, match=r"1 .*"):
        relay.load_param_dict(blob + b"\0")


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 1, ".* parameters; help: .*"),
        (23, 0x7F, "the parameters end after"),
        (32, 0xFF, "the name .*"),
        (33, 2, "names.*arrays"),
        (41, 0, ".* array for 'x'"),
        (68, 0xFF, "parameter 'x' has rank -"),
        (66, 1, "parameter 'x' has rank 257 and dtype"),
        (69, 9, "parameter 'x' has rank 1 and dtype"),
        (80, 0x80, r"parameter 'x' has shape \(-"),
        (81, 9, r"parameter 'x' has shape \(2,\), .*"),
    ],
)
def test_a_damaged_blob_is_refused(at: int, value: int, message: str) -> None:
    blob = bytearray.fromhex(X_IS_1_2)
    blob[at] = value
    with pytest.raises(ArtifactError, match=message):
        relay.load_param_dict(blob)


def test_what_are_no_parameters() -> None:
    with pytest.raises(InputError, match=r"parameter 'x' has dtype complex128, .*"):
        relay.save_param_dict({"x": np.array(1j)})
    with pytest.raises(InputError, match=r"parameter 'x' .*: .*inhomogeneous"):
        relay.save_param_dict({"x": [[1], [1, 2]]})
    wrong: Any = [1]
    with pytest.raises(InputError, match="params is a list"):
        relay.save_param_dict(wrong)
    with pytest.raises(InputError, match="a list"):
        relay.load_param_dict(wrong)
    unnamed: Any = {1: np.zeros(1)}
    with pytest.raises(InputError, match=r"a parameter is called 1; help: .*"):
        relay.save_param_dict(unnamed)


def test_an_array_of_no_elements_whose_other_extents_no_array_has() -> None:
    blob = bytearray(relay.save_param_dict({"x": np.zeros((0, 1, 1), np.float32)}))
    for at in (81, 89):
        blob[at : at + 8] = (2**62).to_bytes(8, "little")
    with pytest.raises(ArtifactError, match=r"parameter 'x' has shape .*, .*"):
        relay.load_param_dict(blob)


def test_a_graph_module_takes_those_that_are_its_inputs() -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    lib: Any = relay.build(xrelay.IRModule.from_expr(relay.Function([x, w], x * w)), "llvm")
    module = GraphModule(lib["default"](xrelay.cpu()))
    module.load_params(relay.save_param_dict({"w": np.full(2, 3, np.float32), "other": np.zeros(5)}))
    module.run(x=np.ones(2, np.float32))
    assert module.get_output(0).tolist() == [3, 3]
