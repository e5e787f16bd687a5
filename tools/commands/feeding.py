"""Reads the inputs of a model from files or draws them at random, and describes outputs."""

from __future__ import annotations

import zlib
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import printable
from xrelay.runtime.dim_text import names_in, solved_sizes
from xrelay.runtime.metadata import ANY_RANK, OPEN, OPTIONAL, TensorSpec
from xrelay.tools.commands.base import (
    UsageError,
    add_compile_options,
    add_memory_limit,
    add_threads,
    add_trust,
    named_size,
)


def add_input_options(parser: ArgumentParser) -> None:
    """Declares `--input`, `--random`, `--seed` and `--size`."""
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--input",
        action="append",
        default=[],
        type=_named_file,
        metavar="NAME=FILE.npy",
        help="an input from a numpy file; repeat for each",
    )
    group.add_argument("--random", action="store_true", help="random values for inputs without --input")
    group.add_argument("--seed", type=int, default=0, help="seed of the random values (0)")
    group.add_argument(
        "--size",
        action="append",
        default=[],
        type=named_size,
        metavar="NAME=N",
        help="size of a named dimension of random inputs (default: the typical size in --shapes, or 1 to 8 at random)",
    )


def add_run_options(parser: ArgumentParser) -> None:
    """Declares the inputs, the compile options and the limits of commands that compile a model and run it."""
    add_input_options(parser)
    add_compile_options(parser)
    add_threads(parser)
    add_trust(parser)
    add_memory_limit(parser)


def make_inputs(args: Namespace, specs: Sequence[TensorSpec]) -> dict[str, Any]:
    """Returns the inputs that the flags describe. Raises `UsageError` for an unknown name or a missing input.

    Sequences and optionals are random: a sequence has two values, an optional is present.
    """
    given: dict[str, Path] = dict(args.input)
    names = [spec.name for spec in specs]
    for name in given:
        if name not in names:
            raise UsageError(f"the model has no input {name!r}", help=f"its inputs are {', '.join(names)}")
    for spec in specs:
        if spec.containers and spec.name in given:
            raise UsageError(f"input {spec.name!r} is {spec}, not an array", help="use --random for it")
    missing = [name for name in names if name not in given]
    if missing and not args.random:
        raise UsageError(f"no value for input {missing[0]!r}", help="pass --input NAME=FILE.npy or --random")
    loaded = {name: _load(path) for name, path in given.items()}
    sizes = _sizes(args, specs, loaded)
    return {
        spec.name: loaded[spec.name] if spec.name in loaded else _random_input(spec, sizes, args.seed) for spec in specs
    }


def _random_input(spec: TensorSpec, sizes: Mapping[str, int], seed: int) -> Any:
    if not spec.containers:
        return random_array(spec.at(sizes), seed)
    shape = () if spec.shape == (ANY_RANK,) else tuple(2 if extent == OPEN else extent for extent in spec.shape)
    value: Any = random_array(TensorSpec(spec.name, spec.dtype, shape), seed)
    for container in reversed(spec.containers):
        value = value if container == OPTIONAL else [value, value]
    return value


def _sizes(args: Namespace, specs: Sequence[TensorSpec], loaded: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """Returns the size of each named dimension: from --size, an array, --shapes (the typical size), or at random."""
    sizes: dict[str, int] = dict(args.size)
    texts = [extent for spec in specs if not spec.containers for extent in spec.shape if isinstance(extent, str)]
    names = names_in(texts)
    for name in sizes:
        if name not in names:
            raise UsageError(f"the inputs have no dimension {name!r}", help=f"they have {', '.join(names) or 'none'}")
    pairs = (zip(spec.shape, loaded[spec.name].shape, strict=False) for spec in specs if spec.name in loaded)
    known = solved_sizes(pair for pairs_of_input in pairs for pair in pairs_of_input)
    for name, size in sizes.items():
        if known.get(name, size) != size:
            raise UsageError(f"--size {name}={size}, but {name} is {known[name]} in --input", help="leave out --size")
    usual = {name: said[-1] for name, said in args.shapes if len(said) in (1, 3) and isinstance(said[-1], int)}
    chosen = {**{name: drawn_size(name, args.seed) for name in names}, **usual, **known, **sizes}
    return {name: chosen[name] for name in names}


def drawn_size(name: str, seed: int) -> int:
    """Returns a random size of a named dimension, 1 to 8, which depends only on the name and the seed."""
    return int(np.random.default_rng((seed, zlib.crc32(name.encode()))).integers(1, 9))


def random_array(spec: TensorSpec, seed: int) -> NDArray[Any]:
    """Returns standard normal numbers for floats, 0 or 1 for other dtypes.

    They depend on the name of the input, not on its position.
    """
    rng = np.random.default_rng((seed, zlib.crc32(spec.name.encode())))
    if np.issubdtype(spec.numpy_dtype, np.integer) or spec.numpy_dtype == np.bool_:
        return rng.integers(0, 2, spec.known_shape).astype(spec.numpy_dtype)
    return rng.standard_normal(spec.known_shape).astype(spec.numpy_dtype)


def describe_output(spec: TensorSpec, array: NDArray[Any]) -> str:
    """Returns one line with name, type, range, mean and the first values."""
    if spec.is_function:
        return f"{printable(spec.name)}: {spec}"
    head = f"{printable(spec.name)}: {TensorSpec(spec.name, spec.dtype, array.shape)}"
    if array.size == 0:
        return head + " (empty)"
    values = array.astype(np.float64)
    first = ", ".join(f"{value:.6g}" for value in values.reshape(-1)[:5])
    more = ", …" if array.size > 5 else ""
    with np.errstate(invalid="ignore"):  # the mean of both infinities is NaN
        mean = values.mean()
    return f"{head} min {values.min():.6g} max {values.max():.6g} mean {mean:.6g} [{first}{more}]"


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise ArgumentTypeError(f"{text!r} is not of the form name=file.npy")
    return name, Path(path)


def _load(path: Path) -> NDArray[Any]:
    """Returns the array in a `.npy` file."""
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"cannot read the array: {error.strerror}", location=str(path)) from error
    except (ValueError, EOFError) as error:
        raise UsageError(
            "the file contains no numeric array", location=str(path), help="write it with np.save"
        ) from error
    if not isinstance(array, np.ndarray):
        raise UsageError("the file contains several arrays", location=str(path), help="pass one .npy file per input")
    return array
