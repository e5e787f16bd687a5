"""Weights: constants that are too large to be printed.

`#relay.weight<"conv1.w", "key">` refers to an array. In memory the attribute holds the array, often a memory map; only
its name and key are printed. The creator may provide a key (file, offset, length); otherwise it is a hash of dtype,
shape and bytes, computed on demand. A module attribute `relay.weights = "model.safetensors"` names the side file whose
tensor `key` is the array. Passes that do not read the array accept unresolved weights.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xrelay.dialects.shared.attribute_names import WEIGHTS, WEIGHTS_FILE
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.errors import ArtifactError, InputError, XRelayError
from xrelay.runtime.json_fields import is_extent, is_list, is_object

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xrelay.runtime.safetensors_file import Header

Array: TypeAlias = "NDArray[Any]"

_DTYPES: Final = {
    "BOOL": "bool",
    "BF16": "bfloat16",
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"{code}{bits}": f"{name}{bits}" for code, name in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)},
}
"""The dtypes of constants by their codes in safetensors files."""
_CONTENT_KEY: Final = re.compile(r"[0-9a-f]{32}")
"""The format of keys that are hashes of the content."""


class UnresolvedWeightError(XRelayError):
    """The bytes of a weight are required, but the weight is unresolved."""


class Weight:
    """A named constant array, shared by all attributes that refer to it."""

    name: str
    _key: str | None
    _array: Array | None
    _content: str | None

    def __init__(self, name: str, array: Array | None = None, *, key: str | None = None):
        if array is None and key is None:
            raise ValueError(f"weight {name!r} needs an array or a key")
        self.name, self._array, self._key, self._content = name, array, key, None

    @property
    def key(self) -> str:
        """The name of the bytes in side files: the given key, or else `content`."""
        return self.content if self._key is None else self._key

    @property
    def content(self) -> str:
        """A hash of dtype, shape and bytes, computed on first use; the key of an unresolved weight."""
        if self._array is None and self._key is not None:
            return self._key
        if self._content is None:
            self._content = _content_key(self.array)
        return self._content

    @property
    def is_resolved(self) -> bool:
        """Whether the array is available."""
        return self._array is not None

    @property
    def array(self) -> Array:
        """The array. Raises `UnresolvedWeightError` if only the key is known."""
        if self._array is None:
            raise UnresolvedWeightError(
                f"the bytes of weight {self.name!r} (key {self._key}) are not loaded",
                help=f"set the module attribute to the side file: {WEIGHTS_FILE}",
            )
        return self._array

    def resolve(self, array: Array, content: str | None = None) -> None:
        """Sets the array of a weight that was read from text, and its `content` if that is known."""
        self._array, self._content = array, content

    def move_to(self, array: Array) -> None:
        """Replaces the array by one of equal dtype, shape and elements."""
        self._array = array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weight):
            return NotImplemented
        if self is other:
            return True
        if self.name != other.name:
            return False
        return (self._array is not None and self._array is other._array) or self.content == other.content

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
        """Parses `<"name", "key">`. The weight is unresolved."""
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            parser.parse_punctuation(",")
            key = parser.parse_str_literal()
        return Weight(name, key=key)

    def print_parameter(self, printer: Printer) -> None:
        """Prints `<"name", "key">`."""
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.name)
            printer.print_string(", ")
            printer.print_string_literal(self.data.key)

    @staticmethod
    def of(name: str, array: Array) -> WeightAttr:
        """Returns the attribute for `array`, which must not be modified afterwards."""
        return WeightAttr(Weight(name, array))


def weights_of(module: ModuleOp) -> list[Weight]:
    """Returns all distinct weights of `module`, in order of first use."""
    found: dict[int, Weight] = {}
    for attribute in _listed(module):
        found.setdefault(id(attribute.data), attribute.data)
    for op in module.walk():
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, WeightAttr):
                found.setdefault(id(attribute.data), attribute.data)
    return list(found.values())


def _listed(module: ModuleOp) -> list[WeightAttr]:
    """Returns the weights that a module below the loop level lists as arguments of its entry."""
    rows = module.attributes.get(WEIGHTS)
    if not is_attribute(rows, ArrayAttr[DictionaryAttr]):
        return []
    return [value for row in rows if isinstance(value := row.data.get("value"), WeightAttr)]


def add_by_key(weights: Iterable[Weight], found: dict[str, Weight]) -> None:
    """Adds weights to a table by key. Raises `InputError` if two have the same key and different bytes."""
    for weight in weights:
        first = found.setdefault(weight.key, weight)
        if first is not weight and first.content != weight.content:
            raise InputError(
                f"the weights {first.name!r} and {weight.name!r} have the key {weight.key!r} and different bytes",
                help="use distinct keys in the text and in the side file",
            )


def arrays_by_key(module: ModuleOp) -> dict[str, Array]:
    """Returns the arrays of all weights by key. Raises `UnresolvedWeightError`, or as `add_by_key`."""
    found: dict[str, Weight] = {}
    add_by_key(weights_of(module), found)
    return {key: weight.array for key, weight in found.items()}


def save_side_file(module: ModuleOp, path: Path) -> None:
    """Writes the weights of `module` to a safetensors file, and sets its name on the module."""
    from xrelay.runtime.safetensors_file import write_safetensors

    write_safetensors(path, arrays_by_key(module), {})
    module.attributes[WEIGHTS_FILE] = StringAttr(path.name)


def resolve_side_file(module: ModuleOp, folder: Path) -> None:
    """Reads the bytes of all unresolved weights from the side file of `module`, if it has one.

    Raises `UnresolvedWeightError` if the file is missing, lacks a key, or has other content for one.
    """
    from xrelay.runtime.files import open_regular
    from xrelay.runtime.safetensors_file import read_header

    attribute = module.attributes.get(WEIGHTS_FILE)
    missing = [weight for weight in weights_of(module) if not weight.is_resolved]
    if not isinstance(attribute, StringAttr) or not missing:
        return
    path = folder / attribute.data
    try:
        with open_regular(path) as descriptor:
            header = read_header(path, descriptor, "safetensors file")
            found: dict[str, tuple[Array, str]] = {}
            for weight in missing:
                if weight.key not in found:
                    array = _read_weight(weight, path, descriptor, header)
                    is_content = _CONTENT_KEY.fullmatch(weight.key) is not None
                    found[weight.key] = array, weight.key if is_content else _content_key(array)
                weight.resolve(*found[weight.key])
    except (OSError, ValueError, EOFError, ArtifactError) as error:
        text = error.message if isinstance(error, ArtifactError) else error
        raise UnresolvedWeightError(f"cannot read the side file {path}: {text}") from error


def _read_weight(weight: Weight, path: Path, descriptor: int, header: Header) -> Array:
    """Returns the array of a weight, in memory aligned for native code.

    Raises `UnresolvedWeightError` if the file lacks it, or has other content for its key.
    """
    from xrelay.runtime.arena import aligned_bytes
    from xrelay.runtime.files import read_into

    if weight.key not in header.tensors:
        raise UnresolvedWeightError(f"{path} has no tensor {weight.key!r} for weight {weight.name!r}")
    entry, (begin, end) = header.fields[weight.key], header.tensors[weight.key]
    code, shape = (entry.get("dtype"), entry.get("shape")) if is_object(entry) else (None, None)
    if not isinstance(code, str) or code not in _DTYPES:
        raise UnresolvedWeightError(f"{path}: tensor {weight.key!r} has the dtype {code}, which is not supported")
    dtype = numpy_dtype(element_type(_DTYPES[code]))
    given = shape if is_list(shape) else [None]
    extents = [extent if is_extent(extent) else -1 for extent in given]
    if min(extents, default=0) < 0 or prod(extents) * dtype.itemsize != end - begin:
        raise UnresolvedWeightError(f"{path} is damaged: tensor {weight.key!r} is {code}{shape} in {end - begin} bytes")
    data = aligned_bytes(end - begin)
    read_into(descriptor, begin, data.data)
    data.flags.writeable = False
    array = data.view(dtype).reshape(extents)
    if _CONTENT_KEY.fullmatch(weight.key) and not _has_key(array, weight.key):
        raise UnresolvedWeightError(
            f"{path} is damaged: tensor {weight.key!r} for weight {weight.name!r} does not match its key",
            help="write the side file again",
        )
    return array


def _content_key(array: Array) -> str:
    import numpy as np  # imported late: compile workers run without numpy

    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{array.dtype}{array.shape}".encode())
    if array.size > 1 and not any(array.strides):
        # A broadcast of one element, whose copies may be gigabytes: hashes the element once.
        digest.update(b"splat")
        array = np.asarray(array[(0,) * array.ndim])
    contiguous = np.ascontiguousarray(array)
    digest.update(contiguous.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _has_key(array: Array, key: str) -> bool:
    """Returns whether an array has a key: that of its elements or, if all are equal, that of a broadcast of one."""
    import numpy as np

    if _content_key(array) == key:
        return True
    element = array[(0,) * array.ndim] if array.size > 1 else None
    if element is None or (array.reshape(-1, 1).view(np.uint8) != np.asarray(element).reshape(1).view(np.uint8)).any():
        return False
    return _content_key(np.broadcast_to(element, array.shape)) == key
