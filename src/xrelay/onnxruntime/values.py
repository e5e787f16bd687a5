"""`OrtValue`, an input or output of a run."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import DTypeLike, NDArray

from xrelay.onnxruntime.errors import InvalidArgument, NotSupported, Refused
from xrelay.onnxruntime.signature import tensor_type
from xrelay.runtime.lists import Listed

_SPARSE = "convert it to a dense array"


class OrtValue:
    """A tensor, a list of tensors, or an empty optional, in the memory of the CPU."""

    ort_value_from_sparse_tensor = Refused(_SPARSE)
    as_sparse_tensor = Refused(_SPARSE)

    def __init__(self, value: Listed):
        """Wraps an array, a list of arrays, or `None`, without a copy."""
        self._value = value

    @classmethod
    def ortvalue_from_numpy(
        cls, numpy_obj: NDArray[Any], /, device_type: str = "cpu", device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        """Returns a value that shares the memory of an array. Raises `NotSupported` for devices but the CPU."""
        check_device(device_type)
        return cls(numpy_obj)

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: NDArray[Any], /, onnx_element_type: int) -> OrtValue:
        """Returns a value that shares the memory of an array, whose elements have ONNX's type of this number.

        Raises `InvalidArgument` for a type of another size.
        """
        dtype = dtype_of(onnx_element_type)
        if dtype.itemsize != data.dtype.itemsize:
            raise InvalidArgument(f"elements of {data.dtype} do not have the size of {dtype}")
        return cls(data.view(dtype))

    @classmethod
    def ortvalue_from_shape_and_type(
        cls,
        shape: Sequence[int],
        element_type: DTypeLike | int,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int = -1,
    ) -> OrtValue:
        """Returns a tensor of zeros. The type is a dtype, or the number of an ONNX type."""
        check_device(device_type)
        return cls(np.zeros(tuple(shape), dtype_of(element_type)))

    @classmethod
    def from_dlpack(cls, data: Any, /) -> OrtValue:
        """Returns a value that shares the memory of an array of another library."""
        return cls(np.from_dlpack(data))

    def numpy(self) -> NDArray[Any]:
        """Returns the array of a tensor, without a copy. Raises `InvalidArgument` for other values."""
        if not isinstance(self._value, np.ndarray):
            raise InvalidArgument("the value is not a tensor", help="use to_python()")
        return self._value

    def to_python(self) -> Listed:
        """Returns the array, the list of arrays, or `None`."""
        return self._value

    def shape(self) -> list[int]:
        """Returns the shape of a tensor."""
        return list(self.numpy().shape)

    def data_type(self) -> str:
        """Returns the type, such as `tensor(float)` or `seq(tensor(int64))`; empty for a value without a type."""
        if self.is_tensor_sequence():
            return f"seq({tensor_type(self._value[0].dtype)})" if self._value else ""
        return tensor_type(self._value.dtype) if self.is_tensor() else ""

    def element_type(self) -> int:
        """Returns the number of the ONNX type of a tensor's elements."""
        return int(onnx.helper.np_dtype_to_tensor_dtype(self.numpy().dtype))

    def tensor_size_in_bytes(self) -> int:
        """Returns the number of bytes of a tensor."""
        return self.numpy().nbytes

    def data_ptr(self) -> int:
        """Returns the address of a tensor's elements."""
        return self.numpy().ctypes.data

    def device_name(self) -> str:
        """Returns `cpu`."""
        return "cpu"

    def has_value(self) -> bool:
        """Whether the value is not an empty optional."""
        return self._value is not None

    def is_tensor(self) -> bool:
        """Whether the value is a tensor."""
        return isinstance(self._value, np.ndarray)

    def is_tensor_sequence(self) -> bool:
        """Whether the value is a list of tensors."""
        return isinstance(self._value, list)

    def is_sparse_tensor(self) -> bool:
        """Returns false: sparse tensors are not supported."""
        return False

    def update_inplace(self, data: NDArray[Any] | OrtValue) -> None:
        """Copies `data` to the memory of the tensor. Raises `InvalidArgument` for another type or shape."""
        source, own = data.numpy() if isinstance(data, OrtValue) else data, self.numpy()
        if (source.dtype, source.shape) != (own.dtype, own.shape):
            raise InvalidArgument(
                f"the value is {own.dtype}{list(own.shape)}, the data is {source.dtype}{list(source.shape)}"
            )
        np.copyto(own, source)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.numpy().__dlpack_device__()


def check_device(name: str) -> None:
    """Raises `NotSupported` for a device that is not the CPU."""
    if name.lower() != "cpu":
        raise NotSupported(f"the device {name!r} is not supported", help="use 'cpu'")


def dtype_of(element_type: DTypeLike | int) -> np.dtype[Any]:
    """Returns the dtype of a numpy type, or of the number of an ONNX type."""
    if isinstance(element_type, int):
        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element_type))
    return np.dtype(element_type)


def array_at(address: int, shape: Sequence[int], element_type: DTypeLike | int) -> NDArray[Any]:
    """Returns the array of this type and shape at an address, which the caller keeps alive."""
    dtype = dtype_of(element_type)
    memory = (ctypes.c_char * (prod(shape) * dtype.itemsize)).from_address(address)
    return np.frombuffer(memoryview(memory), dtype).reshape(tuple(shape))


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: object = None) -> None:
    """Copies each value of `src` to the memory of the value of `dst` at the same position."""
    for source, target in zip(src, dst, strict=True):
        target.update_inplace(source)
