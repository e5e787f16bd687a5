"""`xrelay explore`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from xrelay.tools.command_line import add_switches
from xrelay.tools.commands.base import (
    Command,
    UsageError,
    add_records,
    add_shapes,
    add_source,
    add_threads,
    add_trust,
    prepare_outputs,
)
from xrelay.tools.commands.compare import ATOL, ENGINES, RTOL
from xrelay.tools.commands.feeding import add_input_options


class ExploreCommand(Command):
    """Write or serve a page that shows a model at every level, with the compiler's decisions.

    The page is one file without network access. On its left is the graph of kernels, searchable and collapsible by the
    scopes in the names of nodes. On its right are levels of the program side by side, from ONNX nodes to assembly: a
    click on a node, a line or an instruction highlights the parts of all levels that were made from the same nodes.
    Below are the times of kernels in a run, the roofline of this machine, the reasons for fusion and layouts, the
    ranking of schedules, the memory of a run over time, the passes with the lines that each changed, and with --compare
    the values of nodes that differ from a reference. Inputs are random unless given.

    With --serve, the page is at an address of this machine alone, and is made again when the file of the model changes.
    A compiled model (.xrelay) has kernels and times only.
    """

    name: ClassVar[str] = "explore"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, the page, and the compile options."""
        add_source(parser)
        place = parser.add_mutually_exclusive_group()
        place.add_argument("-o", "--output", type=Path, metavar="FILE", help="page to write (default: MODEL.html)")
        place.add_argument("--serve", action="store_true", help="serve the page on 127.0.0.1 until interrupted")
        parser.add_argument("--port", type=int, default=0, help="port of --serve (default: a free one)")
        add_shapes(parser)
        parser.add_argument(
            "-O", dest="opt_level", type=int, choices=range(4), default=3, help="optimisation level (3)"
        )
        parser.add_argument("--target", help="CPU to compile for (default: this machine); without a run")
        add_input_options(parser)
        add_threads(parser)
        add_trust(parser)
        add_records(parser.add_argument)
        parser.add_argument(
            "--compare",
            dest="against",
            choices=ENGINES,
            nargs="?",
            const=ENGINES[0],
            help="compare the value of each node with a reference (interpreter)",
        )
        add_switches(
            parser.add_argument,
            {
                "--integers": "compute between quantised values with integers",
                "--exact": "allow no approximations, only other orders of sums",
                "--no-run": "do not run the model: the page has no times",
            },
        )
        parser.set_defaults(
            dump_stages=None, no_cache=False, memory_limit=None, keep_fusion=False, rtol=RTOL, atol=ATOL
        )

    def run(self, args: Namespace) -> int:
        """Writes the page, or serves it until Ctrl-C."""
        from xrelay.passes.infra.source import write_text

        if args.port and not args.serve:
            raise UsageError("--port is for --serve", help="add --serve")
        if args.target is not None and args.against is not None:
            raise UsageError("--compare runs the model on this machine", help="leave out --target")
        if args.serve:
            return _serve(args)
        output: Path = args.model.with_suffix(".html") if args.output is None else args.output
        prepare_outputs(args.model, output)
        write_text(output, _page(args))
        sys.stderr.write(f"wrote {output} ({output.stat().st_size / 1024:.0f} KiB)\n")
        return 0


def _page(args: Namespace) -> str:
    """Returns the page of the model; a warning has the reason if the model did not run."""
    from xrelay.tools.commands.explored_page import recorded_page, saved_page
    from xrelay.tools.explore.page import page_text

    content = (saved_page if args.model.suffix == ".xrelay" else recorded_page)(args)
    if (failure := content.absent.get("kernels")) is not None:
        sys.stderr.write(f"warning: the page has no times: {failure}\n")
    return page_text(content, is_served=args.serve)


def _serve(args: Namespace) -> int:
    """Makes the page, serves it, and makes it again for each state of the file."""
    from xrelay.api.model_key import file_state
    from xrelay.tools.command_line import line_of
    from xrelay.tools.explore.server import HOST, ServedPage, page_server

    page = ServedPage(lambda: _page(args), lambda: file_state(args.model), line_of)
    with page_server(page, args.port) as server:
        page.update()
        if not page.text:
            return 1
        sys.stdout.write(f"http://{HOST}:{server.server_port}/\n")
        sys.stdout.flush()
        server.serve_forever()
    return 0
