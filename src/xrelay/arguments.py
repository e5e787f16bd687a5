"""Checks of arguments that several entry points share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import SupportsIndex, TypeAlias, TypeGuard, cast

from xrelay.errors import InputError

Extent: TypeAlias = int | str
"""The size of a dimension, or its name if it is dynamic."""

Shapes = dict[str, tuple[Extent, ...]]
"""Shapes of inputs and sizes of dimensions, by name. The size of a dimension is one number, a range three numbers."""

GivenShapes: TypeAlias = Mapping[str, Sequence[Extent] | int]
"""The argument `shapes=`: see `xrelay.compile`."""

MAX_OPT_LEVEL = 3
"""The highest optimisation level."""
_HELP = "pass a dictionary such as {'data': (1, 3, 224, 224)}"


def checked_shapes(shapes: object) -> Shapes:
    """Returns input shapes by name with extents of type `int`; empty for `None`.

    A name among the extents makes its dimension dynamic. A number is the size of a dimension.

    Raises `InputError` unless `shapes` maps names to sequences of integers and names, or to numbers. A float such as
    8.0 is refused: it compares equal to 8, so tensor types with it would compare equal too.
    """
    if shapes is None:
        return {}
    if not _is_mapping(shapes):
        raise InputError(f"shapes is {_shown(shapes)}, not a dictionary of shapes", help=_HELP)
    return {_checked_name(name): _checked_shape(name, shape) for name, shape in shapes.items()}


def checked_sizes(sizes: object) -> dict[str, int]:
    """Returns sizes of dimensions by name; empty for `None`. Raises `InputError` unless names map to integers."""
    if sizes is None:
        return {}
    if not _is_mapping(sizes):
        help = "pass a dictionary such as {'n': 8}"
        raise InputError(f"sizes is {_shown(sizes)}, not a dictionary of sizes", help=help)
    return {str(name): checked_integer(f"the size of {name}", size) for name, size in sizes.items()}


def checked_integer(option: str, value: object) -> int:
    """Returns the value of an integer option. Raises `InputError` for anything else."""
    try:
        return index(cast(SupportsIndex, value))
    except TypeError as error:
        raise InputError(f"{option} is {value!r}, not an integer") from error


def checked_flag(option: str, value: object) -> bool:
    """Returns the value of a boolean option. Raises `InputError` for anything else, such as a path or a string."""
    if not isinstance(value, bool):
        raise InputError(f"{option} is {_shown(value)}, which is neither True nor False")
    return value


def checked_path(option: str, path: object) -> Path:
    """Returns the path passed for `option`. Raises `InputError` unless it is a string or a path object."""
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"{option} is {_shown(path)}, which is not a path", help="pass a str or a pathlib.Path")
    named = fspath(path)
    if not isinstance(named, str) or "\0" in named:
        raise InputError(f"{option} is {_shown(named)}, which is not a file name")
    return Path(named)


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise InputError(f"shapes: {_shown(name)} is not an input name", help=_HELP)
    return name


def _checked_shape(name: object, shape: object) -> tuple[Extent, ...]:
    if isinstance(shape, int) and not isinstance(shape, bool):
        return (shape,)
    if not _is_sequence(shape):
        raise InputError(f"shapes: {name!r} has {_shown(shape)}, which is not a sequence of extents", help=_HELP)
    return tuple(_checked_extent(name, extent) for extent in shape)


def _checked_extent(name: object, extent: object) -> Extent:
    if isinstance(extent, str):
        return extent
    if not isinstance(extent, SupportsIndex) or isinstance(extent, bool):
        raise InputError(
            f"shapes: {name!r} has the extent {_shown(extent)}, which is neither an integer nor a name", help=_HELP
        )
    return index(extent)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    import numpy as np  # Imported here: compile worker processes do not need numpy.

    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:40]}…"
