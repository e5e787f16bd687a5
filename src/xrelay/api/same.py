"""`same`: whether two programs, at any levels, compute the same results on random inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from xrelay.api.comparison import DEFAULT_RTOL, Comparison, compare_outputs
from xrelay.api.model import CompiledModel
from xrelay.api.programs import Program, is_onnx, program_of
from xrelay.api.sources import Shapes, Source
from xrelay.arguments import GivenShapes, checked_shapes
from xrelay.dialects.relay.core.size_hints import SizeHint
from xrelay.errors import DimensionError, ExecutionError, InputError, InterpreterError, XRelayError
from xrelay.interpreters.call_progress import Progress
from xrelay.interpreters.relay.run import HostValue
from xrelay.passes.instruments.random_inputs import DRAWS, drawn_sizes, random_values
from xrelay.runtime.dim_text import evaluate, names_in, solved_sizes
from xrelay.runtime.inputs import InputBinder, is_mapping
from xrelay.runtime.lists import flatten_arrays
from xrelay.runtime.metadata import ANY_RANK, OPEN, OPTIONAL, TensorSpec, dtype_from_name

Array = NDArray[Any]
Extent: TypeAlias = int | str


def same(
    a: Source | CompiledModel,
    b: Source | CompiledModel,
    *,
    inputs: Mapping[str, object] | Sequence[object] | None = None,
    shapes: GivenShapes | None = None,
    rtol: float = DEFAULT_RTOL,
    atol: float | None = None,
    seed: int = 0,
    function: str = "main",
    progress: Progress | None = None,
) -> Comparison:
    """Whether `a` and `b` compute the same: `|a - b| <= atol + rtol * |b|` for floats, equality for other dtypes.

    Each is a module at the relay, topi or loop level, a compiled model, or a path of a model. They run on `inputs` (by
    name or in order), or on seeded random values. `shapes` fixes extents that are dynamic in both, and sizes of named
    dimensions; a range is (minimum, maximum, typical), and the typical size is tried first. Other named
    dimensions get random sizes of 1 to 8, which are redrawn if both programs refuse them. Sequences are lists,
    optionals their value or `None`, and their elements are compared one by one. `atol` defaults to 1e-4 of the largest
    finite absolute value of each output of `b`. NaN equals NaN, and infinity equals infinity of the same sign.
    `progress` is called with `(done, total, callee)` before each call in a function at the topi or loop level.

    Raises `InputError` if the programs differ in number, dtype or shape of inputs or outputs, and for a module without
    an interpreter.
    """
    known: Shapes = checked_shapes(shapes)
    first = program_of(a, shapes=known, function=function)
    second = program_of(b, shapes=known, function=function)
    _check_agreement("inputs", first.inputs, second.inputs)
    _check_agreement("outputs", first.outputs, second.outputs)
    hints = _size_hints(first, second, known, are_checked=any(map(is_onnx, (a, b))))
    known = {name: shape for name, shape in known.items() if name not in hints}
    results = _results(first, second, inputs, known, hints, seed, progress)
    names = [spec.name for spec in first.outputs]
    found, expected = (flatten_arrays(names, result) for result in results)
    if list(found) != list(expected):
        name = next(iter(found.keys() ^ expected.keys()))
        raise InputError(f"{name} is in only one of the results", help="compare programs with equal interfaces")
    levels = (first.level, second.level)
    return compare_outputs(list(found), list(found.values()), list(expected.values()),
                           levels=levels, rtol=rtol, atol=atol)  # fmt: skip


def _size_hints(first: Program, second: Program, shapes: Shapes, *, are_checked: bool) -> dict[str, SizeHint]:
    """Returns the size hints in `shapes`.

    Raises `InputError` for a name that is neither an input nor a dimension, unless the import of an ONNX model has
    checked the names: there it has also replaced the dimensions that have one size.
    """
    specs = [*first.inputs, *second.inputs]
    inputs = list(dict.fromkeys(spec.name for spec in specs))
    dims = names_in(extent for spec in specs for extent in _dynamic_extents(spec))
    for name in shapes:
        if not are_checked and name not in inputs and name not in dims:
            raise InputError(
                f"shapes names {name!r}, which is not an input", help=f"the inputs are {', '.join(inputs)}"
            )
    return {name: SizeHint.of(name, numbers) for name, numbers in shapes.items() if name not in inputs}


def _results(
    first: Program,
    second: Program,
    inputs: Mapping[str, object] | Sequence[object] | None,
    shapes: Shapes,
    hints: Mapping[str, SizeHint],
    seed: int,
    progress: Progress | None,
) -> list[Sequence[HostValue]]:
    """Returns the results of both programs. Random inputs whose sizes both programs refuse are redrawn."""
    rng = np.random.default_rng(seed)
    results: list[Sequence[HostValue]] = []
    errors: list[XRelayError] = []
    for draw in range(DRAWS if inputs is None else 1):
        known = _known_extents(first, second, shapes, {} if inputs is None else _shapes_of(first.inputs, inputs))
        specs = _specs(first.inputs, known, _sizes(known, hints, rng, draw))
        arrays = _arrays(specs, inputs, seed, draw)
        outcomes = [_outcome(program, arrays, progress) for program in (first, second)]
        results = [outcome for outcome in outcomes if not isinstance(outcome, XRelayError)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, XRelayError)]
        if results:
            break
    if errors:
        raise errors[0]
    return results


def _outcome(
    program: Program, arrays: Sequence[HostValue], progress: Progress | None
) -> Sequence[HostValue] | XRelayError:
    """Returns the results of a program, or its error. It runs on a copy, since a faulty program may write to inputs."""
    try:
        return program.run(deepcopy(arrays), progress=progress)
    except (ExecutionError, InterpreterError) as error:
        return error


def _check_agreement(kind: str, first: Sequence[TensorSpec], second: Sequence[TensorSpec]) -> None:
    if len(first) != len(second):
        raise InputError(
            f"the programs have {len(first)} and {len(second)} {kind}", help="compare programs with equal interfaces"
        )
    for number, (left, right) in enumerate(zip(first, second, strict=True)):
        if left.is_function:
            raise InputError(f"{kind[:-1]} {number} ({left.name!r}) is a function; functions cannot be compared",
                             help="compare the results of calling it")  # fmt: skip
        fits = left.containers == right.containers and (bool(left.containers) or _may_agree(left.shape, right.shape))
        if left.dtype != right.dtype or not fits:
            raise InputError(
                f"{kind[:-1]} {number} ({left.name!r}) is {left} in one program and {right} in the other",
                help="compare programs with equal interfaces",
            )


def _may_agree(left: Sequence[Extent], right: Sequence[Extent]) -> bool:
    """Whether no axis has different static extents."""
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and all(a == b or isinstance(a, str) or isinstance(b, str) for a, b in pairs)


def _dynamic_extents(spec: TensorSpec) -> list[str]:
    """Returns the dynamic extents of a tensor with their names."""
    return [] if spec.containers else [extent for extent in spec.shape if isinstance(extent, str) and extent != OPEN]


def _shapes_of(specs: Sequence[TensorSpec], inputs: Mapping[str, object] | Sequence[object]) -> Shapes:
    """Returns the shapes of the inputs that are arrays."""
    named = inputs if is_mapping(inputs) else dict(zip((spec.name for spec in specs), inputs, strict=False))
    return {name: value.shape for name, value in named.items() if isinstance(value, np.ndarray)}


KnownExtents: TypeAlias = Sequence[Sequence[Sequence[Extent]]]
"""All known values of each extent of each input."""


def _known_extents(first: Program, second: Program, shapes: Shapes, found: Shapes) -> KnownExtents:
    """Returns the known values of each extent: those in both programs and `shapes`.

    If none is a number, the shapes `found` of arrays are added.
    """
    return [_input_row(*pair, shapes, found) for pair in zip(first.inputs, second.inputs, strict=True)]


def _input_row(left: TensorSpec, right: TensorSpec, shapes: Shapes, found: Shapes) -> list[list[Extent]]:
    if left.containers:
        return []
    given, array = shapes.get(left.name), found.get(left.name, ())
    if given is not None and len(given) != len(left.shape):
        raise InputError(f"shapes has {len(given)} extents for input {left.name!r}, which is {left}")
    row: list[list[Extent]] = []
    for axis, pair in enumerate(zip(left.shape, right.shape, strict=True)):
        known = [extent for extent in pair if extent != OPEN]
        known += [given[axis]] if given is not None else []
        is_open = not any(isinstance(dim, int) for dim in known)
        row.append([*known, *array[axis : axis + 1]] if is_open and len(array) == len(left.shape) else known)
    return row


def _sizes(known: KnownExtents, hints: Mapping[str, SizeHint], rng: np.random.Generator, draw: int) -> dict[str, int]:
    """Returns the size of each named dimension: from a number for the same extent, else by hint or at random."""
    extents = [dims for row in known for dims in row]
    numbers = [next((dim for dim in dims if isinstance(dim, int)), None) for dims in extents]
    pairs = ((dim, number) for dims, number in zip(extents, numbers, strict=True) if number is not None for dim in dims)
    sizes = solved_sizes(pairs)
    names = names_in(dim for dims in extents for dim in dims if isinstance(dim, str))
    drawn = drawn_sizes({*names} - sizes.keys(), rng, draw)
    for name, hint in hints.items():
        drawn[name] = min(hint.least + drawn.get(name, 1) - 1, hint.greatest) if draw else hint.usual
    return {**drawn, **sizes}


def _specs(specs: Sequence[TensorSpec], known: KnownExtents, sizes: Mapping[str, int]) -> list[TensorSpec]:
    """Returns the inputs with static shapes."""
    return [
        spec if spec.containers else replace(spec, shape=tuple(_extent(spec, dims, sizes) for dims in row))
        for spec, row in zip(specs, known, strict=True)
    ]


def _extent(spec: TensorSpec, dims: Sequence[Extent], sizes: Mapping[str, int]) -> int:
    """Returns the size of an extent. Raises `InputError` if its known values disagree."""
    if not dims:
        raise InputError(
            f"input {spec.name!r} is {spec}: its extents are unknown",
            help=f"pass shapes={{{spec.name!r}: […]}}",
        )
    try:
        values = [evaluate(dim, sizes) if isinstance(dim, str) else dim for dim in dims]
    except DimensionError as error:
        raise InputError(f"input {spec.name!r} is {spec}: {error.message}", help="pass shapes=") from error
    if any(value != values[0] for value in values):
        raise InputError(f"input {spec.name!r} is {spec}: {values[-1]} contradicts {values[0]}", help="pass shapes=")
    if values[0] < 0:
        raise InputError(f"input {spec.name!r} is {spec}: {dims[0]} is {values[0]}", help="pass shapes=")
    return values[0]


def _arrays(
    specs: Sequence[TensorSpec], inputs: Mapping[str, object] | Sequence[object] | None, seed: int, draw: int
) -> list[HostValue]:
    if inputs is None:
        rng = np.random.default_rng(seed)
        return [random_value(spec, rng, draw) for spec in specs]
    binder = InputBinder(specs, native=False)
    return list(binder.from_mapping(inputs) if is_mapping(inputs) else binder.from_sequence(list(inputs)))


def random_value(spec: TensorSpec, rng: np.random.Generator, draw: int = 0) -> HostValue:
    """Returns a random array of `spec` (`random_values`), a list of up to three values, or an optional.

    In every other draw all elements of a list have one shape, for programs that concatenate them.
    """
    return _random_held(spec, rng, np.random.default_rng(int(rng.integers(1 << 30))) if draw % 2 else None, 0)


def _random_held(
    spec: TensorSpec, rng: np.random.Generator, shapes: np.random.Generator | None, depth: int
) -> HostValue:
    """Returns a random value of the container type at `depth`, recursively."""
    if depth < len(spec.containers):
        is_optional = spec.containers[depth] == OPTIONAL
        held = [_random_held(spec, rng, shapes, depth + 1) for _ in range(rng.integers(0, 2 if is_optional else 4))]
        return (held[0] if held else None) if is_optional else held
    shape: Sequence[int | str] = spec.shape
    chance = rng if shapes is None else deepcopy(shapes)
    if shape == (ANY_RANK,):
        shape = [OPEN] * int(chance.integers(0, 4))
    extents = [each if isinstance(each, int) else int(chance.integers(1, 9)) for each in shape]
    return random_values(extents, dtype_from_name(spec.dtype), rng)
