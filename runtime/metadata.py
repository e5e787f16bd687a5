"""The metadata of a compiled model: tables of tensors and kernels, and the machine it is compiled for."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from math import prod
from typing import Any, Final

import numpy as np

from xrelay.errors import ArtifactError, DimensionError, InputError
from xrelay.runtime.abi import ABI_VERSION
from xrelay.runtime.dim_text import evaluate, name_and_size, names_in
from xrelay.runtime.json_fields import decode, is_extent, parse_json_object
from xrelay.runtime.kernel_work import CODE_LENGTH, UNKNOWN_WORK, KernelWork

FORMAT_VERSION: Final = 12
SEQUENCE: Final = "sequence"
OPTIONAL: Final = "optional"
FUNCTION: Final = "function"
OPEN: Final = "?"
"""A dynamic extent that may differ between the values of a sequence."""
UNKNOWN: Final = "…"
"""A placeholder for a number that is known only at run time."""
ANY_RANK: Final = "*"
"""The only extent of values whose ranks may differ."""
_NUMPY_NAMES: Final = frozenset(
    {"bool", "float16", "float32", "float64"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)


def abi_stamp(arch: str | None = None) -> str:
    """Returns the ABI stamp of this machine, or of Linux on `arch`, such as `1-linux-x86_64`.

    Code and runtime must have the same stamp.
    """
    if arch is not None:
        return f"{ABI_VERSION}-linux-{arch}"
    return f"{ABI_VERSION}-{sys.platform}-{platform.machine().lower()}"


@cache
def dtype_from_name(name: str) -> np.dtype[Any]:
    """Returns the numpy dtype of a name such as `float32`, `bool` or `bfloat16`. Raises `ArtifactError` for others."""
    module = np if name in _NUMPY_NAMES else import_module("ml_dtypes")
    scalar = getattr(module, name, None)
    if not isinstance(scalar, type) or not issubclass(scalar, np.generic) or np.dtype(scalar).name != name:
        raise ArtifactError(f"'{name}' is not a dtype of numpy or ml_dtypes", help="use full names such as float32")
    return np.dtype(scalar)


@dataclass(frozen=True)
class TensorSpec:
    """Name, dtype (numpy's name for it) and shape of an input, output or weight.

    A dynamic extent is its text over named dimensions, such as `n` or `2 * n + 1`. An extent of an output may have
    names that no input determines; it is then known only after the run.

    For a sequence or an optional, `containers` is its type from the outside in, and dtype and shape are those of its
    values: `?` is an extent that may differ between values, and the shape is a single `*` if ranks may differ. For a
    function, `containers` is `FUNCTION`, and `functions` its type, or the types that may be passed for an input.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    containers: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the shape is dynamic."""
        return any(isinstance(extent, str) for extent in self.shape)

    @property
    def known_shape(self) -> tuple[int, ...]:
        """The shape of a static tensor. Raises `InputError` if it is dynamic."""
        known = tuple(extent for extent in self.shape if isinstance(extent, int))
        if len(known) != len(self.shape):
            raise InputError(
                f"the shape of '{self.name}' is dynamic: {self}", help="pass the sizes of its named dimensions"
            )
        return known

    def at(self, sizes: Mapping[str, int]) -> TensorSpec:
        """Returns the tensor with its extents for these sizes. Raises `DimensionError` if an extent has no value."""
        return replace(self, shape=tuple(evaluate(e, sizes) if isinstance(e, str) else e for e in self.shape))

    @cached_property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The numpy dtype."""
        return dtype_from_name(self.dtype)

    @cached_property
    def nbytes(self) -> int:
        """The size of the data. Raises `InputError` if the shape is dynamic."""
        return self.numpy_dtype.itemsize * prod(self.known_shape)

    @property
    def is_function(self) -> bool:
        """Whether the value is a function."""
        return self.containers == (FUNCTION,)

    def __str__(self) -> str:
        if self.is_function:
            return FUNCTION
        opened = "".join(f"{container}(" for container in self.containers)
        return f"{opened}{self.dtype}[{', '.join(map(str, self.shape))}]{')' * len(self.containers)}"


def function_spec(name: str, types: tuple[str, ...] = ()) -> TensorSpec:
    """Returns the spec of an input or output that is a function of one of these types."""
    return TensorSpec(name, "uint8", (), containers=(FUNCTION,), functions=types)


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel's name, and the names of the source nodes that it, or one call of it, computes.

    `code` is its symbol in object code, which equal kernels share. `arguments` is the number of its arguments with
    the context. The last `extents` of them are 64-bit integers, the others are pointers.
    """

    symbol: str
    sources: tuple[str, ...] = ()
    code: str = ""
    arguments: int = 0
    extents: int = 0
    work: KernelWork = UNKNOWN_WORK


@dataclass(frozen=True, slots=True)
class CheckInfo:
    """A requirement of a model on its named dimensions.

    `text` describes it. If it relates two extents, `sides` are these, and `relation` is a template for their values:
    `{lhs} == {rhs}`. `text` may be such a template too. `sources` are the source nodes that need the check.
    """

    text: str
    relation: str = ""
    sides: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def failure(self, sizes: Mapping[str, int], found: tuple[int, int] | None = None) -> str:
        """Returns the message of a violation for these sizes: `in-channels: n == m is 3 == 5 (n = 3, m = 5)`.

        `found` are the values of the sides, if the run has stored them.
        """
        if self.has_placeholders:
            return self._filled(self.text, (UNKNOWN, UNKNOWN) if found is None else found)
        text = self.text
        try:
            values = self._values(sizes) if found is None else found
        except DimensionError as error:
            return self._with_sizes(f"{text}: {error.message}", sizes)
        if values is not None:
            text += " is " + self._filled(self.relation, values)
        return self._with_sizes(text, sizes)

    @property
    def has_placeholders(self) -> bool:
        """Whether the text is a template."""
        return "{lhs}" in self.text or "{rhs}" in self.text

    @property
    def summary(self) -> str:
        """The text, without values."""
        return self._filled(self.text, (UNKNOWN, UNKNOWN))

    @staticmethod
    def _filled(text: str, values: tuple[int | str, int | str]) -> str:
        return text.replace("{lhs}", str(values[0])).replace("{rhs}", str(values[1]))

    def _values(self, sizes: Mapping[str, int]) -> tuple[int, int] | None:
        """Returns the values of both sides; `None` if there are no sides, or they have names without a size."""
        if len(self.sides) != 2 or not sizes.keys() >= set(names_in(self.sides)):
            return None
        lhs, rhs = self.sides
        return evaluate(lhs, sizes), evaluate(rhs, sizes)

    def _with_sizes(self, text: str, sizes: Mapping[str, int]) -> str:
        named = ", ".join(f"{name} = {sizes[name]}" for name in names_in(self.sides) if name in sizes)
        return f"{text} ({named})" if named else text


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """The maximum bytes that a run needs besides the arena: of dynamic buffers, per kernel, and per kernel thread.

    `uncounted` describes allocations that are not included.
    """

    dynamic_buffers: int = 0
    kernels: int = 0
    each_thread: int = 0
    uncounted: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The sizes, in the order of a plan."""
        return self.dynamic_buffers, self.kernels, self.each_thread


@dataclass(frozen=True)
class ModelMetadata:
    """The tables of a model. Inputs, outputs and weights are in the order of the entry's arguments.

    An output with a name that is not in `dims` is a dynamic buffer and not an argument (see `abi`). So are
    sequences and optionals.

    The number in a status (see `abi`) indexes `kernels` followed by `calls`, or `checks`. `calls` are calls of a kernel
    that may fail for other nodes than the kernel names. `dims` are the names whose sizes each call determines, in
    order; then the arena's size and `memory` are 0, and `xrelay_plan` computes them. `polls` is whether a run can be
    ended. `straight` is whether runs of the same sizes take about the same time, so that short ones need not poll.
    `cpu` and `features` are LLVM's names of the target. `bound_params` are the names of parameters that were compiled
    in.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weights: tuple[TensorSpec, ...] = ()
    arena_size: int = 0
    kernels: tuple[KernelInfo, ...] = ()
    calls: tuple[KernelInfo, ...] = ()
    dims: tuple[str, ...] = ()
    checks: tuple[CheckInfo, ...] = ()
    polls: bool = False
    straight: bool = False
    memory: MemoryInfo = MemoryInfo()
    cpu: str = ""
    features: str = ""
    bound_params: tuple[str, ...] = ()
    name: str = "model"
    abi: str = ""

    def __post_init__(self) -> None:
        if not self.abi:
            object.__setattr__(self, "abi", abi_stamp())

    @cached_property
    def dynamic_buffers(self) -> tuple[int, ...]:
        """The indices of the outputs that are dynamic buffers."""
        rows = enumerate(self.outputs)
        return tuple(number for number, spec in rows if spec.containers or not self._names_of(spec) <= {*self.dims})

    @cached_property
    def kernel_names(self) -> dict[str, str]:
        """Maps the symbol of each kernel in object code to its name; of kernels with equal code, the first."""
        return {kernel.code: kernel.symbol for kernel in reversed(self.kernels)}

    def readable_symbol(self, symbol: str) -> str:
        """Returns a symbol of object code with the name of its kernel; other symbols unchanged.

        The names of functions that are parts of a kernel begin with its symbol: `…_parallel_0`.
        """
        code = next((code for code in (symbol, symbol[:CODE_LENGTH]) if code in self.kernel_names), None)
        return symbol if code is None else self.kernel_names[code] + symbol.removeprefix(code)

    @cached_property
    def functions(self) -> tuple[int, ...]:
        """The indices of the outputs that are functions."""
        return tuple(number for number, spec in enumerate(self.outputs) if spec.is_function)

    @cached_property
    def written(self) -> tuple[TensorSpec, ...]:
        """The outputs that are arguments of the entry."""
        return tuple(spec for number, spec in enumerate(self.outputs) if number not in self.dynamic_buffers)

    @staticmethod
    def _names_of(spec: TensorSpec) -> set[str]:
        return set(names_in(extent for extent in spec.shape if isinstance(extent, str)))

    def to_json(self) -> str:
        """Returns the tables as JSON text."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> ModelMetadata:
        """Returns the tables in JSON text.

        Raises an `ArtifactError` that names a field that is missing or of the wrong type.
        """
        what = "the model's description"
        metadata: ModelMetadata = decode(ModelMetadata, parse_json_object(text, what), what)
        for spec in (*metadata.inputs, *metadata.outputs, *metadata.weights):
            _check_tensor(spec)
        for spec in metadata.weights:
            if spec.is_open or spec.containers:
                raise ArtifactError(f"{what}: the weight '{spec.name}' is {spec}")
        for spec in metadata.outputs:
            _check_output(spec)
        _check_dims(metadata)
        return metadata


def _check_tensor(spec: TensorSpec) -> None:
    """Raises `ArtifactError` for an unknown dtype or container, or for a static tensor that is too large."""
    if spec.is_function:
        return
    if not {*spec.containers} <= {OPTIONAL, SEQUENCE}:
        raise ArtifactError(f"the model's description: no value is a {', '.join(spec.containers)}")
    dtype_from_name(spec.dtype)
    if not spec.is_open and not spec.containers and not is_extent(spec.nbytes):
        raise ArtifactError(f"the model's description: '{spec.name}' of {spec} is too large")


def _check_output(spec: TensorSpec) -> None:
    if spec.is_function and len(spec.functions) != 1:
        raise ArtifactError(f"the model's description: '{spec.name}' has {len(spec.functions)} types")
    for text in () if spec.containers else spec.shape:
        if isinstance(text, str):
            with suppress(DimensionError):
                evaluate(text, dict.fromkeys(names_in([text]), 1))


def _check_dims(metadata: ModelMetadata) -> None:
    """Raises `ArtifactError` unless each name can be derived from an extent of an input."""
    inputs = [spec for spec in metadata.inputs if not spec.containers]
    texts = [extent for spec in inputs for extent in spec.shape if isinstance(extent, str)]
    solved = {found[0] for text in texts if (found := name_and_size(text, 0)) is not None}
    if missing := [name for name in metadata.dims if name not in solved]:
        raise ArtifactError(f"the model's description: no input determines the size of '{missing[0]}'")
