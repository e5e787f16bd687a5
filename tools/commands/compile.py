"""`xrelay compile`."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from xrelay.tools.commands.base import (
    Command,
    UsageError,
    add_compile_options,
    add_source,
    add_threads,
    add_trust,
    compiled_model,
    open_line,
    parse_sizes,
    prepare_outputs,
)

if TYPE_CHECKING:
    from xrelay.api.build_artifact import CompileTiming

_KIB: Final = 1024.0


class CompileCommand(Command):
    """Compile a model to one file that runs without the compiler.

    The file contains native code for the target, the weights, and the tables of inputs and outputs; `xrelay run` and
    `xrelay.load` read it. With --export an object file, a C header and a file of weights are written as well. The names
    and sizes of the files, the CPU and the compile time are printed to stderr; --timing prints details.
    """

    name: ClassVar[str] = "compile"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, the compile options, and the outputs."""
        add_source(parser, "model: .onnx or .mlir")
        add_compile_options(parser)
        add_threads(parser)
        add_trust(parser)
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="compiled model (default: MODEL.xrelay)")
        parser.add_argument(
            "--specialize",
            action="append",
            default=[],
            type=parse_sizes,
            metavar="SIZES",
            help="add a version for these sizes, e.g. data:1x3x224x224 or n=8,m=16; repeatable",
        )
        parser.add_argument("--export", type=Path, metavar="FILE.o", help="object file for a C program")
        parser.add_argument(
            "--timing", action="store_true", help="print the time of each stage and of the kernels to stderr"
        )
        parser.add_argument("--timing-format", choices=("text", "json"), help="format of --timing (text)")
        parser.add_argument("--header", type=Path, metavar="FILE.h", help="C header to write with --export")

    def run(self, args: Namespace) -> int:
        """Compiles the model and writes the files."""
        if (args.export is None) != (args.header is None):
            raise UsageError("--export and --header go together", help="pass both or neither")
        if not args.model.name:
            raise UsageError(f"'{args.model}' is a folder", help="pass an .onnx or .mlir file")
        output: Path = args.output if args.output is not None else args.model.with_suffix(".xrelay")
        prepare_outputs(args.model, output, args.export, args.header)
        start = time.perf_counter()
        model = compiled_model(args)
        for sizes in args.specialize:
            model.specialize(sizes)
        model.save(output)
        seconds = time.perf_counter() - start
        metadata = model.artifact.metadata
        kernels = f"{len(metadata.kernels)} kernel{'' if len(metadata.kernels) == 1 else 's'}"
        _report(f"wrote {_file(output)}, {kernels} for {metadata.cpu}, in {seconds:.1f} s")
        for line in open_line(metadata.dims):
            _report(line)
        if args.timing or args.timing_format is not None:
            _report(_timing_text(model.timing, as_json=args.timing_format == "json"))
        if args.export is not None:
            written = model.export(args.export, header=args.header)
            _report(f"wrote {', '.join(map(_file, written))}")
        return 0


def _timing_text(timing: CompileTiming | None, *, as_json: bool) -> str:
    """Returns the timing of a compilation as text; a model from the cache has none."""
    if as_json:
        return json.dumps(None if timing is None else timing.as_data())
    return "from the cache: nothing was compiled" if timing is None else timing.report().removesuffix("\n")


def _report(line: str) -> None:
    """Prints a line to stderr, since stdout is for results only."""
    sys.stderr.write(line + "\n")


def _file(path: Path) -> str:
    """Returns the path of a file with its size."""
    size = float(path.stat().st_size)
    for unit in ("bytes", "KiB", "MiB"):
        if size < _KIB:
            return f"{path} ({size:.{0 if unit == 'bytes' else 1}f} {unit})"
        size /= _KIB
    return f"{path} ({size:.1f} GiB)"
