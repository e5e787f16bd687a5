"""Weights: constants too large to travel in the text.

`#relay.weight<"conv1.w", "key">` stands for an array. In memory the attribute holds the array (often a memory map);
in the text only its name and key are written. The key is given by whoever has a cheap one (file, offset, length) or is
a hash of dtype, shape and bytes made on demand. A module attribute `relay.weights = "model.safetensors"` names the
side file whose tensor `key` is the array; a weight that nobody has resolved is legal for every pass that does not look
inside.
"""

from __future__ import annotations

import hashlib
import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from xrelay.dialects.attribute_names import WEIGHTS, WEIGHTS_FILE
from xrelay.dialects.relay.core.dtypes import element_type, numpy_dtype
from xrelay.errors import XRelayError

Array: TypeAlias = NDArray[Any]

_DTYPES: Final = {
    "BOOL": "bool",
    "BF16": "bfloat16",
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"{code}{bits}": f"{name}{bits}" for code, name in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)},
}
"""The dtypes of constants by their codes in safetensors files."""
_CONTENT_KEY: Final = re.compile(r"[0-9a-f]{32}")
"""The form of keys that are hashes of the content."""


class UnresolvedWeightError(XRelayError):
    """The bytes of a weight are needed and have not been brought."""


class Weight:
    """A named constant array, shared by every attribute that mentions it."""

    name: str
    _key: str | None
    _array: Array | None

    def __init__(self, name: str, array: Array | None = None, *, key: str | None = None):
        if array is None and key is None:
            raise ValueError(f"weight {name!r} needs an array or a key")
        self.name, self._array, self._key = name, array, key

    @property
    def key(self) -> str:
        """What identifies the bytes; hashed on first use where none was given."""
        if self._key is None:
            self._key = _content_key(self.array)
        return self._key

    @property
    def is_resolved(self) -> bool:
        """Whether the array is here."""
        return self._array is not None

    @property
    def array(self) -> Array:
        """The array; raises `UnresolvedWeightError` where only the key is known."""
        if self._array is None:
            raise UnresolvedWeightError(
                f"the bytes of weight {self.name!r} (key {self._key}) are not here",
                help=f"name the side file in the module attribute {WEIGHTS_FILE}",
            )
        return self._array

    def resolve(self, array: Array) -> None:
        """Bring the bytes of a weight that was read from text."""
        self._array = array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weight):
            return NotImplemented
        if self is other:
            return True
        if self.name != other.name:
            return False
        return (self._array is not None and self._array is other._array) or self.key == other.key

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Weight({self.name!r})"


@irdl_attr_definition
class WeightAttr(Data[Weight]):
    """`#relay.weight<"name", "key">`: an immutable array by name and key."""

    name = "relay.weight"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Weight:
        """Parse `<"name", "key">`; the weight starts unresolved."""
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            parser.parse_punctuation(",")
            key = parser.parse_str_literal()
        return Weight(name, key=key)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<"name", "key">`."""
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.name)
            printer.print_string(", ")
            printer.print_string_literal(self.data.key)

    @staticmethod
    def of(name: str, array: Array) -> WeightAttr:
        """The attribute for `array`, which must not be written to afterwards."""
        return WeightAttr(Weight(name, array))


def weights_of(module: ModuleOp) -> list[Weight]:
    """Every distinct weight of `module`, in order of first mention."""
    found: dict[int, Weight] = {}
    for attribute in _listed(module):
        found.setdefault(id(attribute.data), attribute.data)
    for op in module.walk():
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, WeightAttr):
                found.setdefault(id(attribute.data), attribute.data)
    return list(found.values())


def _listed(module: ModuleOp) -> list[WeightAttr]:
    """The weights that a module below the loop level lists as arguments of its entry."""
    rows = module.attributes.get(WEIGHTS)
    if not isa(rows, ArrayAttr[DictionaryAttr]):
        return []
    return [value for row in rows if isinstance(value := row.data.get("value"), WeightAttr)]


def save_side_file(module: ModuleOp, path: Path) -> None:
    """Write the weights of `module` to a safetensors file and name it on the module."""
    from safetensors import numpy as safetensors_numpy

    tensors = {weight.key: np.ascontiguousarray(weight.array) for weight in weights_of(module)}
    path.write_bytes(safetensors_numpy.save(tensors))
    module.attributes[WEIGHTS_FILE] = StringAttr(path.name)


def resolve_side_file(module: ModuleOp, folder: Path) -> None:
    """Bring the bytes of every unresolved weight from the side file that `module` names, if it names one.

    Raises `UnresolvedWeightError` where the file is absent, lacks a key, or has other content under one.
    """
    attribute = module.attributes.get(WEIGHTS_FILE)
    missing = [weight for weight in weights_of(module) if not weight.is_resolved]
    if not isinstance(attribute, StringAttr) or not missing:
        return
    path = folder / attribute.data
    tensors = _read_tensors(path)
    for weight in missing:
        if weight.key not in tensors:
            raise UnresolvedWeightError(f"{path} has no tensor {weight.key!r} for weight {weight.name!r}")
        array = tensors[weight.key]
        if _CONTENT_KEY.fullmatch(weight.key) and weight.key not in _content_keys(array):
            raise UnresolvedWeightError(
                f"{path} is damaged: tensor {weight.key!r} for weight {weight.name!r} is not what its key says",
                help="write the side file again",
            )
        weight.resolve(array)


def _read_tensors(path: Path) -> dict[str, Array]:
    """The arrays in a safetensors file; its numpy reader knows no bfloat16.

    Raises `UnresolvedWeightError` where the file cannot be read, or holds what no constant can be.
    """
    safetensors = import_module("safetensors")
    try:
        found: list[tuple[str, dict[str, Any]]] = safetensors.deserialize(path.read_bytes())
    except (OSError, safetensors.SafetensorError) as error:
        raise UnresolvedWeightError(f"cannot read the side file {path}: {error}") from error
    tensors: dict[str, Array] = {}
    for name, view in found:
        if view["dtype"] not in _DTYPES:
            raise UnresolvedWeightError(f"{path}: tensor {name!r} has the dtype {view['dtype']}, which no constant has")
        dtype = numpy_dtype(element_type(_DTYPES[view["dtype"]]))
        tensors[name] = np.frombuffer(view["data"], dtype).reshape(view["shape"])
    return tensors


def _content_key(array: Array) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{array.dtype}{array.shape}".encode())
    if array.size > 1 and not any(array.strides):
        # One element seen from every place: its copies, which may be gigabytes, say nothing more.
        digest.update(b"splat")
        array = np.asarray(array[(0,) * array.ndim])
    contiguous = np.ascontiguousarray(array)
    digest.update(contiguous.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _content_keys(array: Array) -> list[str]:
    """The keys that an array may have got: of its elements, and where they are equal, of one seen from every place."""
    keys = [_content_key(array)]
    if array.size > 1:
        element = array[(0,) * array.ndim]
        if not (array.reshape(-1, 1).view(np.uint8) != np.asarray(element).reshape(1).view(np.uint8)).any():
            keys.append(_content_key(np.broadcast_to(element, array.shape)))
    return keys
