"""`xrelay reduce`."""

from __future__ import annotations

import re
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from xrelay.errors import XRelayError
from xrelay.tools.command_line import progress_bar
from xrelay.tools.commands.base import Command, UsageError, prepare_outputs

if TYPE_CHECKING:
    from xrelay.tools.reduction.failing_command import FailingCommand, Failure


class ReduceCommand(Command):
    """Make the smallest model or text for which a command still fails.

    Removes nodes of an ONNX model, or ops and functions of a text, as long as COMMAND fails on the rest in the same
    way: with the same exit code and the same first error message, apart from names and numbers. With --match, the
    output must contain the pattern instead. The file of the candidate replaces {} in COMMAND, or is appended to it. A
    value whose nodes are removed becomes an input. The rest is written with the weights that it uses; no single node
    can be removed from it.

    xrelay reduce model.onnx -o small.onnx -- xrelay run {} --random --check
    xrelay reduce net.mlir -o small.mlir -- xrelay-opt {} -p relay-fuse-ops
    """

    name: ClassVar[str] = "reduce"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, the file to write, and the command."""
        parser.add_argument("model", type=Path, help="model: .onnx or .mlir")
        parser.add_argument("check", nargs="+", metavar="COMMAND", help="the command that fails, after --")
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FILE", help="reduced model (default: MODEL.reduced.onnx or .mlir)"
        )
        parser.add_argument("--match", type=_pattern, metavar="REGEX", help="pattern that the output must contain")
        parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="limit of each run (600)")

    def run(self, args: Namespace) -> int:
        """Reduces the model and writes it; prints the numbers of nodes and runs to stderr."""
        from xrelay.tools.reduction.failing_command import FailingCommand

        path: Path = args.model
        output: Path = path.with_suffix(f".reduced{path.suffix}") if args.output is None else args.output
        prepare_outputs(path, output)
        parts = _parts_of(path)
        command = FailingCommand(args.check, args.timeout, args.match)
        with tempfile.TemporaryDirectory() as folder, progress_bar("reducing") as progress:
            reduction = _Reduction(parts, command, Path(folder) / path.name, progress)
            kept = reduction.smallest(path)
        parts.write_part(kept, output)
        sys.stderr.write(f"wrote {output}: {len(kept)} of {parts.count} {parts.unit}, in {reduction.runs} runs\n")
        return 0


class _Parts(Protocol):
    """A program whose parts are smaller programs."""

    unit: str
    count: int
    """The number of units that can be removed."""

    def write_part(self, numbers: Sequence[int], path: Path, /) -> bool:
        """Writes the program of the units with these numbers; returns whether there is one."""
        ...


def _parts_of(path: Path) -> _Parts:
    if path.suffix == ".onnx":
        from xrelay.frontend.onnx.model_parts import ModelParts

        return ModelParts(path)
    if path.suffix == ".mlir":
        from xrelay.tools.reduction.text_parts import TextParts

        return TextParts(path)
    raise UsageError(f"reduce takes an .onnx or .mlir file, not {path.suffix!r}")


class _Reduction:
    """The search for the smallest model."""

    def __init__(
        self, parts: _Parts, command: FailingCommand, file: Path, progress: Callable[[int, int, str], None] | None
    ):
        self._parts, self._command, self._file, self._progress = parts, command, file, progress
        self._known: dict[tuple[int, ...], bool] = {}
        self._least = parts.count
        self._failure: Failure | None = None
        self.runs = 0
        """The number of times that the command ran."""

    def smallest(self, path: Path) -> list[int]:
        """Returns the numbers of the nodes that are kept.

        Raises `XRelayError` if the command does not fail on the model, or not on the model written anew.
        """
        from xrelay.tools.reduction.minimize import minimize

        self._failure = self._failure_of(path)
        if self._failure is None:
            raise XRelayError("the command does not fail on the model", help="run it by itself, or change --match")
        everything = list(range(self._parts.count))
        if not self._fails(everything):
            raise XRelayError("the command does not fail on a copy of the model", location=str(path))
        return minimize(everything, self._fails)

    def _fails(self, nodes: Sequence[int]) -> bool:
        key = tuple(nodes)
        if key not in self._known:
            written = self._parts.write_part(nodes, self._file)
            self._known[key] = written and self._failure_of(self._file) == self._failure
            if self._known[key]:
                self._least = min(self._least, len(nodes))
        return self._known[key]

    def _failure_of(self, path: Path) -> Failure | None:
        self.runs += 1
        if self._progress is not None:
            done = self._parts.count - self._least
            self._progress(done, self._parts.count, f"{self._least} {self._parts.unit}, run {self.runs}")
        return self._command.failure(path)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ArgumentTypeError(f"{text!r} is not a pattern: {error}") from error
