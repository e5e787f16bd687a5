"""`xrelay compile`."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar, Final

from xrelay.tools.commands.base import Command, UsageError
from xrelay.tools.commands.options import add_compile_options, add_source, compiled_model

_KIB: Final = 1024.0


class CompileCommand(Command):
    """Compile a model to one file that runs without the compiler.

    The file holds native code for the target, the weights and the tables of inputs and outputs; `xrelay run` and
    `xrelay.load` read it. With --export an object file, a C header and a file of weights are written as well. What was
    written, for which CPU and how long it took is told on stderr.
    """

    name: ClassVar[str] = "compile"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The model, how to compile it, and what to write."""
        add_source(parser, "model: .onnx or .mlir")
        add_compile_options(parser)
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="compiled model (default: MODEL.xrelay)")
        parser.add_argument("--export", type=Path, metavar="FILE.o", help="object file for a C program")
        parser.add_argument("--header", type=Path, metavar="FILE.h", help="C header to write with --export")

    def run(self, args: Namespace) -> int:
        """Compile and write."""
        if (args.export is None) != (args.header is None):
            raise UsageError("--export and --header go together", help="give both or neither")
        output: Path = args.output if args.output is not None else args.model.with_suffix(".xrelay")
        if output.resolve() == args.model.resolve():
            raise UsageError(f"the output {output} would replace the model", help="give another file with -o")
        start = time.perf_counter()
        model = compiled_model(args)
        model.save(output)
        seconds = time.perf_counter() - start
        metadata = model.artifact.metadata
        kernels = f"{len(metadata.kernels)} kernel{'' if len(metadata.kernels) == 1 else 's'}"
        _tell(f"wrote {_file(output)}, {kernels} for {metadata.cpu}, in {seconds:.1f} s")
        if args.export is not None:
            written = model.export(args.export, header=args.header)
            _tell(f"wrote {', '.join(map(_file, written))}")
        return 0


def _tell(line: str) -> None:
    """Say what was written, on stderr: stdout carries products alone."""
    sys.stderr.write(line + "\n")


def _file(path: Path) -> str:
    """A file with its size."""
    size = float(path.stat().st_size)
    for unit in ("bytes", "KiB", "MiB"):
        if size < _KIB:
            return f"{path} ({size:.{0 if unit == 'bytes' else 1}f} {unit})"
        size /= _KIB
    return f"{path} ({size:.1f} GiB)"
