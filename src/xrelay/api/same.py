"""`same`: whether two programs, at whatever levels, compute the same on random inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.api.comparison import DEFAULT_RTOL, Comparison, compare_outputs
from xrelay.api.model import CompiledModel
from xrelay.api.programs import Program, Signature, program_of
from xrelay.api.sources import Shapes, Source
from xrelay.arguments import checked_shapes
from xrelay.errors import DimensionError, InputError
from xrelay.index_algebra.dims import ANY, Dim, evaluate, name_and_size, names_of
from xrelay.passes.instruments.random_inputs import random_values
from xrelay.runtime.inputs import InputBinder, is_mapping
from xrelay.runtime.metadata import TensorSpec, dtype_from_name

Array = NDArray[Any]


def same(
    a: Source | CompiledModel,
    b: Source | CompiledModel,
    *,
    inputs: Mapping[str, object] | Sequence[object] | None = None,
    shapes: Shapes | None = None,
    rtol: float = DEFAULT_RTOL,
    atol: float | None = None,
    seed: int = 0,
    function: str = "main",
) -> Comparison:
    """Whether `a` and `b` compute the same: `|a - b| <= atol + rtol * |b|` for floats, equality for the rest.

    Each is a module at the relay, topi or loop level, a compiled model, or a path of a model. They run on `inputs` (by
    name or in order), or on seeded random ones; `shapes` fixes extents that both leave open, and the sizes of named
    dimensions, which are 1 to 8 by chance without it. Without `atol` it is 1e-4 of the largest finite absolute value of
    each output of `b`. NaN equals NaN, infinity itself.

    Raises `InputError` where the programs differ in number, dtype or shape of inputs or outputs, and for a module that
    has no interpreter.
    """
    shapes = checked_shapes(shapes)
    first = program_of(a, shapes=shapes, function=function)
    second = program_of(b, shapes=shapes, function=function)
    _check_agreement("inputs", first.inputs, second.inputs)
    _check_agreement("outputs", first.outputs, second.outputs)
    arrays = _arrays(_specs(first, second, shapes, seed), inputs, seed)
    # Each gets arrays of its own: a wrong program may write to its inputs.
    results = [[np.asarray(out) for out in program.run([x.copy() for x in arrays])] for program in (first, second)]
    names = [signature.name for signature in first.outputs]
    return compare_outputs(names, *results, levels=(first.level, second.level), rtol=rtol, atol=atol)


def _check_agreement(kind: str, first: Sequence[Signature], second: Sequence[Signature]) -> None:
    if len(first) != len(second):
        raise InputError(f"the programs have {len(first)} and {len(second)} {kind}", help="compare like with like")
    for number, (left, right) in enumerate(zip(first, second, strict=True)):
        fits = len(left.shape) == len(right.shape) and all(map(_may_agree, left.shape, right.shape))
        if left.dtype != right.dtype or not fits:
            raise InputError(
                f"{kind[:-1]} {number} ({left.name!r}) is {left} in one program and {right} in the other",
                help="compare like with like",
            )


def _may_agree(left: Dim, right: Dim) -> bool:
    return left == right or not (isinstance(left, int) and isinstance(right, int))


def _specs(first: Program, second: Program, shapes: Shapes, seed: int) -> list[TensorSpec]:
    """The inputs with every extent known: from either program, from `shapes`, or by chance for a named dimension."""
    names = [signature.name for signature in first.inputs]
    for name in shapes:
        if name not in names:
            raise InputError(f"shapes names {name!r}, which is no input", help=f"the inputs are {', '.join(names)}")
    rows = [_input_row(*pair, shapes) for pair in zip(first.inputs, second.inputs, strict=True)]
    sizes = _sizes([dims for row in rows for dims in row], seed)
    specs: list[TensorSpec] = []
    for signature, row in zip(first.inputs, rows, strict=True):
        extents = tuple(_extent(signature, dims, sizes) for dims in row)
        specs.append(TensorSpec(signature.name, signature.dtype, extents))
    return specs


def _input_row(left: Signature, right: Signature, shapes: Shapes) -> list[list[Dim]]:
    """What is said of each extent of an input: by both programs, and by `shapes`."""
    given = shapes.get(left.name)
    if given is not None and len(given) != len(left.shape):
        raise InputError(f"shapes gives {len(given)} extents for input {left.name!r}, which is {left}")
    row: list[list[Dim]] = []
    for axis, pair in enumerate(zip(left.shape, right.shape, strict=True)):
        said = [dim for dim in pair if dim != ANY]
        row.append([*said, given[axis]] if given is not None else said)
    return row


def _sizes(said: Sequence[Sequence[Dim]], seed: int) -> dict[str, int]:
    """The size of each named dimension: as a number that stands beside it tells, else 1 to 8 by chance."""
    sizes: dict[str, int] = {}
    for dims in said:
        numbers = [dim for dim in dims if isinstance(dim, int)]
        for dim in dims if numbers else ():
            name, size = name_and_size(dim, numbers[0]) or ("", None)
            if size is not None:
                sizes.setdefault(name, size)
    rng = np.random.default_rng(seed)
    for name in sorted({name for dims in said for dim in dims for name in names_of(dim)} - sizes.keys()):
        sizes[name] = int(rng.integers(1, 9))
    return sizes


def _extent(place: Signature, dims: Sequence[Dim], sizes: Mapping[str, int]) -> int:
    """One extent, on which all that is said of it must agree."""
    if not dims:
        raise InputError(
            f"input {place.name!r} is {place}: its extents are open", help=f"pass shapes={{{place.name!r}: […]}}"
        )
    try:
        values = [evaluate(dim, sizes) for dim in dims]
    except DimensionError as error:
        raise InputError(f"input {place.name!r} is {place}: {error.message}", help="give shapes=") from error
    if any(value != values[0] for value in values):
        raise InputError(f"input {place.name!r} is {place}: {values[-1]} contradicts {values[0]}", help="give shapes=")
    return values[0]


def _arrays(
    specs: Sequence[TensorSpec], inputs: Mapping[str, object] | Sequence[object] | None, seed: int
) -> list[Array]:
    if inputs is None:
        rng = np.random.default_rng(seed)
        return [random_array(spec, rng) for spec in specs]
    binder = InputBinder(specs)
    return binder.from_mapping(inputs) if is_mapping(inputs) else binder.from_sequence(list(inputs))


def random_array(spec: TensorSpec, rng: np.random.Generator) -> Array:
    """An array as `spec` says, with `random_values`."""
    return random_values(spec.known_shape, dtype_from_name(spec.dtype), rng)
