"""`xrelay import`."""

from __future__ import annotations

import sys
from argparse import Action, ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from xrelay.tools.commands.base import Command, add_shapes, add_source, prepare_outputs


class _ListOps(Action):
    """Prints the operators and exits, as `--help` does."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: object, option_string: str | None = None
    ) -> None:
        from xrelay.frontend.onnx.registry import known_ranges, registered_ops

        for name in registered_ops():
            domain, _, op_type = name.rpartition("::")
            sys.stdout.write(f"{name:24} {known_ranges(op_type, domain)}\n")
        parser.exit()


class ImportCommand(Command):
    """Convert an ONNX model to the text of a relay module.

    The weights are written to a side file next to the output (model.mlir and model.safetensors). The text names it, and
    xrelay's tools read it. Without -o the text is printed to stdout and the weights are dropped: such a text can go
    through every pass that does not read weights, but it cannot be run. --list-ops prints the ONNX operators that can
    be imported, with the supported opsets.
    """

    name: ClassVar[str] = "import"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, its dynamic shapes, and the output."""
        add_source(parser, "model: .onnx")
        parser.add_argument("--list-ops", action=_ListOps, nargs=0, help="list the supported ONNX operators and exit")
        add_shapes(parser)
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="output file; the weights go next to it")
        parser.add_argument("--print-debuginfo", action="store_true", help="print the names of source nodes")

    def run(self, args: Namespace) -> int:
        """Imports and prints the model."""
        from xrelay.api.sources import save_module
        from xrelay.frontend.onnx import import_onnx
        from xrelay.passes.infra.printing import print_module

        prepare_outputs(args.model, args.output)
        module = import_onnx(args.model, shapes=dict(args.shapes))
        if args.output is None:
            sys.stdout.write(print_module(module, debuginfo=args.print_debuginfo) + "\n")
        else:
            save_module(module, args.output, debuginfo=args.print_debuginfo)
        return 0
