"""`OrtValue` and `IOBinding`."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto
from unit.onnxruntime.models import scaled_sum, split

import xrelay.onnxruntime as ort
from xrelay.onnxruntime.errors import InvalidArgument, NotSupported

X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)


@pytest.fixture(scope="module")
def session() -> ort.InferenceSession:
    return ort.InferenceSession(scaled_sum())


def test_a_value_shares_memory_and_describes_itself() -> None:
    array = X.copy()
    value = ort.OrtValue.ortvalue_from_numpy(array)
    assert value.numpy() is array
    assert value.data_ptr() == array.ctypes.data
    assert (value.shape(), value.data_type(), value.element_type()) == ([2, 3], "tensor(float)", TensorProto.FLOAT)
    assert (value.device_name(), value.tensor_size_in_bytes()) == ("cpu", 24)
    assert [value.is_tensor(), value.has_value()] == [True, True]
    assert [value.is_tensor_sequence(), value.is_sparse_tensor()] == [False, False]
    value.update_inplace(Y)
    assert np.array_equal(array, Y)
    assert np.array_equal(np.from_dlpack(value), Y)
    assert np.asarray(value, np.float64).dtype == np.float64
    with pytest.raises(InvalidArgument):
        value.update_inplace(Y[:1])
    with pytest.raises(NotSupported):
        ort.OrtValue.ortvalue_from_numpy(array, "cuda")
    with pytest.raises(NotSupported):
        value.as_sparse_tensor()


def test_values_of_a_shape_and_of_an_onnx_type() -> None:
    value = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], TensorProto.INT64)
    assert value.data_type() == "tensor(int64)"
    ort.copy_tensors([ort.OrtValue(np.full((2, 3), 4))], [value])
    assert (value.numpy() == 4).all()
    halves = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([0x3F80], np.uint16), TensorProto.BFLOAT16)
    assert halves.data_type() == "tensor(bfloat16)"
    assert halves.numpy()[0] == 1
    with pytest.raises(InvalidArgument):
        ort.OrtValue.ortvalue_from_numpy_with_onnx_type(X, TensorProto.BFLOAT16)
    assert not ort.OrtValue(None).has_value()


def test_run_with_ort_values(session: ort.InferenceSession) -> None:
    feeds = {"x": ort.OrtValue.ortvalue_from_numpy(X), "y": ort.OrtValue.from_dlpack(Y)}
    (found,) = session.run_with_ort_values(["sum"], feeds)
    assert np.array_equal(found.numpy(), 2 * X + Y)
    (rows,) = ort.InferenceSession(split()).run_with_ort_values(None, {"x": ort.OrtValue(X[:1])})
    assert rows.data_type() == "seq(tensor(float))"
    with pytest.raises(InvalidArgument):
        rows.numpy()


def test_results_are_stored_in_bound_memory(session: ort.InferenceSession) -> None:
    binding, x, result = session.io_binding(), X.copy(), np.empty((2, 3), np.float32)
    binding.bind_cpu_input("x", x)
    binding.bind_input("y", "cpu", 0, np.float32, [2, 3], Y.ctypes.data)
    binding.bind_output("sum", "cpu", 0, TensorProto.FLOAT, [2, 3], result.ctypes.data)
    binding.bind_output("twice")
    for _ in range(2):
        x += 1
        binding.synchronize_inputs()
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        assert np.array_equal(result, 2 * x + Y)
        assert np.array_equal(binding.copy_outputs_to_cpu()[1], 2 * x)
    own = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    binding.clear_binding_outputs()
    binding.bind_ortvalue_output("twice", own)
    binding.bind_ortvalue_input("x", ort.OrtValue(Y))
    session.run_with_iobinding(binding)
    assert binding.get_outputs() == [own]
    assert (own.numpy() == 2).all()
    binding.clear_binding_inputs()
    with pytest.raises(InvalidArgument):
        session.run_with_iobinding(binding)


def test_unknown_names_are_refused_when_they_are_bound(session: ort.InferenceSession) -> None:
    binding = session.io_binding()
    value = ort.OrtValue(X)
    binds = (
        lambda: binding.bind_cpu_input("z", X),
        lambda: binding.bind_input("z", "cpu", 0, np.float32, [2, 3], X.ctypes.data),
        lambda: binding.bind_ortvalue_input("sum", value),
        lambda: binding.bind_output("x"),
        lambda: binding.bind_ortvalue_output("z", value),
    )
    for bind in binds:
        with pytest.raises(InvalidArgument):
            bind()
    assert not binding.inputs
    assert not binding.outputs


def test_memory_that_does_not_fit_is_refused(session: ort.InferenceSession) -> None:
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_cpu_input("y", Y)
    with pytest.raises(InvalidArgument):
        binding.bind_output("sum", buffer_ptr=X.ctypes.data)
    binding.bind_ortvalue_output("sum", ort.OrtValue(np.empty((3, 3), np.float32)))
    with pytest.raises(InvalidArgument):
        session.run_with_iobinding(binding)
