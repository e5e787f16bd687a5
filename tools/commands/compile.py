"""`xrelay compile`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from xrelay.tools.commands.base import Command, UsageError
from xrelay.tools.commands.options import add_compile_options, add_source, compiled_model


class CompileCommand(Command):
    """Compile a model to one file that runs without the compiler.

    The file holds native code for the target, the weights and the tables of inputs and outputs; `xrelay run` and
    `xrelay.load` read it. With --export an object file and a C header are written as well.
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
        model = compiled_model(args)
        model.save(output)
        if args.export is not None:
            model.export(args.export, header=args.header)
        return 0
