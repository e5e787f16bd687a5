"""The size arguments of a loop function, which follow its buffers, derived from the shapes of its inputs.

The size arguments of `@main` are named dimensions; those of a kernel are extents, which `loop.extents` maps to buffers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, MemRefType
from xdsl.ir import Attribute

from xrelay.dialects.loop.signature import dim_arguments, dim_names
from xrelay.dialects.shared.attribute_names import EXTENTS, LOOP_DIMS
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.errors import DimensionError, InputError
from xrelay.index_algebra.dims import ANY, Dim, Shape, evaluate, name_and_size, names_of, shape_text, symbol
from xrelay.interpreters.loop.frame import Array


class NamedSizes:
    """The shapes of a function's buffers in terms of its size arguments."""

    def __init__(self, function: func.FuncOp):
        """Reads the signature of a function."""
        self._function = function.sym_name.data
        count = len(dim_arguments(function))
        self._names = dim_names(function) if count else []
        if len(self._names) != count:
            self._names = [f"extent{number}" for number in range(count)]
        attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
        self.shapes: list[Shape] = [
            self._shape(type, attributes[number].data if attributes else {})
            for number, type in enumerate(function.function_type.inputs)
        ]
        """The shape of each argument; empty for arguments that are not buffers."""

    def bind(self, inputs: Sequence[Array]) -> dict[str, int]:
        """Returns the size of each name. Raises `InputError` if the extents of the inputs disagree."""
        sizes: dict[str, int] = {}
        arrays = [(number, array) for number, array in enumerate(inputs) if not isinstance(array, tuple)]
        rows = [(number, array.shape, self.shapes[number]) for number, array in arrays]
        for _, found, shape in rows:
            for extent, dim in zip(found, shape, strict=False):
                name, size = name_and_size(dim, extent) or ("", None)
                if size is not None:
                    sizes.setdefault(name, size)
        for number, found, shape in rows:
            if not all(self._fits(extent, dim, sizes) for extent, dim in zip(found, shape, strict=True)):
                known = ", ".join(f"{name} = {size}" for name, size in sizes.items())
                expected = f"{shape_text(shape)} ({known})" if known else shape_text(shape)
                raise InputError(f"input {number} of @{self._function} has shape {list(found)}, must be {expected}")
        return sizes

    def values(self, sizes: Mapping[str, int]) -> list[int]:
        """Returns the sizes in the order of the arguments. Raises `InputError` if the inputs do not determine one."""
        missing = [name for name in self._names if name not in sizes]
        if missing:
            raise InputError(f"the inputs of @{self._function} do not determine the size of {missing[0]}")
        return [sizes[name] for name in self._names]

    def _shape(self, type: Attribute, attributes: Mapping[str, Attribute]) -> Shape:
        if not isinstance(type, MemRefType):
            return ()
        dims, numbers = attributes.get(LOOP_DIMS), attributes.get(EXTENTS)
        opened: list[Dim] = []
        if isinstance(dims, DimsAttr):
            opened = list(dims.data)
        elif numbers is not None and is_attribute(numbers, DenseArrayBase[IntegerType]):
            opened = [symbol(self._names[number]) for number in numbers.get_values()]
        rest = iter(opened)
        return tuple(next(rest, ANY) if extent == DYNAMIC_INDEX else extent for extent in type.get_shape())

    @staticmethod
    def _fits(extent: int, dim: Dim, sizes: Mapping[str, int]) -> bool:
        if dim == ANY or not names_of(dim) <= sizes.keys():
            return True
        try:
            return evaluate(dim, sizes) == extent
        except DimensionError:
            return False
