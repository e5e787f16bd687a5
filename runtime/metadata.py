"""The metadata of a compiled model: tables of tensors and kernels, and the machine it is compiled for."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import numpy as np

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import ABI_VERSION
from xrelay.runtime.json_fields import JsonFields, is_extent, parse_json_object

FORMAT_VERSION: Final = 3
_NUMPY_NAMES: Final = frozenset(
    {"bool", "float16", "float32", "float64"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)


def abi_stamp(arch: str | None = None) -> str:
    """The ABI that code and runtime must share, such as `1-linux-x86_64`: of this machine, or of Linux on another."""
    if arch is not None:
        return f"{ABI_VERSION}-linux-{arch}"
    return f"{ABI_VERSION}-{sys.platform}-{platform.machine().lower()}"


def dtype_from_name(name: str) -> np.dtype[Any]:
    """The numpy dtype of a name such as `float32`, `bool` or `bfloat16`; `ArtifactError` where there is none."""
    module = np if name in _NUMPY_NAMES else import_module("ml_dtypes")
    scalar = getattr(module, name, None)
    if not isinstance(scalar, type) or not issubclass(scalar, np.generic) or np.dtype(scalar).name != name:
        raise ArtifactError(f"'{name}' is no dtype of numpy or ml_dtypes", help="use full names such as float32")
    return np.dtype(scalar)


@dataclass(frozen=True)
class TensorSpec:
    """Name, dtype (numpy's name for it) and static shape of an input, output or weight.

    An output of which the data decide how long it is has `counted`, an axis and the number of an output: the extent
    of the axis is the most there can be, and that output, one int64, says how many elements there are.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    counted: tuple[int, ...] = ()

    @cached_property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype as numpy has it."""
        return dtype_from_name(self.dtype)

    @cached_property
    def nbytes(self) -> int:
        """The size of the data."""
        size = self.numpy_dtype.itemsize
        for extent in self.shape:
            size *= extent
        return size

    def __str__(self) -> str:
        extents = [str(extent) for extent in self.shape]
        if self.counted:
            extents[self.counted[0]] = f"<={extents[self.counted[0]]}"
        return f"{self.dtype}[{', '.join(extents)}]"


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel's symbol and the names of the nodes of the source model that it computes."""

    symbol: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelMetadata:
    """The tables of a model. Inputs, outputs and weights are in the order of the entry's arguments.

    `kernels` is indexed by the kernel number in a status (see `abi`). `cpu` and `features` are what the code was
    compiled for, as LLVM names them; `bound_params` are names of parameters whose values were compiled in.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weights: tuple[TensorSpec, ...] = ()
    arena_size: int = 0
    kernels: tuple[KernelInfo, ...] = ()
    cpu: str = ""
    features: str = ""
    bound_params: tuple[str, ...] = ()
    name: str = "model"
    abi: str = ""

    def __post_init__(self) -> None:
        if not self.abi:
            object.__setattr__(self, "abi", abi_stamp())

    @cached_property
    def results(self) -> tuple[TensorSpec, ...]:
        """The outputs that a caller gets: those that count others are left out."""
        counting = {spec.counted[1] for spec in self.outputs if spec.counted}
        return tuple(spec for number, spec in enumerate(self.outputs) if number not in counting)

    def to_json(self) -> str:
        """The tables as JSON text."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> ModelMetadata:
        """The tables of JSON text; `ArtifactError` naming the field that is missing or of the wrong kind."""
        what = "the model's description"
        read = JsonFields(parse_json_object(text, what), what)
        return ModelMetadata(
            inputs=read.table("inputs", _tensor),
            outputs=_checked_counts(read.table("outputs", _output)),
            weights=read.table("weights", _tensor),
            arena_size=read.extent("arena_size"),
            kernels=read.table("kernels", lambda row: KernelInfo(row.text("symbol"), row.texts("sources"))),
            cpu=read.text("cpu"),
            features=read.text("features"),
            bound_params=read.texts("bound_params"),
            name=read.text("name"),
            abi=read.text("abi"),
        )


def _output(row: JsonFields) -> TensorSpec:
    return replace(_tensor(row), counted=row.extents("counted"))


def _checked_counts(outputs: tuple[TensorSpec, ...]) -> tuple[TensorSpec, ...]:
    """The outputs, of which those that are counted name an axis of their own and an output of one int64."""
    for spec in outputs:
        if not spec.counted:
            continue
        axis, number = spec.counted if len(spec.counted) == 2 else (len(spec.shape), 0)
        count = outputs[number] if number < len(outputs) else spec
        if axis >= len(spec.shape) or (count.dtype, count.shape) != ("int64", ()):
            raise ArtifactError(f"the model's description: '{spec.name}' is counted by {list(spec.counted)}")
    return outputs


def _tensor(row: JsonFields) -> TensorSpec:
    spec = TensorSpec(row.text("name"), row.text("dtype"), row.extents("shape"))
    dtype_from_name(spec.dtype)
    if not is_extent(spec.nbytes):
        raise ArtifactError(f"the model's description: '{spec.name}' of {spec} is too large")
    return spec
