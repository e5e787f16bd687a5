"""The base class of subcommands, their errors, and the flags that several of them have."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xrelay.errors import XRelayError
from xrelay.runtime.cores import MAX_THREADS
from xrelay.tools.command_line import add_switches, progress_bar

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xrelay.api.model import CompiledModel


class UsageError(XRelayError):
    """An invalid command line; the exit code is 2."""


def prepare_outputs(model: Path, *outputs: Path | None) -> None:
    """Creates the folders of the files to write, before the work whose results they are.

    Raises `UsageError` if a file is the model that is read, or if its folder cannot be created.
    """
    files = [output for output in outputs if output is not None]
    for output in files:
        if output.resolve() == model.resolve():
            raise UsageError(f"the output {output} would replace the model", help="pass another file name")
    for output in files:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot create the folder: {error.strerror}", location=str(output.parent)) from error


class Command(ABC):
    """A subcommand. Its docstring is its help, and the first paragraph its summary in the list of commands."""

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__doc__:
            raise TypeError(f"the command class {cls.__name__} needs a docstring: it is the help users see")

    @classmethod
    def summary(cls) -> str:
        """Returns the first paragraph of the docstring, on one line."""
        return " ".join(cls.description().split("\n\n")[0].split())

    @classmethod
    def description(cls) -> str:
        """Returns the docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

    @abstractmethod
    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the flags."""

    @abstractmethod
    def run(self, args: Namespace) -> int:
        """Runs the command; returns the exit code."""


def add_source(parser: ArgumentParser, help_: str = "model: .onnx, .mlir, or .xrelay (compiled)") -> None:
    """Declares the model argument."""
    parser.add_argument("model", type=Path, help=help_)


def add_shapes(parser: ArgumentParser) -> None:
    """Declares `--shapes`."""
    parser.add_argument(
        "--shapes",
        action="append",
        default=[],
        type=parse_shape,
        metavar="NAME:DxDx…",
        help="shape of an input with dynamic dimensions, e.g. data:1x3x224x224; a name makes a dimension dynamic, e.g. "
        "data:nx3x224x224; or the size of a dynamic dimension, e.g. n:8; or its minimum, maximum and typical size, "
        "e.g. n:1..128:8",
    )


def add_compile_options(parser: ArgumentParser) -> None:
    """Declares the compile flags."""
    group = parser.add_argument_group("compiling")
    add_shapes(parser)
    group.add_argument("-O", dest="opt_level", type=int, choices=range(4), default=3, help="optimisation level (3)")
    group.add_argument("--target", help="CPU to compile for, e.g. 'cpu -mcpu=znver4' (default: this machine)")
    group.add_argument("--dump-stages", type=Path, metavar="DIR", help="write the program after every stage into DIR")
    add_records(group.add_argument)
    add_switches(
        group.add_argument,
        {
            "--integers": "compute between quantised values with integers",
            "--exact": "allow no approximations, only other orders of sums",
            "--no-cache": "do not read or write the cache on disk",
        },
    )


def add_records(add_argument: Callable[..., object]) -> None:
    """Declares `--records`."""
    add_argument(
        "--records", type=Path, metavar="FILE", help="tuning records of xrelay tune, for the fastest schedules"
    )


def add_threads(parser: ArgumentParser) -> None:
    """Declares `--threads`, for commands with one number of threads."""
    help_ = "threads per run (default: all available cores)"
    parser.add_argument("--threads", type=parse_threads, metavar="N", help=help_)


def parse_threads(text: str) -> int:
    """Parses a number of threads."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_THREADS:
        raise ArgumentTypeError(f"{text!r} is not an integer from 1 to {MAX_THREADS}")
    return int(text)


def add_trust(parser: ArgumentParser) -> None:
    """Declares `--trust`, for commands that read native code."""
    help_ = "load native code (.xrelay, .mlir below the loop level) from a file that other users can write"
    parser.add_argument("--trust", action="store_true", help=help_)


def add_memory_limit(parser: ArgumentParser) -> None:
    """Declares `--memory-limit`, for commands that run models."""
    parser.add_argument(
        "--memory-limit",
        type=parse_bytes,
        metavar="BYTES",
        help="limit of the memory of a run, without inputs and weights: a number of bytes, or e.g. 512K, 10M, 2G",
    )


def parse_bytes(text: str) -> int:
    """Parses `4096`, `512K`, `10M` and `2G` to a number of bytes; K is 1024."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if found is None:
        raise ArgumentTypeError(f"{text!r} is not a number of bytes, such as 4096, 512K, 10M or 2G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


def parse_shape(text: str) -> tuple[str, tuple[int | str, ...]]:
    """Parses `x:nx3x224x224` to name and extents, `n:8` and `n:1..128:8` to name and sizes.

    The name may contain colons. A name of a dimension contains no x, which separates extents.
    """
    sizes = re.fullmatch(r"(.+):(\d+)\.\.(\d+):(\d+)", text)
    if sizes is not None:
        return sizes[1], (int(sizes[2]), int(sizes[3]), int(sizes[4]))
    name, colon, extents = text.rpartition(":")
    words = extents.split("x") if extents else []
    if not colon or not name or not all(word.isdecimal() or word.isidentifier() for word in words):
        raise ArgumentTypeError(f"{text!r} is not of the form name:1x3x224x224, name:8 or name:1..128:8")
    return name, tuple(int(word) if word.isdecimal() else word for word in words)


def named_size(text: str) -> tuple[str, int]:
    """Parses `n=8` to name and size of a dimension."""
    name, _, size = text.partition("=")
    if not name or not size.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not of the form n=8")
    return name, int(size)


def parse_sizes(text: str) -> dict[str, tuple[int | str, ...]]:
    """Parses `x:1x3x224x224,n=8`, shapes of inputs and sizes of dimensions, to the argument of `specialize`."""
    parts = [parse_shape(part) if "=" not in part else named_size(part) for part in text.split(",")]
    return {name: (size,) if isinstance(size, int) else size for name, size in parts}


def compiled_model(args: Namespace, module: ModuleOp | None = None) -> CompiledModel:
    """Returns the compiled model of the command line, or of `module`; a model that is compiled already is loaded."""
    limit: int | None = vars(args).get("memory_limit")
    if module is None and args.model.suffix == ".xrelay":
        from xrelay.api.model import load

        return load(args.model, num_threads=args.threads, trust=args.trust, memory_limit=limit)
    from xrelay.api.compile import compile

    with progress_bar("compiling") as progress:
        return compile(
            args.model if module is None else module,
            target=args.target,
            opt_level=args.opt_level,
            threads=args.threads,
            shapes=dict(args.shapes) if module is None else None,
            dump_stages=args.dump_stages,
            cache=not args.no_cache,
            progress=progress,
            memory_limit=limit,
            integers=args.integers,
            exact=args.exact,
            trust=args.trust,
            specialize=False,
            records=args.records,
        )


def open_line(dims: Sequence[str]) -> list[str]:
    """Returns the line about the dynamic dimensions of a model; no line for a static model."""
    how = "--shapes fixes sizes, compile --specialize adds versions for sizes; both run faster"
    return [f"dynamic dimensions: {', '.join(dims)} ({how})"] if dims else []
