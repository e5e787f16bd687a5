"""Reads the inputs of a model from files, or draws them at random, and describes outputs."""

from __future__ import annotations

import zlib
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.runtime.metadata import TensorSpec
from xrelay.tools.commands.base import UsageError


def add_input_options(parser: ArgumentParser) -> None:
    """`--input`, `--random` and `--seed`."""
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--input",
        action="append",
        default=[],
        type=_named_file,
        metavar="NAME=FILE.npy",
        help="an input from a numpy file; repeat for each",
    )
    group.add_argument("--random", action="store_true", help="random values for the inputs not given by --input")
    group.add_argument("--seed", type=int, default=0, help="seed of the random values (0)")


def make_inputs(args: Namespace, specs: Sequence[TensorSpec]) -> dict[str, NDArray[Any]]:
    """The inputs that the flags describe; `UsageError` for a name the model has not, or one that is missing."""
    given: dict[str, Path] = dict(args.input)
    names = [spec.name for spec in specs]
    for name in given:
        if name not in names:
            raise UsageError(f"the model has no input {name!r}", help=f"its inputs are {', '.join(names)}")
    missing = [name for name in names if name not in given]
    if missing and not args.random:
        raise UsageError(f"no value for input {missing[0]!r}", help="give --input NAME=FILE.npy, or --random")
    return {
        spec.name: _load(given[spec.name]) if spec.name in given else random_array(spec, args.seed) for spec in specs
    }


def random_array(spec: TensorSpec, seed: int) -> NDArray[Any]:
    """Standard normal numbers for floats, 0 or 1 for the rest; depends on the name, not on the order of inputs."""
    rng = np.random.default_rng((seed, zlib.crc32(spec.name.encode())))
    if np.issubdtype(spec.numpy_dtype, np.integer) or spec.numpy_dtype == np.bool_:
        return rng.integers(0, 2, spec.shape).astype(spec.numpy_dtype)
    return rng.standard_normal(spec.shape).astype(spec.numpy_dtype)


def describe_output(spec: TensorSpec, array: NDArray[Any]) -> str:
    """One line: name, type, range, mean and the first values."""
    head = f"{spec.name}: {spec}"
    if array.size == 0:
        return head + " (empty)"
    values = array.astype(np.float64)
    first = ", ".join(f"{value:.6g}" for value in values.reshape(-1)[:5])
    more = ", …" if array.size > 5 else ""
    with np.errstate(invalid="ignore"):  # The mean of both infinities is not a number.
        mean = values.mean()
    return f"{head} min {values.min():.6g} max {values.max():.6g} mean {mean:.6g} [{first}{more}]"


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise ArgumentTypeError(f"{text!r} is not of the form name=file.npy")
    return name, Path(path)


def _load(path: Path) -> NDArray[Any]:
    """The array in a `.npy` file."""
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"cannot read the array: {error.strerror}", location=str(path)) from error
    except (ValueError, EOFError) as error:
        raise UsageError("the file holds no array of numbers", location=str(path), help="np.save writes one") from error
    if not isinstance(array, np.ndarray):
        raise UsageError("the file holds several arrays", location=str(path), help="give a .npy file per input")
    return array
